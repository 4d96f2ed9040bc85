"""Checks of weights, confidence and labeling probability, none of which uses the true classes; each gives a finding."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew._support.text import percent
from unskew.data.validation import SCENARIOS, check_choice
from unskew.metrics.shifts import Shift, Unit, over_representation
from unskew.objectives.weights import effective_sample_size, inverse_labeling_weight

__all__ = [
    "LEVELS",
    "Finding",
    "ParetoTail",
    "Shift",
    "Unit",
    "diagnose",
    "over_representation",
    "pareto_tail",
]

LEAST_TAIL = 5
"""Fewest large weights that a tail is judged by, as in Pareto smoothed importance sampling."""

LEVELS = GOOD, NOTE, WARNING = "good", "note", "warning"


@dataclass(frozen=True)
class Finding:
    """One check and what came out.

    Attributes
    ----------
    level : {"good", "note", "warning"}
    name : str
        For programs, such as "effective-sample-size".
    text : str
        One plain sentence with the number.
    advice : str
        What to do; empty where nothing is to be done.
    columns : tuple of str
        Columns of the table that it is about, for programs that offer to leave them out.

    Examples
    --------
    >>> from unskew import diagnostics
    >>> finding = diagnostics.Finding("note", "Few labels", "Only 12 rows are labeled.", "Label more.")
    >>> finding.message
    'Only 12 rows are labeled. Label more.'
    """

    level: str
    name: str
    text: str
    advice: str = ""
    columns: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """What was found, and what to do about it."""
        return f"{self.text} {self.advice}".rstrip()

    def to_json(self) -> dict[str, Any]:
        """As plain data; files of earlier versions name no columns, and where there are none they are left out."""
        content = {**vars(self), "columns": list(self.columns)}
        return content if self.columns else {key: content[key] for key in content if key != "columns"}

    def __post_init__(self) -> None:
        check_choice("level", self.level, LEVELS)


def diagnose(
    confidence: Any,
    labeling_prob: Any,
    clip: float,
    *,
    label_freq: float | None = None,
    scenario: str = "one-sample",
    alpha: float | None = None,
    prior: float | None = None,
) -> list[Finding]:
    """Check weights, confidence and labeling probability of the labeled rows.

    Parameters
    ----------
    confidence : array of shape (n_labeled,), in [0, 1]
    labeling_prob : array of shape (n_labeled,)
        Best out of fold; in the two-sample scenario the density ratio.
    clip : float
        Labeling probabilities below were raised to it.
    label_freq : float, optional
        Estimated share of the positives that is labeled. If left out, what `alpha` and `prior` say, where both are
        given, and else these weights.
    scenario : {"one-sample", "two-sample"}
    alpha : float, optional
        Share of labeled rows among all; with it, the estimated share of positives is checked too.
    prior : float, optional
        Share of positives, where it is known: it is held against what the weights say.

    Returns
    -------
    findings : list of Finding
        One per check, always in the same order.

    Examples
    --------
    >>> for each in diagnose([0.9] * 200, [0.3] * 200, 0.01)[:1]:
    ...     print(each.level, each.text)
    good The 200 labeled rows count as much as 200 equally weighted ones would (100 %).
    """
    check_choice("scenario", scenario, SCENARIOS)
    confidence, labeling_prob = np.asarray(confidence, dtype=np.float64), np.asarray(labeling_prob, dtype=np.float64)
    weight = inverse_labeling_weight(confidence, labeling_prob, clip)
    findings = check_weights(confidence, labeling_prob, clip, scenario)
    if scenario == "one-sample":
        if label_freq is None:
            label_freq = 1 / float(weight.mean()) if alpha is None or prior is None else alpha / prior
        findings.append(check_label_frequency(label_freq))
    if scenario == "two-sample" or alpha is not None:
        least = 0.0 if alpha is None or scenario != "one-sample" else alpha
        # Labeled rows are positive: weights that imply fewer are a finding of the label frequency, not of this one.
        estimate = max(least, float(weight.mean()) * (least or 1.0))
        findings.append(check_prior(estimate) if prior is None else check_known_prior(prior, estimate))
    return findings


def check_weights(
    confidence: np.ndarray, labeling_prob: np.ndarray, clip: float, scenario: str = "one-sample"
) -> list[Finding]:
    """Check weights, confidence and labeling probability of the labeled rows, apart from what they say of all rows."""
    weight = inverse_labeling_weight(confidence, labeling_prob, clip)
    if len(weight) == 0 or not weight.sum() > 0:
        raise ValueError(
            "diagnostics need at least one labeled row with a confidence above 0, but "
            f"{'there is no labeled row' if len(weight) == 0 else 'all confidences are 0'}."
        )
    findings = [
        check_effective_size(weight),
        check_heaviest(weight),
        check_tail(weight),
        check_positivity(labeling_prob, weight, clip, scenario),
        check_confidence_values(confidence),
    ]
    return [*findings, check_propensity(confidence, labeling_prob)] if scenario == "one-sample" else findings


def share_of_heaviest(weight: np.ndarray, share: float) -> tuple[int, float]:
    """Count of the heaviest rows that make up `share` of all, at least one, and the share of the weight they hold."""
    count = max(1, int(np.ceil(share * len(weight) - 1e-9)))
    return count, float(np.sort(weight)[-count:].sum() / weight.sum())


def _graded(name: str, text: str, note: tuple[bool, str], warning: tuple[bool, str]) -> Finding:
    """A finding of the worst level whose condition holds, with the advice that belongs to it."""
    for level, (holds, advice) in ((WARNING, warning), (NOTE, note)):
        if holds:
            return Finding(level, name, text, advice)
    return Finding(GOOD, name, text)


def check_effective_size(weight: np.ndarray) -> Finding:
    """Whether enough labels are left after weighting."""
    size, n = effective_sample_size(weight), len(weight)
    few = "Training leans on few rows; more labels of the kinds that are seldom labeled would help most."
    too_few = "Do not rely on small differences: label more rows, most of all of kinds that are seldom labeled."
    return _graded(
        "effective-sample-size",
        f"The {n:,} labeled rows count as much as {size:,.0f} equally weighted ones would ({percent(size / n)}).",
        note=(size < 100 or size < 0.3 * n, few),
        warning=(size < 30 or size < 0.1 * n, too_few),
    )


def check_heaviest(weight: np.ndarray) -> Finding:
    """Whether a few rows decide everything."""
    (few, held), (more, held_by_more) = share_of_heaviest(weight, 0.01), share_of_heaviest(weight, 0.05)
    # The heaviest hundredth of a few rows is one row, which holds much of the weight even if all are equal.
    times, times_more = held * len(weight) / few, held_by_more * len(weight) / more
    look = "Look at these rows: a wrong label or confidence among them moves the result."
    check = "Check labels and confidence of the heaviest rows by hand, and label more rows of their kind."
    return _graded(
        "heaviest-weights",
        f"The heaviest 1 % of the labeled rows ({few:,}) hold {percent(held)} of the weight, the heaviest 5 % "
        f"({more:,}) hold {percent(held_by_more)}.",
        note=(times > 15 or times_more > 8, look),
        warning=(times > 30 or times_more > 12, check),
    )


def check_tail(weight: np.ndarray) -> Finding:
    """Whether the largest weights come from so heavy a tail that means of them cannot be trusted."""
    name, tail = "weight-tail", pareto_tail(weight)
    if tail is None:
        text = (
            f"With {len(weight):,} labeled rows there are too few large weights (at least {LEAST_TAIL} are needed) to "
            "judge how fast they fall off."
        )
        return Finding(NOTE, name, text, "With more labels this check becomes possible.")
    if tail.shape == float("-inf"):
        return Finding(GOOD, name, f"The {tail.n_tail:,} largest weights are all the same: there is no heavy tail.")
    meaning = "weights larger than any seen here are likely, and means of them are unreliable (above 0.7)"
    if tail.shape < 0.5:
        meaning = "large weights are rare enough (below 0.5 is good)"
    elif tail.shape <= 0.7:
        meaning = "large weights are frequent, but usable (0.5 to 0.7)"
    return _graded(
        name,
        f"Among the {tail.n_tail:,} largest weights, the tail index is {tail.shape:.2f}: {meaning}.",
        note=(tail.shape >= 0.5, "A few rows decide much of the training."),
        warning=(tail.shape > 0.7, "Label more rows of the kinds that are seldom labeled."),
    )


def check_positivity(labeling_prob: np.ndarray, weight: np.ndarray, clip: float, scenario: str) -> Finding:
    """Whether there are positives that were hardly ever labeled."""
    what = "labeling probability" if scenario == "one-sample" else "density ratio"
    below = labeling_prob <= clip
    if not below.any():
        text = f"No labeled row has a {what} below the clip of {clip:g}; the smallest is {labeling_prob.min():.3g}."
        return Finding(GOOD, "positivity", text)
    share, held = float(below.mean()), float(weight[below].sum() / weight.sum())
    text = (
        f"{percent(share)} of the labeled rows have a {what} at or below the clip of {clip:g}; they hold "
        f"{percent(held)} of the weight."
    )
    advice = "Positives like these are almost never labeled, and their weight is a guess: label some more of that kind."
    return Finding(WARNING if share > 0.1 or held > 0.3 else NOTE, "positivity", text, advice)


def check_confidence_values(confidence: np.ndarray) -> Finding:
    """Whether the confidence distinguishes labeled rows."""
    low, middle, high = (float(each(confidence)) for each in (np.min, np.median, np.max))
    zeros, sure = float(np.mean(confidence == 0)), float(np.mean(confidence >= 0.99))
    level, advice = NOTE, ""
    if low == high and len(confidence) > 1:
        text = f"The confidence is {low:.3g} on every labeled row, so it does not distinguish rows."
        advice = (
            "If you know how certain each label is, provide it; otherwise certain and doubtful labels count the same."
        )
    elif zeros > 0:
        level = WARNING if zeros > 0.05 else NOTE
        text = f"{percent(zeros)} of the labeled rows have confidence 0 and count for nothing."
        advice = (
            "A labeled row is a positive: if these are not, remove their label; if they are, correct the confidence."
        )
    elif sure > 0.95:
        text = (
            f"{percent(sure)} of the labeled rows have a confidence of 0.99 or more, so it hardly distinguishes them."
        )
        advice = "Check that it is a probability of being positive, and not of something that labeling made certain."
    else:
        level = GOOD
        text = f"The confidence of labeled rows reaches from {low:.2f} to {high:.2f}, with {middle:.2f} in the middle."
    return Finding(level, "confidence", text, advice)


def check_propensity(confidence: np.ndarray, labeling_prob: np.ndarray) -> Finding:
    """Whether confidence and labeling probability contradict each other: no propensity u / r can be above 1."""
    # The labeling probability is an estimate: on some rows it is too high though the confidence is right.
    impossible = float(np.mean(labeling_prob > confidence))
    text = (
        f"On {percent(impossible)} of the labeled rows the confidence is below the probability of being labeled, which "
        "cannot be, because only positives are labeled."
    )
    if impossible <= 0.1:
        text = (
            "Confidence and probability of being labeled go together: the confidence is at least as high on "
            f"{percent(1 - impossible)} of the labeled rows."
        )
    too_low = (
        "The confidence looks too low to be a probability: the ranking can still be good, but do not trust the "
        "estimated AUC and share of positives before it is calibrated."
    )
    chance = "A few such rows are chance; the confidence may be somewhat too low."
    return _graded("calibration", text, note=(impossible > 0.1, chance), warning=(impossible > 0.2, too_low))


def check_label_frequency(label_freq: float) -> Finding:
    """Whether more positives seem labeled than there are."""
    if label_freq <= 1:
        return Finding(GOOD, "label-frequency", f"An estimated {percent(label_freq)} of the positives are labeled.")
    return Finding(
        WARNING,
        "label-frequency",
        "Confidence and labeling probability together say that more positives are labeled than there are "
        f"({percent(label_freq)} of them).",
        "The confidence is too low to be a probability: calibrate it, or read the estimated share of positives as a "
        "lower bound.",
    )


def check_prior(prior: float) -> Finding:
    """Whether the estimated share of positives is possible."""
    if prior >= 1:
        return Finding(
            WARNING,
            "prior",
            f"Confidence and labeling probability together say that {percent(prior)} of all rows are positive, which "
            "leaves none to be negative, so an AUC cannot be estimated.",
            "The confidence is too high, or too few rows are labeled to estimate how likely each was to be labeled: "
            "calibrate the confidence, or label more rows.",
        )
    text = f"An estimated {percent(prior)} of all rows are positive"
    if prior <= 0.5:
        return Finding(GOOD, "prior", f"{text}.")
    advice = "If that is impossible, the confidence is too high or there are too few labels."
    return Finding(NOTE, "prior", f"{text}, more than half.", advice)


def check_known_prior(prior: float, estimate: float) -> Finding:
    """Whether the given share of positives is near the one that the weights imply."""
    text = (
        f"{percent(prior)} of all rows are positive, as given; by confidence and labeling probability alone it would "
        f"be {percent(estimate)}"
    )
    if 1 / 2 <= estimate / prior <= 2:
        return Finding(GOOD, "prior", f"{text}.")
    advice = (
        "With few labels the estimate is often too high. Otherwise check the given share, and whether the confidence "
        "is a probability."
    )
    return Finding(NOTE, "prior", f"{text}, less than half or more than twice as much.", advice)


@dataclass(frozen=True)
class ParetoTail:
    """Shape k of a generalized Pareto tail, and how many weights it was fitted to.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import diagnostics
    >>> tail = diagnostics.pareto_tail(np.random.default_rng(0).pareto(2.0, 2000) + 1)
    >>> 0.2 < tail.shape < 0.8
    True
    """

    shape: float
    n_tail: int


def pareto_tail(weight: np.ndarray) -> ParetoTail | None:
    """Shape of the tail of the largest weights, k-hat; None where they are too few.

    Means of the weights have a finite variance for k < 1/2, and are hopeless in practice above 0.7. The tail holds the
    largest fifth, or 3 sqrt(n) if that is fewer. Largest weights that are all equal have no tail, and k is -infinity.

    References
    ----------
    Vehtari, Simpson, Gelman, Yao, Gabry. Pareto smoothed importance sampling. JMLR 25 (2024).

    Examples
    --------
    >>> weight = np.random.RandomState(2).pareto(2.0, 100_000)  # k = 1/2
    >>> round(pareto_tail(weight).shape, 1)
    0.5
    """
    ordered = np.sort(np.asarray(weight, dtype=np.float64))
    n_tail = int(min(0.2 * len(ordered), 3 * np.sqrt(len(ordered))))
    if n_tail < LEAST_TAIL:
        return None
    excess = ordered[-n_tail:] - ordered[-n_tail - 1]
    above = excess[excess > 1e-12 * ordered[-1]]  # ties with the cut do not belong to the tail
    if len(above) < LEAST_TAIL or np.ptp(above) <= 1e-9 * above[-1]:
        return ParetoTail(float("-inf"), n_tail)
    return ParetoTail(fit_pareto_shape(above), n_tail)


def fit_pareto_shape(excess: np.ndarray) -> float:
    r"""Shape k of the generalized Pareto law of positive excesses, drawn a little towards 1/2 where they are few.

    The likelihood of :math:`\theta = -k / \sigma` is averaged over a grid; :math:`k = \frac1n \sum_i \log(1 - \theta
    x_i)` then follows. The pull towards 1/2 is worth ten excesses.

    References
    ----------
    Zhang, Stephens. A new and efficient estimation method for the generalized Pareto distribution. Technometrics 51
    (2009).
    """
    x = np.sort(excess)
    n = len(x)
    n_grid = 30 + int(np.sqrt(n))
    quartile = x[int(n / 4 + 0.5) - 1]
    theta = 1 / x[-1] + (1 - np.sqrt(n_grid / (np.arange(1, n_grid + 1) - 0.5))) / (3 * quartile)
    shape = np.log1p(-theta[:, None] * x).mean(axis=1)
    log_likelihood = n * (np.log(-theta / shape) - shape - 1)
    posterior = np.exp(log_likelihood - log_likelihood.max())
    mean_theta = float(posterior @ theta / posterior.sum())
    raw = float(np.log1p(-mean_theta * x).mean())
    return (n * raw + 10 * 0.5) / (n + 10)
