"""The page that walks from tables to decisions: each command and each block of Python runs as written."""

import importlib.util
import re
from pathlib import Path

import pytest

from unskew.errors import DataMissing

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "walkthrough.md").read_text()


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("walkthrough_page", DOCS / "walkthrough_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blocks(section):
    return re.findall(r"```console\n(.*?)```", section, re.S)


def outputs(section):
    return re.findall(r"```text\n(.*?)```", section, re.S)


def without_numbers(text):
    """The first words of each line of a table; what is learned differs from machine to machine in its last digits."""
    return [re.findall(r"[a-z_ ]+", line)[:1] for line in text.splitlines() if line.startswith("  ")]


@pytest.mark.parametrize("title", ["Insurance claims", "A health survey", "Payments that change"])
def test_the_whole_way_runs_as_written(generator, tmp_path, title):
    if title == "A health survey" and not _has_survey():
        pytest.skip("the file of diabetes-2015 is not here: set UNSKEW_DATA to the folder that has it")
    (section,) = [each for each in generator.sections(PAGE) if each.startswith(f"## {title}\n")]
    made_with = generator.environment()
    now = generator.written_anew(section, tmp_path)
    if made_with in PAGE:
        assert now == section, "run: python docs/walkthrough_page.py"
    assert len(outputs(now)) == len(outputs(section)) > 5
    for then, printed in zip(outputs(section), outputs(now), strict=True):
        if "Methods that auto combined" not in then:  # which are sorted by their weights
            assert without_numbers(printed) == without_numbers(then)
    ways = {line.split()[1] for block in blocks(section) for line in block.splitlines() if line.startswith("unskew")}
    assert {"example", "fit", "report", "score", "suggest", "audit", "watch"} <= ways
    moved = outputs(now)[-1]
    if title == "Payments that change":
        assert "moved: shop" in moved
        assert "moved: amount" in moved
    elif title == "A health survey":
        assert "moved columns: []" in moved


def test_a_command_that_fails_is_not_written_into_the_page(generator, tmp_path):
    with pytest.raises(RuntimeError, match=r"(?s)unskew fit none.csv.*exit code 2:\nerror: none.csv"):
        generator.run("unskew fit none.csv --label known", tmp_path)


def test_sentences_are_broken_and_tables_and_commands_are_not(generator):
    long = "word " * 40
    assert max(map(len, generator.as_shown(f"note: {long}").splitlines())) <= generator.WIDTH
    for kept in (f"  {long}", f"then: unskew fit {long}"):
        assert generator.as_shown(kept) == kept.rstrip() + "\n"


def _has_survey():
    from unskew.datasets import survey_2015

    try:
        survey_2015()
    except DataMissing:
        return False
    return True
