"""A new method is one new file: names, contract, contract tests and pages find it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
METHOD = '''"""A method in a file of its own."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.rankers._by_labeling import LabelingRanker


@dataclass(kw_only=True, eq=False, repr=False)
class NewMethod(LabelingRanker):
    """Rank by twice the logit.

    Notes
    -----
    **Assumption.**
    SCAR, in the one-sample scenario and in the two-sample scenario.
    """

    name: ClassVar[str] = "new-method"
    table_name: ClassVar[str] = "New"
    position: ClassVar[int] = 100
    assumption: ClassVar[str] = "SCAR"

    def to_score(self, logit: np.ndarray) -> np.ndarray:
        """Twice the logit."""
        return 2 * logit
'''
CHECKS = """
import sys
from pathlib import Path

import unskew

here = Path.cwd()
assert Path(unskew.__file__).is_relative_to(here), unskew.__file__
assert unskew.methods()[-1] == "new-method"
assert unskew.NewMethod is type(unskew.make("new-method"))
assert "NewMethod" in unskew.__all__ and "NewMethod" in dir(unskew)

import method_pages
assert "What it assumes" in method_pages.pages()["new-method.md"]
assert "[new-method](new-method.md)" in method_pages.pages()["index.md"]

import quick_fits, test_rankers
assert "new-method" in test_rankers.NAMES and "new-method" in quick_fits.METHODS
marks = {mark.name: mark.args for mark in test_rankers.test_scikit_learns_own_checks.pytestmark}
estimators = {type(getattr(each, "values", each)[0]) for each in marks["parametrize"][1]}
assert unskew.NewMethod in estimators

from importlinter.cli import lint_imports
assert lint_imports("pyproject.toml", no_cache=True) == 0
with (here / "src/unskew/rankers/new_method.py").open("a") as file:
    file.write("\\n\\nfrom unskew.rankers.ntc import NonTraditional\\n")
assert lint_imports("pyproject.toml", no_cache=True) == 1
print("found everywhere")
"""


def test_one_file_is_found_everywhere_and_may_not_import_another_method(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "src/unskew/rankers/new_method.py").write_text(METHOD)
    script = tmp_path / "checks.py"
    script.write_text(CHECKS)
    folders = [tmp_path / "src", ROOT / "docs", ROOT / "tests", ROOT / "tests" / "rankers"]
    run = subprocess.run(
        [sys.executable, "-B", str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
        capture_output=True,
        text=True,
    )
    assert "found everywhere" in run.stdout, run.stderr + run.stdout
