"""Trainings for tests about anything but how well training goes."""

import unskew

PAPER_ORDER = ["conf-auc", "no-conf", "ntc", "nnpu", "puauc", "pusb", "pg", "pconf", "npu", "lbe", "sar-em"]
METHODS = unskew.methods()
"""All that have a file in the package: those of the paper first."""
QUICK = {"network": "linear", "learning_rate": 0.02, "batch_size": 1024, "max_epochs": 5, "random_state": 0}
"""Parameters for tests about anything but how well training goes."""


def fit(name, data, **parameters):
    """A method fitted quickly to labeled data with confidence."""
    return unskew.make(name, **{**QUICK, **parameters}).fit(data.X, data.labeled, confidence=data.confidence)
