"""Parameters of training that are chosen by the size of the data, and tables that networks cannot start from."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unskew
from unskew.data.records import Epoch
from unskew.errors import UnscaledWarning
from unskew.learning.pace import pace_for

QUICK = {"network": "linear", "max_epochs": 2, "random_state": 0, "probability": False, "prior": 0.2}


@pytest.fixture(scope="module")
def drawn():
    return unskew.datasets.toy.draw(400, random_state=0)


def fitted(name, drawn, X=None, **parameters):
    ranker = unskew.make(name, **{**QUICK, **parameters})
    return ranker.fit(drawn.X if X is None else X, drawn.labeled, confidence=drawn.confidence)


@pytest.mark.parametrize("name", ["ntc", "conf-auc", "sar-em", "conf-joint"])
def test_what_is_chosen_is_shown_and_kept(name, drawn, tmp_path):
    ranker = fitted(name, drawn, max_epochs="auto")
    summary = ranker.training_summary_
    n_labeled, n_unlabeled = summary["n_labeled"], summary["n_unlabeled"]
    assert (ranker.max_epochs_, ranker.batch_size_, ranker.learning_rate_) == pace_for(
        n_labeled + n_unlabeled, n_labeled, ranker.drive
    )
    assert ranker.max_epochs == "auto"
    assert len(ranker.history_) <= ranker.max_epochs_
    assert isinstance(ranker.history_[0], Epoch)
    ranker.save(tmp_path / "model.unskew")
    again = unskew.load(tmp_path / "model.unskew")
    assert (again.max_epochs, again.max_epochs_, again.learning_rate_) == (
        "auto",
        ranker.max_epochs_,
        3e-4 * ranker.drive,
    )
    assert (again.decision_function(drawn.X) == ranker.decision_function(drawn.X)).all()


def test_what_is_asked_for_is_taken(drawn):
    ranker = fitted("ntc", drawn, max_epochs=3, batch_size=50, learning_rate=0.01)
    assert (ranker.max_epochs_, ranker.batch_size_, ranker.learning_rate_) == (3, 50, 0.01)
    assert len(ranker.history_) == 3


def test_other_words_are_refused(drawn):
    with pytest.raises(
        ValueError,
        match="max_epochs of NonTraditional must be a whole number of at least 1 or 'auto', but it is 'many'",
    ):
        unskew.make("ntc", max_epochs="many").fit(drawn.X, drawn.labeled)


def frame(drawn):
    """The toy's columns, and incomes in a currency."""
    rng = np.random.RandomState(0)
    columns = {f"x{number}": column for number, column in enumerate(drawn.X.T)}
    return pd.DataFrame({**columns, "income": rng.lognormal(10, 0.3, len(drawn.X))})


@pytest.mark.parametrize("name", ["conf-auc", "ntc", "auto"])
def test_a_table_in_large_units_is_warned_of(name, drawn):
    with pytest.warns(UnscaledWarning, match=r"root mean square of column 'income' is 2\d,.*StandardScaler"):
        fitted(name, drawn, frame(drawn), ensemble=1)
    with pytest.warns(UnscaledWarning, match="of column 2 is"):
        fitted(name, drawn, frame(drawn).to_numpy(), ensemble=1)


def test_no_warning_where_none_is_due(drawn):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnscaledWarning)
        fitted("conf-reg", drawn, frame(drawn))
        fitted("ntc", drawn, drawn.X)
        scaled = make_pipeline(StandardScaler(), clone(unskew.make("ntc", **QUICK)))
        scaled.fit(frame(drawn), drawn.labeled)
