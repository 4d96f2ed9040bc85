"""Do boosted trees rank better than the network, with conf-auc on the health surveys?

    python benchmarks/trees_auc.py [--seeds 0 1] [--priors 0.1 0.2] [--out FILE]

Test AUC of `conf-auc` with the MLP as the paper trains it, with the MLP as users get it, and with trees, each with its
own labeling model, on the same draws: a tenth of the positives are labeled. Nothing was chosen by these numbers.
"""

import argparse
import warnings

import unskew
from rows import Rows, add_out, save_rows
from unskew.paper.one_draw import Draw, fit_timed
from unskew.paper.plans import LABEL_FREQ, Setting

DATASETS = "diabetes-2015", "blood-2015"


def rows_of(dataset: str, prior: float, seed: int) -> Rows:
    """One row for each way to train."""
    draw = Draw(Setting(dataset, "conf-auc", prior, LABEL_FREQ, seed))
    as_in_paper = draw.unfitted("conf-auc")
    usual = {"prior": prior, "probability": False, "random_state": as_in_paper.random_state}
    rankers = {"mlp, as in the paper": as_in_paper}
    rankers |= {network: unskew.make("conf-auc", network=network, **usual) for network in ("mlp", "trees")}
    found: Rows = []
    for name, ranker in rankers.items():
        seconds = fit_timed(ranker, draw.split)
        score = ranker.score(draw.split.test_X, draw.split.test_y)
        about = {"dataset": dataset, "prior": prior, "seed": seed, "labels": int(draw.split.train.y.sum())}
        found.append({**about, "network": name, "auc": score, "seconds": seconds})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--priors", type=float, nargs="+", default=[0.1, 0.2])
    add_out(parser)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: Rows = []
    for dataset in DATASETS:
        for prior in arguments.priors:
            for seed in arguments.seeds:
                rows += rows_of(dataset, prior, seed)
                print(dataset, prior, seed, *(f"{row['network']}: {row['auc']:.4f}" for row in rows[-3:]), flush=True)
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
