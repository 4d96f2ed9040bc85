"""The frozen records that one stage hands to the next."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from unskew.data.rows import Rows
    from unskew.data.team import Share


@dataclass(frozen=True)
class PUData:
    """Positive-unlabeled data: which rows of X are labeled, which are not, and how sure the labels are.

    There is no field for the true class: it cannot reach a fit. Two records may share one X, as training data and its
    hold-out do, without a copy.

    Attributes
    ----------
    X : Rows
        Features.
    labeled_rows, unlabeled_rows : int arrays of shape (n_labeled,) and (n_unlabeled,)
        Row numbers in X.
    confidence : float array of shape (n_labeled,) in [0, 1], or None where none was given
    labeling_prob, density_ratio : float arrays of shape (n_labeled,), or None
        Probability of being labeled; in the two-sample scenario the density ratio of labeled to all instances instead.
    weight, unlabeled_weight : float arrays of shape (n_labeled,) and (n_unlabeled,), or None
        What the risk multiplies each instance with.
    sample_alpha : float or None
        Share of labeled instances in the sample that this is a part of; None where it is the whole.
    share : Share or None
        Who holds the other unlabeled rows, where several workers hold the data together: `unlabeled_rows` and
        `unlabeled_weight` are then those of this worker's rows, but counts and shares are about all.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew.data.rows import as_rows
    >>> from unskew.records import PUData
    >>> data = PUData(as_rows(np.zeros((5, 2), np.float32)), np.array([0, 3]), np.array([1, 2, 4]))
    >>> data.n_labeled, data.n_unlabeled, data.alpha
    (2, 3, 0.4)
    """

    X: "Rows"
    labeled_rows: np.ndarray
    unlabeled_rows: np.ndarray
    confidence: np.ndarray | None = None
    labeling_prob: np.ndarray | None = None
    weight: np.ndarray | None = None
    unlabeled_weight: np.ndarray | None = None
    sample_alpha: float | None = None
    density_ratio: np.ndarray | None = None
    share: "Share | None" = None

    @property
    def divisor(self) -> np.ndarray:
        """What the confidence is divided by for a weight: the labeling probability or the density ratio."""
        estimate = self.labeling_prob if self.density_ratio is None else self.density_ratio
        assert estimate is not None, "only methods with uses_labeling have it"
        return estimate

    @property
    def n_labeled(self) -> int:
        """Count of labeled instances."""
        return len(self.labeled_rows)

    @property
    def n_unlabeled(self) -> int:
        """Count of unlabeled instances, of all workers where there are several."""
        return len(self.unlabeled_rows) if self.share is None else sum(self.share.sizes)

    @property
    def alpha(self) -> float:
        """Share of labeled instances in the sample, which a part of it may not have to the last instance."""
        return self.labeled_share if self.sample_alpha is None else self.sample_alpha

    @property
    def labeled_share(self) -> float:
        """Share of labeled instances in this very record."""
        return self.n_labeled / (self.n_labeled + self.n_unlabeled)


class ScoredBatch(NamedTuple):
    """Scores of a batch (or of a whole data set) and what else a risk needs.

    Attributes
    ----------
    labeled, unlabeled : tensors of shape (n_labeled,) and (n_unlabeled,)
        Scores.
    alpha : float
        Share of labeled instances in the whole data set, not in the batch.
    weight, confidence : tensors of shape (n_labeled,), or None
    unlabeled_weight : tensor of shape (n_unlabeled,), or None

    Examples
    --------
    >>> import torch
    >>> from unskew.records import ScoredBatch
    >>> ScoredBatch(torch.zeros(2), torch.zeros(8), alpha=0.2).alpha
    0.2
    """

    labeled: "Tensor"
    unlabeled: "Tensor"
    alpha: float
    weight: "Tensor | None" = None
    confidence: "Tensor | None" = None
    unlabeled_weight: "Tensor | None" = None


class Epoch(NamedTuple):
    """One row of a training history.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("ntc", max_epochs=3, random_state=0).fit(data.X, data.labeled, confidence=data.confidence)
    >>> [row.epoch for row in ranker.history_]
    [0, 1, 2]
    """

    epoch: int
    train_risk: float
    validation_risk: float


@dataclass(frozen=True)
class RawData:
    """A data set with its true classes, before anything is hidden.

    Attributes
    ----------
    X : array of shape (n, n_features) or (n, channels, height, width)
    y : int array of shape (n,)
        True class, 1 positive and 0 negative.
    classes : int array of shape (n,)
        Original class, of which `y` is a grouping.
    favored : bool array of shape (n,)
        Instances that labelers prefer among the positives, by class or by distance (App. E.1).
    confidence : array of shape (n,), or None
        Share of the annotators that say positive, NaN for instances that nobody annotated (App. E.2); None for a data
        set without annotators.

    Examples
    --------
    >>> from unskew import datasets
    >>> raw = datasets.load("digits")
    >>> raw.X.shape, int(raw.y.max()), raw.confidence is None
    ((1797, 64), 1, True)
    """

    X: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    favored: np.ndarray
    confidence: np.ndarray | None = None


@dataclass(frozen=True)
class Sizes:
    """Instances of each part; the paper's by default. The test part is half positive, the others have the prior.

    Examples
    --------
    >>> from unskew import datasets
    >>> datasets.Sizes(train=300, validation=300, confidence=200, test=150).train
    300
    """

    train: int = 5000
    validation: int = 1000
    confidence: int = 10_000
    test: int = 5000


@dataclass(frozen=True)
class Labeled:
    """What a fit is given: features, labels (1 labeled, 0 unlabeled), confidence (NaN where unlabeled).

    Examples
    --------
    >>> import numpy as np
    >>> from unskew.records import Labeled
    >>> Labeled(np.zeros((2, 3)), np.array([1, 0]), np.array([0.8, np.nan])).y.tolist()
    [1, 0]
    """

    X: np.ndarray
    y: np.ndarray
    confidence: np.ndarray


@dataclass(frozen=True)
class Split:
    """One draw of an experiment: what a fit sees, and the test part with its true classes.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import datasets, scenario
    >>> from unskew.learning.trainer import Trainer
    >>> sizes = datasets.Sizes(train=200, validation=100, confidence=100, test=100)
    >>> split = scenario.draw_split(
    ...     datasets.load("digits"), prior=0.2, label_freq=0.4, rng=np.random.RandomState(0), sizes=sizes,
    ...     trainer=Trainer(max_epochs=2),
    ... )
    >>> split.train.X.shape, int(split.train.y.sum())
    ((200, 64), 16)
    """

    train: Labeled
    validation: Labeled
    test_X: np.ndarray
    test_y: np.ndarray
