"""Labeling probability of every row by models that did not see it: a forest and a ridge logistic regression."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

TREES = 100
MOST_TRAINING_ROWS = 20_000
"""Unlabeled rows that a fold learns from, at most: more take long and change little."""
RIDGE = 0.1
HIGHEST = 0.95


@dataclass(frozen=True)
class LabelingFolds:
    """The models of all folds; rows of the training data know the fold that left them out."""

    models: tuple[tuple[RandomForestClassifier, LogisticRegression], ...]
    lowest: float

    def logit_at(self, features: np.ndarray, fold: np.ndarray | None = None) -> np.ndarray:
        """Logit of the labeling probability: by the fold that left the row out or, for new rows, the mean of all."""
        if fold is None:
            return np.asarray(np.mean([self._logit(pair, features) for pair in self.models], axis=0))
        found = np.empty(len(features))
        for number, pair in enumerate(self.models):
            inside = fold == number
            if inside.any():
                found[inside] = self._logit(pair, features[inside])
        return found

    def _logit(self, pair: tuple[RandomForestClassifier, LogisticRegression], features: np.ndarray) -> np.ndarray:
        both = [np.clip(model.predict_proba(features)[:, 1], self.lowest, HIGHEST) for model in pair]
        return np.asarray(np.mean(logit(both), axis=0))


def fit_labeling_folds(
    features: np.ndarray, labeled: np.ndarray, alpha: float, n_folds: int, rng: np.random.RandomState
) -> tuple[LabelingFolds, np.ndarray]:
    """The models, and the fold that left out each row.

    `alpha` is the share of labeled rows in the whole table, of which these rows may be a part.
    """
    fold = np.empty(len(labeled), dtype=np.int64)
    models = []
    parts = StratifiedKFold(n_folds, shuffle=True, random_state=rng).split(np.zeros(len(labeled)), labeled)
    for number, (inside, outside) in enumerate(parts):
        fold[outside] = number
        forest = RandomForestClassifier(TREES, min_samples_leaf=10, random_state=rng.randint(2**31 - 1))
        logistic = LogisticRegression(C=RIDGE, max_iter=500)
        models.append(tuple(model.fit(features[inside], labeled[inside]) for model in (forest, logistic)))
    return LabelingFolds(tuple(models), alpha / 20), fold
