"""Commands for a table in a file: fit, score, evaluate, audit, suggest, compare, report."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from unskew._support.files import make_folder, require_folder, require_writable, write_atomically
from unskew._support.text import plural, shown
from unskew.cli._app import Seed, app, say, show, warn

if TYPE_CHECKING:
    from unskew.metrics.cuts import BestCut, Costs
    from unskew.metrics.diagnostics import Finding

Data = Annotated[Path, Argument(metavar="DATA", help="CSV or Parquet file, or a folder of Parquet files.")]
Model = Annotated[Path, Argument(metavar="MODEL", help="Model file written by `unskew fit`.")]
Label = Annotated[str, Option(help="Column that says which rows are known positives (1/0, yes/no, true/false).")]
Confidence = Annotated[
    str | None, Option(help="Column with the confidence of each known positive, from 0 to 1; ignored on other rows.")
]
Blank = Annotated[bool, Option("--blank-is-unlabeled", help="A blank label means unlabeled.")]
Exclude = Annotated[list[str] | None, Option(help="Column to ignore; may be repeated.")]
ReadAs = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN=KIND",
        help="Read a column as numeric, boolean, categorical or date, whatever it looks like; may be repeated.",
    ),
]
Epochs = Annotated[int | None, Option(help="Maximum number of passes over the data; by default chosen by its size.")]
Jobs = Annotated[
    int, Option(help="Processes that share the fits, -1 for one per core; the result does not depend on it.")
]
ScoredIds = Annotated[list[str] | None, Option("--id", help="Column to keep; may be repeated.")]
Top = Annotated[int | None, Option(help="Write only this many rows, the best.")]
Reasons = Annotated[
    int, Option(help="Add this many columns that say what moved the score of each row most.", show_default=False)
]
KeepOrder = Annotated[bool, Option("--keep-order", help="Keep the order of DATA instead of the best first.")]
Raw = Annotated[
    bool, Option("--raw", help="Leave cells of a CSV file as they are, even those that look like formulas.")
]
TOP_TITLE = "What the top of the ranking holds, each with its interval"
CostReview = Annotated[
    float | None,
    Option(help="Cost of reviewing one row, in any unit of money; says how many rows to review.", show_default=False),
]
GainPositive = Annotated[float | None, Option(help="What a positive that is found is worth.", show_default=False)]
CostMiss = Annotated[
    float | None, Option(help="Instead of --gain-positive: cost of a positive that is not found.", show_default=False)
]
Capacity = Annotated[int | None, Option(help="Most rows that can be reviewed.", show_default=False)]
CUT_TITLE = "How many rows to review"
Json = Annotated[Path | None, Option("--json", help="Also write the results to this JSON file.")]


@app.command(short_help="Learn to rank the rows of a table, and estimate how well.")
def fit(
    data: Data,
    label: Label,
    confidence: Confidence = None,
    method: Annotated[str, Option(help="Method; `unskew methods` lists them.")] = "auto",
    exclude: Exclude = None,
    read_as: ReadAs = None,
    validation: Annotated[
        Path | None,
        Option(help="File whose rows decide when to stop, by default some of DATA; auto learns from them."),
    ] = None,
    prior: Annotated[float | None, Option(help="Share of positives among all rows, if known.")] = None,
    blank_is_unlabeled: Blank = False,
    epochs: Epochs = None,
    estimate: Annotated[
        bool, Option(help="Estimate how good the model is; methods other than auto train five more times for it.")
    ] = True,
    out: Annotated[Path, Option(help="Model file to write.")] = Path("model.unskew"),
    seed: Seed = 0,
    jobs: Jobs = 1,
    cost_review: CostReview = None,
    gain_positive: GainPositive = None,
    cost_miss: CostMiss = None,
    capacity: Capacity = None,
    as_json: Json = None,
) -> None:
    """Learn to rank the rows of a table with known positives, and estimate how good the ranking is.

    A Parquet file, or a folder of them, may be larger than memory.

    Example: unskew fit cases.csv --label known --confidence severity --out cases.unskew
    """
    from unskew.metrics.cuts import cut_on_evidence
    from unskew.metrics.reliability import NOT_SEEN_FROM_INSIDE
    from unskew.practice.fit import TrainingOptions, fit_table
    from unskew.practice.labeled_table import read_labeled, read_validation
    from unskew.practice.results import model_json
    from unskew.practice.terminal import data_table, estimates_table, parts_table, top_table

    _check_jobs(jobs)
    require_writable(out, data, validation)
    require_writable(as_json, data, validation, beside=out)
    training = TrainingOptions(method=method, seed=seed, epochs=epochs, prior=prior)
    training.check(has_confidence=confidence is not None)
    costs = _costs(cost_review, gain_positive, cost_miss, capacity)
    if costs is not None and (confidence is None or not estimate):
        raise ValueError(
            "to say how many rows to review, fit must estimate how good the model is, but "
            f"{'--no-estimate was given' if confidence else 'there is no confidence'}. "
            f"{'Leave it out' if confidence else 'Give --confidence COLUMN'}, or leave --cost-review out."
        )
    kinds = _kinds(read_as or ())
    table = read_labeled(
        data, label, confidence, exclude=exclude or (), blank_is_unlabeled=blank_is_unlabeled, kinds=kinds
    )
    _show_notes(table.notes)
    show(data_table(table), f"{data.name}: {len(table.y):,} rows, {int(table.y.sum()):,} labeled")
    _show_findings(table.findings)
    held_out = None if validation is None else read_validation(table, validation, blank_is_unlabeled=blank_is_unlabeled)
    _show_notes(() if held_out is None else held_out.notes)
    model = fit_table(table, training, validation=held_out, estimate=estimate, n_jobs=jobs)
    model.save(out)
    if model.parts:
        show(parts_table(model), f"Methods that {method} combined")
    show(estimates_table(model), "Estimated without negatives")
    if model.evidence is not None:
        show(top_table(model.evidence.top, with_points=model.evidence.estimate.shows_points), TOP_TITLE)
        for finding in model.evidence.findings[len(table.findings) :]:  # the first were shown before training
            if finding.level != "good":
                say(f"{finding.level}: {finding.message}")
        say(NOT_SEEN_FROM_INSIDE)
    cut = None
    if costs is not None and model.evidence is not None:
        cut = cut_on_evidence(model.evidence, costs)
        _show_cut(cut, model.evidence.estimate.shows_points)
    _write_json(as_json, model_json(model, cut))
    say(f"Model: {out}")


@app.command(short_help="Score and rank the rows of a file.")
def score(
    model: Model,
    data: Data,
    out: Annotated[Path, Option(help="File to write, .csv or .parquet.")] = Path("scored.csv"),
    id_columns: ScoredIds = None,
    top: Top = None,
    reasons: Reasons = 0,
    keep_order: KeepOrder = False,
    skip_labeled: Annotated[
        bool, Option("--skip-labeled", help="Leave out rows that the label column marks already.")
    ] = False,
    raw: Raw = False,
    cost_review: CostReview = None,
    gain_positive: GainPositive = None,
    cost_miss: CostMiss = None,
    capacity: Capacity = None,
    as_json: Json = None,
) -> None:
    """Score and rank the rows of a file, the most likely positive (rank 1) first.

    The file may be larger than memory. Reasons are columns of the row with their values, the one that moved its score
    most first, compared with other rows of the file.

    With --cost-review the list ends where its review earns most, by the probabilities of its rows.

    In a CSV file, a ' is put before cells that a spreadsheet would run as formulas. Plain numbers stay as they are.

    Example: unskew score cases.unskew new.csv --id case_number --top 100 --reasons 3 --out ranked.csv
    """
    from unskew.practice.cut import points_of
    from unskew.practice.model import TableModel
    from unskew.practice.score import ListOptions, score_file

    require_writable(out, model, data)
    require_writable(as_json, model, data, beside=out)
    costs = _costs(cost_review, gain_positive, cost_miss, capacity)
    options = ListOptions(id_columns or (), top, reasons, keep_order, raw, skip_labeled, costs)
    loaded = TableModel.load(model, to_score=True)
    found = score_file(loaded, data, out, options)
    _show_notes(found.notes)
    if found.cut is not None:
        _show_cut(found.cut, points_of(loaded.evidence))
    best = f", the best {found.n_written:,} written" if found.n_written < found.n_rows else ""
    say(f"{plural(found.n_rows, 'row')} ranked{best}: {out}")
    _write_json(as_json, found.to_json())


@app.command(short_help="Estimate the AUC on other rows, without negatives.")
def evaluate(
    model: Model,
    data: Data,
    label: Label,
    confidence: Confidence = None,
    truth: Annotated[str | None, Option(help="Column with the true classes, if known.")] = None,
    blank_is_unlabeled: Blank = False,
    cost_review: CostReview = None,
    gain_positive: GainPositive = None,
    cost_miss: CostMiss = None,
    capacity: Capacity = None,
    as_json: Json = None,
) -> None:
    """Estimate the AUC on other rows, without negatives; with --truth, also compute the true AUC.

    Example: unskew evaluate cases.unskew later.csv --label known --confidence severity
    """
    from unskew.metrics.reliability import NOT_SEEN_FROM_INSIDE
    from unskew.practice.evaluate import evaluate_file
    from unskew.practice.model import TableModel
    from unskew.practice.terminal import evaluation_table, top_table

    require_writable(as_json, model, data)
    costs = _costs(cost_review, gain_positive, cost_miss, capacity)
    loaded = TableModel.load(model)
    result = evaluate_file(loaded, data, label, confidence, truth, blank_is_unlabeled=blank_is_unlabeled, costs=costs)
    _show_notes(result.messages)
    show(evaluation_table(result), f"{data.name}: {plural(result.n_rows, 'row')}, {result.n_labeled:,} labeled")
    if result.estimate is not None:
        show(top_table(result.top, with_points=result.estimate.shows_points), TOP_TITLE)
        say(NOT_SEEN_FROM_INSIDE)
        if result.cut is not None:
            _show_cut(result.cut, result.estimate.shows_points)
    _write_json(as_json, result.to_json())


@app.command(short_help="Draw rows to check by hand; once checked, say how good the model is.")
def audit(
    model: Model,
    data: Data,
    id_columns: Annotated[
        list[str] | None, Option("--id", help="Column that names a row to whoever checks it; may be repeated.")
    ] = None,
    rows: Annotated[int, Option(help="How many rows to check by hand.")] = 100,
    out: Annotated[Path, Option(help="List to write, .csv or .parquet.")] = Path("audit.csv"),
    checked: Annotated[
        Path | None, Option(help="List that was filled in: 1 or 0 in the column `positive` of every row.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = None,
) -> None:
    """Draw rows to check by hand; with --checked, estimate from them how good the model is on all rows of DATA.

    The intervals are valid whatever the model, the labels and the confidence are. Fill in the column `positive` of
    every row of the list.

    Example: unskew audit cases.unskew new.csv --id case_number --rows 100 --out audit.csv

    Then: unskew audit cases.unskew new.csv --checked audit.csv
    """
    from unskew.practice.audit import read_audit, write_audit
    from unskew.practice.model import TableModel
    from unskew.practice.terminal import audit_table

    if checked is None:
        if as_json is not None:
            raise ValueError("--json must come with --checked, because only a checked list has results. Leave it out.")
        require_writable(out, model, data)
        n_rows, notes = write_audit(TableModel.load(model), data, id_columns or (), rows, out, seed=seed)
        _show_notes(notes)
        say(f"{plural(n_rows, 'row')} to check: {out}")
        say(f"Fill in the column `positive` with 1 or 0, then: unskew audit {model} {data} --checked {out}")
        return
    require_writable(as_json, model, data, checked)
    result = read_audit(TableModel.load(model), data, checked)
    _show_notes(result.messages)
    found = result.estimate
    title = f"{data.name}: {plural(found.n_rows, 'row')}, {found.n_checked:,} checked, {found.n_positive:,} positive"
    show(audit_table(found), title)
    say(found.calibration)
    _write_json(as_json, result.to_json())


@app.command(short_help="Say which rows to label next; once labeled, write the table to fit again.")
def suggest(
    model: Model,
    data: Data,
    id_columns: Annotated[
        list[str] | None, Option("--id", help="Column that names a row to whoever checks it; may be repeated.")
    ] = None,
    rows: Annotated[int, Option(help="How many rows to label.")] = 50,
    out: Annotated[
        Path | None,
        Option(help="File to write, .csv or .parquet.  [default: to_label.csv, with --checked labeled.csv]"),
    ] = None,
    checked: Annotated[
        Path | None, Option(help="List that was filled in: DATA is written again with the new labels.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Say which rows of DATA to label next, so that ranking and estimates get better, and why each.

    Give each row that you check a confidence, from the same source as before, whether it is positive or not. A row that
    is not positive may also be left without one; it then stays unlabeled.

    Example: unskew suggest cases.unskew cases.csv --id case_number --rows 50 --out to_label.csv

    Then: unskew suggest cases.unskew cases.csv --checked to_label.csv --out labeled.csv
    """
    from unskew.practice.model import TableModel
    from unskew.practice.suggest import fill_in, write_suggestions

    if checked is None:
        out = Path("to_label.csv") if out is None else out
        require_writable(out, model, data)
        n_rows, notes = write_suggestions(TableModel.load(model), data, id_columns or (), rows, out, seed=seed)
        _show_notes(notes)
        say(f"{plural(n_rows, 'row')} to label: {out}")
        say(
            "Fill in `positive` (1 or 0) and `confidence` (0 to 1, as the confidence of your labels), then: "
            f"unskew suggest {model} {data} --checked {out} --out labeled.csv"
        )
        return
    out = Path("labeled.csv") if out is None else out
    require_writable(out, model, data, checked)
    found = fill_in(TableModel.load(model), data, checked, out)
    _show_notes(found.notes)
    say(f"{plural(found.n_labeled, 'new label')}, {found.n_positive:,} of them positive: {out}")
    say(f"Fit again: unskew fit {out} --label {shown(found.label)} --confidence {shown(found.confidence)}")


