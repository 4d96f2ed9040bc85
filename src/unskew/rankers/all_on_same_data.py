"""Several methods on the same data, with the labeling probability estimated once."""

from collections.abc import Iterable, Iterator
from typing import Any

from sklearn.utils import check_random_state

from unskew.rankers import Ranker, make


def fit_each(
    names: Iterable[str],
    X: Any,
    y: Any,
    confidence: Any = None,
    *,
    validation: tuple[Any, ...] | None = None,
    random_state: Any = None,
    **parameters: Any,
) -> Iterator[tuple[str, Ranker]]:
    """Fit methods one after another and yield each with its name.

    The labeling probability is estimated once, by the method `ntc`, and lent to the others (with `crossfit` each makes
    the same estimates again, out of the same folds); all hold out the same instances and start from the same seed, so
    that they differ only in the method. A wrong name, parameter or scenario is reported before the first fit.

    Parameters
    ----------
    names : iterable of str
        Methods, see `unskew.methods`. One that was registered from outside the package takes part as any other.
    X, y, confidence, validation
        As for `fit`.
    random_state : int, RandomState or None
        One seed is drawn from it for all methods.
    **parameters
        Parameters of every method: `network`, `prior`, `scenario` and so on.

    Examples
    --------
    >>> from unskew.datasets import toy
    >>> data = toy.draw(300, random_state=0)
    >>> arguments = data.X, data.labeled, data.confidence
    >>> [name for name, ranker in fit_each(["pg", "ntc"], *arguments, network="linear", max_epochs=1)]
    ['pg', 'ntc']
    """
    if isinstance(names, str):
        raise TypeError(f"names must be a list of methods, but it is the string {names!r}. Pass [{names!r}].")
    parameters["random_state"] = int(check_random_state(random_state).randint(2**31 - 1))
    lender = make("ntc", **parameters)
    rankers = {name: make(name, **parameters) for name in names}
    for ranker in (lender, *rankers.values()):
        ranker.check_request(confidence)
    return _fit_each(lender, rankers, (X, y, confidence), validation)


def _fit_each(
    lender: Ranker, rankers: dict[str, Ranker], data: tuple[Any, Any, Any], validation: tuple[Any, ...] | None
) -> Iterator[tuple[str, Ranker]]:
    lender.fit(*data, validation=validation)
    for name, ranker in rankers.items():
        if name == lender.name:
            yield name, lender
            continue
        if not lender.crossfit:
            ranker.set_params(labeling=lender)
        yield name, ranker.fit(*data, validation=validation)
