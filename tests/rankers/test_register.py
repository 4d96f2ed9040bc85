"""Methods from outside the package."""

import runpy
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import unskew
from quick_fits import METHODS, fit
from unskew.errors import ModelFileError
from unskew.rankers import _registered


@pytest.fixture
def clean_registry():
    before = dict(_registered)
    yield
    _registered.clear()
    _registered.update(before)


@pytest.mark.usefixtures("clean_registry")
def test_the_example_of_a_new_method_runs_and_appears_in_the_comparison(monkeypatch, capsys, toy_data, tmp_path):
    monkeypatch.setattr(sys, "argv", ["new_method.py", "--rows", "300", "--epochs", "2"])
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "new_method.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [*METHODS, "weighted-pu"]
    assert unskew.methods()[-1] == "weighted-pu"
    assert unskew.method_card("weighted-pu").assumption == "SAR"
    ranker = fit("weighted-pu", toy_data)
    ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))


@pytest.mark.usefixtures("clean_registry")
def test_a_model_file_keeps_all_of_a_method_or_refuses(toy_data, tmp_path):
    @unskew.register
    @dataclass(kw_only=True, eq=False, repr=False)
    class Shifted(unskew.LabelingRanker):
        name: ClassVar[str] = "shifted"
        table_name: ClassVar[str] = "Shifted"
        assumption: ClassVar[str] = "SCAR"
        state: ClassVar[object] = np.float32(2.5)

        def learn(self, data, held_out, trainer, rng):
            super().learn(data, held_out, trainer, rng)
            self.shift_ = self.state

        def to_score(self, logit):
            return logit + self.shift_

    assert unskew.method_card("shifted").summary == ""
    ranker = fit("shifted", toy_data, prior=np.float32(0.5))
    ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model")
    assert (loaded.shift_, loaded.prior_) == (2.5, 0.5)
    np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))
    Shifted.state = np.ones(1)
    with pytest.raises(ValueError, match=r"keeps numbers and networks, but Shifted.shift_ is a ndarray"):
        fit("shifted", toy_data).save(tmp_path / "model")
    npu = fit("npu", toy_data, prior=0.5, mixings=np.array([0.2, 0.4]))
    npu.save(tmp_path / "model")
    assert unskew.load(tmp_path / "model").mixings == (0.2, 0.4)
    _registered.clear()
    Shifted.state = 1.0
    ranker.save(tmp_path / "model")
    with pytest.raises(
        ModelFileError, match=r"method 'shifted'.* If unskew.register added it, import its module first"
    ):
        unskew.load(tmp_path / "model")


@pytest.mark.usefixtures("clean_registry")
def test_what_cannot_be_registered_is_told():
    @dataclass(kw_only=True, eq=False, repr=False)
    class Nameless(unskew.LabelingRanker):
        def to_score(self, logit):
            return logit

    with pytest.raises(TypeError, match="Nameless.name must be a str, but it is None"):
        unskew.register(Nameless)

    @dataclass(kw_only=True, eq=False, repr=False)
    class Taken(Nameless):
        name: ClassVar[str] = "ntc"
        table_name: ClassVar[str] = "NTC"
        assumption: ClassVar[str] = "SCAR"

    with pytest.raises(ValueError, match="the name 'ntc' is taken by NonTraditional"):
        unskew.register(Taken)

    @dataclass(kw_only=True, eq=False, repr=False)
    class Stringy(Taken):
        name: ClassVar[str] = "stringy"
        scenarios: ClassVar[str] = "one-sample"

    with pytest.raises(TypeError, match="Stringy.scenarios must be a tuple, but it is 'one-sample'"):
        unskew.register(Stringy)
    with pytest.raises(TypeError, match="LabelingRanker does not define to_score"):
        unskew.register(unskew.LabelingRanker)
    with pytest.raises(TypeError, match="takes a class derived from RiskRanker"):
        unskew.register(LogisticRegression)
    assert unskew.methods() == METHODS