@app.command(short_help="Compare methods using only the biased labels; recommend one.")
def compare(
    data: Data,
    label: Label,
    confidence: Annotated[str, Option(help="Column with the confidence of each known positive, from 0 to 1.")],
    methods: Annotated[str | None, Option(help="Methods to compare, separated by commas; by default all.")] = None,
    folds: Annotated[int | None, Option(help="Number of parts for cross-validation.")] = None,
    truth: Annotated[str | None, Option(help="Column with the true classes, if known.")] = None,
    exclude: Exclude = None,
    blank_is_unlabeled: Blank = False,
    epochs: Epochs = None,
    quick: Annotated[
        bool, Option("--quick", help="Answer in about a minute, roughly: on some rows, and without slow methods.")
    ] = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    out: Annotated[Path, Option(help="Folder for the page and the results as JSON.")] = Path("comparison"),
) -> None:
    """Compare methods by cross-validation, using only the biased labels, and recommend one.

    Example: unskew compare cases.csv --label known --confidence severity --methods conf-auc,puauc,ntc
    """
    from unskew.metrics.reliability import NOT_SEEN_FROM_INSIDE
    from unskew.practice.compare import QUICK_FOLDS, check_folds, compare_table
    from unskew.practice.fit import TrainingOptions
    from unskew.practice.labeled_table import read_labeled
    from unskew.practice.results import about_comparison, comparison_html
    from unskew.practice.terminal import about_compared_table, comparison_table

    if folds is not None and folds < 2:
        raise ValueError(f"--folds must be at least 2, to train on some rows and test on others, but it is {folds}.")
    _check_jobs(jobs)
    require_folder(out)
    names = tuple(name.strip() for name in methods.split(",")) if methods else ()
    training = TrainingOptions(seed=seed, epochs=epochs)
    training.check(has_confidence=True, names=names)
    table = read_labeled(
        data, label, confidence, truth=truth, exclude=exclude or (), blank_is_unlabeled=blank_is_unlabeled
    )
    _show_notes(table.notes)
    _show_findings(table.findings)
    n_folds = check_folds(table, QUICK_FOLDS if quick and folds is None else folds)
    page, numbers = out / "index.html", out / "comparison.json"
    make_folder(out)  # after all checks of the request, and before anything long begins
    for path in (page, numbers):
        require_writable(path, data)
    result = compare_table(table, training, names, n_folds, n_jobs=jobs, quick=quick)
    _show_notes(result.messages[len(table.findings) :])
    show(comparison_table(result), f"{data.name}: methods by their AUC, estimated without negatives")
    say(about_compared_table(result))
    say(result.reason)
    if result.right:
        say(result.right)
    say(NOT_SEEN_FROM_INSIDE)
    about = about_comparison(table, training, n_folds, truth)
    _write_json(numbers, {**about, **asdict(result)})
    write_atomically(page, comparison_html(result, about).encode())
    say(f"Page: {page}")


