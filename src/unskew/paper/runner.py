"""Run what is missing of a plan, on several cores; each result is on disk as soon as it is there."""

import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from unskew._support.progress import Step, progress_bar
from unskew.datasets import describe
from unskew.paper.own_files import import_files
from unskew.paper.plans import Plan, Setting
from unskew.paper.store import Row, Store
from unskew.workers import Pool, connected

if TYPE_CHECKING:
    from unskew.paper.one_draw import Draw

_POLL_SECONDS = 0.5
_LEAST_LABELED = 2
"""Methods need as many labeled instances to train, and to choose an epoch."""

Say = Callable[[str], None]
Groups = Collection[list[Setting]]
"""Settings that share a draw."""


@dataclass(frozen=True)
class PlanOutcome:
    """How a plan ended: number of its settings, of those that were finished before, and messages of failed ones."""

    total: int
    kept: int
    failed: tuple[str, ...]


def run_plan(
    plan: Plan,
    folder: Path,
    *,
    jobs: int = 1,
    workers: str | Pool | None = None,
    imports: Sequence[Path] = (),
    say: Say = lambda text: None,
) -> PlanOutcome:
    """Run the settings of a plan that have no row in the folder (see `Store`) yet, in as many processes as `jobs`.

    With `workers` (see `unskew.workers`) these do the runs, on one or more machines, and this process writes the rows.

    A setting whose method or data set comes from a file that was edited since is run again, and its new row counts.
    Settings with too few instances to label are left out.

    Interrupt a plan at any time; the next call resumes it. Results do not depend on the number of jobs, because every
    run uses one thread. Each process runs the `imports`, Python files that register methods or data sets. `say` gets
    messages for the user before the runs begin: how many there are, what is left out.
    """
    import_files(imports)
    settings = _with_labels(plan.settings(), say)
    store = Store(folder, plan.name)
    with store.lock():
        store.adopt(settings)
        finished = store.finished().keys()
        missing = [setting for setting in settings if setting not in finished]
        say(f"{plan.name}: {len(settings)} runs, {len(settings) - len(missing)} of them done already")
        _report_outdated(missing, store, say)
        groups: dict[tuple[object, ...], list[Setting]] = {}
        for setting in missing:
            groups.setdefault(setting.split, []).append(setting)
        with progress_bar(plan.name, len(missing), shown=True) as step:
            if workers is not None and missing:
                failed = _run_on_workers(groups.values(), store, workers, tuple(imports), step)
            elif jobs == 1 or len(groups) < 2:
                failed = _run_here(groups.values(), store, step)
            else:
                failed = _run_in_processes(groups.values(), store, jobs, tuple(imports), step)
    return PlanOutcome(len(settings), len(settings) - len(missing), tuple(failed))


def _with_labels(settings: list[Setting], say: Say) -> list[Setting]:
    """Settings with enough instances to label; `say` gets a message for each kind of the others."""
    kinds = dict.fromkeys((setting.dataset, setting.prior, setting.label_freq) for setting in settings)
    lacks = {kind: lack for kind in kinds if (lack := _lack_of_labels(*kind))}
    if lacks and len(lacks) == len(kinds):
        raise ValueError(f"nothing can be run: {'; '.join(lacks.values())}. Use a larger prior.")
    for lack in lacks.values():
        say(f"left out: {lack}")
    return [setting for setting in settings if (setting.dataset, setting.prior, setting.label_freq) not in lacks]


def _lack_of_labels(dataset: str, prior: float, label_freq: float) -> str:
    from unskew.scenario import labeled_counts

    counts = labeled_counts(describe(dataset).sizes, prior, label_freq)
    if min(counts) >= _LEAST_LABELED:
        return ""
    return (
        f"{dataset} at prior {prior:g} (with a label frequency of {label_freq:g} training and validation part have "
        f"{counts[0]} and {counts[1]} labeled instances, and methods need {_LEAST_LABELED} in each)"
    )


def _report_outdated(missing: list[Setting], store: Store, say: Say) -> None:
    outdated = {Setting.of_row(row) for row in store.rows()} & set(missing)
    if outdated:
        names = sorted({f"{each.method} on {each.dataset}" for each in outdated})
        say(f"{len(outdated)} of them are run again, because your file has changed since: {', '.join(names)}")


