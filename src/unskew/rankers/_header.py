"""What a model file says of a ranker beside its arrays: checked by types first, then one entry against another."""

import math
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

from unskew._support.json_records import build
from unskew.data.records import Epoch, PUData
from unskew.learning.networks import SCORE_FUNCTIONS

FUNCTIONS = ("posterior", "function")
"""Functions of the row in closed form, and what the names of their arrays begin with."""
WRITTEN_APART = {
    "labeling_",
    "members_",
    *(f"{word}_" for word in FUNCTIONS),
    "classes_",
    "input_shape_",
    "feature_names_in_",
    "schema_",
    "training_summary_",
    "history_",
    "out_of_fold_score_",  # not written at all: it belongs to the rows of the fit
}


@dataclass(frozen=True)
class TrainedOn:
    """Instances that a model was trained on, and their share of labeled ones."""

    n_labeled: int
    n_unlabeled: int
    n_validation_labeled: int
    n_validation_unlabeled: int
    alpha: float

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            require_entry(
                value >= 0 if name != "alpha" else 0 < value < 1, f"training.{name}", "a count or a share", value
            )


@dataclass(frozen=True)
class FoldHeader:
    """One network of the labeling model."""

    network: str | None
    history: tuple[Epoch, ...]
    best_epoch: int
    alpha: float | None
    input_shape: tuple[int, ...] | None = None  # older files have neither shape nor names
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        require_entry(
            self.network is None or self.network in SCORE_FUNCTIONS,
            "its network",
            " or ".join(SCORE_FUNCTIONS),
            self.network,
        )
        require_entry(self.alpha is None or 0 < self.alpha < 1, "its alpha", "between 0 and 1", self.alpha)
        require_best_epoch(self.best_epoch, self.history)


@dataclass(frozen=True)
class MemberHeader:
    """A ranker inside another: its method, its own header, and how its score counts."""

    method: str
    header: dict[str, Any]
    center: float
    spread: float
    weight: float
    agreement: float | None = None
    separation: float | None = None

    def __post_init__(self) -> None:
        numbers = self.center, self.spread, self.weight
        require_entry(
            all(math.isfinite(each) for each in numbers) and self.spread > 0 and 0 <= self.weight <= 1,
            "a member",
            "with a finite center, a spread above 0 and a weight from 0 to 1",
            numbers,
        )


@dataclass(frozen=True)
class Header:
    """What a model file says of a ranker; checked by these types first, then one entry against another."""

    library_version: str
    written_with: dict[str, str]
    parameters: dict[str, Any]
    custom_network: bool
    input_shape: tuple[int, ...]
    n_features_in: int | None
    feature_names: tuple[str, ...] | None
    training: TrainedOn
    history: tuple[Epoch, ...]
    numbers: dict[str, Any]
    labeling: tuple[FoldHeader, ...] | None
    members: tuple[MemberHeader, ...] | None = None  # older files have none
    schema: dict[str, Any] | None = None  # of a mixed data frame; checked by `Schema` itself
    classes: tuple[Any, ...] | None = None  # values of the labels, unless they are 0 and 1

    def __post_init__(self) -> None:
        shape, names, numbers = self.input_shape, self.feature_names, self.numbers
        require_entry(min(shape, default=0) > 0, "input_shape", "one size above 0 or more", shape)
        # A schema makes any number of features of a column.
        n_features = self.n_features_in if self.schema is not None else shape[0] if len(shape) == 1 else None
        for found in (self.n_features_in, numbers.get("n_features_in_")):
            require_entry(found in (None, n_features), "n_features_in", f"that of rows of shape {shape}", found)
        require_entry(not names or len(names) == n_features, "feature_names", f"{n_features} names", names)
        if self.classes is not None:
            require_classes(self.classes)
        for name, value in numbers.items():
            known = name.isidentifier() and name.endswith("_") and not name.startswith("_")
            require_entry(
                known and name not in WRITTEN_APART, "numbers", "numbers of a fitted model, ending with _", name
            )
            require_entry(isinstance(value, float | int | None), f"numbers.{name}", "a number or null", value)
        build(float, numbers.get("threshold_"), "threshold_")
        require_best_epoch(numbers.get("best_epoch_"), self.history)
        for name in ("prior_", "label_freq_", "reliability_"):
            share = build(float | None, numbers.get(name), name)
            require_entry(share is None or 0 <= share <= 1, name, "between 0 and 1", share)
        for fold in self.labeling or ():
            agrees = names is None or self.schema is not None or fold.feature_names in (None, names)
            require_entry(agrees, "feature_names of a labeling model", "those of its ranker", fold.feature_names)
        require_entry(self.labeling is None or len(self.labeling) > 0, "labeling", "one network or more", self.labeling)
        require_entry(self.members is None or len(self.members) > 0, "members", "one or more", self.members)


def summary_of(train: PUData, held_out: PUData | None = None) -> dict[str, Any]:
    """Instances that a model was trained on, and those that chose its epoch."""
    held = (0, 0) if held_out is None else (held_out.n_labeled, held_out.n_unlabeled)
    return dict(vars(TrainedOn(train.n_labeled, train.n_unlabeled, *held, train.alpha)))


def require_entry(holds: bool, what: str, wanted: str, found: Any) -> None:
    if not holds:
        raise ValueError(f"{what} must be {wanted}, but it is {short(found)}")


def require_classes(classes: tuple[Any, ...]) -> None:
    """Refuse classes that are not two different words, numbers or truth values."""
    plain = all(isinstance(each, str | bool | int | float) for each in classes)
    alike = len({isinstance(each, str) for each in classes}) == 1
    require_entry(
        len(classes) == 2 and plain and alike and classes[0] != classes[1],
        "classes",
        "two different numbers or two different words",
        classes,
    )


def require_best_epoch(best: Any, history: tuple[Epoch, ...]) -> None:
    # Methods that train no network of their own have no history, and 0.
    inside = type(best) is int and 0 <= best < max(1, len(history))
    require_entry(inside, "best_epoch", f"one of the {len(history)} epochs", best)
