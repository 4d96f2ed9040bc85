"""The main job on data that come with the package's dependencies: train, estimate the AUC without negatives, show.

Two stories. The toy law, where every truth is known, and scikit-learn's digits under the paper's protocol. On each the
proposed method is trained beside itself without confidence and beside a plain classifier of labeled against unlabeled,
and the AUC that each is estimated to have, from the same biased labels alone, stands beside the true one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import precision_recall_curve, roc_curve
from sklearn.utils import check_random_state

from unskew._support import pictures
from unskew._support.files import make_folder, write_atomically
from unskew._support.text import Table, percent
from unskew._version import __version__
from unskew.data.records import Labeled, Split
from unskew.datasets import load, toy
from unskew.learning.trainer import Trainer
from unskew.metrics import SarAUC, SarCurves, auc, out_of_fold, sar_auc, sar_curves
from unskew.objectives.weights import inverse_labeling_weight
from unskew.practice.report import figures
from unskew.practice.report.page import Picture, Section, render_page
from unskew.rankers import make
from unskew.scenario import Sizes, draw_split

METHODS = ("conf-auc", "no-conf", "ntc")
HEADER = ("method", "true AUC", "estimated", "95 % interval", "prior (true)", "labeled of positives (true)")


@dataclass(frozen=True)
class Story:
    """A data set of the demo, what is true of it, and how to train on it."""

    title: str
    paragraphs: tuple[str, ...]
    split: Split
    prior: float
    label_freq: float
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What training on a story gave, by method."""

    story: Story
    rankers: dict[str, Any]
    true: dict[str, float]
    estimated: dict[str, SarAUC]
    curves: SarCurves

    def table(self) -> Table:
        """The result as text: truth beside estimate."""
        rows = []
        for name, ranker in self.rankers.items():
            estimate = self.estimated[name]
            covered = "" if estimate.low <= self.true[name] <= estimate.high else " (missed)"
            rows.append(
                (
                    f"{name} ({ranker.table_name})",
                    f"{self.true[name]:.3f}",
                    f"{estimate.auc:.3f}",
                    f"{estimate.low:.3f} to {estimate.high:.3f}{covered}",
                    f"{estimate.prior:.3f} ({self.story.prior:.2f})",
                    f"{estimate.label_freq:.3f} ({self.story.label_freq:.2f})",
                )
            )
        return Table(HEADER, rows)


def run_demo(out: Path, *, seed: int = 0, show: Callable[[Table, str], None] | None = None) -> Path:
    """Train, print and write the page; returns its path.

    Parameters
    ----------
    out : Path
        Folder for ``index.html`` and ``overview.png``; made if it is missing.
    seed : int
        Seed of every draw.
    show : callable, optional
        Called with each story's table and title as soon as it is known.
    """
    check_random_state(seed)  # before anything is made
    make_folder(out)
    outcomes = []
    for tell in (tell_toy, tell_digits):
        outcome = run_story(tell(seed), seed)
        outcomes.append(outcome)
        if show is not None:
            show(outcome.table(), outcome.story.title)
    write_atomically(out / "overview.png", overview(outcomes[0]))
    page = render_page(
        "unskew: ranking from biased labels, judged without negatives",
        "Nobody here had a negative label. Some positives were labeled, the easy ones far more often, and each label "
        "came with a confidence. Everything below that is called estimated was computed from that alone; everything "
        "called true used the hidden classes, afterwards.",
        [section_of(each) for each in outcomes],
        f"Made by unskew {__version__}, seed {seed}. Numbers of one draw: they move from seed to seed.",
    )
    write_atomically(out / "index.html", page.encode())
    return out / "index.html"


def run_story(story: Story, seed: int) -> Outcome:
    """Train every method, and estimate its AUC by cross-validation on the same PU data."""
    train, held_out = story.split.train, story.split.validation
    X, y, confidence = (
        np.concatenate([getattr(train, field), getattr(held_out, field)]) for field in ("X", "y", "confidence")
    )
    rankers, true, estimated, curves = {}, {}, {}, {}
    for name in METHODS:
        ranker = make(name, random_state=seed, verbose=True, **story.parameters)
        validation = (held_out.X, held_out.y, held_out.confidence)
        rankers[name] = ranker.fit(train.X, train.y, train.confidence, validation=validation)
        true[name] = auc(story.split.test_y, ranker.decision_function(story.split.test_X))
        quiet = clone(ranker).set_params(verbose=False)
        honest = out_of_fold(quiet, X, y, confidence, random_state=seed, verbose=True)
        evidence = y, honest.score, confidence, honest.labeling_prob
        estimated[name] = sar_auc(*evidence, clip=ranker.clip)
        curves[name] = sar_curves(*evidence, clip=ranker.clip)
    return Outcome(story, rankers, true, estimated, curves[METHODS[0]])


