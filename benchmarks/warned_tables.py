"""Tables that `unskew.check_table` must be silent about, and faults that are planted in them.

The tables were written down before any check was run on one of them. Each is a function of a random state. Seeds below
`FIRST_JUDGED` are open: checks may be tuned on them. The others judge; 100 and 101 have been looked at, once, after the
bounds of `unskew.checks.leaks` were frozen.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import StringIO
from os import environ

import numpy as np
import polars as pl
from scipy.special import expit
from sklearn import datasets as bundled
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unskew
from unskew.practice.examples.claims import claims_tables
from unskew.practice.examples.digits import digits_tables

Random = np.random.RandomState
FIRST_JUDGED = 100


@dataclass(frozen=True)
class Table:
    """What a user has, and the true classes that nobody has."""

    X: pl.DataFrame
    labeled: np.ndarray
    confidence: np.ndarray
    truth: np.ndarray

    def with_column(self, name: str, values: object) -> "Table":
        return replace(self, X=self.X.with_columns(pl.Series(name, values)))


CLEAN: dict[str, Callable[[Random], Table]] = {}


def clean(function: Callable[[Random], Table]) -> Callable[[Random], Table]:
    CLEAN[function.__name__] = function
    return function


def tables(seed: int) -> Iterator[tuple[str, Table]]:
    """All clean tables that can be made here: those of real data need UNSKEW_DATA."""
    for name, make in CLEAN.items():
        if name.endswith("_2015") and "UNSKEW_DATA" not in environ:
            continue
        yield name, make(Random(seed))


def labeled_by(
    X: pl.DataFrame, truth: np.ndarray, confidence: np.ndarray, propensity: np.ndarray, rng: Random
) -> Table:
    labeled = (truth == 1) & (rng.uniform(size=len(truth)) < propensity)
    return Table(X, labeled.astype(int), np.where(labeled, np.clip(confidence, 0, 1), np.nan), truth)


def of_scikit_learn(X: np.ndarray, truth: np.ndarray, rng: Random, freq: float = 0.4) -> Table:
    """Labels prefer positives with a high first column; a classifier gives the confidence."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    confidence = cross_val_predict(model, X, truth, method="predict_proba")[:, 1]
    rank = np.argsort(np.argsort(X[:, 0])) / len(X)
    frame = pl.DataFrame({f"x{place}": column for place, column in enumerate(X.T)})
    return labeled_by(frame, truth, confidence, freq * (0.4 + 1.2 * rank), rng)


def of_law(X: dict[str, object], logits: np.ndarray, rng: Random, propensity: object = 0.4) -> Table:
    """Classes are drawn by their probability, which is the confidence."""
    eta = expit(logits)
    truth = (rng.uniform(size=len(eta)) < eta).astype(int)
    return labeled_by(pl.DataFrame(X), truth, eta, np.broadcast_to(propensity, eta.shape), rng)


def _from_csv(lines: list[str], label: str, confidence: str, truth: str, aside: str) -> Table:
    frame = pl.read_csv(StringIO("\n".join(lines)), infer_schema_length=None)
    sure = frame[confidence].cast(pl.Float64).to_numpy()
    X = frame.drop(label, confidence, truth, aside)
    return Table(X, frame[label].to_numpy(), sure, frame[truth].to_numpy())


@clean
def example_claims(rng: Random) -> Table:
    return _from_csv(claims_tables(rng)[0], "known_fraud", "risk", "fraud", "claim_id")


@clean
def example_digits(rng: Random) -> Table:
    return _from_csv(digits_tables(rng)[0], "known", "confidence", "odd", "image")


def _toy(n: int, rng: Random) -> Table:
    data = unskew.datasets.toy.draw(n, random_state=rng)
    return Table(pl.DataFrame(data.X), data.labeled, data.confidence, data.y)


@clean
def toy_500(rng: Random) -> Table:
    return _toy(500, rng)