@app.command(short_help="Write one page about a model.")
def report(
    model: Model,
    data: Annotated[
        Path | None, Argument(metavar="[DATA]", help="CSV or Parquet file whose first rows the page shows.")
    ] = None,
    id_columns: Annotated[
        list[str] | None, Option("--id", help="Column that names a row of DATA to people; may be repeated.")
    ] = None,
    rows: Annotated[int, Option(help="How many rows of DATA to show.")] = 20,
    out: Annotated[Path, Option(help="Page to write.")] = Path("report.html"),
    cost_review: CostReview = None,
    gain_positive: GainPositive = None,
    cost_miss: CostMiss = None,
    capacity: Capacity = None,
    as_json: Json = None,
) -> None:
    """Write one page about a model: what was found, how many rows to review, how sure that is, what to do next.

    With DATA, the page lists its rows to look at first, without those that are labeled already, and the reasons.

    Example: unskew report cases.unskew cases.csv --id case_number --out cases.html
    """
    from unskew.practice.cut import cut_of_model, points_of
    from unskew.practice.model import TableModel
    from unskew.practice.results import model_html, model_json

    require_writable(out, model, data)
    require_writable(as_json, model, data, beside=out)
    costs = _costs(cost_review, gain_positive, cost_miss, capacity)
    loaded = TableModel.load(model)
    cut = None if costs is None else cut_of_model(loaded, costs)
    first = None
    if data is not None:
        from unskew.practice.first_rows import first_rows

        first = first_rows(loaded, data, id_columns or (), rows)
        _show_notes(first.notes)
    elif id_columns:
        raise ValueError("--id must come with DATA, whose rows it names. Name the file after the model.")
    write_atomically(out, model_html(loaded, first, cut).encode())
    _write_json(as_json, model_json(loaded, cut))
    if cut is not None:
        _show_cut(cut, points_of(loaded.evidence))
    say(f"Page: {out}")


