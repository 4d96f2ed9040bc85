"""Quick runs of the paper's experiments, from Python and by the command, for the tests of them."""

from dataclasses import replace

from typer.testing import CliRunner

from program import run_program
from unskew.cli import app
from unskew.datasets import Sizes, _registry
from unskew.paper import PLANS
from unskew.paper.one_draw import Draw
from unskew.paper.reproduce import Request, wanted_plan

QUICK = PLANS["table1"].only(datasets=["digits"], methods=["conf-auc", "ntc", "puauc"], priors=[0.2], max_epochs=2)


def draw_fewer(name):
    """From now on, experiments draw a tenth of the data set's instances or less; needs `own_registered`."""
    entry = _registry._entries[name]  # `own_registered` forgets what becomes of it
    _registry._entries[name] = entry._replace(about=replace(entry.about, sizes=Sizes(500, 500, 300, 300)))


def run_settings(settings):
    draw = Draw(settings[0])
    return [draw.row(setting) for setting in settings]


def write_method(path, score="logit", name="mine"):
    """A file that registers a method, whose score is this expression of the labeling probability's logit."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "import unskew\n\n\n@unskew.register\nclass Mine(unskew.LabelingRanker):\n"
        f'    name, table_name, assumption = "{name}", "{name.capitalize()}", "none"\n\n'
        f"    def to_score(self, logit):\n        return {score}\n"
    )
    return path


def reproduce(*arguments, folder):
    """The whole program, with its messages and exit code."""
    return run_program("reproduce", *arguments, "--out", folder)


def reproduce_here(*arguments, folder):
    """The same in this process, which has loaded all that is needed already."""
    return CliRunner().invoke(app, ["reproduce", *arguments, "--out", str(folder)])


def reproduce_digits(*arguments, folder, plan="table1"):
    """A quick form of a plan, in this process; returns what was told on standard error, and what was printed."""
    quick = ["--dataset", "digits", "--prior", "0.2", "--seeds", "1", "--epochs", "1"]
    result = reproduce_here(plan, *quick, *arguments, folder=folder)
    assert result.exit_code == 0, result.stderr
    return result.stderr, result.stdout


def header(text):
    """Titles of the methods in the first table."""
    return next(line for line in text.splitlines() if line.startswith("| Data")).strip("| ").split(" | ")[2:]


def wanted(**changes):
    told = []
    return wanted_plan(Request("table1", **changes), told.append), told