def _run_here(groups: Groups, store: Store, step: Step) -> list[str]:
    def keep(row: Row) -> None:
        store.append(row)
        step()

    from unskew.learning.threads import one_thread  # torch is loaded where something runs

    with one_thread():
        return [message for group in groups for message in _run_group(group, keep)]


def _run_group(
    group: list[Setting], keep: Callable[[Row], None], draw_of: "Callable[[Setting], Draw] | None" = None
) -> list[str]:
    """Run settings that share a draw; returns messages of those that failed."""
    from unskew.paper.one_draw import Draw

    # A run that fails, perhaps in a user's own method, must not stop the others; a full disk must.
    try:
        draw = (draw_of or Draw)(group[0])
    except OSError:
        raise
    except Exception as error:
        return [_message_of_failure(setting, error) for setting in group]
    failed = []
    for setting in group:
        try:
            keep(draw.row(setting))
        except OSError:
            raise
        except Exception as error:
            failed.append(_message_of_failure(setting, error))
    return failed


def _message_of_failure(setting: Setting, error: Exception) -> str:
    kind = "" if isinstance(error, ValueError | ArithmeticError) else f"{type(error).__name__}: "
    return f"{setting.method} on {setting.dataset}, prior {setting.prior:g}, seed {setting.seed}: {kind}{error}"


@dataclass(frozen=True)
class _Run:
    """One run of a worker."""

    setting: Setting
    imports: tuple[Path, ...]


def _run_on_workers(
    groups: Groups, store: Store, workers: str | Pool, imports: tuple[Path, ...], step: Step
) -> list[str]:
    """Each group by one worker, run by run: what one has finished is here before it is killed."""
    failed = []
    with connected(workers) as pool:
        for _, found in pool.run_chains(run_one, [[_Run(each, imports) for each in group] for group in groups]):
            if isinstance(found, str):
                failed.append(found)
                continue
            store.append(found)
            step()
    return failed


def run_one(run: _Run) -> Row | str:
    """A row, or the message of a failure; the draw is kept for the next run on it."""
    from unskew.learning.threads import one_thread

    import_files(run.imports)
    rows: list[Row] = []
    with one_thread():
        failed = _run_group([run.setting], rows.append, _last_draw)
    return failed[0] if failed else rows[0]


_kept: "list[Draw]" = []
"""The last draw of this process."""


def _last_draw(setting: Setting) -> "Draw":
    from unskew.paper.one_draw import Draw

    if not _kept or _kept[0].setting.split != setting.split:
        _kept[:] = [Draw(setting)]
    return _kept[0]


def _run_in_processes(groups: Groups, store: Store, jobs: int, imports: tuple[Path, ...], step: Step) -> list[str]:
    context = get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(min(jobs, len(groups)), context, _start_worker, (os.getpid(), stop, imports))
    try:
        futures = [pool.submit(_work_on_runs, group, store) for group in groups]
        _wait_for(futures, store, step)
        return [message for future in futures for message in future.result()]
    except BrokenProcessPool:
        raise MemoryError(
            "a process of the run was killed, perhaps because memory ran out. Finished runs are kept: start the "
            "command again, with fewer --jobs."
        ) from None
    except BaseException:
        stop.set()  # a group may take an hour, and what it has finished is on disk
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _wait_for(futures: list["Future[list[str]]"], store: Store, step: Step) -> None:
    """Wait until all are done or one has raised, and meanwhile advance the progress bar by each new row."""
    pending, seen = set(futures), store.count()
    while pending:
        done, pending = wait(pending, _POLL_SECONDS, FIRST_COMPLETED)
        for future in done:
            future.result()
        before, seen = seen, store.count()
        step(n=seen - before)


_parent = 0


def _start_worker(parent: int, stop: Event, imports: tuple[Path, ...]) -> None:
    global _parent
    _parent = parent
    Thread(target=_exit_on, args=(stop,), daemon=True).start()
    import_files(imports)


def _exit_on(stop: Event) -> None:
    """End this worker when the run stops, and when the process that started it was killed."""
    while not stop.wait(1) and os.getppid() == _parent:
        pass
    os._exit(1)


def _work_on_runs(group: list[Setting], store: Store) -> list[str]:
    def keep(row: Row) -> None:
        # Without the process that started this one nobody holds the lock, and another run may do the same setting.
        if os.getppid() != _parent:
            os._exit(1)
        store.append(row)

    from unskew.learning.threads import one_thread

    with one_thread():
        return _run_group(group, keep)
