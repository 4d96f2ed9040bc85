"""Commands for a table in a file: fit, score, evaluate, compare, report."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from unskew._support.text import plural
from unskew.cli._app import app, check_seed
from unskew.cli._show import show

Data = Annotated[Path, Argument(metavar="DATA", help="CSV or Parquet file.")]
Model = Annotated[Path, Argument(metavar="MODEL", help="Model file that `unskew fit` wrote.")]
Label = Annotated[str, Option(help="Column that says which rows are known positives (1/0, yes/no, true/false).")]
Confidence = Annotated[
    str | None, Option(help="Column with the confidence of each known positive, between 0 and 1; read there only.")
]
Blank = Annotated[bool, Option("--blank-is-unlabeled", help="A blank label means: not labeled.")]
Exclude = Annotated[list[str] | None, Option(help="Column that is not to be used; may be repeated.")]
Seed = Annotated[int, Option(help="Seed of everything random.")]
Epochs = Annotated[int | None, Option(help="At most so many passes over the data; by default as its size needs.")]
Json = Annotated[Path | None, Option("--json", help="Write the results to this file as JSON.")]


@app.command(short_help="Learn to rank from a table, and estimate how good that is.")
def fit(
    data: Data,
    label: Label,
    confidence: Confidence = None,
    method: Annotated[str, Option(help="See `unskew methods`.")] = "conf-auc",
    exclude: Exclude = None,
    validation: Annotated[
        Path | None, Option(help="File whose rows choose when to stop; else some are held out.")
    ] = None,
    prior: Annotated[float | None, Option(help="Share of positives, where it is known.")] = None,
    blank_is_unlabeled: Blank = False,
    epochs: Epochs = None,
    estimate: Annotated[bool, Option(help="Cross-validate to say how good the model is; five more trainings.")] = True,
    out: Annotated[Path, Option(help="Model file to write.")] = Path("model.unskew"),
    seed: Seed = 0,
    as_json: Json = None,
) -> None:
    """Learn to rank from a table with known positives, and estimate how good that is.

    Example: unskew fit cases.csv --label known --confidence severity --out cases.unskew
    """
    from unskew._support.files import require_writable
    from unskew.practice.fit import Training, fit_table
    from unskew.practice.labeled_table import read_labeled, read_validation
    from unskew.practice.telling import data_table, estimates_table, model_json

    check_seed(seed)
    require_writable(out, data, validation)
    require_writable(as_json, data, validation, beside=out)
    training = Training(method=method, seed=seed, epochs=epochs, prior=prior)
    training.check(has_confidence=confidence is not None)
    table = read_labeled(data, label, confidence, exclude=exclude or (), blank_is_unlabeled=blank_is_unlabeled)
    _tell(table.notes)
    show(data_table(table), f"{data.name}: {len(table.y):,} rows, {int(table.y.sum()):,} labeled")
    held_out = None if validation is None else read_validation(table, validation, blank_is_unlabeled=blank_is_unlabeled)
    _tell(() if held_out is None else held_out.notes)
    model = fit_table(table, training, validation=held_out, estimate=estimate)
    model.save(out)
    show(estimates_table(model), "Estimated without negatives")
    if model.evidence is not None:
        for finding in model.evidence.findings:
            if finding.level != "good":
                typer.echo(f"{finding.level}: {finding.text} {finding.advice}")
    _write_json(as_json, model_json(model))
    typer.echo(f"The model: {out}")


@app.command(short_help="Score and rank the rows of a file.")
def score(
    model: Model,
    data: Data,
    out: Annotated[Path, Option(help="File to write, .csv or .parquet.")] = Path("scored.csv"),
    id_columns: Annotated[list[str] | None, Option("--id", help="Column to keep; may be repeated.")] = None,
    raw: Annotated[
        bool, Option("--raw", help="Leave cells of a CSV file as they are, even those that look like formulas.")
    ] = False,
) -> None:
    """Score and rank the rows of a file; rank 1 is the most likely positive.

    In a CSV file, a ' is put before cells that a spreadsheet would run as formulas. Plain numbers stay as they are.

    Example: unskew score cases.unskew new.csv --id case_number --out ranked.csv
    """
    from unskew._support.files import require_writable
    from unskew.practice.model import TableModel
    from unskew.practice.score import score_file

    require_writable(out, model, data)
    ranked = score_file(TableModel.load(model), data, out, id_columns or (), raw=raw)
    _tell(ranked.messages)
    typer.echo(f"{plural(ranked.n_rows, 'row')} ranked: {out}")


@app.command(short_help="Estimate the AUC on other rows, without negatives.")
def evaluate(
    model: Model,
    data: Data,
    label: Label,
    confidence: Confidence = None,
    truth: Annotated[str | None, Option(help="Column with the true classes, where they are known.")] = None,
    blank_is_unlabeled: Blank = False,
    as_json: Json = None,
) -> None:
    """Estimate the AUC on other rows without negatives; with --truth, beside the true AUC.

    Example: unskew evaluate cases.unskew later.csv --label known --confidence severity
    """
    from unskew._support.files import require_writable
    from unskew.practice.evaluate import evaluate_file
    from unskew.practice.model import TableModel
    from unskew.practice.telling import evaluation_table

    require_writable(as_json, model, data)
    loaded = TableModel.load(model)
    result = evaluate_file(loaded, data, label, confidence, truth, blank_is_unlabeled=blank_is_unlabeled)
    _tell(result.messages)
    show(evaluation_table(result), f"{data.name}: {plural(result.n_rows, 'row')}, {result.n_labeled:,} labeled")
    _write_json(as_json, result.to_json())


@app.command(short_help="Compare methods on the biased labels alone, recommend one.")
def compare(
    data: Data,
    label: Label,
    confidence: Annotated[str, Option(help="Column with the confidence of each known positive, between 0 and 1.")],
    methods: Annotated[str | None, Option(help="Names, with commas between them; all if left out.")] = None,
    folds: Annotated[int | None, Option(help="Parts for cross-validation.")] = None,
    truth: Annotated[str | None, Option(help="Column with the true classes, where they are known.")] = None,
    exclude: Exclude = None,
    blank_is_unlabeled: Blank = False,
    epochs: Epochs = None,
    seed: Seed = 0,
    out: Annotated[Path, Option(help="Folder for the page and the results as JSON.")] = Path("comparison"),
) -> None:
    """Compare methods by cross-validation on the biased labels alone, and recommend one.

    Example: unskew compare cases.csv --label known --confidence severity --methods conf-auc,puauc,ntc
    """
    from unskew._support.files import make_folder, require_folder, require_writable, write_atomically
    from unskew.practice.compare import check_folds, compare_table
    from unskew.practice.fit import Training
    from unskew.practice.labeled_table import read_labeled
    from unskew.practice.telling import about_comparison, comparison_html, comparison_json, comparison_table
    from unskew.tables import read_truth

    check_seed(seed)
    if folds is not None and folds < 2:
        raise ValueError(f"--folds must be at least 2, to learn from some rows and judge by others, but it is {folds}.")
    require_folder(out)
    names = tuple(name.strip() for name in methods.split(",")) if methods else ()
    training = Training(seed=seed, epochs=epochs)
    training.check(has_confidence=True, names=names)
    aside = list(dict.fromkeys([*(exclude or ()), *([truth] if truth else ())]))
    table = read_labeled(data, label, confidence, exclude=aside, blank_is_unlabeled=blank_is_unlabeled)
    _tell(table.notes)
    known = None if truth is None else read_truth(table.frame, truth, path=data)
    n_folds = check_folds(table, folds)
    page, numbers = out / "index.html", out / "comparison.json"
    make_folder(out)  # now that nothing is wrong with the request, and before anything long begins
    for path in (page, numbers):
        require_writable(path, data)
    result = compare_table(table, training, names, n_folds=n_folds, truth=known)
    show(comparison_table(result), f"{data.name}: methods by their AUC, estimated without negatives")
    typer.echo(result.reason)
    if result.right:
        typer.echo(result.right)
    about = about_comparison(table, training, n_folds, truth)
    _write_json(numbers, comparison_json(result, about))
    write_atomically(page, comparison_html(result, about).encode())
    typer.echo(f"The page: {page}")


@app.command(short_help="Write one page about a model.")
def report(
    model: Model, out: Annotated[Path, Option(help="Page to write.")] = Path("report.html"), as_json: Json = None
) -> None:
    """Write one page about a model: estimates, curves, thresholds, what the labels over-represent, what to watch.

    Example: unskew report cases.unskew --out cases.html
    """
    from unskew._support.files import require_writable, write_atomically
    from unskew.practice.model import TableModel
    from unskew.practice.telling import model_html, model_json

    require_writable(out, model)
    require_writable(as_json, model, beside=out)
    loaded = TableModel.load(model)
    write_atomically(out, model_html(loaded).encode())
    _write_json(as_json, model_json(loaded))
    typer.echo(f"The page: {out}")


def _tell(messages: tuple[str, ...]) -> None:
    for message in messages:
        typer.echo(f"note: {message}", err=True)


def _write_json(path: Path | None, content: Any) -> None:
    from unskew._support.files import write_atomically

    if path is not None:
        write_atomically(path, json.dumps(content, indent=2, allow_nan=False).encode())
