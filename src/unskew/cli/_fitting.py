"""Commands that learn from a labeled table: fit, compare."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from typer import Option

from unskew._support.files import make_folder, require_folder, require_writable, write_atomically
from unskew.cli._app import Seed, app, say, show, show_findings, show_notes, write_json
from unskew.cli._costs import Capacity, CostMiss, CostReview, GainPositive, costs_of, show_cut
from unskew.cli._options import (
    Blank,
    Confidence,
    Data,
    Epochs,
    Exclude,
    Jobs,
    Json,
    Label,
    ReadAs,
    check_jobs,
    kinds_of,
)
from unskew.cli._workers import AtWorkers, AtWorkersOfFit, check_workers, fit_by_workers, read_for_workers


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
    workers: AtWorkersOfFit = None,
    as_json: Json = None,
) -> None:
    """Learn to rank the rows of a table with known positives, and estimate how good the ranking is.

    A Parquet file, or a folder of them, may be larger than memory. With --workers, the rows of a folder are held by
    processes on this machine or on a Ray cluster together, which train one network; notes of how far they have come are
    kept beside the model, and after an interruption the same command goes on from there.

    Example: unskew fit cases.csv --label known --confidence severity --out cases.unskew
    """
    from unskew.metrics.cuts import cut_on_evidence
    from unskew.metrics.reliability import NOT_SEEN_FROM_INSIDE
    from unskew.practice.fit import TrainingOptions, fit_table
    from unskew.practice.labeled_table import read_labeled, read_validation
    from unskew.practice.results import model_json
    from unskew.practice.terminal import TOP_TITLE, data_table, estimates_table, parts_table, top_table

    check_jobs(jobs)
    require_writable(out, data, validation)
    require_writable(as_json, data, validation, beside=out)
    training = TrainingOptions(method=method, seed=seed, epochs=epochs, prior=prior)
    training.check(has_confidence=confidence is not None)
    costs = costs_of(cost_review, gain_positive, cost_miss, capacity)
    if costs is not None and (confidence is None or not estimate):
        raise ValueError(
            "to say how many rows to review, fit must estimate how good the model is, but "
            f"{'--no-estimate was given' if confidence else 'there is no confidence'}. "
            f"{'Leave it out' if confidence else 'Give --confidence COLUMN'}, or leave --cost-review out."
        )
    kinds = kinds_of(read_as or ())
    shared = None
    if workers is None:
        table = read_labeled(
            data, label, confidence, exclude=exclude or (), blank_is_unlabeled=blank_is_unlabeled, kinds=kinds
        )
    else:
        if validation is not None:
            raise ValueError("--validation must not come with --workers, who hold some rows out. Leave it out.")
        shared = read_for_workers(data, training, workers, label, confidence, exclude or (), blank_is_unlabeled, kinds)
        table = shared.table
    show_notes(table.notes)
    show(data_table(table), f"{data.name}: {len(table.y):,} rows, {int(table.y.sum()):,} labeled")
    show_findings(table.findings)
    held_out = None if validation is None else read_validation(table, validation, blank_is_unlabeled=blank_is_unlabeled)
    show_notes(() if held_out is None else held_out.notes)
    if shared is None:
        model = fit_table(table, training, validation=held_out, estimate=estimate, n_jobs=jobs)
    else:
        model = fit_by_workers(shared, training, str(workers), out, jobs if estimate else None)
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
        show_cut(cut, model.evidence.estimate.shows_points)
    write_json(as_json, model_json(model, cut))
    say(f"Model: {out}")


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
    workers: AtWorkers = None,
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
    check_jobs(jobs)
    check_workers(workers, jobs)
    require_folder(out)
    names = tuple(name.strip() for name in methods.split(",")) if methods else ()
    training = TrainingOptions(seed=seed, epochs=epochs)
    training.check(has_confidence=True, names=names)
    table = read_labeled(
        data, label, confidence, truth=truth, exclude=exclude or (), blank_is_unlabeled=blank_is_unlabeled
    )
    show_notes(table.notes)
    show_findings(table.findings)
    n_folds = check_folds(table, QUICK_FOLDS if quick and folds is None else folds)
    page, numbers = out / "index.html", out / "comparison.json"
    make_folder(out)  # after all checks of the request, and before anything long begins
    for path in (page, numbers):
        require_writable(path, data)
    result = compare_table(table, training, names, n_folds, n_jobs=jobs, workers=workers, quick=quick)
    show_notes(result.messages[len(table.findings) :])
    show(comparison_table(result), f"{data.name}: methods by their AUC, estimated without negatives")
    say(about_compared_table(result))
    say(result.reason)
    if result.right:
        say(result.right)
    say(NOT_SEEN_FROM_INSIDE)
    about = about_comparison(table, training, n_folds, truth)
    write_json(numbers, {**about, **asdict(result)})
    write_atomically(page, comparison_html(result, about).encode())
    say(f"Page: {page}")
