"""Fit to the files of a folder by workers that hold the rows together, each its own shards."""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from sklearn.utils import check_random_state

from unskew._support.files import make_folder, require_folder, write_atomically
from unskew._support.text import StrPath
from unskew._version import __version__
from unskew.distributed.crews import Crew, WorkerLost, crew_of, processes_in
from unskew.distributed.member import MODEL, Work
from unskew.distributed.parts import tables_in
from unskew.distributed.shares import SharedTable, pieces_of, require_rows
from unskew.practice.fit import TrainingOptions, judged, source_of
from unskew.practice.labeled_table import LabeledTable, read_labeled
from unskew.practice.model import TableModel
from unskew.tables import open_folder
from unskew.workers import Pool, Workers

LEAST_SHARDS = 8
"""So many shards, or as many as there are workers: the same number of shards gives the same model."""
MOST_KILLS = 4
"""Workers that may be killed one after another while the training does not get further."""
SECONDS = 30.0
REQUEST, LOCK, WRITTEN = "request.json", "lock", ("training-*.pt", "meeting-*", MODEL)


def fit(
    ranker: Any,
    folder: StrPath,
    *,
    label: str,
    confidence: str | None = None,
    workers: int | str | Pool | Crew,
    exclude: Sequence[str] = (),
    blank_is_unlabeled: bool = False,
    run: StrPath | None = None,
    shards: int | None = None,
    seconds: float = SECONDS,
) -> Any:
    """Fit a ranker to the files of a folder, which several workers hold together.

    The rows are dealt to shards, and each worker reads its own; labeled rows are with every worker. Each step is that
    of one worker with all rows of the batch, so the fitted ranker is the same, to the last bit, with any number of
    workers, and also if some are killed: the training then goes on from where it was at most `seconds` before.

    Parameters
    ----------
    ranker : Ranker
        A method that trains one network: ``unskew.make("conf-auc")``, for example. It is fitted in place.
    folder : path
        CSV files, or Parquet files, with the same columns; or one such file. All workers must reach it.
    label, confidence : str
        Columns with the labels (1 or 0) and with the confidence of the labeled rows.
    workers : int, str or Pool
        A number of processes on this machine, which need no engine; ``"ray:N"`` or ``"ray://HOST:PORT"``; or what
        `connected` gives.
    exclude : sequence of str
        Columns that are not to be features.
    blank_is_unlabeled : bool
        Whether a blank label means unlabeled.
    run : path, optional
        Folder for what is noted during the training, which all workers must reach. If the call is interrupted, the
        same call goes on from there, with as many workers as it then has. Without it, on this machine alone, there is
        a temporary one.
    shards : int, optional
        Power of two, at least the number of workers; by default 8 if that is enough.
    seconds : float
        Between two notes of how far the training has come.

    Returns
    -------
    ranker : the fitted ranker, as if by `ranker.fit` with a data frame of these columns

    Examples
    --------
    With Ray installed, two processes of this machine train together::

        import unskew
        from unskew import distributed

        ranker = distributed.fit(unskew.make("conf-auc"), "rows/", label="known", confidence="risk", workers="ray:2")

    >>> from unskew import distributed
    >>> callable(distributed.fit)
    True
    """
    require_workers(ranker, workers)
    about = Columns(label, confidence, tuple(exclude), blank_is_unlabeled)
    fitted = fit_folder(ranker, read_folder(folder, about), workers, run=run, shards=shards, seconds=seconds)
    for name in [each for each in vars(ranker) if each.endswith("_")]:
        delattr(ranker, name)
    ranker.__dict__.update({name: value for name, value in vars(fitted).items() if name.endswith("_")})
    return ranker


def require_workers(ranker: Any, workers: int | str | Pool | Crew) -> None:
    """Refuse what workers cannot learn, and workers that cannot be, before anything is read."""
    from unskew.rankers import require_joins_team

    require_joins_team(ranker)
    if not isinstance(workers, Crew | Pool) and processes_in(workers) is None:
        Workers.parse(str(workers))


@dataclass(frozen=True)
class Columns:
    """Columns of a table with a part of their own, and how others are read."""

    label: str
    confidence: str | None = None
    exclude: tuple[str, ...] = ()
    blank_is_unlabeled: bool = False
    kinds: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Folder:
    """The files of a folder, which were read once to decide what every column is.

    Attributes
    ----------
    files : tuple of Path
    table : LabeledTable
    shared : SharedTable
        The same for workers.
    names : tuple of str
        Columns that may be features.
    """

    files: tuple[Path, ...]
    table: LabeledTable
    shared: SharedTable
    names: tuple[str, ...]


def read_folder(folder: StrPath, columns: Columns) -> Folder:
    """Look through all files: what every column is, by all of its values, and which rows are labeled."""
    path = Path(folder)
    files = tuple(tables_in(path, "fit on"))
    opened = open_folder(path, files)
    table = read_labeled(
        path,
        columns.label,
        columns.confidence,
        exclude=columns.exclude,
        blank_is_unlabeled=columns.blank_is_unlabeled,
        kinds=columns.kinds,
        opened=opened,
    )
    about = columns.label, columns.confidence, columns.blank_is_unlabeled
    shared = SharedTable(pieces_of(opened), table.schema.to_json(), *about, n_shards=1)
    aside = {columns.label, columns.confidence, *columns.exclude}
    return Folder(files, table, shared, tuple(each for each in opened.columns if each not in aside))


