"""The share of positives: given, or estimated from what is known of the labels; and the cut that it sets."""

import warnings
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unskew.data.records import PUData
from unskew.data.validation import require_room_for_labeled
from unskew.errors import NoEstimateWarning
from unskew.objectives.weights import inverse_labeling_weight


@dataclass(frozen=True)
class Share:
    """A prior, whether it may be shown as `prior_`, and if the estimate was impossible, what it was."""

    prior: float
    trusted: bool
    impossible: str = ""


def share_of_positives(given: float | None, parts: list[PUData], clip: float, scenario: str) -> Share:
    """Prior as given; else from the confidence; else by Elkan and Noto's rule, which is good enough for a cut only.

    The first part is what the labeling model was fitted on: labeling probabilities belong to its share of labeled
    instances, which is that of the whole sample where it was split.
    """
    alpha = parts[0].alpha
    if given is not None:
        return Share(with_room_for_labeled(float(given), parts[0], scenario), trusted=True)
    sure = [part for part in parts if part.confidence is not None]
    if sure:
        return _from_confidence(sure, alpha, clip, scenario)
    # Elkan and Noto (2008): under SCAR, labeled instances have u = c on average where classes separate.
    mean = float(np.maximum(np.concatenate([part.divisor for part in parts]), clip).mean())
    return Share(min(1.0, (alpha if scenario == "one-sample" else 1.0) / mean), trusted=False)


def warn_impossible(share: Share, name: str) -> None:
    """Say that a method trains with the nearest possible prior."""
    warnings.warn(
        f"{name} trains with the prior, but confidence and labeling probability say something impossible, "
        f"{share.impossible}: it trains with {share.prior:.4g}. Pass prior=..., or check that the confidence is a "
        "probability.",
        NoEstimateWarning,
        stacklevel=6,
    )


def with_room_for_labeled(prior: float, data: PUData, scenario: str) -> float:
    """Prior as given; raised to the share of labeled instances where it falls short by no more than one of them.

    That much a fold of a cross-validation may have more of them than the whole, for which the prior holds.
    """
    if scenario != "one-sample" or prior >= data.alpha:
        return prior
    if prior < data.alpha - 1 / (data.n_labeled + data.n_unlabeled):
        advice = "If the unlabeled were drawn apart from the labeled, pass scenario='two-sample'."
        require_room_for_labeled(prior, data.alpha, advice)
    return data.alpha


def _from_confidence(parts: list[PUData], alpha: float, clip: float, scenario: str) -> Share:
    """E_l[r / u] = 1 / c, hence pi = alpha / c = alpha mean(r / u); for two samples pi = mean(r / density ratio)."""
    confidence = np.concatenate([part.confidence for part in parts if part.confidence is not None])
    divisor = np.concatenate([part.divisor for part in parts])
    mean_weight = float(inverse_labeling_weight(confidence, divisor, clip).mean())
    estimate, least = (alpha * mean_weight, alpha) if scenario == "one-sample" else (mean_weight, 0.0)
    impossible = ""
    if estimate >= 1:
        impossible = f"a prior of {estimate:.4g}"
    elif estimate < least:
        impossible = f"a prior of {estimate:.4g}, below the share {alpha:.4g} of labeled instances"
    return Share(float(np.clip(estimate, least, 1.0)), trusted=True, impossible=impossible)


class Order(Protocol):
    """Scores in ascending order, wherever they are."""

    def __len__(self) -> int:
        """Count of scores."""

    def at(self, place: int) -> float:
        """Score at a place, from 0 on."""

    def count_below(self, value: float) -> int:
        """Scores below a value."""

    def count_up_to(self, value: float) -> int:
        """Scores below a value or equal to it."""


class InMemory:
    """Scores in an array; see `Order`."""

    def __init__(self, score: np.ndarray) -> None:
        self.score = score

    def __len__(self) -> int:
        return len(self.score)

    def at(self, place: int) -> float:
        """Score at a place, from 0 on."""
        return float(np.partition(self.score, place)[place])

    def count_below(self, value: float) -> int:
        """Scores below a value."""
        return int(np.count_nonzero(self.score < value))

    def count_up_to(self, value: float) -> int:
        """Scores below a value or equal to it."""
        return int(np.count_nonzero(self.score <= value))


def cut(score: np.ndarray, share: float) -> float:
    """Threshold that this share of the scores reaches, halfway between two of them so that rounding does not decide."""
    return cut_in(InMemory(score), share)


def cut_in(scores: Order, share: float) -> float:
    """The same of scores wherever they are."""
    n = len(scores)
    if n == 1:
        return scores.at(0)
    n_below = min(max(round((1 - share) * n), 1), n - 1)
    low, high = scores.at(n_below - 1), scores.at(n_below)
    return _halfway(low, high) if low != high else _threshold_beside_tie(scores, high, n - n_below)


def _threshold_beside_tie(scores: Order, tie: float, wanted: int) -> float:
    """Threshold above or below scores that are all the same, so that nearly as many as wanted reach it, but not none.

    Where all scores are the same it is the more frequent class that all get.
    """
    n, n_below = len(scores), scores.count_below(tie)
    n_above = n - scores.count_up_to(tie)
    if not n_above and not n_below:
        return tie if 2 * wanted > n else float(np.nextafter(tie, np.inf))
    too_few, too_many = wanted - n_above, n - n_below - wanted
    if n_above and (too_few <= too_many or not n_below):
        return _halfway(tie, scores.at(n - n_above))
    return _halfway(scores.at(n_below - 1), tie)


def _halfway(low: float, high: float) -> float:
    return float(low / 2 + high / 2)
