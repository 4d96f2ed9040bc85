"""The command line: what it prints, and how it refuses."""

import io
import json
import re
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import unskew
from program import run_program
from unskew import cli
from unskew._support.text import Table
from unskew.cli import app
from unskew.cli._app import show
from unskew.practice.terminal import cards_table
from unskew.rankers import method_cards


def run(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_methods_are_listed_in_the_papers_order_with_what_they_need():
    words = run("methods").split()
    listed = [word for word in words if word in unskew.methods()]
    assert listed[: len(unskew.methods())] == list(unskew.methods())
    assert "confidence" in words


def test_one_method_is_told_in_full():
    text, card = run("methods", "pusb"), unskew.method_card("pusb")
    for part in (card.summary, card.class_name, card.use_when, card.reference.splitlines()[0]):
        assert part in text
    assert ":math:" not in text


def test_cards_as_json():
    cards = json.loads(run("methods", "--json"))
    assert [card["name"] for card in cards] == list(unskew.methods())
    assert cards[3]["needs"] == ["prior"]


def test_an_unknown_method_is_refused_in_one_line():
    result = run_program("methods", "pubs")
    assert result.returncode == 2
    assert "there is no method 'pubs'" in result.stderr
    assert "Did you mean 'pusb'?" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["fit", "score", "watch", "evaluate", "compare", "report", "datasets"])
def test_help_shows_every_option_in_full_on_eighty_columns(command):
    text = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "80"}).output
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert "[[" not in text
    if command in ("fit", "evaluate", "compare"):
        assert re.search("--blank-is-unlabeled +A blank label means", text)


def test_names_stay_whole_on_a_narrow_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show(cards_table(method_cards()), "Methods")
    printed = capsys.readouterr().out
    assert "…" not in printed
    for name in unskew.methods():
        assert f" {name} " in printed


def test_letters_that_a_terminal_lacks_are_no_error(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    monkeypatch.setattr(cli, "app", lambda: show(Table(("column",), [("région",)]), "Columns"))
    cli.main()
    sys.stdout.flush()
    assert b"r?gion" in written.getvalue()


def test_a_terminated_command_leaves_nothing_behind(tmp_path):
    script = """
import os, signal, time
import polars as pl
from unskew import cli
from unskew.tables import TableWriter

def app():
    with TableWriter("out.csv") as writer:
        writer.write(pl.DataFrame({"a": [1]}))
        assert os.listdir() != []
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)

cli.app = app
cli.main()
"""
    result = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 128 + signal.SIGTERM == 143, result.stderr
    assert list(tmp_path.iterdir()) == []