def fit_folder(
    ranker: Any,
    folder: Folder,
    workers: int | str | Pool | Crew,
    *,
    run: StrPath | None = None,
    shards: int | None = None,
    seconds: float = SECONDS,
) -> Any:
    """Fit a copy of a ranker to the files of a folder; see `fit`."""
    ranker.check_request(folder.table.confidence)
    with crew_of(workers) as crew, _run_folder(run, crew) as path:
        n_shards = _shards_for(crew.count, shards)
        require_rows(folder.table, folder.shared.n_rows, n_shards)
        table = replace(folder.shared, n_shards=n_shards)
        blank = _blank(ranker, folder)
        _begin(path, _mark(blank, table, folder.files))
        if not (path / MODEL).exists():
            _train(crew, Work(blank, table, str(path), "", seconds, 0, 1, crew.on_this_machine))
        return _fitted(ranker, path)


def fit_model(
    folder: Folder, training: TrainingOptions, workers: int | str | Pool | Crew, run: StrPath, n_jobs: int | None
) -> TableModel:
    """The model of a folder, with an estimate of how good it is by some of the rows, unless `n_jobs` is None."""
    ranker = fit_folder(training.ranker(verbose=True), folder, workers, run=run)
    del ranker.schema_, ranker.feature_names_in_  # the model of a table knows its columns itself
    ranker.n_features_in_ = len(folder.table.schema.feature_names)
    return judged(folder.table, ranker, source_of(folder.table), training.seed, n_jobs)


def _blank(ranker: Any, folder: Folder) -> Any:
    """An unfitted copy that knows the columns, with a seed that all workers share."""
    seed = int(check_random_state(ranker.random_state).randint(2**31 - 1))
    given = ranker.random_state if isinstance(ranker.random_state, int | np.integer) else seed
    blank = type(ranker)(**{**ranker.get_params(deep=False), "random_state": int(given)})
    schema = folder.table.schema
    blank.schema_, blank.classes_, blank.input_shape_ = schema, np.array([0, 1]), (len(schema.feature_names),)
    blank.n_features_in_, blank.feature_names_in_ = len(folder.names), np.array(folder.names, dtype=object)
    return blank


def _shards_for(n_workers: int, wanted: int | None) -> int:
    least = max(LEAST_SHARDS, 1 << (n_workers - 1).bit_length())
    n_shards = least if wanted is None else wanted
    if n_shards < n_workers or n_shards & (n_shards - 1):
        raise ValueError(
            f"shards must be a power of two and at least the number of workers, {n_workers}, but it is {n_shards}. "
            "Leave it out, or pass a larger one."
        )
    return n_shards


@contextmanager
def _run_folder(run: StrPath | None, crew: Crew) -> Iterator[Path]:
    """Folder of a training, which is removed when it has ended; one that was named stays after an interruption."""
    if run is None:
        if not crew.on_this_machine:
            raise ValueError(
                "workers on several machines must meet in a folder that all of them reach, but run was not given. Pass "
                "run='/shared/folder/of-this-training'."
            )
        with tempfile.TemporaryDirectory(prefix="unskew-") as folder:
            yield Path(folder)
        return
    path = Path(run).absolute()
    require_folder(path)
    existed = path.exists()
    make_folder(path)
    try:
        held = FileLock(path / LOCK).acquire(timeout=0)
    except Timeout:
        raise ValueError(f"another training is using {path}. Wait until it ends, or choose another folder.") from None
    with held:
        yield path
        _clear(path)
    (path / LOCK).unlink(missing_ok=True)
    if not existed or not any(path.iterdir()):
        shutil.rmtree(path)


def _begin(path: Path, mark: str) -> None:
    """Keep what an earlier call has noted about the same request, and nothing else."""
    request = path / REQUEST
    if request.exists() and request.read_bytes() == mark.encode():
        return
    _clear(path)
    write_atomically(request, mark.encode())


def _clear(path: Path) -> None:
    for pattern in (*WRITTEN, REQUEST):
        for each in path.glob(pattern):
            each.unlink()


def _mark(ranker: Any, table: SharedTable, files: Sequence[Path]) -> str:
    """Changes if the same request would give another model."""
    states = [(str(each.absolute()), each.stat().st_size, each.stat().st_mtime_ns) for each in files]
    parameters = sorted((name, repr(value)) for name, value in ranker.get_params(deep=False).items())
    about = __version__, ranker.name, parameters, states, repr(table)
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def _train(crew: Crew, work: Work) -> None:
    """Train to the end, however often workers are killed, as long as it gets further in between."""
    path, kills = Path(work.run), 0
    while True:
        before = _noted(path)
        meeting = f"meeting-{secrets.token_hex(8)}"
        try:
            together = replace(work, meeting=meeting, n_workers=crew.count)
            crew.work_together([replace(together, rank=rank) for rank in range(together.n_workers)])
            return
        except WorkerLost as lost:
            kills = kills + 1 if _noted(path) == before else 1
            if kills == MOST_KILLS:
                raise MemoryError(
                    f"a worker was lost {MOST_KILLS} times, and the training got no further in between; the last time, "
                    f"{lost}. This happens where memory runs out: use fewer workers on each machine, or more machines. "
                    "With the same folder of the run (run=), the same call goes on from where it was."
                ) from None
        finally:
            (path / meeting).unlink(missing_ok=True)


def _noted(path: Path) -> list[tuple[str, int]]:
    """What there is to go on from."""
    return sorted((each.name, each.stat().st_mtime_ns) for each in path.glob(WRITTEN[0]))


def _fitted(ranker: Any, path: Path) -> Any:
    from unskew.rankers import load

    return load(path / MODEL, network=ranker.network if callable(ranker.network) else None)
