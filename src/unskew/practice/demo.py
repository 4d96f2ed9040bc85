"""The demo: one real table with a clinic's labels, ranked, judged without negatives, and held against the truth.

`auto` stands beside what people usually do, a logistic regression of labeled against unlabeled rows. Both see the
labels alone; the true classes come in afterwards.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from unskew._support.files import make_folder, write_atomically
from unskew._support.text import Table, auc_text, likely, percent
from unskew.metrics import RankingEstimate, TopRows, auc, estimate_ranking
from unskew.metrics.crossval import out_of_fold_score
from unskew.metrics.estimates import findings_instead_of_warnings
from unskew.posterior import fit_posterior
from unskew.practice.examples.biopsies import CASE, CONFIDENCE, LABEL, TRUTH, biopsy_lines
from unskew.practice.first_rows import FirstRow, FirstRows, first_rows
from unskew.practice.fit import TrainingOptions, fit_table
from unskew.practice.labeled_table import LabeledTable, read_labeled
from unskew.practice.model import TableModel
from unskew.practice.report.demo_page import demo_page, demo_picture
from unskew.practice.results import model_html

PLAIN, OURS = "logistic regression", "auto"
TOP = 0.3
"""Share of the rows whose precision is shown."""
FOUND = 0.95
"""Share of the hidden cases for which the reviewed rows are counted."""
N_FIRST = 10
WORDS = {0: "benign", 1: "malignant"}


@dataclass(frozen=True)
class Judged:
    """A ranking of all rows by models that did not learn from them, judged with and without the truth."""

    score: np.ndarray
    estimate: RankingEstimate
    top: TopRows
    true_auc: float
    true_precision: float


@dataclass(frozen=True)
class DemoResult:
    """What the demo found.

    Attributes
    ----------
    judged : dict of str to Judged
        By the name of the model.
    first : FirstRows
        What a person should look at first, among the rows that are not labeled.
    first_truth : tuple of int
        True classes of these.
    """

    table: LabeledTable
    truth: np.ndarray
    judged: dict[str, Judged]
    first: FirstRows
    first_truth: tuple[int, ...]

    @property
    def summary(self) -> str:
        """What the table is."""
        known = int(self.table.y.sum())
        return (
            f"{len(self.truth)} biopsies of breast lumps. The clinic knows {known} of the {self.truth.sum()} malignant "
            "ones, mostly those with large nuclei, and says how sure it is of each. No lump was ever recorded as "
            "benign."
        )

    @property
    def gain(self) -> str:
        """What the better ranking saves, by the truth."""
        rows = {name: rows_to_find(FOUND, *self.hidden(name)) for name in self.judged}
        n_hidden = int(self.truth[self.table.y == 0].sum())
        return (
            f"To find {percent(FOUND)} of the {n_hidden} malignant cases that nobody knew, review {rows[OURS]} rows in "
            f"the order of {OURS}, or {rows[PLAIN]} in the order of the {PLAIN}."
        )

    def hidden(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Scores and true classes of the rows that are not labeled."""
        unlabeled = self.table.y == 0
        return self.judged[name].score[unlabeled], self.truth[unlabeled]

    def comparison(self) -> Table:
        """Estimates beside the truth."""
        aucs, tops = [], []
        for name, each in self.judged.items():
            found, top, title = each.estimate, each.top, f"malignant in the top {percent(TOP)}, {name}"
            aucs.append((f"AUC of {name}", *_beside(auc_text, found.auc, found.low, found.high, each.true_auc)))
            ends = top.precision_low, top.precision_high
            tops.append((title, *_beside(percent, top.precision, *ends, each.true_precision)))
        found = self.judged[OURS].estimate
        share = _beside(percent, found.prior, found.prior_low, found.prior_high, self.truth.mean())
        rows = [*aucs, *tops, ("malignant in all rows", *share)]
        return Table(("what", "estimated", "95 % interval", "true"), rows)

    @property
    def first_with_truth(self) -> list[tuple[FirstRow, str]]:
        """The first rows, and what each turns out to be."""
        return [(row, WORDS[truth]) for row, truth in zip(self.first.rows, self.first_truth, strict=True)]

    def rows_to_look_at(self) -> Table:
        """The first rows with their reasons, and what each turns out to be."""
        rows = []
        for row, truth in self.first_with_truth:
            chance = "" if row.probability is None else likely(row.probability)
            rows.append((row.names[0][1], chance, ", ".join(row.reasons), truth))
        return Table((CASE, "probability", "because", "truth"), rows)


