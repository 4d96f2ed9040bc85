"""Small data and quick parameters that many tests share."""

import gc

import numpy as np
import pytest
from hypothesis import settings

from real_data import NO_DATA, real_data_folder

settings.register_profile("no clock", deadline=None)  # how long an example takes says more of the machine than of us
settings.load_profile("no clock")


def pytest_collection_modifyitems():
    """What all tests want of the library, which the process that only hands out tests to others does not load."""
    import torch

    from unskew.metrics.crossval import FOREST

    torch.set_num_threads(1)  # the tests' networks are small, and threads that wait for each other are slower than one
    FOREST["n_estimators"] = 30
    gc.collect()
    gc.freeze()  # modules and tests stay until the end: nobody needs to look through them for garbage


@pytest.fixture
def toy_data():
    from unskew.datasets import toy

    return toy.draw(300, random_state=0)


@pytest.fixture
def five_labeled():
    """A table in which just five rows are labeled."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(80, 3))
    X[:5] += 1
    y = np.r_[np.ones(5, int), np.zeros(75, int)]
    return X, y, np.where(y == 1, 0.8, np.nan)


@pytest.fixture
def real_data(monkeypatch):
    """Let `UNSKEW_DATA` name the real files, or skip the test."""
    folder = real_data_folder()
    if folder is None:
        pytest.skip(NO_DATA)
    monkeypatch.setenv("UNSKEW_DATA", str(folder))
    return folder


@pytest.fixture
def own_registered(monkeypatch):
    """What a test registers is forgotten after it."""
    from unskew.datasets._registry import _entries

    monkeypatch.setattr("unskew.rankers._registered", {})
    monkeypatch.setattr("unskew.datasets._registry._entries", dict(_entries))
