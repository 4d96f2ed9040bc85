"""Carry out a plan: what is missing of it, on several cores, each result kept as soon as it is there."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

from unskew._support.progress import Step, progress_bar
from unskew.datasets import describe
from unskew.paper.own_files import import_files
from unskew.paper.plans import Plan
from unskew.paper.settings import Setting
from unskew.paper.store import Row, Store

POLL_SECONDS = 0.5
LEAST_LABELED = 2
"""No method trains, and no epoch is chosen, with fewer labeled instances."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """What became of a plan: settings to be run, those that were done already, and messages of those that failed."""

    total: int
    kept: int
    failed: tuple[str, ...]


def run_plan(
    plan: Plan,
    folder: Path,
    *,
    jobs: int = 1,
    imports: Sequence[Path] = (),
    verbose: bool = True,
    say: Say = lambda text: None,
) -> Outcome:
    """Carry out the settings of a plan that have no row in the folder yet.

    A row of a method or data set whose file was edited since is none: such a setting is run again, and its new row
    counts. Settings with too few instances to label are left out.

    Results do not depend on the number of jobs: whatever runs, runs on one thread. Killed at any moment, nothing that
    was finished is lost, and a new call goes on where it was.

    Parameters
    ----------
    plan : Plan
    folder : Path
        Where the rows are kept, see `Store`.
    jobs : int
        Processes, one thread each.
    imports : sequence of Path
        Python files that register methods or data sets of the user's own; each process imports them.
    verbose : bool
        Show a progress bar, on a terminal.
    say : callable
        Told, before the runs begin, how many there are, and what a user should know of them.
    """
    import_files(imports)
    settings = _with_labels(plan.settings(), say)
    store = Store(folder, plan.name)
    with store.lock():
        store.adopt(settings)
        finished = store.finished().keys()
        missing = [setting for setting in settings if setting not in finished]
        say(f"{plan.name}: {len(settings)} runs, {len(settings) - len(missing)} of them done already")
        _tell_outdated(missing, store, say)
        with progress_bar(plan.name, len(missing), shown=verbose) as step:
            failed = _run_groups(_by_split(missing), store, jobs, tuple(imports), step)
    return Outcome(len(settings), len(settings) - len(missing), tuple(failed))


def _with_labels(settings: list[Setting], say: Say) -> list[Setting]:
    """Settings that have instances enough to label; each kind of the others is told."""
    kinds = dict.fromkeys((setting.dataset, setting.prior, setting.label_freq) for setting in settings)
    lacks = {kind: lack for kind in kinds if (lack := _lack_of_labels(*kind))}
    if lacks and len(lacks) == len(kinds):
        raise ValueError(f"nothing can be run: {'; '.join(lacks.values())}. Ask for a larger prior.")
    for lack in lacks.values():
        say(f"left out: {lack}")
    return [setting for setting in settings if (setting.dataset, setting.prior, setting.label_freq) not in lacks]


def _lack_of_labels(dataset: str, prior: float, label_freq: float) -> str:
    from unskew.scenario import labeled_counts

    counts = labeled_counts(describe(dataset).sizes, prior, label_freq)
    if min(counts) >= LEAST_LABELED:
        return ""
    return (
        f"{dataset} at prior {prior:g} (with a label frequency of {label_freq:g} training and validation part have "
        f"{counts[0]} and {counts[1]} labeled instances, and methods need {LEAST_LABELED} in each)"
    )


def _tell_outdated(missing: list[Setting], store: Store, say: Say) -> None:
    outdated = {Setting.of_row(row) for row in store.rows()} & set(missing)
    if outdated:
        names = sorted({f"{each.method} on {each.dataset}" for each in outdated})
        say(f"{len(outdated)} of them are done again, because a file of yours was edited since: {', '.join(names)}")


def _by_split(settings: Iterable[Setting]) -> list[list[Setting]]:
    groups: dict[tuple[object, ...], list[Setting]] = {}
    for setting in settings:
        groups.setdefault(setting.split, []).append(setting)
    return list(groups.values())


def _run_groups(
    groups: list[list[Setting]], store: Store, jobs: int, imports: tuple[Path, ...], step: Step
) -> list[str]:
    if jobs == 1 or len(groups) < 2:
        with one_thread():

            def keep(row: Row) -> None:
                store.append(row)
                step()

            return [message for group in groups for message in _run_group(group, keep)]
    return _run_in_processes(groups, store, jobs, imports, step)


def _run_group(group: list[Setting], keep: Callable[[Row], None]) -> list[str]:
    """Carry out settings that share a draw; returns messages of those that failed."""
    from unskew.paper.execution import Draw

    # Whatever goes wrong in one run, perhaps in a method of the user's own, is no reason to give up the others; a disk
    # that is full is one.
    try:
        draw = Draw(group[0])
    except OSError:
        raise
    except Exception as error:
        return [f"{_title(setting)}: {_words(error)}" for setting in group]
    failed = []
    for setting in group:
        try:
            keep(draw.row(setting))
        except OSError:
            raise
        except Exception as error:
            failed.append(f"{_title(setting)}: {_words(error)}")
    return failed


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError | ArithmeticError) else f"{type(error).__name__}: {error}"


def _title(setting: Setting) -> str:
    return f"{setting.method} on {setting.dataset}, prior {setting.prior:g}, seed {setting.seed}"


def _run_in_processes(
    groups: list[list[Setting]], store: Store, jobs: int, imports: tuple[Path, ...], step: Step
) -> list[str]:
    workers = min(jobs, len(groups))
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _start_worker, (os.getpid(), imports))
    count = _Counter(store.path)
    try:
        futures = [pool.submit(_work, group, store) for group in groups]
        for _ in _wait_for(futures):
            for _ in range(count.new_lines()):
                step()
        return [message for future in futures for message in future.result()]
    except BrokenProcessPool:
        raise MemoryError(
            "a process of the run was ended from outside, perhaps for want of memory. What was finished is kept: start "
            "the run again, with fewer --jobs."
        ) from None
    except BaseException:
        # What is asked to stop stops now: a group may take an hour, and what it has finished is on disk.
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _wait_for(futures: list["Future[list[str]]"]) -> Iterator[None]:
    """Yield every now and then until all are done, or one has broken down."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, POLL_SECONDS, FIRST_COMPLETED)
        for future in done:
            future.result()
        yield


class _Counter:
    """Counts lines as they are added to a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.place = path.stat().st_size if path.exists() else 0

    def new_lines(self) -> int:
        if not self.path.exists():
            return 0
        with self.path.open("rb") as file:
            file.seek(self.place)
            added = file.read()
        self.place += len(added)
        return added.count(b"\n")


_parent = 0


def _start_worker(parent: int, imports: tuple[Path, ...]) -> None:
    global _parent
    _parent = parent
    Thread(target=_end_without_parent, daemon=True).start()
    import_files(imports)


def _end_without_parent() -> None:
    """A worker that waits for work would outlive a parent that was killed."""
    while os.getppid() == _parent:
        time.sleep(1)
    os._exit(1)


def _work(group: list[Setting], store: Store) -> list[str]:
    def keep(row: Row) -> None:
        # Without the process that started this one nobody holds the lock: another run may be doing the same setting.
        if os.getppid() != _parent:
            os._exit(1)
        store.append(row)

    with one_thread():
        return _run_group(group, keep)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and numpy compute on one thread: on several, sums are added up in another order."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)
