"""Whatever is wrong: exit code 2 (1 where a run fails), one message, no traceback, nothing left behind."""

import errno
import hashlib
import io
import os
import re
import resource
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from program import run_program
from toy_table import toy_frame, write_toy
from unskew import cli

FIT = ["--label", "known", "--confidence", "risk", "--exclude", "truth", "--epochs", "2", "--no-estimate"]


def changed(**columns):
    return toy_frame(120).with_columns(**columns)


def with_value(column, row, value):
    """The toy table with one value replaced, as text."""
    cells = [str(each) if each is not None else "" for each in toy_frame(120)[column]]
    cells[row] = value
    return changed(**{column: pl.Series(cells)})


LABELED = int(np.flatnonzero(toy_frame(120)["known"].to_numpy())[0])


def confidence(value):
    return with_value("risk", LABELED, value)


def csv(frame):
    return frame.write_csv().encode()


def parquet_broken():
    buffer = io.BytesIO()
    toy_frame(120).write_parquet(buffer)
    return buffer.getvalue()[:-20]


FILES = {
    "empty": (b"", "empty.csv.*empty"),
    "binary": (bytes(range(256)) * 40, "binary.csv"),
    "ragged": (b"a,b,known,risk\n1,2,1,0.5\n1,2,3,4,5\n", "ragged.csv.*(line|row) [23]"),
    "header only": (b"a,known,risk\n", "header only.csv"),
    "label 2": (csv(with_value("known", 5, "2")), 'label 2.csv.*"known".*2.*row 6'),
    "label maybe": (csv(with_value("known", 5, "maybe")), '"known".*"maybe".*row 6'),
    "label blank": (csv(with_value("known", 5, "")), '"known".*row 6.*--blank-is-unlabeled'),
    "confidence 1.5": (csv(confidence("1.5")), rf'"risk".*1.5.*row {LABELED + 1}'),
    "confidence below": (csv(confidence("-0.1")), rf'"risk".*-0.1.*row {LABELED + 1}'),
    "confidence high": (csv(confidence("high")), rf'"risk".*"high".*row {LABELED + 1}'),
    "confidence missing": (csv(confidence("")), rf'"risk".*row {LABELED + 1}'),
    "confidence zero": (csv(changed(risk=pl.lit(0.0))), '"risk".*(0|zero)'),
    "infinite": (csv(with_value("level", 7, "inf")), '"level".*inf.*row 8'),
    "no feature": (csv(toy_frame(120).select("case", "known", "risk", "truth")), "no.*(feature|column)"),
    "none labeled": (csv(changed(known=pl.lit(0))), '"known"|labeled'),
    "one labeled": (csv(changed(known=pl.Series([1] + [0] * 119), risk=pl.lit(0.5))), "labeled"),
    "all labeled": (csv(changed(known=pl.lit(1), risk=pl.lit(0.5))), '"known"|labeled'),
}