@clean
def toy_5000(rng: Random) -> Table:
    return _toy(5000, rng)


@clean
def breast_cancer(rng: Random) -> Table:
    X, benign = bundled.load_breast_cancer(return_X_y=True)
    return of_scikit_learn(X, 1 - benign, rng)


@clean
def wine(rng: Random) -> Table:
    X, kind = bundled.load_wine(return_X_y=True)
    return of_scikit_learn(X, (kind == 0).astype(int), rng, 0.6)


@clean
def iris_setosa(rng: Random) -> Table:
    """Two columns tell the positives from all others without one error."""
    X, kind = bundled.load_iris(return_X_y=True)
    return of_scikit_learn(X, (kind == 0).astype(int), rng, 0.6)


@clean
def iris_virginica(rng: Random) -> Table:
    X, kind = bundled.load_iris(return_X_y=True)
    return of_scikit_learn(X, (kind == 2).astype(int), rng, 0.6)


@clean
def diabetes_progression(rng: Random) -> Table:
    X, progression = bundled.load_diabetes(return_X_y=True)
    return of_scikit_learn(X, (progression > 200).astype(int), rng)


def _survey(name: str, rng: Random) -> Table:
    raw = unskew.datasets.load(name)
    rows = rng.permutation(len(raw.y))[:6000]
    X, truth, favored = np.asarray(raw.X)[rows], raw.y[rows], raw.favored[rows]
    table = of_scikit_learn(X, truth, rng)
    return labeled_by(table.X, truth, _classifier(X, truth), np.where(favored, 0.4, 0.05), rng)


def _classifier(X: np.ndarray, truth: np.ndarray) -> np.ndarray:
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return np.asarray(cross_val_predict(model, X, truth, method="predict_proba")[:, 1])


@clean
def diabetes_2015(rng: Random) -> Table:
    return _survey("diabetes-2015", rng)


@clean
def blood_2015(rng: Random) -> Table:
    return _survey("blood-2015", rng)


@clean
def words_dates_gaps(rng: Random) -> Table:
    n = 3000
    amount, age = rng.lognormal(6, 1, n), rng.normal(45, 12, n)
    shop = rng.choice([f"shop {i}" for i in range(40)], n)
    level = rng.normal(size=40)[np.unique(shop, return_inverse=True)[1]]
    day = np.datetime64("2024-01-01") + rng.randint(0, 700, n)
    logits = -4 + 0.8 * (np.log(amount) - 6) + level - 0.03 * (age - 45)
    gaps = rng.uniform(size=n) < 0.2
    X = {"amount": amount, "age": pl.Series(np.where(gaps, np.nan, age)).fill_nan(None), "shop": shop, "day": day}
    return of_law(X, logits, rng, 0.5)


@clean
def strong_number(rng: Random) -> Table:
    """One column ranks with an AUC of about 0.99."""
    n = 4000
    strong, others = rng.normal(size=n), rng.normal(size=(n, 6))
    X = {"strong": strong, **{f"other {i}": each for i, each in enumerate(others.T)}}
    return of_law(X, -9 + 6 * strong + 0.5 * others[:, 0], rng, 0.5)


@clean
def strong_truth_value(rng: Random) -> Table:
    """A test that is positive for 95 % of the positives and for 5 % of the negatives."""
    n = 3000
    weak = rng.normal(size=(n, 4))
    truth = rng.uniform(size=n) < expit(-3 + weak[:, 0])
    test = np.where(truth, rng.uniform(size=n) < 0.95, rng.uniform(size=n) < 0.05)
    eta = expit(-3 + weak[:, 0] + np.where(test, np.log(19), -np.log(19)))
    X = pl.DataFrame({"test": test, **{f"x{i}": each for i, each in enumerate(weak.T)}})
    return labeled_by(X, truth.astype(int), eta, np.full(n, 0.5), rng)


