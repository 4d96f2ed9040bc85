"""Score the files of a folder by workers: parts, then ranks over all files, then one result for each file."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from unskew._support.files import make_folder, remove_abandoned, require_folder, write_atomically
from unskew._support.progress import progress_bar
from unskew._support.text import StrPath, listed, plural
from unskew.checks.drift import Drift, DriftTally
from unskew.distributed.parts import Request, Waiting, files_in
from unskew.distributed.tasks import (
    CountRanges,
    RankRange,
    ScorePart,
    WriteFile,
    count_ranges,
    rank_range,
    score_part,
    write_file,
)
from unskew.practice.model import TableModel
from unskew.practice.score import RESULTS, check_ids
from unskew.tables import is_parquet, open_table
from unskew.workers import Pool, Workers, connected

ROWS_OF_RANGE = 1 << 21
"""Rows that are ranked by one task, about."""
WAITING, DONE = ".unskew-scoring", "_scored.json"
SECONDS_TO_REMOVE = 10.0


@dataclass(frozen=True)
class ScoredFolder:
    """What there is to say of a folder whose files were scored.

    Attributes
    ----------
    n_files, n_rows : int
    notes : tuple of str
        What a user should know about the rows.
    drift : Drift or None
        How far they are from those of training; None if all had been written by an earlier call.

    Examples
    --------
    With Ray installed, two processes of this machine score a folder::

        from unskew import distributed

        with distributed.connected("ray:2") as workers:
            found = distributed.score("cases.unskew", "incoming/", "scored/", workers=workers)
        print(found.n_files, found.n_rows)

    >>> from unskew import distributed
    >>> distributed.ScoredFolder(n_files=2, n_rows=1000, notes=(), drift=None).n_rows
    1000
    """

    n_files: int
    n_rows: int
    notes: tuple[str, ...]
    drift: Drift | None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        about = {"files": self.n_files, "rows": self.n_rows, "notes": list(self.notes)}
        if self.drift is None:
            return about
        top = {"mean_probability": self.drift.probability, "highest_score": self.drift.highest_score}
        return {**about, "flagged": self.drift.flagged, **top, "drift": self.drift.to_json()}


def score(
    model: StrPath, folder: StrPath, out: StrPath, *, workers: str | Pool, ids: Sequence[str] = (), raw: bool = False
) -> ScoredFolder:
    """Write rank, score and probability of the rows of each file in a folder to a file of the same name in `out`.

    Ranks count over all files, 1 is the most likely positive, and equal scores have the same rank. Each file keeps its
    order. Call it again after an interruption: what is finished is kept. All workers must reach the model and both
    folders under the same paths.

    Parameters
    ----------
    model : path
        Model file that `unskew fit` wrote.
    folder : path
        CSV and Parquet files with the columns of the model; or one such file.
    out : path
        Folder that is created if it does not exist.
    workers : str or Pool
        ``"ray:N"``: N processes on this machine; ``"ray://HOST:PORT"``: a cluster; or what `connected` gives.
    ids : sequence of str
        Columns to keep; without any, the number of the row in its file is kept.
    raw : bool
        Whether cells of CSV files stay as they are, even if a spreadsheet would run them as formulas.

    Examples
    --------
    With Ray installed, two processes of this machine score a folder::

        from unskew import distributed

        with distributed.connected("ray:2") as workers:
            found = distributed.score("cases.unskew", "incoming/", "scored/", workers=workers)
        print(found.n_files, found.n_rows)

    >>> from unskew import distributed
    >>> distributed.ScoredFolder(n_files=2, n_rows=1000, notes=(), drift=None).n_rows
    1000
    """
    if isinstance(workers, str):
        Workers.parse(workers)  # a wrong request is refused before anything is read
    paths = Path(model).absolute(), Path(out).absolute()
    require_folder(paths[1])
    files = files_in(Path(folder), paths[1])
    request = Request(str(paths[0]), files, str(paths[1]), tuple(dict.fromkeys(ids)), raw)
    loaded = TableModel.load(model, to_score=True)
    notes = _check_files(request, loaded)
    make_folder(out)
    earlier = _finished_before(request)
    if earlier is not None:
        return earlier
    with connected(workers) as pool, _waiting_folder(request) as waiting:
        found = _Run(request, loaded, waiting, pool).all(notes)
        write_atomically(Path(out) / DONE, json.dumps({"mark": request.mark, **found.to_json()}, indent=2).encode())
    return found


def _check_files(request: Request, model: TableModel) -> list[str]:
    """Refuse files that cannot be scored; returns what a user should know about their columns."""
    notes: list[str] = []
    for path in request.files:
        table = open_table(path)
        aside = [*request.ids, *model.source.aside]
        notes += [*table.notes, *model.schema.check_columns(table.columns, Path(path), ignore=aside)]
        out = request.result_of(path)
        check_ids(request.ids, RESULTS[1:], table, out, request.raw or is_parquet(out))
    return list(dict.fromkeys(notes))


def _finished_before(request: Request) -> ScoredFolder | None:
    """What an earlier call found that had finished the same request."""
    done = Path(request.out) / DONE
    if not done.exists() or not all(request.result_of(each).exists() for each in request.files):
        return None
    try:
        known = json.loads(done.read_bytes())
        if known["mark"] != request.mark:
            return None
        n_files, n_rows = int(known["files"]), int(known["rows"])
    except (ValueError, KeyError, TypeError):
        return None  # not ours, or damaged: score again
    return ScoredFolder(n_files, n_rows, ("all files had been scored before, and are left as they are.",), None)


@contextmanager
def _waiting_folder(request: Request) -> Iterator[Waiting]:
    """Folder for what is not complete, which an interrupted call leaves for the next one; removed when all is done."""
    folder = Path(request.out) / WAITING
    folder.mkdir(exist_ok=True)
    try:
        held = FileLock(folder / "lock").acquire(timeout=0)
    except Timeout:
        raise ValueError(
            f"another run is writing to {request.out}. Wait until it ends, or choose another --out."
        ) from None
    with held:
        waiting = Waiting(folder)
        known = waiting.record("request", 0)
        if known is None or known["mark"] != request.mark:
            for each in folder.iterdir():
                if each.name != "lock":
                    each.unlink()
            waiting.finish("request", 0, {"mark": request.mark})
        try:
            yield waiting
        except ValueError:  # a file must change first, and then nothing here can be used
            _remove(folder)
            raise
        for path in request.files:
            remove_abandoned(request.result_of(path))
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, to which the process of a machine that was lost may write for a moment yet."""
    end = time.monotonic() + SECONDS_TO_REMOVE
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=time.monotonic() < end)


