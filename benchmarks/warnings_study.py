"""Do warnings about a table find what is wrong with it, and keep silent where nothing is?

`warned_tables.py` has the tables and the faults. A clean table must get no finding: one false warning in all of them is
allowed. Each leak is planted in each clean table, and must be named; so must columns that labels or confidence depend
on, which are planted in some.

    python benchmarks/warnings_study.py [--seeds N] [--judge] [--posterior] [--out FILE]
"""

import time
from argparse import ArgumentParser

import numpy as np

from rows import Rows, add_out, save_rows
from unskew.checks import check_table
from unskew.diagnostics import Finding
from unskew.metrics._tables import complete_features
from unskew.posterior import fit_posterior
from warned_tables import FIRST_JUDGED, LEAKS, UNEVEN, UNEVEN_IN, Table, tables

Random = np.random.RandomState


def main() -> None:
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--judge", action="store_true", help="Use seeds that nothing was tuned on.")
    parser.add_argument("--posterior", action="store_true", help="Also what needs a posterior; takes much longer.")
    add_out(parser)
    options = parser.parse_args()
    first = FIRST_JUDGED if options.judge else 0
    found = [row for seed in range(first, first + options.seeds) for row in study(seed, posterior=options.posterior)]
    for what in dict.fromkeys(str(row["what"]) for row in found):
        own = [row for row in found if row["what"] == what]
        print(f"{what}: {sum(bool(row['found']) for row in own)} of {len(own)} tables get a finding")
    save_rows(found, options.out)


def study(seed: int, *, posterior: bool) -> Rows:
    """Every clean table as it is, with every leak, and where there is a posterior with labels that are uneven."""
    found: Rows = []
    for name, table in tables(seed):
        start = time.perf_counter()
        findings = check_table(table.X, table.labeled, table.confidence, label="known")
        seconds = time.perf_counter() - start
        if posterior:
            findings = all_findings(table)
        row = {"table": name, "seed": seed, "rows": len(table.labeled), "labeled": int(table.labeled.sum())}
        found.append({**row, "what": "clean", "found": bool(findings), "seconds": seconds})
        for each in findings:
            print(f"  {name}, seed {seed}: {each.text}", flush=True)
        for kind, plant in LEAKS.items():
            planted = plant(table, Random(seed))
            named = [
                column
                for each in check_table(planted.X, table.labeled, table.confidence, label="known")
                for column in each.columns
            ]
            found.append({**row, "what": kind, "found": "leak" in named})
            if "leak" not in named:
                print(f"  {name}, seed {seed}: {kind} is not found ({int(table.labeled.sum())} labeled)", flush=True)
        for kind, plant in UNEVEN.items() if posterior and name in UNEVEN_IN else ():
            planted = plant(table, Random(seed))
            named = {column for each in all_findings(planted) for column in each.columns}
            found.append({**row, "what": kind, "found": bool(named & {"source", "label_day"})})
            if not found[-1]["found"]:
                print(f"  {name}, seed {seed}: {kind} is not found ({int(planted.labeled.sum())} labeled)", flush=True)
    return found


def all_findings(table: Table) -> list[Finding]:
    """With those that need the probabilities of a posterior."""
    X = complete_features(table.X)
    posterior = fit_posterior(X, table.labeled, table.confidence)
    return check_table(table.X, table.labeled, table.confidence, label="known", posterior=posterior)


if __name__ == "__main__":
    main()