def tell_toy(seed: int) -> Story:
    """The toy law: two groups of positives in the plane, of which labelers see mostly one."""
    rng = check_random_state(seed)
    law = toy.ToyLaw()
    train, held_out, test = (toy.draw(n, law, rng) for n in (2500, 600, 20_000))
    split = Split(
        train=Labeled(train.X, train.labeled, train.confidence),
        validation=Labeled(held_out.X, held_out.labeled, held_out.confidence),
        test_X=test.X,
        test_y=test.y,
    )
    paragraphs = (
        f"A Gaussian mixture in the plane whose truth is known. One instance in {1 / law.prior:.0f} is positive. The "
        "positives form two groups; labelers catch most of the upper one and little of the lower one. The confidence "
        "is the true posterior.",
        "The first picture shows the labels as they came, the second as they count after weighting: the rare labels of "
        "the lower group grow, and stand for the positives that nobody labeled.",
    )
    parameters = {"learning_rate": 1e-3, "max_epochs": 100, "batch_size": 256}
    return Story("The toy law", paragraphs, split, law.prior, law.label_freq, parameters)


def tell_digits(seed: int) -> Story:
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
        "With so few labels the labeling probability is estimated roughly, which makes the estimated prior too high "
        "more often than too low. The table shows it as it is.",
    )
    parameters = {"learning_rate": 3e-4, "max_epochs": 300, "batch_size": 256}
    return Story("Digits", paragraphs, split, prior, label_freq, parameters)


def section_of(outcome: Outcome) -> Section:
    """A story's table and pictures."""
    best = outcome.rankers[METHODS[0]]
    parts: list[Table | Picture] = [outcome.table()]
    with pictures.new_figure(3) as (figure, axes):
        figures.draw_aucs(axes[0], outcome.true, outcome.estimated)
        _draw_curves(axes[1], axes[2], outcome)
    parts.append(
        Picture(
            pictures.as_svg(figure),
            "Left: AUC of each method, cross-validated on the biased labels alone, beside the true AUC on test data. "
            "Middle and right: curves of conf-auc, estimated in the same way, beside the true ones on test data.",
        )
    )
    with pictures.new_figure(3) as (figure, axes):
        _draw_training(axes, outcome)
    parts.append(
        Picture(
            pictures.as_svg(figure),
            "Left and middle: risks by epoch of the labeling probability and of conf-auc. Right: weights of the "
            f"labeled instances (best epoch of conf-auc: {best.best_epoch_ + 1}).",
        )
    )
    if outcome.story.split.train.X.shape[1] == 2:
        with pictures.new_figure(2) as (figure, axes):
            _draw_bias(axes, outcome)
        parts.insert(
            1, Picture(pictures.as_svg(figure), "Each blue disc is a labeled instance; its area is what it counts.")
        )
    return Section(outcome.story.title, outcome.story.paragraphs, parts)


def overview(outcome: Outcome) -> bytes:
    """The story in three panels, as PNG: labels as they came, as they count, and how well that ranks."""
    with pictures.new_figure(3) as (figure, axes):
        _draw_bias(axes[:2], outcome)
        figures.draw_aucs(axes[2], outcome.true, outcome.estimated)
        axes[2].set_title("and how well each method ranks")
    return pictures.as_png(figure)


def _weight(outcome: Outcome) -> np.ndarray:
    train = outcome.story.split.train
    labeled = train.y == 1
    prob = outcome.rankers[METHODS[0]].labeling_prob(train.X[labeled])
    return inverse_labeling_weight(train.confidence[labeled], prob)


def _draw_bias(axes: Any, outcome: Outcome) -> None:
    train = outcome.story.split.train
    labeled = train.y == 1
    weight = _weight(outcome)
    figures.draw_labels(axes[0], train.X, labeled, np.ones(int(labeled.sum())), "Labels as they came ...")
    figures.draw_labels(axes[1], train.X, labeled, weight / weight.mean(), "... as they count after weighting ...")
    figures.label_key(axes[0])


def _draw_training(axes: Any, outcome: Outcome) -> None:
    ntc, best = outcome.rankers["ntc"], outcome.rankers[METHODS[0]]
    figures.draw_history(axes[0], ntc.history_, ntc.best_epoch_)
    axes[0].set_title("labeling probability")
    figures.draw_history(axes[1], best.history_, best.best_epoch_)
    axes[1].set_title(best.name)
    figures.draw_weights(axes[2], _weight(outcome))


def _draw_curves(roc_axes: Any, precision_axes: Any, outcome: Outcome) -> None:
    """Curves of conf-auc, estimated out-of-fold, against those of its test rows at the story's prior."""
    best, split = outcome.rankers[METHODS[0]], outcome.story.split
    score = best.decision_function(split.test_X)
    fpr, tpr, _ = roc_curve(split.test_y, score)
    prior = outcome.story.prior
    share = np.where(split.test_y == 1, prior / np.mean(split.test_y), (1 - prior) / np.mean(split.test_y == 0))
    precision, recall, _ = precision_recall_curve(split.test_y, score, sample_weight=share)
    figures.draw_roc(roc_axes, outcome.curves, (fpr, tpr))
    figures.draw_precision(precision_axes, outcome.curves, (recall, precision))
