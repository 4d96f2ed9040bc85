"""The one place that knows Ray: a connection, and tasks that are given to another worker when theirs is killed."""

import os
import pickle
import socket
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from unskew.errors import MissingExtra
from unskew.workers.address import Workers

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST_KILLS = 4
"""A task whose workers were killed so often is given up: it is likely what kills them."""
SECONDS_TO_ANSWER = 10
SECONDS_TO_BEGIN = 60
"""For processes that must run together; a machine that was lost is among those of the cluster for a while."""
# Read by Ray when it is imported and by what it starts. The first keeps what runs on this machine alone from taking
# connections from others; without the last, workers would wait for everything else that runs here.
ON_THIS_MACHINE = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
}
ON_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")
# Without it each worker would take the whole file system for its own to spill to.
LOCAL_STORE_BYTES = 256 << 20


class Pool:
    """Workers that are connected; `connected` makes it."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._process = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Process)
        self._idle: list[Any] = []

    @property
    def count(self) -> int:
        """Workers that there is room for now; a cluster may grow and shrink."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def run(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[tuple[int, Result]]:
        """Yield the place of each task and its result, in the order in which they end; see `run_chains`."""
        return self.run_chains(function, [[each] for each in tasks])

    def run_chains(
        self, function: Callable[[Task], Result], chains: Iterable[Sequence[Task]]
    ) -> Iterator[tuple[int, Result]]:
        """Yield the place of a chain and the result of its next task, as they end.

        The tasks of a chain are done one after another by one process, which can keep what they share. The function
        must be found under its name by whoever imports its module. A task whose worker or machine was killed is done
        again elsewhere, and those after it there. An error that a task raises is raised here, as it is.
        """
        given, name = [list(each) for each in chains], pickle.dumps(function)
        waiting = deque(place for place, chain in enumerate(given) if chain)
        running, done, kills = dict[Any, tuple[Any, int]](), Counter[int](), Counter[tuple[int, int]]()

        def give(process: Any, place: int) -> None:
            running[process.work.remote(name, given[place][done[place]])] = process, place

        try:
            while waiting or running:
                while waiting and len(running) < self.count:
                    give(self._idle.pop() if self._idle else self._process.remote(), waiting.popleft())
                (ended, *_), _ = self._ray.wait(list(running), num_returns=1)
                process, place = running.pop(ended)
                try:
                    result = self._result(ended)
                except _WorkerLost as lost:
                    kills[place, done[place]] += 1
                    if kills[place, done[place]] == MOST_KILLS:
                        raise MemoryError(_killed_too_often(lost)) from None
                    waiting.appendleft(place)
                    self._idle.clear()  # they may have been on the same machine
                    continue
                done[place] += 1
                if done[place] < len(given[place]):
                    give(process, place)
                elif waiting:
                    give(process, waiting.popleft())
                elif kills:
                    self._ray.kill(process)  # one that was begun instead of a lost one may need its place
                else:
                    self._idle.append(process)
                yield place, result
        finally:
            for process, _ in running.values():
                with suppress(Exception):  # the cluster may be gone
                    self._ray.kill(process)

    def run_together(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """Results of tasks that need each other and so run at the same time, each on a worker of its own.

        If the worker or the machine of one is lost, all are stopped, and a ConnectionAbortedError says so. An error
        that a task raises is raised here, as it is.
        """
        self._idle.clear()  # they would keep the places of these
        processes = [self._process.remote() for _ in tasks]
        running: dict[Any, int] = {}
        results: dict[int, Any] = {}
        try:
            begun = [each.work.remote(pickle.dumps(len), "") for each in processes]
            if self._ray.wait(begun, num_returns=len(begun), timeout=SECONDS_TO_BEGIN)[1]:
                raise _WorkerLost(f"not all of {len(tasks)} processes began within {SECONDS_TO_BEGIN} seconds")
            name = pickle.dumps(function)
            for place, (each, task) in enumerate(zip(processes, tasks, strict=True)):
                running[each.work.remote(name, task)] = place
            while running:
                (ended, *_), _ = self._ray.wait(list(running), num_returns=1)
                results[running.pop(ended)] = self._result(ended)
        except _WorkerLost as lost:
            raise ConnectionAbortedError(str(lost)) from None
        finally:
            for each in processes:
                with suppress(Exception):  # the cluster may be gone
                    self._ray.kill(each)
        return [results[place] for place in range(len(tasks))]

    def _result(self, done: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(done)
        except errors.RayTaskError as error:
            cause = error.cause
            raise (cause if isinstance(cause, Exception) else RuntimeError(str(error))) from None
        except (errors.OutOfMemoryError, errors.RayActorError, errors.ObjectLostError, errors.RaySystemError) as error:
            raise _WorkerLost(
                "Ray found the memory of the machine used up"
                if isinstance(error, errors.OutOfMemoryError) or "low on memory" in str(error)
                else "the process or its machine was gone"
            ) from None


class _WorkerLost(Exception):
    """The worker of a task did not live to return its result."""


def _killed_too_often(lost: _WorkerLost) -> str:
    return (
        f"{MOST_KILLS} workers, one after another, were killed at the same task, perhaps because memory ran out: "
        f"{lost}; what was finished is kept, start the command again with fewer workers or more memory for each"
    )


class Process:
    """A worker. As many of them run as there are cores, so each computes on one thread."""

    def __init__(self) -> None:
        for name in ON_ONE_THREAD:
            os.environ.setdefault(name, "1")  # read by libraries that are imported with the first function

    def work(self, function: bytes, task: Any) -> Any:
        """Do one task."""
        return pickle.loads(function)(task)  # not from a file: the process that started this one sent it


@contextmanager
def connected(workers: str | Pool) -> Iterator[Pool]:
    """Start or reach workers, as `Workers` says, for as long as the block runs; a `Pool` is used as it is.

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
    if isinstance(workers, Pool):
        yield workers
        return
    where = Workers.parse(workers)
    ray = _ray(where)
    if ray.is_initialized():
        raise ValueError(
            "this process must not be connected to Ray yet, but it is. Call ray.shutdown() first, or pass the pool of "
            "`unskew.distributed.connected`."
        )
    _connect(ray, where)
    try:
        yield Pool(ray)
    finally:
        ray.shutdown()


def _ray(where: Workers) -> Any:
    if where.count is not None:
        for name, value in ON_THIS_MACHINE.items():
            os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("--workers needs Ray. Install it: pip install 'unskew[ray]'") from error
    return ray


def _connect(ray: Any, where: Workers) -> None:
    options: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    if where.count is not None:
        options |= {"address": "local", "num_cpus": where.count, "include_dashboard": False}
        options["object_store_memory"] = LOCAL_STORE_BYTES
    else:
        _require_answer(where)
        options["address"] = where.address
    try:
        ray.init(**options)
    except ImportError as error:
        raise MissingExtra(f"{where.address} needs all of Ray. Install it: pip install 'unskew[ray]'") from error
    except (OSError, RuntimeError, ValueError, TimeoutError) as error:
        raise _not_reached(where, _first_line(error)) from None


def _require_answer(where: Workers) -> None:
    """Refuse an address where nothing takes connections: Ray itself would try for half a minute."""
    if where.host_and_port is None:
        return
    try:
        socket.create_connection(where.host_and_port, timeout=SECONDS_TO_ANSWER).close()
    except OSError as error:
        raise _not_reached(where, error.strerror or str(error)) from None


def _not_reached(where: Workers, reason: str) -> ConnectionError:
    if where.count is not None:
        return ConnectionError(f"Ray must start on this machine, but it does not: {reason}.")
    named = "ray:auto" if where.address == "auto" else where.address
    return ConnectionError(
        f"{named} must be the address of a running Ray cluster, but it cannot be reached: {reason}. On its head node, "
        "`ray status` says whether it runs; all machines must have the same versions of Python and Ray."
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
