"""Which of several compared methods to use, and why: decided here, once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from unskew._support.text import auc_text, duration, interval
from unskew.metrics.estimates import RankingEstimate
from unskew.metrics.sar import PairedDifference

PREFERRED = "conf-auc"
"""Recommended where these data cannot distinguish it from the best."""


@dataclass(frozen=True)
class Compared:
    """A method in a comparison.

    Attributes
    ----------
    auc, low, high : float
        Estimated without negatives, with its interval.
    seconds : float
        What the cross-validation took.
    true_auc : float or None
        Where the true classes are known.
    difference_low, difference_high : float or None
        Paired interval of its AUC minus that of the recommended method; None for that itself. Wide enough that those of
        all methods hold together.
    """

    name: str
    table_name: str
    auc: float
    low: float
    high: float
    seconds: float
    true_auc: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None


def choose(estimates: Mapping[str, RankingEstimate], difference: Callable[[str, str], PairedDifference]) -> str:
    """The method with the highest estimate; but the paper's, if the data cannot distinguish it from that one.

    Estimates from few labels are close together, and the highest of many is often so by chance. The method whose
    ranking is right under the weakest assumption is then the safer choice. `difference` gives the paired difference of
    the AUCs of two methods, by their names; it is called at most once.
    """
    best = max(estimates, key=lambda name: estimates[name].auc)
    if best == PREFERRED or PREFERRED not in estimates:
        return best
    if estimates[best].low <= 0.5 <= estimates[best].high:  # cannot even be distinguished from chance
        return PREFERRED
    return PREFERRED if difference(PREFERRED, best).high >= 0 else best


def explain(compared: Sequence[Compared], recommended: str, *, with_points: bool = True) -> str:
    """Why the recommended method was chosen, in a sentence or two; without points, AUCs are told by their intervals.

    Examples
    --------
    >>> explain([Compared("a", "A", 0.9, 0.85, 0.93, 5.0)], "a")
    'a has the highest AUC estimated without negatives, 0.900; nothing else was compared.'
    """

    def told(each: Compared) -> str:
        return auc_text(each.auc) if with_points else interval(each.low, each.high)

    chosen = next(each for each in compared if each.name == recommended)
    best = max(compared, key=lambda each: (each.auc, each is chosen))
    reason = f"{best.name} has the highest AUC estimated without negatives, {told(best)}"
    safer = f"{chosen.name} makes the weakest assumption about how labels were given, so it is the safer choice."
    if says_nothing(best):
        doubt = f"its interval, {interval(best.low, best.high)}, contains 0.5, which is chance"
        what = "how good it is" if len(compared) == 1 else "which method is best"
        reason = f"{reason}, but {doubt}: there are too few labels to say {what}."
        return reason if chosen is best else f"{reason} {safer}"
    if chosen is not best:
        return f"{reason}, but these data cannot distinguish {chosen.name} ({told(chosen)}) from it. {safer}"
    others = [each for each in compared if each is not best]
    if not others:
        return f"{reason}; nothing else was compared."
    rivals = rivals_of(best, compared)
    if not rivals:
        more = "the other method is" if len(others) == 1 else f"each of the {len(others)} others is"
        return f"{reason}, and {more} worse by more than chance explains."
    return f"{reason}. {_rival_sentence(best, rivals)}"


def rivals_of(best: Compared, compared: Sequence[Compared]) -> list[Compared]:
    """Those that the data cannot distinguish from the recommended one, which is also the best."""
    others = [each for each in compared if each is not best]
    return [each for each in others if (each.difference_low or 0) <= 0 <= (each.difference_high or 0)]


def says_nothing(best: Compared) -> bool:
    """Whether even the best cannot be distinguished from chance."""
    return best.low <= 0.5 <= best.high


def _rival_sentence(best: Compared, rivals: Sequence[Compared]) -> str:
    """Name what cannot be distinguished from the best, and the quickest of it where that saves much."""
    names = [each.name for each in rivals]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    sentence = f"These data cannot distinguish {listed} from it"
    quickest = min(rivals, key=lambda each: each.seconds)
    if quickest.seconds < best.seconds / 2:
        times = f"{duration(quickest.seconds)} instead of {duration(best.seconds)}"
        return f"{sentence}; {quickest.name} is quicker ({times})."
    return f"{sentence}, so choosing {'it' if len(names) == 1 else 'one of them'} makes no visible difference."
