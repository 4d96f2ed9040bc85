"""What the library did before its modules were moved, made through its public ways in.

``python tests/golden/make.py`` writes every golden file anew, except for the two tables and the two model files, which
are of an earlier version and must stay readable. Do that only after a change of behavior that is meant: the files are
there to show the changes that are not.
"""

import importlib.metadata
import json
import os
import shutil
import tempfile
from pathlib import Path

import threadpoolctl
import torch
import typer
from typer.testing import CliRunner

import unskew
from unskew.cli import app
from unskew.datasets import toy

HERE = Path(__file__).parent
CLAIMS, NEW_CLAIMS = HERE / "claims.csv", HERE / "new_claims.csv"  # the first rows of `unskew example claims`
MODEL, TOY_MODEL = HERE / "model.unskew", HERE / "toy.unskew"
COLUMNS = ("--label", "known_fraud", "--confidence", "risk")
LEFT_OUT = ("--exclude", "claim_id", "--exclude", "fraud")
TINY = {"max_epochs": 3, "batch_size": 64, "learning_rate": 1e-2, "random_state": 0}
REPRODUCED = ("conf-auc", "puauc", "pusb", "sar-em", "lbe")


def environment():
    """What the last bits of a trained number depend on."""
    torch.set_num_threads(1)  # sums are split among threads, so that their number is part of the result
    threadpoolctl.threadpool_limits(1)
    packages = ("torch", "numpy", "scikit-learn")
    return {
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "cpu_vendor": _vendor(),  # matrix libraries choose their code by it, too
        **{name: importlib.metadata.version(name) for name in packages},
    }


def public_names():
    return sorted(unskew.__all__)


def commands():
    """Parameters of each command; those of the program itself have the name ''."""
    program = typer.main.get_command(app)
    return {name: _parameters(command) for name, command in {"": program, **program.commands}.items()}


def methods():
    """Scores and learned numbers of every method after a tiny training."""
    return {name: {network: _numbers(_train(name, network)) for network in ("linear", "mlp")} for name in _names()}


def fit(folder):
    """The model file in a folder, and beside it the JSON."""
    numbers, model = folder / "fit.json", folder / MODEL.name
    few = ("--method", "conf-auc", "--epochs", 5, "--seed", 0)
    run("fit", CLAIMS, *COLUMNS, *LEFT_OUT, *few, "--json", numbers, "--out", model)
    return model, numbers


def score(model, folder):
    """The list of new claims by a model: that of an earlier version, or one that was fitted now."""
    ranked = folder / ("ranked.csv" if model == MODEL else "ranked_anew.csv")
    run("score", model, NEW_CLAIMS, "--id", "claim_id", "--keep-order", "--out", ranked)
    return ranked


def evaluate(model, folder):
    numbers = folder / "evaluation.json"
    run("evaluate", model, NEW_CLAIMS, *COLUMNS, "--truth", "fraud", "--json", numbers)
    return numbers


def report(model, folder):
    page = folder / "report.html"
    run("report", model, "--out", page)
    return page


def compare(folder):
    """The page and the JSON."""
    few = ("--methods", "conf-auc,puauc,ntc", "--epochs", 3, "--folds", 2, "--seed", 0)
    run("compare", CLAIMS, *COLUMNS, *LEFT_OUT, "--truth", "fraud", *few, "--out", folder / "comparison")
    return folder / "comparison" / "index.html", folder / "comparison" / "comparison.json"


def reproduce(folder):
    """Rows of a table of the paper, on data that needs no download."""
    chosen = [part for name in REPRODUCED for part in ("--method", name)]
    few = ("--dataset", "digits", "--seeds", 1, "--epochs", 2, "--prior", 0.1)
    run("reproduce", "table1", *few, *chosen, "--out", folder / "results")
    return [json.loads(line) for line in (folder / "results" / "table1.jsonl").read_text().splitlines()]


def toy_scores(path):
    return unskew.load(path).decision_function(_toy().X).tolist()


def run(*arguments):
    torch.set_num_threads(1)
    result = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def write_all():
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        _write("environment.json", environment())
        _write("public_names.json", public_names())
        _write("commands.json", commands())
        _write("methods.json", methods())
        _write("toy_scores.json", toy_scores(TOY_MODEL))
        model, numbers = fit(folder)
        page, compared = compare(folder)
        page = page.rename(folder / "comparison.html")
        for path in (
            numbers,
            score(MODEL, folder),
            score(model, folder),
            evaluate(MODEL, folder),
            report(MODEL, folder),
        ):
            shutil.copyfile(path, HERE / path.name)
        for path in (page, compared):
            shutil.copyfile(path, HERE / path.name)
        rows = reproduce(folder)
        for row in rows:
            for key in ("seconds", "labeling_seconds", "versions", "machine"):
                del row[key]
        _write("reproduce.json", rows)


def _names():
    environment()  # sets the number of threads
    return unskew.methods()


def _toy():
    return toy.draw(300, random_state=0)


def _train(name, network):
    data = _toy()
    return unskew.make(name, network=network, **TINY).fit(data.X, data.labeled, confidence=data.confidence)


def _numbers(ranker):
    learned = {name: getattr(ranker, name) for name in ("prior_", "label_freq_", "threshold_") if hasattr(ranker, name)}
    scores = ranker.decision_function(_toy().X[:20]).tolist()
    return {"scores": scores, **{name: None if value is None else float(value) for name, value in learned.items()}}


def _parameters(command):
    """Options by their names, and arguments by their order, because nobody types the name of an argument."""
    options = {}
    arguments = []
    for each in command.params:
        default = None if callable(each.default) or repr(each.default).startswith("Sentinel") else each.default
        told = {
            "required": each.required,
            "default": os.fspath(default) if isinstance(default, Path) else default,
            "multiple": getattr(each, "multiple", False),
            "nargs": each.nargs,
        }
        if each.param_type_name == "argument":
            arguments.append(told)
        else:
            options[" ".join([*each.opts, *each.secondary_opts])] = told
    return {"arguments": arguments, "options": options}


def _vendor():
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("vendor_id")), "")


def _write(name, content):
    (HERE / name).write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    write_all()
