"""Damaged and crafted files end in a result or in a message that names them: a small form of the benchmark."""

import importlib.util
import multiprocessing
import sys
from collections import Counter
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "damaged_files.py"


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))  # where its workers find it
        spec = importlib.util.spec_from_file_location("damaged_files", SCRIPT)
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        yield module


def test_no_damaged_file_ends_in_anything_but_a_message(script, tmp_path):
    outcomes = script.run({"parquet": 40, "models": 80, "trees": 80}, seed=0, workers=1, keep=tmp_path / "kept")
    assert len(outcomes) == 200
    assert [each for each in outcomes if each.ending not in (script.READ, script.REFUSED)] == []
    found = Counter((each.kind, each.ending) for each in outcomes)
    assert (
        min(found[kind, ending] for kind in ("parquet", "models", "trees") for ending in (script.READ, script.REFUSED))
        >= 5
    )


@pytest.mark.parametrize("ending", ["ABORTED", "HUNG"])
def test_a_worker_that_ends_or_hangs_is_noticed_with_its_file(script, monkeypatch, ending):
    monkeypatch.setattr(script, "LONGEST", 0.01)
    ours, theirs = multiprocessing.Pipe()
    theirs.send(("models", 7))
    theirs.send(script.Outcome("models", 7, script.READ))
    theirs.send(("models", 8))
    if ending == "ABORTED":
        theirs.close()
    assert [(each.number, each.ending) for each in script.reports(ours)] == [(7, script.READ), (8, ending)]


def test_a_model_that_loads_wrong_is_noticed(script, tmp_path):
    scored = tmp_path / "scored.csv"
    scored.write_text("rank,score\n1,0.5\n2,0.25\n")
    content = Path(__file__).parents[1].joinpath("golden", "toy.unskew").read_bytes()
    assert script.loads_wrong("trees", content, scored) == ""
    assert script.loads_wrong("trees", content[:-1] + b"x", scored) == "the checksum does not match"
    scored.write_text("rank,score\n1,0.5\n2,nan\n")
    assert script.loads_wrong("trees", content, scored) == "not all scores are finite numbers"
