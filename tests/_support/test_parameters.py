"""Rules of parameters, and the words for what breaks them."""

import numpy as np
import pytest

from unskew._support import parameters
from unskew._support.parameters import NONE, above, all_above, at_least, check_parameters, one_of, whole_number

CASES = [
    (one_of("a", "b"), ["a", "b", np.str_("a")], ["c", 1, None, ["a"]], "one of 'a', 'b'"),
    (whole_number(2), [2, np.int64(7)], [1, 2.0, "2", None, np.nan], "a whole number of at least 2"),
    (at_least(0), [0, 0.5, np.float32(1)], [-1e-9, np.nan, "0"], "a number of at least 0"),
    (above(0), [1e-9, 3], [0, np.nan, np.inf, "1", None], "a number above 0 and finite"),
    (above(0, 1), [0.5, np.float32(0.1)], [0, 1, np.nan], "a number above 0 and below 1"),
    (above(0, 1) | NONE, [0.5, None], [1], "a number above 0 and below 1 or None"),
    (
        all_above(0, 1),
        [[0.5], (0.1, 0.9), np.array([0.2])],
        [[], [0], 0.5, "a", [[0.5]], [np.nan]],
        "one or more numbers",
    ),
    (parameters.FLAG, [True, np.True_], [1, None], "True or False"),
    (parameters.SEED, [None, 0, 2**32 - 1, np.random.RandomState(0)], [-1, 2**32, 0.5], "a whole number from 0 to"),
    (parameters.TEXT, ["cpu"], [1], "a string"),
    (parameters.CALLABLE, [len], ["len"], "a function"),
]


@pytest.mark.parametrize(("rule", "allowed", "refused", "words"), CASES)
def test_rules(rule, allowed, refused, words):
    assert rule.words.startswith(words)
    assert all(rule.allows(value) for value in allowed)
    assert not [value for value in refused if rule.allows(value)]


def test_a_class_adds_its_rules_to_those_of_its_bases():
    class Base:
        rules = {"size": whole_number(1), "kind": one_of("mlp", "linear")}
        size, kind = 1, "mlp"

    class Own(Base):
        rules = {"rate": above(0)}
        rate = 0.1

    own = Own()
    check_parameters(own)
    for name, value, words in (
        ("size", 0, r"size of Own must be a whole number of at least 1, but it is 0\."),
        ("kind", "mpl", r"kind of Own must be one of 'mlp', 'linear', but it is 'mpl'. Did you mean 'mlp'\?"),
        ("rate", None, r"rate of Own must be a number above 0 and finite, but it is None"),
    ):
        own = Own()
        setattr(own, name, value)
        with pytest.raises(ValueError, match=words):
            check_parameters(own)