def run_demo(
    out: Path, *, seed: int, say: Callable[[str], None], show: Callable[[Table, str], None]
) -> tuple[Path, Path]:
    """Run everything, and write the table, the model, two pages and a picture into a folder.

    Returns the paths of both pages: that of the demo, and the report as a clinic would have it, without the truth.
    """
    rng = check_random_state(seed)  # before anything is made
    make_folder(out)
    path = out / "biopsies.csv"
    write_atomically(path, "".join(f"{line}\n" for line in biopsy_lines(rng)[0]).encode())
    table = read_labeled(path, LABEL, CONFIDENCE, truth=TRUTH, exclude=[CASE])
    model = fit_table(table, TrainingOptions(seed=seed))
    model.save(out / "biopsies.unskew")
    result = judge(table, model, path, seed)
    say(result.summary)
    show(result.comparison(), "Estimated from these labels alone, and the truth")
    say(f"{result.gain}\n")
    show(result.rows_to_look_at(), f"The {N_FIRST} rows to look at first")
    write_atomically(out / "overview.png", demo_picture(result, as_file=True))
    write_atomically(out / "index.html", demo_page(result, seed).encode())
    write_atomically(out / "report.html", model_html(model, result.first).encode())
    return out / "index.html", out / "report.html"


def judge(table: LabeledTable, model: TableModel, path: Path, seed: int) -> DemoResult:
    """Compare the model with the plain one; each row's score is by models that did not learn from it."""
    assert table.truth is not None
    data = table.matrix, table.y, table.confidence
    plain = make_pipeline(StandardScaler(), LogisticRegression())
    scores = {
        PLAIN: out_of_fold_score(plain, *data, random_state=seed),
        OURS: model.ranker.out_of_fold_score_,
    }
    posterior = fit_posterior(*data)
    with findings_instead_of_warnings():
        found = {name: estimate_ranking(score, posterior) for name, score in scores.items()}
    judged = {name: _judge(score, found[name], table.truth) for name, score in scores.items()}
    first = first_rows(model, path, [CASE], N_FIRST)
    numbers = [int(row.names[0][1].removeprefix("B")) - 1 for row in first.rows]
    return DemoResult(table, table.truth, judged, first, tuple(int(table.truth[each]) for each in numbers))


def _judge(score: np.ndarray, estimate: RankingEstimate, truth: np.ndarray) -> Judged:
    top = estimate.at(TOP)
    return Judged(score, estimate, top, float(auc(truth, score)), float(truth[score >= top.threshold].mean()))


def rows_to_find(share: float, score: np.ndarray, truth: np.ndarray) -> int:
    """How many rows, from the highest score down, hold this share of the positives.

    Examples
    --------
    >>> rows_to_find(0.5, np.array([0.9, 0.1, 0.5, 0.4]), np.array([1, 1, 0, 1]))
    3
    """
    found = np.cumsum(truth[np.argsort(-score, kind="stable")])
    return int(np.searchsorted(found, np.ceil(share * found[-1]))) + 1


def _beside(words: Callable[[float], str], value: float, low: float, high: float, truth: float) -> tuple[str, str, str]:
    """An estimate, its interval, and the truth, as text."""
    return words(value), f"{words(low)} to {words(high)}", words(truth)
