"""What a user would run otherwise: common classifiers of labeled against unlabeled, to compare the methods with.

They are no rankers of the package. They see no confidence, and they need no validation part: they learn from its rows
as well.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from unskew.data.records import Split
from unskew.errors import MissingExtra

_STRENGTHS = tuple(10.0**power for power in range(-5, 2))
"""Values of C to choose from: from hardly any slope on thousands of pixels to hardly any penalty on a few columns."""
_FOLDS = 5


@dataclass(frozen=True)
class Baseline:
    """A classifier by the name of its package, with the name that tables show."""

    table_name: str
    package: str
    extra: str  # of this package that installs it; empty where it is always there
    make: Callable[[int, int], Any]  # from a seed and the number of labeled rows


def _logistic(seed: int, n_labeled: int) -> Any:
    """Logistic regression on standardized columns, its penalty chosen by the log loss of folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    folds = StratifiedKFold(min(_FOLDS, n_labeled), shuffle=True, random_state=seed)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return GridSearchCV(model, {"logisticregression__C": _STRENGTHS}, scoring="neg_log_loss", cv=folds)


def _lightgbm(seed: int, _n_labeled: int) -> Any:
    """Boosted trees that are small, because few rows are labeled."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=100,
        learning_rate=0.05,
        num_leaves=7,
        min_child_samples=20,
        n_jobs=1,
        verbosity=-1,
        random_state=seed,
    )


BASELINES: dict[str, Baseline] = {
    "logistic": Baseline("Logistic", "sklearn", "", _logistic),
    "lightgbm": Baseline("LightGBM", "lightgbm", "trees", _lightgbm),
}
"""Baselines by the name that plans and rows of results have for them."""


def check_installed(name: str) -> None:
    """Raise `MissingExtra` unless the package of a baseline is there."""
    baseline = BASELINES[name]
    if find_spec(baseline.package) is None:
        raise MissingExtra(
            f"{name} needs the package {baseline.package}, which is not installed. Install it with: "
            f"pip install 'unskew[{baseline.extra}]'"
        )


def baseline_scores(name: str, split: Split, seed: int) -> tuple[np.ndarray, float]:
    """Scores of the test rows by a baseline that was fitted to all other rows, and the processor seconds of the fit."""
    check_installed(name)
    parts = split.train, split.validation
    X = np.concatenate([_as_columns(part.X) for part in parts])
    y = np.concatenate([part.y for part in parts])
    model = BASELINES[name].make(seed, int(y.sum()))
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    return np.asarray(model.predict_proba(_as_columns(split.test_X))[:, 1]), seconds


def _as_columns(X: np.ndarray) -> np.ndarray:
    """A column for each pixel of images."""
    return X.reshape(len(X), -1)