class _Run:
    """One pass over a request; each step skips what is finished."""

    def __init__(self, request: Request, model: TableModel, waiting: Waiting, pool: Pool) -> None:
        self.request, self.model, self.waiting, self.pool = request, model, waiting, pool
        self.parts = request.parts

    def all(self, notes: list[str]) -> ScoredFolder:
        """Score, rank and write."""
        folder = str(self.waiting.folder)
        self._each("scoring", score_part, [ScorePart(self.request.model, each, folder) for each in self.parts])
        records = [self._record("scores", each.number) for each in self.parts]
        n_rows = sum(each["rows"] for each in records)
        edges = _edges(records, n_rows)
        ends = np.array(
            self._each("ranking", count_ranges, [CountRanges(each.number, edges, folder) for each in self.parts])
        )
        self._each("ranking", rank_range, list(self._ranges(ends)))
        self._each("writing", write_file, list(self._files(ends)))
        formulas = Counter[str]()
        for number in range(len(self.request.files)):
            formulas.update(self._record("file", number)["formulas"])
        tally = self._tally(records)
        notes = [*notes, *tally.sentences()]
        if formulas:
            notes.append(
                f"a ' was put before {plural(formulas.total(), 'cell')} of {listed(sorted(formulas))} so that no "
                "spreadsheet runs formulas from the data. Use --raw to leave cells as they are."
            )
        drift = tally.drift(self.model.schema)
        return ScoredFolder(len(self.request.files), n_rows, (*notes, *drift.notes()), drift)

    def _each(self, title: str, function: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
        """Results of tasks, in their order."""
        results = [None] * len(tasks)
        with progress_bar(title, len(tasks), shown=True) as step:
            for place, result in self.pool.run(function, tasks):
                results[place] = result
                step()
        return results

    def _record(self, kind: str, number: int) -> dict[str, Any]:
        found = self.waiting.record(kind, number)
        if found is None:
            raise FileNotFoundError(
                f"{self.waiting.folder} must be a folder that this machine and all workers share, but what a worker "
                "wrote is not in it. Choose --out on a file system that all of them reach under the same path."
            )
        return found

    def _ranges(self, ends: np.ndarray) -> Iterator[RankRange]:
        begins = np.column_stack([np.zeros(len(ends), dtype=np.int64), ends[:, :-1]])
        before = np.cumsum((ends - begins).sum(axis=0)) - (ends - begins).sum(axis=0)
        for number in range(ends.shape[1]):
            own = begins[:, number], ends[:, number]
            yield RankRange(number, int(before[number]), *own, str(self.waiting.folder))

    def _files(self, ends: np.ndarray) -> Iterator[WriteFile]:
        counts = np.diff(ends, axis=1, prepend=0)
        until = np.cumsum(counts, axis=0)  # ranks of a range are in the order of the parts
        for number, path in enumerate(self.request.files):
            parts = tuple(self.request.parts_of(path))
            places = tuple(
                np.column_stack([until[each.number] - counts[each.number], until[each.number]]) for each in parts
            )
            out, has_probability = self.request.result_of(path), hasattr(self.model.ranker, "predict_proba")
            raw = self.request.raw or is_parquet(out)
            options = str(out), self.request.ids, raw, has_probability, str(self.waiting.folder)
            yield WriteFile(number, parts, places, *options)

    def _tally(self, records: list[dict[str, Any]]) -> DriftTally:
        """What was counted in all parts; rows count over all files."""
        tally, before, in_file, path = DriftTally(self.model.summary), 0, 0, ""
        for part, record in zip(self.parts, records, strict=True):
            if part.path != path:
                before, in_file, path = before + in_file, 0, part.path
            tally.add(record["tally"], before)
            in_file += record["rows"]
        return tally


def _edges(records: list[dict[str, Any]], n_rows: int) -> np.ndarray:
    """Keys between which there are about as many rows each, from samples of the keys of all parts."""
    keys = np.concatenate([np.array(each["sample"], dtype=np.float64) for each in records])
    weight = np.concatenate(
        [np.full(len(each["sample"]), each["rows"] / max(1, len(each["sample"]))) for each in records]
    )
    order = np.argsort(keys, kind="stable")
    share = np.cumsum(weight[order])
    wanted = np.arange(ROWS_OF_RANGE, n_rows, ROWS_OF_RANGE)
    return (
        np.unique(keys[order][np.minimum(np.searchsorted(share, wanted), len(keys) - 1)]) if len(wanted) else keys[:0]
    )
