"""Several methods on the same data, with the labeling probability estimated once."""

from collections.abc import Iterable, Iterator
from typing import Any

from unskew.rankers import Ranker, make


def fit_each(
    names: Iterable[str],
    X: Any,
    y: Any,
    confidence: Any = None,
    *,
    validation: tuple[Any, ...] | None = None,
    **parameters: Any,
) -> Iterator[tuple[str, Ranker]]:
    """Fit methods one after another and yield each with its name.

    The labeling probability is estimated once, by the method `ntc`, and lent to the others, so that they differ in
    nothing else.

    Parameters
    ----------
    names : iterable of str
        Methods, see `unskew.methods`. One that was registered from outside the package takes part as any other.
    X, y, confidence, validation
        As for `fit`.
    **parameters
        Parameters of every method: `network`, `prior`, `random_state` and so on.

    Examples
    --------
    >>> from unskew.datasets import toy
    >>> data = toy.draw(300, random_state=0)
    >>> arguments = data.X, data.labeled, data.confidence
    >>> [name for name, ranker in fit_each(["pg", "ntc"], *arguments, network="linear", max_epochs=1)]
    ['pg', 'ntc']
    """
    labeling = make("ntc", **parameters).fit(X, y, confidence, validation=validation)
    for name in names:
        ranker = labeling if name == "ntc" else make(name, **{**parameters, "labeling": labeling})
        yield name, ranker if name == "ntc" else ranker.fit(X, y, confidence, validation=validation)
