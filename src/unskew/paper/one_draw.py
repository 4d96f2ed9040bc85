"""A draw of a data set and the runs on it, for which data are drawn and the labeling network is trained once."""

import os
import platform
import re
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from unskew.data.records import Labeled, RawData, Split
from unskew.datasets import describe, load, reader
from unskew.learning.trainer import Trainer
from unskew.objectives.auc import auc
from unskew.objectives.weights import inverse_labeling_weight
from unskew.paper.baselines import BASELINES, baseline_scores
from unskew.paper.own_files import row_digests
from unskew.paper.plans import EPOCHS, Setting
from unskew.paper.store import Row
from unskew.rankers import Ranker, make
from unskew.scenario import draw_split
from unskew.scenario.confidence import CONFIDENCE_EPOCHS, TRANSFORMS, NoisyLabeling, in_levels, noisy, share_of_votes

_LENDER = "ntc"
"""The method whose network is the labeling probability of all others."""


@lru_cache(maxsize=1)
def _load_dataset(name: str, _read: Callable[..., RawData]) -> RawData:
    """The data set; read again if an edited file has registered another reader under its name."""
    return load(name)


class Draw:
    """A draw of a data set, with what methods share, for all settings with the `split` of this one."""

    def __init__(self, setting: Setting) -> None:
        raw, about = _load_dataset(setting.dataset, reader(setting.dataset)), describe(setting.dataset)
        self.setting = setting
        self.training: dict[str, Any] = {
            "network": about.network or ("cnn" if raw.X.ndim == 4 else "mlp"),  # the paper's (App. E.3)
            "batch_size": about.batch_size,
            "learning_rate": about.learning_rate,
        }
        trainer = Trainer(**self.training, max_epochs=min(CONFIDENCE_EPOCHS, setting.max_epochs))
        self.split: Split = draw_split(
            raw,
            prior=setting.prior,
            label_freq=setting.label_freq,
            rng=_generator_of_run(setting, _DRAW),
            sizes=about.sizes,
            trainer=trainer,
            selection=setting.selection,
            source=setting.source,
        )

    def row(self, setting: Setting) -> Row:
        """Run a setting; returns its row, which does not depend on the other settings or on their order."""
        assert setting.split == self.setting.split
        split = _with_changed_confidence(self.split, setting)
        result, weights = (self._of_baseline if setting.method in BASELINES else self._of_ranker)(setting, split)
        return {
            **asdict(setting),
            **row_digests(asdict(setting)),
            **result,
            "n_labeled": int(split.train.y.sum()),
            "n_train": len(split.train.y),
            **weights,
            "versions": _versions_of_libraries(setting.method),
            "machine": _about_machine(),
        }

    def _of_ranker(self, setting: Setting, split: Split) -> tuple[Row, Row]:
        """How a method of the package did, and the weights of its labeled instances."""
        ranker, seconds, labeling_seconds = self._fitted(setting, split)
        result = {
            "auc": ranker.score(split.test_X, split.test_y),
            "seconds": round(seconds, 4),
            "labeling_seconds": round(labeling_seconds, 4),
            **_history_of_run(ranker),
        }
        return result, _weights_of_labeled(ranker, split.train)

    def _of_baseline(self, setting: Setting, split: Split) -> tuple[Row, Row]:
        """The same for a baseline, which has no epochs and no weights."""
        scores, seconds = baseline_scores(setting.method, split, self._training_seed())
        untrained = {"best_epoch": None, "epochs": 0, "validation_risk": None}
        result = {"auc": auc(split.test_y, scores), "seconds": round(seconds, 4), "labeling_seconds": 0.0}
        return {**result, **untrained}, {}

    def _fitted(self, setting: Setting, split: Split) -> tuple[Ranker, float, float]:
        """The fitted method, its seconds, and those of the labeling network that was lent to it."""
        if setting.method == _LENDER and not setting.labeling_noise:
            return *self.lender, 0.0
        ranker = self.unfitted(setting.method)
        if not ranker.uses_labeling:
            return ranker, fit_timed(ranker, split), 0.0
        lender, labeling_seconds = self.lender
        labeling: Ranker | NoisyLabeling = lender
        if setting.labeling_noise:
            rng = _generator_of_run(setting, _LABELING_NOISE)
            labeling = NoisyLabeling(lender.labeling_, setting.labeling_noise, rng)
        ranker.set_params(labeling=labeling, clip=setting.clip)
        return ranker, fit_timed(ranker, split), labeling_seconds

    @cached_property
    def lender(self) -> tuple[Ranker, float]:
        """The fitted method whose network estimates the labeling probability for all, and its seconds."""
        ranker = self.unfitted(_LENDER)
        return ranker, fit_timed(ranker, self.split)

    def unfitted(self, method: str) -> Ranker:
        """A ranker as the paper trains it or, where it is not the paper's, as users do."""
        # No table of the paper has probabilities, and each fit of them would take its time.
        usual = {"prior": self.setting.prior, "probability": False, "random_state": self._training_seed()}
        as_in_paper = make(method, **usual, **self.training, max_epochs=self.setting.max_epochs)
        if not as_in_paper.beyond_paper:
            return as_in_paper
        fewer = {} if self.setting.max_epochs == EPOCHS else {"max_epochs": self.setting.max_epochs}
        return make(method, **usual, network=self.training["network"], **fewer)

    def _training_seed(self) -> int:
        return int(_generator_of_run(self.setting, _TRAINING).randint(2**31 - 1))


