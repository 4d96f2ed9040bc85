"""The tour, on data that needs no download: train, estimate the AUC without negatives, show it beside the true one.

Two stories: the toy law, where everything is known, and scikit-learn's digits under the paper's protocol. Each compares
the proposed method with itself without confidence, and with a plain classifier of labeled against unlabeled.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from unskew._support.files import make_folder, write_atomically
from unskew._support.text import Table, percent
from unskew.data.records import Labeled, Split
from unskew.datasets import load, toy
from unskew.errors import LowReliabilityWarning
from unskew.learning.trainer import Trainer
from unskew.metrics import RankingEstimate, auc, estimate_ranking
from unskew.metrics.crossval import out_of_fold_score
from unskew.metrics.reliability import check_reliability, shows_points, warn_of
from unskew.posterior import fit_posterior
from unskew.practice.report.tour_page import overview, tour_page
from unskew.rankers import make
from unskew.scenario import Sizes, draw_split

METHODS = ("conf-auc", "no-conf", "ntc")
HEADER = ("what", "true", "estimated", "95 % interval")


@dataclass(frozen=True)
class Story:
    """A data set of the tour, what is true of it, and how to train on it."""

    title: str
    paragraphs: tuple[str, ...]
    split: Split
    prior: float
    label_freq: float
    parameters: dict[str, Any]


@dataclass(frozen=True)
class StoryResult:
    """What training on a story gave, by method."""

    story: Story
    rankers: dict[str, Any]
    true: dict[str, float]
    estimated: dict[str, RankingEstimate]

    @property
    def proposed(self) -> Any:
        """The fitted ranker of the proposed method."""
        return self.rankers[METHODS[0]]

    @property
    def reliability(self) -> float:
        """That of the one posterior which judges all methods."""
        return self.estimated[METHODS[0]].reliability

    @property
    def shows_points(self) -> bool:
        """Whether single values are shown, or only their intervals."""
        return shows_points(self.reliability)

    def table(self) -> Table:
        """The result as text: truth beside estimate."""
        rows = []
        for name, ranker in self.rankers.items():
            estimate, true = self.estimated[name], self.true[name]
            shown = self._shown(f"AUC of {name} ({ranker.table_name})", true, estimate.auc, estimate.low, estimate.high)
            rows.append(shown)
        estimate = self.estimated[METHODS[0]]
        share = estimate.prior, estimate.prior_low, estimate.prior_high
        rows.append(self._shown("share of positives", self.story.prior, *share))
        return Table(HEADER, [*rows, ("reliability", "", f"{self.reliability:.2f} of 1", "")])

    def _shown(self, name: str, true: float, value: float, low: float, high: float) -> tuple[str, ...]:
        missed = "" if low <= true <= high else " (missed)"
        point = f"{value:.3f}" if self.shows_points else "see interval"
        return name, f"{true:.3f}", point, f"{low:.3f} to {high:.3f}{missed}"


def run_tour(out: Path, *, seed: int, show: Callable[[Table, str], None]) -> Path:
    """Train, and write ``index.html`` and ``overview.png`` into a folder, which is made if it is missing.

    Each story's table and title are shown as soon as they are known. Returns the path of the page.
    """
    check_random_state(seed)  # before anything is made
    make_folder(out)
    results = []
    for story in (toy_story, digits_story):
        result = run_story(story(seed), seed)
        results.append(result)
        show(result.table(), result.story.title)
    write_atomically(out / "overview.png", overview(results[0]))
    write_atomically(out / "index.html", tour_page(results, seed).encode())
    return out / "index.html"


def run_story(story: Story, seed: int) -> StoryResult:
    """Train every method, and estimate its AUC by cross-validation on the same PU data."""
    train, held_out = story.split.train, story.split.validation
    X, y, confidence = (
        np.concatenate([getattr(train, field), getattr(held_out, field)]) for field in ("X", "y", "confidence")
    )
    posterior = fit_posterior(X, y, confidence)
    warn_of(check_reliability(posterior.reliability))
    rankers, true, estimated = {}, {}, {}
    validation = held_out.X, held_out.y, held_out.confidence
    for name in METHODS:
        ranker = make(name, random_state=seed, verbose=True, **story.parameters)
        rankers[name] = ranker.fit(train.X, train.y, train.confidence, validation=validation)
        true[name] = auc(story.split.test_y, ranker.decision_function(story.split.test_X))
        quiet = clone(ranker).set_params(verbose=False)
        score = out_of_fold_score(quiet, X, y, confidence, random_state=seed, verbose=True)
        with warnings.catch_warnings(action="ignore", category=LowReliabilityWarning):  # said once, above
            estimated[name] = estimate_ranking(score, posterior)
    return StoryResult(story, rankers, true, estimated)


def toy_story(seed: int) -> Story:
    """The toy law: two groups of positives in the plane, of which labelers see mostly one."""
    rng = check_random_state(seed)
    law = toy.ToyLaw()
    *drawn, test = (toy.draw(n, law, rng) for n in (2500, 600, 20_000))
    train, held_out = (Labeled(each.X, each.labeled, each.confidence) for each in drawn)
    split = Split(train, held_out, test.X, test.y)
    paragraphs = (
        f"A Gaussian mixture in the plane whose truth is known. One instance in {1 / law.prior:.0f} is positive. The "
        "positives form two groups; labelers catch most of the upper one and little of the lower one. The confidence "
        "is the true posterior.",
        "The first picture shows the labels as they came, the second as they count after weighting: the rare labels of "
        "the lower group grow, and stand for the positives that nobody labeled.",
    )
    parameters = {"learning_rate": 1e-3, "max_epochs": 100, "batch_size": 256}
    return Story("The toy law", paragraphs, split, law.prior, law.label_freq, parameters)


def digits_story(seed: int) -> Story:
    """scikit-learn's digits: odd is positive, nine labels in ten are a 1, 3 or 5."""
    prior, label_freq = 0.2, 0.4
    split = draw_split(
        load("digits"),
        prior=prior,
        label_freq=label_freq,
        rng=check_random_state(seed),
        sizes=Sizes(train=600, validation=150, confidence=200, test=200),
        trainer=Trainer(max_epochs=200, learning_rate=1e-3),
    )
    paragraphs = (
        f"scikit-learn's 8 x 8 digits under the paper's protocol: odd digits are positive, {percent(prior)} of all; "
        "nine in ten of the labeled are a 1, 3 or 5, so that 7 and 9 are hardly ever labeled. The confidence comes "
        "from a classifier trained on a disjoint part. The data set is small: sizes are about an eighth of the "
        f"paper's, and {percent(label_freq)} of the positives are labeled instead of 10 %.",
    )
    parameters = {"learning_rate": 3e-4, "max_epochs": 300, "batch_size": 256}
    return Story("Digits", paragraphs, split, prior, label_freq, parameters)
