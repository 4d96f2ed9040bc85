"""What users get: a source archive and a wheel that is built from it, installed where nothing else of us is."""

import csv
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import unskew
from unskew.practice.model import TableModel

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"
MOST_BYTES = 2_000_000


def run(*command, **options):
    return subprocess.run([str(each) for each in command], check=True, capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    return folder / f"unskew-{unskew.__version__}.tar.gz"


@pytest.fixture(scope="module")
def wheel(archive, tmp_path_factory):
    """Built from the archive alone."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    return folder / f"unskew-{unskew.__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def clean(wheel, tmp_path_factory):
    """An environment with the wheel, that finds everything it depends on in that of the tests."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, symlinks=os.name != "nt")
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = sys.executable, "-m", "pip", "--python", programs / "python", "install"
    run(*pip, "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", wheel)
    # Behind its own packages, and without the links of packages that are installed in place, such as ours.
    shared = [sysconfig.get_path("purelib"), *(each for each in sys.path if each.endswith("site-packages"))]
    (own,) = folder.rglob("site-packages")
    (own / "shared.pth").write_text("\n".join(dict.fromkeys(shared)))
    return programs


def environment():
    """Without what leads to the source."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def test_the_wheel_is_small_complete_and_typed(wheel):
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as file:
        names = {name for name in file.namelist() if name.startswith("unskew/")}
    source = ROOT / "src"
    kept = {path for path in (source / "unskew").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert names == {str(path.relative_to(source)) for path in kept}
    assert "unskew/py.typed" in names


def test_metadata(wheel):
    with zipfile.ZipFile(wheel) as file:
        (name,) = [each for each in file.namelist() if each.endswith("/METADATA")]
        found = Parser().parsestr(file.read(name).decode())
        assert any(each.endswith("/licenses/LICENSE") for each in file.namelist())
    assert (found["Name"], found["Version"]) == ("unskew", unskew.__version__)
    assert (found["License-Expression"], found["Requires-Python"]) == ("BSD-3-Clause", ">=3.11")
    assert "Typing :: Typed" in found.get_all("Classifier")
    assert found.get_payload().startswith("# ")


def test_the_archive_has_what_the_tests_need(archive):
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    wanted = {"LICENSE", "CITATION.cff", "CHANGELOG.md", "Makefile", "constraints.txt", "constraints-lowest.txt"}
    assert wanted | {"tests/conftest.py", "docs/decisions.md", "examples/serve_onnx.py"} <= names


def test_installed_it_reads_a_model_of_version_0_1_and_scores_as_that_did(clean, tmp_path):
    options = {"cwd": tmp_path, "env": environment()}
    where = run(clean / "python", "-c", "import unskew; print(unskew.__file__, unskew.__version__)", **options).stdout
    assert Path(where.split()[0]).is_relative_to(clean.parent)
    assert where.split()[1] == unskew.__version__
    assert TableModel.load(GOLDEN / "model.unskew").written_with["unskew"] == "0.1.0"
    arguments = "score", GOLDEN / "model.unskew", GOLDEN / "new_claims.csv", "--id", "claim_id", "--out", "ranked.csv"
    run(clean / "unskew", *arguments, "--keep-order", **options)
    now, then = (read_scores(path) for path in (tmp_path / "ranked.csv", GOLDEN / "ranked.csv"))
    assert now.keys() == then.keys()
    assert [now[name] for name in then] == pytest.approx([then[name] for name in then], abs=1e-5)


def read_scores(path):
    with path.open(newline="") as file:
        return {row["claim_id"]: float(row["score"]) for row in csv.DictReader(file)}


def test_every_place_says_the_same_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", citation, re.M) == [unskew.__version__]
    assert re.findall(r"^license: (.*)$", citation, re.M) == ["BSD-3-Clause"]


def test_lowest_versions_are_those_that_are_declared():
    """A floor that no test runs on is a guess."""
    pairs = re.findall(r'"([\w-]+)(?:\[\w+\])?>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    declared = {name: version for name, version in pairs if name not in NOT_IN_LOWEST}
    lowest = dict(re.findall(r"^([\w-]+)==([\d.]+)", (ROOT / "constraints-lowest.txt").read_text(), re.M))
    assert {name: shortened(lowest.get(name, "")) for name in declared} == {
        name: shortened(version) for name, version in declared.items()
    }


NOT_IN_LOWEST = {
    *("hatchling", "torch", "ray"),
    *("ruff", "mypy", "import-linter", "pre-commit"),
    *("myst-parser", "numpydoc", "pydata-sphinx-theme", "sphinx", "sphinx-gallery"),
}
"""Tools that no test imports, and what comes in gigabytes (see `docs/compatibility.md`)."""


def shortened(version):
    """Without zeros at the end: 1.26 and 1.26.0 are the same."""
    return re.sub(r"(\.0)+$", "", version)
