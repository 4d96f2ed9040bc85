"""What do 50 suggested labels bring, beside 50 and 100 random ones and the 50 rows with the highest scores?

    UNSKEW_DATA=FOLDER python benchmarks/suggest.py [--tables NAME ...] [--draws 30] [--out FILE]

In each draw a table has its biased labels. Rows are chosen in five ways (none, `unskew.suggest`, two random draws, the
highest scores), checked, and labeled with the confidence that the table's source gives them, positive or not; then
everything is fitted again. The ranking is that of `conf-gp`, which is the posterior itself: its true AUC on rows that
no fit has seen, and on the table the intervals of the AUC and of the share of positives, and how far both are off.

`toy-votes` and `kinks-votes` are laws whose confidence is the share of five votes; `squares` has two humps of
positives, of which one is hardly labeled; `claims` is the law of the example table; both have the exact confidence.
Health surveys and images (30 principal components) are drawn by the paper's protocol: a tenth of the positives is
labeled, nine labels of ten are favored positives, a network trained on 10,000 other rows gives the confidence, half of
the test rows are positive; 3,000 rows instead of 5,000, at priors of 0.1 and 0.2 in turn.

The choice of rows was designed on seeds 0 to 9 of laws (toy, steps, squares, linear, claims, counts, hinges), with
exact confidence, noise and votes, and on a few draws of the surveys. Of each table below one draw, of seed 3, was seen.
Judged are seeds 1000 to 1029 of each table, written down before any of them was run. The goal: 50 suggested labels
raise the mean true AUC by as much as 100 random ones or more, or make the mean interval of the AUC as short or shorter.

`--auto` compares the AUC of `auto` on three draws of two tables instead, with seeds 1000 to 1002: its probabilities,
and so the suggested rows, are those of `conf-gp`.

A draw is done for all ways before the next one; draws that are in the file already are not made again.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import unskew
from estimate_beds import Change, Draw, claims, components, exact, kinks, squares, table, toy, votes
from rows import Row, continued, save_machine
from unskew.learning.threads import one_thread
from unskew.learning.trainer import Trainer
from unskew.metrics import auc
from unskew.metrics.estimates import estimate_ranking
from unskew.posterior import fit_posterior
from unskew.scenario import select_favored
from unskew.scenario.confidence import classifier_confidence

FIRST_SEED, N_TEST = 1000, 20_000
N_SURVEY, N_OTHER, N_SURVEY_TEST, LABEL_FREQ, PRIORS = 3000, 10_000, 5000, 0.1, (0.1, 0.2)
N_LABELS = 50
HEADER = [
    *("table", "seed", "labels", "way", "positives", "auc", "seconds"),
    *("own_auc", "own_auc_true", "own_auc_low", "own_auc_high"),
    *("prior", "prior_true", "prior_low", "prior_high"),
]


@dataclass(frozen=True)
class World:
    """A table with its labels, the confidence that any row would be given, and rows to test on."""

    X: np.ndarray
    y: np.ndarray
    labeled: np.ndarray
    confidence: np.ndarray
    test_X: np.ndarray
    test_y: np.ndarray


def law(bed: Callable[[int], Callable[[np.random.RandomState], Draw]], n: int, change: Change = exact):
    """Worlds of a law whose posterior is known."""

    def world(seed: int) -> World:
        rng = np.random.RandomState(seed)
        drawn, test = bed(n)(rng), bed(N_TEST)(rng)
        confidence = np.where(drawn.labeled == 1, drawn.confidence, change(drawn.posterior, rng))
        return World(drawn.X, drawn.truth, drawn.labeled == 1, confidence, test.X, test.truth)

    return world


def drawn_by_protocol(source: Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray]], rate: float):
    """Worlds of a data set with known classes; `rate` is the learning rate of the network that gives the confidence."""

    def world(seed: int) -> World:
        X, y, favored = source()
        rng, prior = np.random.RandomState(seed), PRIORS[seed % 2]
        parts = [(N_SURVEY, prior), (N_OTHER, prior), (N_SURVEY_TEST, 0.5)]
        counts = np.array([[size - round(size * share), round(size * share)] for size, share in parts])
        pools = [rng.permutation(np.flatnonzero(y == each)) for each in (0, 1)]
        ends = np.cumsum(counts, axis=0)
        by_class = [np.split(pool[: end[-1]], end[:-1]) for pool, end in zip(pools, ends.T, strict=True)]
        own, other, test = (rng.permutation(np.concatenate(each)) for each in zip(*by_class, strict=True))
        trainer = Trainer(network="mlp", max_epochs=30, batch_size=1024, learning_rate=rate)
        narrow = X.astype(np.float32)
        confidence = classifier_confidence(narrow[other], y[other], narrow[own], trainer, rng)
        positive = np.flatnonzero(y[own] == 1)
        labels = select_favored(positive, favored[own][positive], round(LABEL_FREQ * len(positive)), rng)
        labeled = np.isin(np.arange(len(own)), labels)
        return World(X[own].astype(float), y[own], labeled, confidence, X[test].astype(float), y[test])

    return world


TABLES: dict[str, Callable[[int], World]] = {
    "toy-votes": law(lambda n: toy(n, votes(5)), 1500, votes(5)),
    "squares": law(squares, 1500),
    "claims": law(claims, 1500),
    "diabetes-2015": drawn_by_protocol(lambda: table("diabetes-2015"), 1e-4),
    "blood-2015": drawn_by_protocol(lambda: table("blood-2015"), 1e-4),
    "kinks-votes": law(lambda n: kinks(n, votes(5)), 2000, votes(5)),
    "mnist-components": drawn_by_protocol(lambda: components("mnist", 30), 1e-3),
}


def choices(world: World, seed: int) -> dict[str, np.ndarray]:
    """Rows that each way has checked."""
    ranker = unskew.make("conf-gp").fit(world.X, world.labeled, confidence=world.confidence)
    free = np.flatnonzero(~world.labeled)
    random = np.random.RandomState(100_000 + seed).permutation(free)
    highest = free[np.argsort(-ranker.decision_function(world.X[free]), kind="stable")]
    return {
        "none": free[:0],
        "50 suggested": unskew.suggest(ranker, world.X, N_LABELS, labeled=world.labeled).rows,
        "50 random": random[:N_LABELS],
        "100 random": random[: 2 * N_LABELS],
        "50 highest": highest[:N_LABELS],
    }


def rows_of(name: str, seed: int) -> list[Row]:
    """One row for each way."""
    world, found = TABLES[name](seed), []
    for way, checked in choices(world, seed).items():
        begin = time.process_time()
        labeled = world.labeled.copy()
        labeled[checked] = True
        posterior = fit_posterior(world.X, labeled, world.confidence)
        own = estimate_ranking(posterior.prob, posterior)
        tested = auc(world.test_y, posterior.predict(world.test_X))
        first = name, seed, int(world.labeled.sum()), way, int(world.y[checked].sum()), tested
        of_auc = own.auc, auc(world.y, posterior.prob), own.low, own.high
        of_prior = own.prior, world.y.mean(), own.prior_low, own.prior_high
        values = [*first, time.process_time() - begin, *of_auc, *of_prior]
        found.append(
            dict(zip(HEADER, [each.item() if hasattr(each, "item") else each for each in values], strict=True))
        )
    return found


def rows_of_auto(name: str, seed: int) -> list[Row]:
    """The AUC of `auto` for each way."""
    world, found = TABLES[name](seed), []
    for way, checked in choices(world, seed).items():
        begin = time.process_time()
        labeled = world.labeled.copy()
        labeled[checked] = True
        ranker = unskew.make("auto", random_state=seed).fit(world.X, labeled, confidence=world.confidence)
        tested = float(ranker.score(world.test_X, world.test_y))
        first = name, seed, int(world.labeled.sum()), way, int(world.y[checked].sum()), tested
        found.append(dict(zip(HEADER[:7], [*first, time.process_time() - begin], strict=True)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--draws", type=int, default=30, help="How many of each table, up to the thirty judged.")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help="Another one is for designing.")
    parser.add_argument("--auto", action="store_true", help="The AUC of auto instead, on a few draws.")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    out = arguments.out or Path(f"results/benchmarks/suggest{'_auto' * arguments.auto}.csv")
    tables = ["toy-votes", "diabetes-2015"] if arguments.auto else arguments.tables
    draws = 3 if arguments.auto else arguments.draws
    warnings.simplefilter("ignore")
    with continued(out, HEADER[:7] if arguments.auto else HEADER) as (known, append), one_thread():
        done = {(row["table"], row["seed"]) for row in known}
        for seed in range(arguments.first_seed, arguments.first_seed + draws):
            for name in tables:
                if (name, str(seed)) in done:
                    continue
                rows = (rows_of_auto if arguments.auto else rows_of)(name, seed)
                for row in rows:
                    append(row)
                print(name, seed, *(f"{row['way']}: {row['auc']:.4f}" for row in rows), flush=True)
    save_machine(out)


if __name__ == "__main__":
    main()