def _costs(
    cost_review: float | None, gain_positive: float | None, cost_miss: float | None, capacity: int | None
) -> "Costs | None":
    """What the options say of money; None if they say nothing."""
    from unskew.metrics.cuts import Costs

    given = {"--gain-positive": gain_positive, "--cost-miss": cost_miss, "--capacity": capacity}
    if cost_review is None:
        named = [name for name, value in given.items() if value is not None]
        if named:
            raise ValueError(
                f"{named[0]} must come with --cost-review, what it costs to review one row, but that was not given. "
                "Give it, too."
            )
        return None
    costs = Costs(cost_review, gain_positive, cost_miss, capacity)
    costs.check(lambda name: f"--{name.replace('_', '-')}")
    return costs


def _kinds(read_as: Sequence[str]) -> dict[str, str]:
    """Kinds of columns as the options say, such as ``zip=categorical``; the column may have a = in its name."""
    for each in read_as:
        if "=" not in each:
            raise ValueError(f"--read-as must be COLUMN=KIND, such as zip=categorical, but it is {shown(each)}.")
    pairs = [each.rpartition("=") for each in read_as]
    return {column: kind for column, _, kind in pairs}


def _show_cut(cut: "BestCut", with_points: bool) -> None:
    from unskew.practice.cut import cut_sentence, cut_table

    show(cut_table(cut, with_points=with_points), CUT_TITLE)
    say(cut_sentence(cut, with_points=with_points))


def _check_jobs(jobs: int) -> None:
    if jobs < 1 and jobs != -1:
        raise ValueError(f"--jobs must be 1 or more, or -1 for one per core, but it is {jobs}.")


def _show_notes(messages: Sequence[str]) -> None:
    for message in messages:
        warn(f"note: {message}")


def _show_findings(findings: "Sequence[Finding]") -> None:
    for finding in findings:
        warn(f"{finding.level}: {finding.message}")


def _write_json(path: Path | None, content: Any) -> None:
    if path is not None:
        write_atomically(path, json.dumps(content, indent=2, allow_nan=False).encode())
