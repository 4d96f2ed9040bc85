"""From rows, labels and confidence to the fitted posterior, under several sets of assumptions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unskew.errors import TooFewLabeled
from unskew.posterior._basis import (
    MOST_FEATURES,
    Scales,
    Scaling,
    Waves,
    columns_of_propensity,
    is_large,
    scale_of_columns,
)
from unskew.posterior._confidence import ConfidenceFit, confidence_logit, fit_confidence
from unskew.posterior._joint_fit import FREE, JointData, JointFit
from unskew.posterior._model import Errors, PosteriorModel
from unskew.posterior._reliability import explained_share, weights_for_all_rows

LEAST_LABELED = 4
MOST_LABELED, MOST_UNLABELED, MOST_CELLS = 3_000, 10_000, 20_000_000
"""Rows, and numbers in them, that are fitted to at most: more take long and change little."""


class View(NamedTuple):
    """Assumptions that the rows themselves can hardly check.

    Attributes
    ----------
    stretch : float
        How much larger the variance of f is among all rows than the labeled ones show, because these are alike.
    tilt : float
        Prior variance of the slopes of g: how much the propensity depends on the columns.
    scales : str
        Field of `ConfidenceFit`: what the columns do not explain of the confidence is real, or noise, or either.
    """

    stretch: float = 2.0
    tilt: float = 0.15
    scales: str = "scales"


STRETCH_STEP, MOST_STRETCH = 4.0, 128.0
CLEARLY = 5.0
"""Difference of the logarithm of two likelihoods from which on the larger one counts."""


def other_views(usual: View) -> tuple[View, ...]:
    """Opposite answers to three questions; how far they are from the usual one is a part of every error."""
    return (
        *(usual._replace(stretch=factor * usual.stretch) for factor in (0.35, 3.0)),
        *(usual._replace(tilt=tilt) for tilt in (0.02, 1.0)),
        *(usual._replace(scales=scales) for scales in ("all_real", "all_noise")),
    )


@dataclass(frozen=True)
class FittedPosterior:
    """The function of the row, and how far it can be trusted.

    Attributes
    ----------
    influence_of_labels : array of shape (n_labeled, n_columns)
        What each label, by how badly it was predicted from the others, did to the coefficients.
    """

    model: PosteriorModel
    influence_of_labels: np.ndarray
    reliability: float

    @property
    def covariance(self) -> np.ndarray:
        """Of the coefficients of f, under the first set of assumptions."""
        assert self.model.errors is not None
        return self.model.errors.covariance


def most_rows(n_inputs: int, most: int = MOST_UNLABELED) -> int:
    """Rows of this width that are fitted to, at most: `most`, or fewer of wide ones.

    Examples
    --------
    >>> from unskew.posterior import most_rows
    >>> most_rows(10) >= most_rows(100_000) > 0
    True
    """
    return min(most, max(200, MOST_CELLS // max(1, n_inputs)))


def rows_to_fit(
    labeled: np.ndarray, n_inputs: int, rng: np.random.RandomState, least: int = LEAST_LABELED
) -> tuple[np.ndarray, np.ndarray]:
    """Rows that are fitted to, in order, and how many of the table each stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew.posterior import rows_to_fit
    >>> rows, stands_for = rows_to_fit(np.arange(100) < 20, 2, np.random.RandomState(0))
    >>> len(rows), bool((stands_for == 1).all())  # few rows are all fitted to
    (100, True)
    """
    found = int(labeled.sum()), int((~labeled).sum())
    if min(found) < least:
        raise TooFewLabeled(
            f"a posterior needs at least {least} labeled and {least} unlabeled rows, but there are {found[0]} and "
            f"{found[1]}. Label more."
        )
    rows, weight = [], np.ones(len(labeled))
    for which, most in ((labeled, MOST_LABELED), (~labeled, MOST_UNLABELED)):
        places, most = np.flatnonzero(which), most_rows(n_inputs, most)
        kept = places if len(places) <= most else rng.choice(places, most, replace=False)
        weight[kept] = len(places) / len(kept)
        rows.append(kept)
    chosen = np.sort(np.concatenate(rows))
    return chosen, weight[chosen]


def fit_rows(
    X: np.ndarray,
    labeled: np.ndarray,
    confidence: np.ndarray,
    weight: np.ndarray,
    two_sample: bool,
    rng: np.random.RandomState,
    *,
    with_other_views: bool = True,
) -> FittedPosterior:
    """Fit to these rows, of which each stands for `weight` rows of the table; `confidence` is of the labeled ones.

    Other sets of assumptions are for errors of estimates; probabilities and scores do not need them.

    Examples
    --------
    >>> import numpy as np
    >>> import unskew
    >>> from unskew.posterior import fit_rows
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> labeled = data.labeled == 1
    >>> rng = np.random.RandomState(0)
    >>> fitted = fit_rows(data.X, labeled, data.confidence[labeled], np.ones(300), False, rng)
    >>> type(fitted).__name__
    'FittedPosterior'
    """
    scaling, features, alone = _best_scaling(X, labeled, confidence, rng)
    del X  # a caller that keeps no name for it, nor passes it in a list of arguments, lets it go here
    waves = Waves.draw(alone.scales.length, features.shape[1], rng)
    of_f, n_features = waves.columns_of_posterior(features), features.shape[1]
    # Those of g are the first ones of f; a copy rounds as it always did.
    columns = of_f, of_f[:, : 1 + n_features] if is_large(features) else columns_of_propensity(features)
    del features  # of wide tables tens of megabytes, which are among the columns now
    y = confidence_logit(confidence)

    def fit(view: View, start: np.ndarray | None = None) -> JointFit:
        scales: Scales = getattr(alone, view.scales)
        scale = _scale_under(view, scales, n_features, two_sample)
        variances = scales.unseen, scales.noise
        return JointFit.of(JointData.of(columns, scale, labeled, weight, y, variances, two_sample), start)

    usual, first = _usual_view(fit)
    others = other_views(usual) if with_other_views else ()
    fits = [first, *(fit(view, first.coefficients) for view in others)]
    n = columns[0].shape[1]
    coefficients = np.column_stack([each.coefficients[:n] for each in fits])
    unseen = np.array([each.data.told.unseen for each in fits])
    errors = Errors(first.covariance[:n, :n], first.data.noise, None if two_sample else first.coefficients[n:])
    model = PosteriorModel(scaling, waves, coefficients, unseen, np.zeros(len(fits)), errors)
    return FittedPosterior(model, first.influence_of_labels(alone.residual), _reliability(alone, first))


def _reliability(alone: ConfidenceFit, joint: JointFit) -> float:
    """How well the confidence of a label is predicted without it, by the worse one of the two fits.

    The regression on labels alone says whether the confidence follows from the row. The joint fit has to explain, too,
    who is labeled; where it gives up what the labels say for that, its probabilities are off.
    """
    y, weight, rows = joint.data.told.logit, weights_for_all_rows(joint.log_labeling()), alone.left_out
    by_regression = explained_share(y[rows], y[rows] - alone.residual[rows], weight[rows])
    return min(by_regression, explained_share(y, joint.left_out_logits(), weight))


def _usual_view(fit: Callable[[View], JointFit]) -> tuple[View, JointFit]:
    """The assumptions that count, and the fit under them.

    Labels that are all alike, such as those of one level, show no variation of f at all. Then that they can be told
    from the other rows shows it: f varies as much more as makes labels and confidence together clearly more likely.
    """
    view = View()
    found = fit(view)
    while view.stretch < MOST_STRETCH:
        wider = view._replace(stretch=STRETCH_STEP * view.stretch)
        if (other := fit(wider)).evidence < found.evidence + CLEARLY:
            break
        view, found = wider, other
    return view, found


def _best_scaling(
    X: np.ndarray, labeled: np.ndarray, confidence: np.ndarray, rng: np.random.RandomState
) -> tuple[Scaling, np.ndarray, ConfidenceFit]:
    """Columns each in its own unit or, where there are very many and it explains the confidence better, all in one."""
    some = rng.randint(2**31 - 1)  # the same labeled rows for both, where only some are used
    choices = (False, True) if X.shape[1] > MOST_FEATURES else (False,)
    scalings = [Scaling.of(X, rng, one_unit=each) for each in choices]
    found = [fit_confidence(each.apply(X[labeled]), confidence, np.random.RandomState(some)) for each in scalings]
    best = int(np.argmax([each.evidence for each in found]))
    return scalings[best], scalings[best].apply(X), found[best]


def _scale_under(view: View, scales: Scales, n_features: int, two_sample: bool) -> np.ndarray:
    """Prior standard deviation of each coefficient, of f and then of g, under a set of assumptions."""
    stretched = scales._replace(linear=view.stretch * scales.linear, waves=view.stretch * scales.waves)
    of_propensity = np.r_[FREE if two_sample else 1.0, np.full(n_features, np.sqrt(view.tilt))]
    return np.concatenate([scale_of_columns(stretched, n_features), of_propensity])
