"""The command line: what it prints, and how it refuses."""

import json
import subprocess
import sys

from typer.testing import CliRunner

import unskew
from unskew.cli import app


def run(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_methods_are_listed_in_the_papers_order_with_what_they_need():
    words = run("methods").split()
    assert [word for word in words if word in unskew.methods()][:11] == list(unskew.methods())
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
    result = subprocess.run(
        [sys.executable, "-m", "unskew", "methods", "pubs"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert "there is no method 'pubs'" in result.stderr
    assert "Did you mean 'pusb'?" in result.stderr
    assert "Traceback" not in result.stderr
