"""Parameters of estimators: rules that say what a value must be, and seeds for those that draw.

scikit-learn has rules of this kind, but in a private module.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np

from unskew.errors import closest_name


@dataclass(frozen=True)
class Rule:
    """What a value must be (`words` come after "must be"); ``a | b`` allows what either allows.

    `options` are words to choose from, for the hint that a mistyped one gets.
    """

    words: str
    allows: Callable[[Any], bool]
    options: tuple[str, ...] = ()

    def __or__(self, other: "Rule") -> "Rule":
        return Rule(
            f"{self.words} or {other.words}",
            lambda value: self.allows(value) or other.allows(value),
            self.options + other.options,
        )


def one_of(*options: str) -> Rule:
    """One of these words."""
    words = f"{'one of ' if len(options) > 1 else ''}{', '.join(map(repr, options))}"
    return Rule(words, lambda value: isinstance(value, str) and value in options, options)


def whole_number(least: int) -> Rule:
    """A whole number that is not less."""
    return Rule(
        f"a whole number of at least {least}", lambda value: isinstance(value, Integral) and int(value) >= least
    )


def at_least(least: float) -> Rule:
    """A number that is not less."""
    return Rule(f"a number of at least {least:g}", lambda value: isinstance(value, Real) and float(value) >= least)


def above(low: float, below: float = inf) -> Rule:
    """A number between the two, neither of which is allowed."""
    return Rule(
        f"a number {_between(low, below)}", lambda value: isinstance(value, Real) and low < float(value) < below
    )


def all_above(low: float, below: float = inf) -> Rule:
    """One or more numbers, each between the two."""

    def allows(values: Any) -> bool:
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        return numbers.ndim == 1 and len(numbers) > 0 and bool(((numbers > low) & (numbers < below)).all())

    return Rule(f"one or more numbers {_between(low, below)}", allows)


def _between(low: float, below: float) -> str:
    return f"above {low:g} and finite" if below == inf else f"above {low:g} and below {below:g}"


NONE = Rule("None", lambda value: value is None)
FLAG = Rule("True or False", lambda value: isinstance(value, bool | np.bool_))
TEXT = Rule("a string", lambda value: isinstance(value, str))
CALLABLE = Rule("a function", callable)
SEED = Rule(
    "a whole number from 0 to 4294967295, a numpy RandomState or None",
    lambda value: (
        value is None
        or isinstance(value, np.random.RandomState)
        or (isinstance(value, Integral) and 0 <= int(value) < 2**32)
    ),
)


def check_parameters(estimator: Any) -> None:
    """Refuse an estimator with a parameter that breaks one of the `rules` of its class and of its base classes."""
    of_each = [vars(kind).get("rules", {}) for kind in reversed(type(estimator).__mro__)]
    for name, rule in {name: rule for rules in of_each for name, rule in rules.items()}.items():
        check_value(f"{name} of {type(estimator).__name__}", getattr(estimator, name), rule)


def check_value(name: str, value: Any, rule: Rule) -> None:
    """Refuse a value that breaks the rule, and name the option that was probably meant."""
    if not rule.allows(value):
        hint = closest_name(value, rule.options) if isinstance(value, str) else ""
        raise ValueError(f"{name} must be {rule.words}, but it is {value!r}.{hint}")


def set_seeds(estimator: Any, rng: np.random.RandomState, *, replace: bool = False) -> None:
    """Draw a seed for every ``random_state`` of an estimator and of those inside it.

    A seed that the user has set is kept, unless `replace`.
    """
    parameters = estimator.get_params().items()
    states = {name: value for name, value in parameters if f"__{name}".endswith("__random_state")}
    wanted = [name for name, value in sorted(states.items()) if replace or value is None]
    if wanted:
        estimator.set_params(**{name: int(rng.randint(2**31 - 1)) for name in wanted})