@clean
def few_labels_many_columns(rng: Random) -> Table:
    """About a dozen labels, and sixty columns of which two matter."""
    n = 400
    X = rng.normal(size=(n, 60))
    X[:, 20:40] = rng.poisson(0.3, (n, 20))
    X[:, 40:] = rng.uniform(size=(n, 20)) < 0.1
    return of_law({f"x{i}": each for i, each in enumerate(X.T)}, -3 + 1.5 * X[:, 0] - X[:, 1], rng, 0.3)


@clean
def gaps_that_matter(rng: Random) -> Table:
    """A laboratory value that is measured for most positives and for a third of the others."""
    n = 3000
    age, ill = rng.normal(size=n), rng.normal(size=n)
    logits = -3 + 2 * ill + 0.5 * age
    measured = rng.uniform(size=n) < expit(-0.8 + 1.2 * (ill > 1) + 0.8 * ill)
    value = pl.Series(np.where(measured, ill + 0.5 * rng.normal(size=n), np.nan)).fill_nan(None)
    return of_law({"age": age, "value": value, "sign": ill + rng.normal(size=n)}, logits, rng, 0.4)


@clean
def mostly_zeros(rng: Random) -> Table:
    """Counts that are zero on most rows, and on few positives."""
    n = 4000
    kind = rng.normal(size=n)
    counts = rng.poisson(np.exp(-2.5 + 1.2 * kind)[:, None], (n, 5))
    logits = -4 + 1.5 * np.log1p(counts[:, 0]) + kind
    return of_law({**{f"count {i}": each for i, each in enumerate(counts.T)}, "kind": kind}, logits, rng, 0.4)


@clean
def rare_positives(rng: Random) -> Table:
    """20,000 rows, of which about one in 200 is labeled."""
    n = 20_000
    X = rng.normal(size=(n, 8))
    word = rng.choice(["a", "b", "c", "d"], n, p=[0.7, 0.2, 0.09, 0.01])
    logits = -6 + 2 * X[:, 0] + X[:, 1] + 2 * (word == "d")
    return of_law({**{f"x{i}": each for i, each in enumerate(X.T)}, "word": word}, logits, rng, expit(X[:, 2]))


@clean
def most_positives_labeled(rng: Random) -> Table:
    """Four of five positives are labeled, and one column nearly tells them."""
    n = 2000
    X = rng.normal(size=(n, 5))
    return of_law({f"x{i}": each for i, each in enumerate(X.T)}, -6 + 5 * X[:, 0] + X[:, 1], rng, 0.8)


@clean
def coarse_answers(rng: Random) -> Table:
    """Six questions with two to five answers each: most rows stand in the table many times."""
    n = 5000
    X = np.column_stack([rng.randint(0, k, n) for k in (2, 2, 3, 3, 5, 5)])
    return of_law({f"q{i}": each for i, each in enumerate(X.T)}, -5 + X[:, 0] + X[:, 2] + 0.6 * X[:, 4], rng, 0.4)


@clean
def labels_of_one_kind(rng: Random) -> Table:
    """Labels come from an old rule: large amounts over the web."""
    n = 4000
    amount, web, age = rng.normal(size=n), rng.uniform(size=n) < 0.5, rng.normal(size=n)
    logits = -3 + 1.5 * amount + 0.5 * web - age
    channel = np.where(web, "web", rng.choice(["phone", "agent"], n))
    return of_law(
        {"amount": amount, "channel": channel, "age": age}, logits, rng, np.where(web, expit(3 * amount), 0.05)
    )


LEAKS: dict[str, Callable[[Table, Random], Table]] = {}
"""A column `leak` that gives something away, in as many ways."""


def leak(function: Callable[[Table, Random], Table]) -> Callable[[Table, Random], Table]:
    LEAKS[function.__name__] = function
    return function


@leak
def status_word(table: Table, rng: Random) -> Table:
    """A word that is set when a row is labeled; one in a hundred was forgotten."""
    done = np.where(rng.uniform(size=len(table.labeled)) < 0.01, 0, table.labeled) == 1
    return table.with_column("leak", np.where(done, "confirmed", rng.choice(["open", "closed", "new"], len(done))))


