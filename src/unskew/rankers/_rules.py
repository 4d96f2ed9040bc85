"""What the parameters that all methods share must be."""

from numbers import Real

import numpy as np

from unskew._support.parameters import CALLABLE, FLAG, NONE, SEED, TEXT, Rule, above, one_of, whole_number
from unskew.data.validation import SCENARIOS
from unskew.learning.networks import SCORE_FUNCTIONS
from unskew.learning.pace import AUTO
from unskew.rankers.labeling import can_be_labeling

RULES: dict[str, Rule] = {
    "network": one_of(*SCORE_FUNCTIONS) | CALLABLE,
    "max_epochs": whole_number(1) | one_of(AUTO),
    "batch_size": whole_number(2) | one_of(AUTO),
    "learning_rate": above(0) | one_of(AUTO),
    "patience": whole_number(1) | NONE,
    "validation_fraction": above(0, 1),
    "ensemble": whole_number(1),
    "n_jobs": Rule("-1", lambda value: whole_number(-1).allows(value) and value == -1) | whole_number(1) | NONE,
    "scenario": one_of(*SCENARIOS),
    "labeling": Rule("None, a classifier with predict_proba, a density ratio or a fitted ranker", can_be_labeling),
    "crossfit": Rule("0", lambda value: whole_number(0).allows(value) and value == 0) | whole_number(2),
    "clip": above(0, 1),
    "prior": above(0, 1) | NONE,
    "probability": FLAG,
    "pos_label": Rule(
        "a number, True or False, a word or None",
        lambda value: value is None or isinstance(value, str | Real | np.bool_),
    ),
    "device": TEXT,
    "random_state": SEED,
    "verbose": FLAG,
}
