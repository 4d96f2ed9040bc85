"""The pages of the site: their Python and their commands run as written, from top to bottom of each page."""

import importlib.util
import inspect
import re
import shlex
import sys
from pathlib import Path

import pytest
import sklearn

import unskew
from program import run_program
from unskew.errors import MissingExtra

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts and "results" not in path.parts)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
RUN_ELSEWHERE = {
    "datasets.md": "tests/datasets, on a made-up file, because its data set must be downloaded",
    "explanations.md": "tests/explaining",
    "suggestions.md": "tests/practice",
    "walkthrough.md": "tests/practice",
}
OTHER_PROGRAMS = {"curl", "pip", "python"}
"""They need a network, or run on."""
KINDS = {"", "console", "python", "text"}
"""Python and console blocks are run; the others show what is not to be typed as it stands."""


def blocks(page, kind):
    return [text for found, text in FENCE.findall(page.read_text(encoding="utf-8")) if found == kind]


def pages_with(kind, leave_out=()):
    pages = [page for page in PAGES if page.name not in (*RUN_ELSEWHERE, *leave_out) and blocks(page, kind)]
    return [pytest.param(page, id=str(page.relative_to(DOCS))) for page in pages]


@pytest.fixture
def short_training(monkeypatch):
    monkeypatch.setattr("unskew.learning.pace.STEPS", 60)


def test_every_block_is_of_a_kind_that_is_run_or_plainly_not():
    found = {kind for page in PAGES for kind, _ in re.findall(r"^```(\w*)$(.*?)^```$", page.read_text(), re.M | re.S)}
    assert found <= KINDS


@pytest.mark.usefixtures("own_registered", "short_training")
@pytest.mark.parametrize("page", pages_with("python"))
def test_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    monkeypatch.setitem(sys.modules, "page", type(sys)("page"))  # where its data classes look for their names
    with sklearn.config_context():
        for block in blocks(page, "python"):
            try:
                exec(compile(block, str(page), "exec"), names)
            except MissingExtra as error:
                pytest.skip(str(error))


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("page", pages_with("console", leave_out=["quick_start.md"]))
def test_commands_of_a_page_run(page, tmp_path):
    commands = [line for block in blocks(page, "console") for line in block.splitlines() if line]
    if not any(line.startswith("unskew example") for line in commands):
        commands = [
            "unskew example claims",
            "unskew fit claims.csv --label known_fraud --confidence risk --exclude claim_id --exclude fraud "
            "--out claims.unskew",
            *commands,
        ]
    for command in commands:
        program, *arguments = shlex.split(command.removeprefix("$ "), comments=True)
        if program in OTHER_PROGRAMS or arguments[:1] == ["studio"]:  # which serves until it is stopped
            continue
        assert program == "unskew"
        result = run_program(*arguments, cwd=tmp_path)
        assert result.returncode == 0, (command, result.stderr)


def test_the_quick_start_has_the_commands_of_the_readme_which_are_run_there():
    readme = blocks(DOCS.parent / "README.md", "console")[0]
    assert blocks(DOCS / "quick_start.md", "console") == [readme]


@pytest.fixture(scope="module")
def reference():
    spec = importlib.util.spec_from_file_location("reference", DOCS / "_extensions" / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_module_and_name_has_a_page_in_the_reference(reference):
    modules = reference.public_modules()
    assert set(modules) == {"unskew", *unskew._MODULES} == set(reference.TITLES)
    homes = reference.homes()
    pages = {name: reference.page(name, module, homes) for name, module in modules.items()}
    for name, module in modules.items():
        for public in reference.public_names(module):
            assert re.search(rf"^   (~[\w.]+\.)?{public}$", pages[name], re.M), (name, public)
    listed = {name for name in unskew.__all__ if callable(getattr(unskew, name))}
    assert listed == set(reference.public_names(unskew))
    assert ".. automethod:: fit" in reference.name_page("unskew.Auto", unskew.Auto)


def test_every_public_name_has_an_example(reference):
    """They are run as doctests."""
    without = [home for value, home in reference.homes().items() if ">>>" not in (inspect.getdoc(value) or "")]
    assert without == []