def run_main(arguments, monkeypatch, capsys):
    """The program in this process: exit code, and what it said on standard error."""
    monkeypatch.setattr(sys, "argv", ["unskew", *(str(each) for each in arguments)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code, capsys.readouterr().err


@pytest.mark.parametrize("name", FILES)
def test_files_that_cannot_be_fitted_on(name, tmp_path, monkeypatch, capsys):
    content, message = FILES[name]
    (tmp_path / f"{name}.csv").write_bytes(content)
    arguments = ["fit", tmp_path / f"{name}.csv", *FIT, "--out", tmp_path / "m.unskew"]
    if name in ("ragged", "header only", "binary", "empty"):
        arguments = [each for each in arguments if each not in ("--exclude", "truth")]
    code, told = run_main(arguments, monkeypatch, capsys)
    assert code == 2
    assert re.search(message, " ".join(told.split())), told
    assert told.count("error: ") == 1
    assert "Traceback" not in told
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.csv"]


def test_a_broken_parquet_file(tmp_path, monkeypatch, capsys):
    (tmp_path / "broken.parquet").write_bytes(parquet_broken())
    code, told = run_main(["fit", tmp_path / "broken.parquet", *FIT], monkeypatch, capsys)
    assert code == 2
    assert "broken.parquet" in told


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ready")
    write_toy(folder / "cases.csv", 300)
    assert run_program("fit", folder / "cases.csv", *FIT, "--out", folder / "m.unskew").returncode == 0
    return folder


def requests(folder, out):
    cases, model = folder / "cases.csv", folder / "m.unskew"
    return {
        "missing file": (["fit", folder / "no.csv", *FIT], "no.csv"),
        "a folder": (["fit", folder, *FIT], str(folder)),
        "unknown label": (["fit", cases, "--label", "knwon"], '"knwon".*"known"'),
        "unknown confidence": (["fit", cases, "--label", "known", "--confidence", "rsk"], '"rsk".*"risk"'),
        "unknown exclude": (["fit", cases, *FIT, "--exclude", "nothing"], '"nothing"'),
        "unknown method": (["fit", cases, *FIT, "--method", "confauc"], "no method 'confauc'.*conf-auc"),
        "impossible prior": (["fit", cases, *FIT, "--prior", "1.5"], "--prior must lie between 0 and 1.*1.5"),
        "prior of one": (["fit", cases, *FIT, "--prior", "1"], "--prior must lie between 0 and 1.*it is 1"),
        "prior below the labels": (
            ["fit", cases, *FIT, "--prior", "0.00001"],
            "--prior must be at least.*cases.csv.*1e-05",
        ),
        "prior not known": (["fit", cases, "--label", "known", "--method", "nnpu"], "--prior SHARE or --confidence"),
        "seed below 0": (["fit", cases, *FIT, "--seed", "-1"], "--seed must be .* from 0 to .*but it is -1"),
        "compare from a seed below 0": (["compare", cases, *FIT[:4], "--seed", "-1", "--out", out / "c"], "--seed"),
        "example from a seed below 0": (["example", "claims", "--seed", "-1", "--out", out / "e"], "--seed"),
        "demo from a seed below 0": (["demo", "--seed", "-1", "--out", out / "d"], "--seed"),
        "no epochs": (["fit", cases, *FIT, "--epochs", "0"], "--epochs.*0"),
        "unwritable output": (["fit", cases, *FIT, "--out", out / "no" / "m.unskew"], "no folder"),
        "output is a folder": (["fit", cases, *FIT, "--out", out], "folder"),
        "output is the input": (["fit", cases, *FIT, "--out", cases], "same command reads it"),
        "list over the model": (["score", model, cases, "--out", model], "same command reads it"),
        "results over the new model": (["fit", cases, *FIT, "--out", out / "m", "--json", out / "m"], "writes two"),
        "results over the new page": (["report", model, "--out", out / "p", "--json", out / "." / "p"], "writes two"),
        "page over the model": (["report", model, "--out", model], "same command reads it"),
        "output is a device": (["report", model, "--out", "/dev/null"], "a device"),
        "json in no folder": (["fit", cases, *FIT, "--out", out / "m", "--json", out / "no" / "x"], "no folder"),
        "folder that takes no files": (
            ["fit", cases, *FIT, "--out", "/proc/m.unskew"],
            "/proc/m.unskew cannot be written",
        ),
        "json where no files go": (
            ["evaluate", model, cases, *FIT[:4], "--json", "/proc/m.json"],
            "error: /proc/m.json cannot be written",
        ),
        "comparison where no files go": (
            ["compare", cases, *FIT[:4], "--out", "/proc/c/d"],
            "error: /proc/c/d cannot be written",
        ),
        "comparison below a file": (["compare", cases, *FIT[:4], "--out", cases / "c"], "cases.csv is a file"),
        "example over a file": (["example", "claims", "--out", cases], "must be a folder, but it is a file"),
        "demo over a file": (["demo", "--out", cases], "must be a folder, but it is a file"),
        "comparison over a file": (["compare", cases, *FIT[:4], "--out", cases], "must be a folder"),
        "one fold": (
            ["compare", cases, *FIT[:4], "--folds", "1", "--out", out / "c"],
            "--folds must be at least 2.*but it is 1",
        ),
        "data as a model": (
            ["score", cases, cases, "--out", out / "s.csv"],
            "not an unskew model.*`unskew fit`",
        ),
        "no such model": (["report", folder / "m.unskw"], "m.unskw: there must be a file.* Did you mean 'm.unskew'"),
        "a folder as a model": (["score", folder, cases, "--out", out / "s.csv"], "a folder. Give one model file"),
        "model as data": (["fit", model, *FIT, "--out", out / "m"], "m.unskew"),
        "unknown id": (["score", model, cases, "--id", "cse", "--out", out / "s.csv"], '"cse".*"case"'),
        "id called score": (["score", model, cases, "--id", "score", "--out", out / "s.csv"], "'score'"),
        "output of no kind": (["score", model, cases, "--out", out / "s.xlsx"], "s.xlsx"),
        "truth with one class": (["evaluate", model, cases, "--label", "known", "--truth", "nothing"], '"nothing"'),
        "neither": (["evaluate", model, cases, "--label", "known"], "neither was given"),
        "comparison of nothing": (
            ["compare", cases, *FIT[:4], "--methods", "a,b", "--out", out / "c"],
            "no method 'a'",
        ),
        "too many folds": (
            ["compare", cases, *FIT[:4], "--methods", "ntc", "--folds", "99", "--epochs", "1", "--out", out / "c"],
            "--folds must lie between 2 and .*cases.csv.*but it is 99",
        ),
    }


@pytest.mark.parametrize("name", requests(Path(), Path()))
def test_requests_that_cannot_be_carried_out(name, ready, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments, message = requests(ready, tmp_path)[name]
    code, told = run_main(arguments, monkeypatch, capsys)
    assert code == 2, told
    assert re.search(message, " ".join(told.split())), told
    assert told.count("error: ") == 1
    assert list(tmp_path.iterdir()) == []


def test_columns_of_a_file_to_score(ready, tmp_path, monkeypatch, capsys):
    frame = toy_frame(50, seed=2)
    files = {
        "missing": (frame.drop("level"), '"level"'),
        "changed type": (frame.with_columns(level=pl.lit("low")), '"level".*number.*"low".*row 1'),
    }
    for name, (changed_frame, message) in files.items():
        changed_frame.write_csv(tmp_path / f"{name}.csv")
        arguments = ["score", ready / "m.unskew", tmp_path / f"{name}.csv", "--out", tmp_path / "out.csv"]
        code, told = run_main(arguments, monkeypatch, capsys)
        assert code == 2
        assert re.search(message, " ".join(told.split())), told
        assert not (tmp_path / "out.csv").exists()


def test_a_model_of_another_version_is_told(ready, tmp_path, monkeypatch, capsys):
    content = bytearray((ready / "m.unskew").read_bytes())
    content[40:44] = (99).to_bytes(4, "little")  # the format version, and the checksum over it and all that follows
    content[8:40] = hashlib.sha256(bytes(content[40:])).digest()
    (tmp_path / "future.unskew").write_bytes(bytes(content))
    arguments = ["report", tmp_path / "future.unskew", "--out", tmp_path / "r.html"]
    code, told = run_main(arguments, monkeypatch, capsys)
    assert code == 2
    assert "99" in told
    assert not (tmp_path / "r.html").exists()


MEMORY = {
    "numpy": "numpy.empty(1 << 50)",
    "torch": "torch.empty(1 << 50)",
    "Python": "bytearray(1 << 60)",
    "cuda": "fail(torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 1 GiB.'))",
    "fork": "fail(OSError(12, 'Cannot allocate memory'))",
    "nothing said": "fail(MemoryError())",
}


@pytest.mark.parametrize("kind", MEMORY)
def test_too_little_memory_is_one_clear_error(kind, monkeypatch, capsys):
    import torch

    def fail(error):
        raise error

    monkeypatch.setattr(cli, "app", lambda: eval(MEMORY[kind], {"numpy": np, "torch": torch, "fail": fail}))
    code, told = run_main([], monkeypatch, capsys)
    assert code == 1
    assert "memory" in told
    assert told.count("\n") == 1
    assert len(told) < 200


def test_other_errors_of_the_runtime_are_not_hidden(monkeypatch):
    def fail():
        raise RuntimeError("a mistake in the program")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(RuntimeError, match="a mistake"):
        cli.main()


@pytest.fixture
def small_files():
    """This process may write no more than a kilobyte to a file: to it the disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("command", ["fit", "score", "report"])
def test_a_full_disk_leaves_nothing_behind_and_the_old_file_as_it_was(command, ready, tmp_path, request):
    out = tmp_path / "out.csv"
    out.write_text("old")
    arguments = {
        "fit": ["fit", ready / "cases.csv", *FIT],
        "score": ["score", ready / "m.unskew", ready / "cases.csv"],
        "report": ["report", ready / "m.unskew"],
    }[command]
    request.getfixturevalue("small_files")  # once all else is there
    result = run_program(*arguments, "--out", out)
    assert result.returncode == 1, result.stderr
    assert os.strerror(errno.EFBIG) in result.stderr
    assert "Traceback" not in result.stderr
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
