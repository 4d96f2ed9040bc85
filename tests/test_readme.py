"""The README's Python and its commands run as written, from top to bottom, with smaller tables or fewer epochs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from program import run_program

README = Path(__file__).parents[1] / "README.md"


def test_python_blocks_run_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("unskew.learning.pace.STEPS", 300)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    estimate = names["estimate"]
    assert estimate.low < estimate.auc < estimate.high
    audit = names["audit"]
    assert audit.prior_low < names["data"].y.mean() < audit.prior_high
    assert names["top"].precision_low < names["top"].precision < names["top"].precision_high
    assert capsys.readouterr().out


def test_five_commands_from_a_csv_file_to_a_ranked_list(tmp_path, monkeypatch):
    monkeypatch.setattr("unskew.learning.pace.STEPS", 100)
    blocks = re.findall(r"```console\n(.*?)```", README.read_text(), re.S)
    first, *others = "".join(blocks).splitlines()
    assert len(others) == 5
    # As a user has it: `unskew` is found on the path of programs. The others run in this process.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(first, shell=True, cwd=tmp_path, env=environment, capture_output=True, check=True)
    told = {}
    for command in others:
        result = run_program(*shlex.split(command)[1:], cwd=tmp_path)
        assert result.returncode == 0, (command, result.stderr)
        told[command.split()[1]] = result.stdout
    first, *rows = (tmp_path / "ranked.csv").read_text().splitlines()
    assert first == "claim_id,rank,score,probability,reason 1,reason 2,reason 3"
    assert len(rows) == 100
    assert re.search(r",1,[-\d.,e]+,\"?\w+ = .* \((raises|lowers)\)", rows[0])
    assert "<svg" in (tmp_path / "claims.html").read_text()
    assert len((tmp_path / "audit.csv").read_text().splitlines()) == 101
    assert "AUC" in told["fit"]
    (true,) = re.findall(r"true AUC +([\d.]+)", told["evaluate"])
    assert float(true) > 0.85


def test_numbers_of_the_table_are_those_of_the_results():
    results = (README.parent / "docs/results.md").read_text().partition("minus Ours")[0]
    own = README.read_text().partition("## Where it wins")[2].partition("## Two things")[0]
    lines = re.findall(r"\((\S+)\) \| (\d+)(, incomplete)? \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", own)
    assert len(lines) == 5
    for dataset, draws, incomplete, logistic, ours, auto in lines:
        (found,) = re.findall(rf"(?i)\| {dataset} \| as it is \| 4 × {draws} \| (.*) \|", results)
        entries = found.split(" | ")
        means = [each.strip(" *†") for each in entries]
        assert (means[0], means[1], means[5]) == (ours, auto, logistic)
        assert bool(incomplete) == any("†" in entries[place] for place in (0, 1, 5))
