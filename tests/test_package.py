"""The package as a whole: quick to import, names where CONTRACT has them, equations with one home, pages alone."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import unskew
from unskew.rankers import _own_rankers

ROOT = Path(__file__).parents[1]
MADE_WITH_THE_SITE = ROOT / "docs" / "reference"
SOURCES = sorted((ROOT / "src" / "unskew").rglob("*.py"))


LOADED = """
import sys

def assert_not_loaded(*names):
    assert not [name for name in names if name in sys.modules]

import unskew
assert_not_loaded("torch", "sklearn")

from typer.testing import CliRunner
from unskew.cli import app
result = CliRunner().invoke(app, ["--help"])
assert result.exit_code == 0 and "demo" in result.output
assert_not_loaded("torch", "sklearn")

unskew.metrics.sar_auc
assert_not_loaded("torch")

import unskew.metrics.evidence, unskew.diagnostics
import unskew.practice.report.model_page, unskew.practice.report.comparison_page
assert_not_loaded("torch", "matplotlib")

import unskew.tables
assert_not_loaded("torch")
"""


def test_import_help_metrics_evidence_pages_and_tables_load_no_torch():
    subprocess.run([sys.executable, "-c", LOADED], check=True)


def test_public_names():
    assert unskew.methods()[:3] == ("conf-auc", "no-conf", "ntc")
    assert unskew.ConfidenceAUC is type(unskew.make("conf-auc"))
    for name in unskew.__all__:
        assert getattr(unskew, name) is not None
    assert set(dir(unskew)) >= {"make", "methods", "load", "risk", "metrics", "datasets"}
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = unskew.Nonsense
    assert callable(unskew.methods)  # still, after the modules were loaded


def test_type_checkers_and_editors_see_every_name():
    """What is imported for them alone is what `__getattr__` gives; classes of methods are found by their files."""
    tree = ast.parse((ROOT / "src/unskew/__init__.py").read_text())
    (block,) = [each for each in tree.body if isinstance(each, ast.If)]
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    found = {name.asname: (each.module, name.name) for each in block.body for name in each.names}
    methods = {kind.__name__ for kind in _own_rankers().values()}
    assert set(found) | {"__version__"} | methods == set(unskew.__all__) == set(dir(unskew))
    for name, (module, original) in found.items():
        submodule = f"{module}.{original}"
        expected = sys.modules.get(submodule) or getattr(importlib.import_module(module), original)
        assert getattr(unskew, name) is expected


@pytest.mark.parametrize("name", list(unskew._MODULES))
def test_public_modules_can_be_imported_by_their_public_names(name):
    module = importlib.import_module(f"unskew.{name}")
    assert module is getattr(unskew, name)
    assert module.__spec__.name == module.__name__ == f"unskew.{unskew._MODULES[name]}"


def test_every_equation_has_one_home():
    """Rows of docs/equations.md and "Implements" lines of the code are the same, and no equation has two homes."""
    row = r"^\| ([A-Z]?\d+) \| .* \| `([\w./]+)` \| `(\w+)` \|$"
    table = re.findall(row, (ROOT / "docs/equations.md").read_text(), re.M)
    documented = set(table)
    implemented = []
    for path in SOURCES:
        text = path.read_text()
        for match in re.finditer(r"Implements: Eq\. \(([A-Z]?\d+)\)", text):
            function = re.findall(r"^ *(?:def|class) (\w+)", text[: match.start()], re.M)[-1]
            implemented.append((match[1], str(path.relative_to(ROOT / "src" / "unskew")), function))
    assert len(table) == len(documented)
    assert sorted(implemented) == sorted(documented)
    numbers = [number for number, _, _ in implemented]
    assert len(set(numbers)) == len(numbers)


def test_decisions_that_the_code_points_to_exist():
    text = (ROOT / "docs/decisions.md").read_text()
    numbers = {int(number) for number in re.findall(r"^## (\d+)\.", text, re.M)}
    cited = {int(n) for path in SOURCES for n in re.findall(r"decision (\d+)", path.read_text())}
    assert cited <= numbers


def test_dependencies_each_have_their_reason():
    declared = set(re.findall(r'^  "([\w-]+)[>\[]', (ROOT / "pyproject.toml").read_text(), re.M)) - {"unskew"}
    text = (ROOT / "docs/decisions.md").read_text()
    assert {name for name in declared if f"`{name}`" not in text} == set()


def test_no_module_is_a_drawer():
    assert not [path for path in SOURCES if path.stem in ("utils", "helpers", "common", "misc")]
    examples = re.compile(r" *(>>>|\.\.\.) ")
    lengths = {path: sum(not examples.match(line) for line in path.read_text().splitlines()) for path in SOURCES}
    assert not [str(path) for path, length in lengths.items() if length > 400]


def test_links_between_pages_lead_somewhere():
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/methods").glob("*.md"), *ROOT.glob("*.md")]
    broken = []
    for page in pages:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path, _, anchor = target.partition("#")
            other = page if not path else page.parent / path
            if "://" in target or other.is_relative_to(MADE_WITH_THE_SITE):  # `make docs` checks links to these
                continue
            if not (other.exists() and (not anchor or anchor in _anchors(other))):
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_files_that_pages_name_are_there():
    missing = [
        f"{page.name}: {path}"
        for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
        for path in re.findall(
            r"`((?:src|tests|docs|benchmarks|examples)/[\w/.-]+\.(?:py|md|csv|txt))`", page.read_text()
        )
        if not (ROOT / path).exists()
    ]
    assert missing == []


def _anchors(page):
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for title in titles}