def fit_timed(ranker: Ranker, split: Split) -> float:
    """Fit, and return the processor seconds that took: other work on the machine does not count."""
    train, held_out = split.train, split.validation
    validation = held_out.X, held_out.y, held_out.confidence
    start = time.process_time()
    ranker.fit(train.X, train.y, confidence=train.confidence, validation=validation)
    return time.process_time() - start


def _with_changed_confidence(split: Split, setting: Setting) -> Split:
    """The draw with its confidence transformed, noise on it, and then told in levels or by votes."""
    rng, voters = (_generator_of_run(setting, purpose) for purpose in (_CONFIDENCE_NOISE, _VOTES))

    def changed(part: Labeled) -> Labeled:
        confidence = part.confidence
        if setting.power != 1:
            confidence = TRANSFORMS[setting.transform](confidence, setting.power)
        if setting.confidence_noise:
            confidence = noisy(confidence, setting.confidence_noise, rng)
        if setting.levels:
            confidence = in_levels(confidence, setting.levels)
        if setting.votes:
            confidence = share_of_votes(confidence, setting.votes, voters)
        return replace(part, confidence=confidence)

    return replace(split, train=changed(split.train), validation=changed(split.validation))


_DRAW, _TRAINING, _CONFIDENCE_NOISE, _LABELING_NOISE, _VOTES = range(5)


def _generator_of_run(setting: Setting, purpose: int) -> np.random.RandomState:
    # Rows, first weights and noise differ between priors, because runs of one seed would be correlated otherwise. They
    # are the same for every method, and at every level of noise in units of its deviation: these are compared.
    return np.random.RandomState([setting.seed, round(1e6 * setting.prior), purpose])


def _history_of_run(ranker: Ranker) -> Row:
    """How training went; the score of a noisy labeling probability was not trained."""
    best, risk = None, None
    if ranker.history_:
        best = ranker.best_epoch_
        risk = ranker.history_[best].validation_risk
    return {"best_epoch": best, "epochs": len(ranker.history_), "validation_risk": risk}


def _weights_of_labeled(ranker: Ranker, train: Labeled) -> Row:
    """Weights of the labeled training instances, for the method of the paper."""
    if ranker.name != "conf-auc" or isinstance(ranker.labeling, NoisyLabeling):  # its noise is not kept
        return {}
    labeled = train.y == 1
    prob = ranker.labeling_prob(train.X[labeled])
    weight = inverse_labeling_weight(train.confidence[labeled], prob, ranker.clip)
    return {"weights": [float(f"{each:.4g}") for each in np.sort(weight)]}


def _versions_of_libraries(method: str) -> dict[str, str]:
    own = [BASELINES[method].package] if method in BASELINES and BASELINES[method].extra else []
    names = ["unskew", "torch", "numpy", "scikit-learn", *own]
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


@lru_cache(maxsize=1)
def _about_machine() -> dict[str, str | int]:
    about = Path("/proc/cpuinfo")
    models = re.findall(r"model name\s*: (.*)", about.read_text()) if about.exists() else []
    processor = models[0] if models else platform.machine()
    return {"system": platform.system(), "processor": processor, "cores": os.cpu_count() or 1}