@leak
def true_class(table: Table, rng: Random) -> Table:
    return table.with_column("leak", table.truth)


@leak
def confidence_in_percent(table: Table, rng: Random) -> Table:
    """The confidence as whole percents, and chance on the other rows."""
    labeled = table.labeled == 1
    known = np.where(labeled, table.confidence, rng.choice(table.confidence[labeled], len(labeled)))
    return table.with_column("leak", np.round(100 * known))


@leak
def confidence_as_odds(table: Table, rng: Random) -> Table:
    labeled = table.labeled == 1
    known = np.where(labeled, table.confidence, rng.choice(table.confidence[labeled], len(labeled)))
    return table.with_column("leak", known / (1.001 - known))


@leak
def review_date(table: Table, rng: Random) -> Table:
    """A date that is filled in where a row was labeled, and nowhere else."""
    day = np.datetime64("2025-01-01") + rng.randint(0, 300, len(table.labeled))
    return table.with_column("leak", pl.Series(day).set(pl.Series(table.labeled == 0), None))


@leak
def reviewed_too(table: Table, rng: Random) -> Table:
    """The same, but 3 % of the other rows were reviewed, too, and not labeled."""
    n = len(table.labeled)
    day = np.datetime64("2025-01-01") + rng.randint(0, 300, n)
    none = (table.labeled == 0) & (rng.uniform(size=n) > 0.03)
    return table.with_column("leak", pl.Series(day).set(pl.Series(none), None))


@leak
def order_of_numbers(table: Table, rng: Random) -> Table:
    """Codes of cases, drawn from one range before labeling and from another after it."""
    number = np.where(table.labeled == 1, rng.randint(700_000, 999_999, len(table.labeled)), 0)
    return table.with_column("leak", np.where(number, number, rng.randint(100_000, 699_999, len(number))))


@leak
def minutes_of_review(table: Table, rng: Random) -> Table:
    """Zero but for labeled rows, and for one in fifty others."""
    n = len(table.labeled)
    spent = (table.labeled == 1) | (rng.uniform(size=n) < 0.02)
    return table.with_column("leak", np.where(spent, rng.gamma(2, 10, n), 0.0))


UNEVEN: dict[str, Callable[[Table, Random], Table]] = {}
"""Labels or confidence that depend on a column `label_day` or `source`."""
UNEVEN_IN = "example_claims", "toy_5000", "breast_cancer", "diabetes_2015", "words_dates_gaps", "labels_of_one_kind"
"""Clean tables with more than a hundred labels or so, in which that can be seen."""


def uneven(function: Callable[[Table, Random], Table]) -> Callable[[Table, Random], Table]:
    UNEVEN[function.__name__] = function
    return function


def _without(table: Table, which: np.ndarray) -> Table:
    """The table, of which these rows have lost their labels."""
    kept = np.where(which, 0, table.labeled)
    return replace(table, labeled=kept, confidence=np.where(kept == 1, table.confidence, np.nan))


@uneven
def labels_that_stop(table: Table, rng: Random) -> Table:
    """Nobody labels after the first half of the time."""
    day = rng.randint(0, 400, len(table.labeled))
    return _without(table, day >= 200).with_column("label_day", np.datetime64("2024-01-01") + day)


@uneven
def a_source_that_never_labels(table: Table, rng: Random) -> Table:
    source = rng.choice(["a", "b", "c"], len(table.labeled))
    return _without(table, source == "b").with_column("source", source)


@uneven
def two_scales(table: Table, rng: Random) -> Table:
    """One of two sources writes down a third of the confidence that the other one does."""
    source = rng.choice(["ours", "theirs"], len(table.labeled))
    low = replace(table, confidence=np.where(source == "theirs", table.confidence / 3, table.confidence))
    return low.with_column("source", source)
