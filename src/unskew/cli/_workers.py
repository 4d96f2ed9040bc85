"""The option `--workers`, and what `unskew fit` and `unskew score` do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from unskew._support.text import plural
from unskew.cli._app import say, show_notes
from unskew.workers import Workers

if TYPE_CHECKING:
    from unskew.distributed.training import Folder
    from unskew.practice.fit import TrainingOptions
    from unskew.practice.model import TableModel

AtWorkers = Annotated[
    str | None,
    Option(
        "--workers",
        metavar="WORKERS",
        help="Share the work between processes on Ray: ray:N on this machine, or ray://HOST:PORT, a cluster.",
        show_default=False,
    ),
]

AtWorkersOfFit = Annotated[
    str | None,
    Option(
        "--workers",
        metavar="WORKERS",
        help="Share the rows of a folder between processes: local:N or, on Ray, ray:N on this machine, or "
        "ray://HOST:PORT, a cluster.",
        show_default=False,
    ),
]


def check_workers(workers: str | None, jobs: int) -> None:
    """Refuse what names no workers, and a number of processes beside them."""
    if workers is None:
        return
    Workers.parse(workers)
    if jobs != 1:
        raise ValueError("--jobs must not come with --workers, which says how many there are. Leave it out.")


def refuse_with_workers(options: Mapping[str, Any]) -> None:
    """Refuse options that a folder of files is not scored with."""
    for name, value in options.items():
        if value:
            raise ValueError(
                f"{name} must not come with --workers, which writes every row of every file in its order. Leave one of "
                "them out."
            )


def read_for_workers(
    folder: Path,
    training: TrainingOptions,
    workers: str,
    label: str,
    confidence: str | None,
    exclude: Sequence[str],
    blank_is_unlabeled: bool,
    kinds: Mapping[str, str],
) -> Folder:
    """Look through the files of a folder that workers will fit to."""
    from unskew.distributed.training import Columns, read_folder, require_workers

    require_workers(training.ranker(), workers)
    return read_folder(folder, Columns(label, confidence, tuple(exclude), blank_is_unlabeled, kinds))


def fit_by_workers(
    folder: Folder, training: TrainingOptions, workers: str, out: Path, n_jobs: int | None
) -> TableModel:
    """Fit to the files of a folder by workers, who meet in a hidden folder beside the model."""
    from unskew.distributed.training import fit_model

    return fit_model(folder, training, workers, out.absolute().with_name(f".{out.name}.training"), n_jobs)


def score_folder(model: Path, folder: Path, out: Path, ids: Sequence[str], raw: bool, workers: str) -> dict[str, Any]:
    """Score the files of a folder by workers, and say what was found; returns it as plain data."""
    from unskew.distributed import score
    from unskew.tables import WRITABLE_ENDINGS

    if out.name.lower().endswith(WRITABLE_ENDINGS):
        raise ValueError(f"--out must be a folder where --workers is given, but it is {out}. Choose --out FOLDER.")
    found = score(model, folder, out, workers=workers, ids=ids, raw=raw)
    show_notes(found.notes)
    say(f"{plural(found.n_rows, 'row')} of {plural(found.n_files, 'file')} ranked: {out}")
    return found.to_json()
