"""Workers of a training: processes on this machine, or on Ray, all of which must be there at once."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from unskew.distributed.member import LOST, Work, learn
from unskew.workers import Pool, connected

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS_BETWEEN_LOOKS = 0.05
COMMAND = "from unskew.distributed.member import main; main()"
ON_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class WorkerLost(Exception):
    """A worker did not live to the end."""


class Crew(ABC):
    """Workers that train together.

    Attributes
    ----------
    count : int
        How many there are now; it may fall when a machine is lost.
    on_this_machine : bool
    """

    count: int
    on_this_machine: bool

    @abstractmethod
    def work_together(self, tasks: Sequence[Work]) -> None:
        """Let each worker do one task, all at once; errors of tasks are raised as they are.

        If one is killed, all others are stopped, and `WorkerLost` says what happened.
        """


class Processes(Crew):
    """Processes on this machine, one thread each, without any engine.

    Attributes
    ----------
    running : list of Popen
        Those that are at work.
    """

    on_this_machine = True

    def __init__(self, count: int) -> None:
        self.count = count
        self.running: list[subprocess.Popen[bytes]] = []

    def work_together(self, tasks: Sequence[Work]) -> None:
        """Let each process do one task; see `Crew.work_together`."""
        environment = {**os.environ, **dict.fromkeys(ON_ONE_THREAD, "1"), "PYTHONPATH": os.pathsep.join(sys.path)}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        try:
            for task in tasks:
                process = subprocess.Popen([sys.executable, "-c", COMMAND], env=environment, **pipes)
                self.running.append(process)
                assert process.stdin is not None
                pickle.dump(task, process.stdin)
                process.stdin.flush()  # and left open: it ends when this process does
            self._wait()
        finally:
            for process in self.running:
                process.kill()
                process.communicate()
            self.running = []

    def _wait(self) -> None:
        while True:
            ended = [each for each in self.running if each.poll() is not None]
            failed = [each for each in ended if each.returncode]
            if failed:
                self._report(failed)
            if len(ended) == len(self.running):
                return
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _report(self, failed: list[subprocess.Popen[bytes]]) -> None:
        """Raise what a worker says, or that one was lost: the others only noticed."""
        for process in failed:
            if process.returncode == 1:
                assert process.stdout is not None
                said = process.stdout.read()
                raise pickle.loads(said) if said else WorkerLost("it ended without a word")
        killed = [each.returncode for each in failed if each.returncode not in (1, LOST)]
        raise WorkerLost(f"it was killed by signal {-killed[0]}" if killed else "it could not reach the others")


class OnRay(Crew):
    """Workers of a Ray cluster, or of Ray on this machine."""

    def __init__(self, pool: Pool, *, on_this_machine: bool) -> None:
        self.pool, self.most, self.on_this_machine = pool, pool.count, on_this_machine

    @property
    def count(self) -> int:  # type: ignore[override]
        """Workers that there are now, but no more than at first."""
        return min(self.most, self.pool.count)

    def work_together(self, tasks: Sequence[Work]) -> None:
        """Let each worker do one task; see `Crew.work_together`."""
        try:
            found = self.pool.run_together(learn_quietly, tasks)
        except ConnectionAbortedError as error:
            raise WorkerLost(str(error)) from None
        if any(found):
            raise WorkerLost("it could not reach the others")


def learn_quietly(work: Work) -> bool:
    """Take part in a training; whether another worker was lost meanwhile."""
    from unskew.distributed.member import Lost

    try:
        learn(work)
    except Lost:
        return True
    return False


@contextmanager
def crew_of(workers: int | str | Pool | Crew) -> Iterator[Crew]:
    """Workers as they were asked for: a number of processes here, or what Ray is told; see `connected`."""
    if isinstance(workers, Crew):
        yield workers
    elif isinstance(workers, Pool):
        yield OnRay(workers, on_this_machine=False)
    elif (count := processes_in(workers)) is not None:
        yield Processes(count)
    else:
        with connected(str(workers)) as pool:
            yield OnRay(pool, on_this_machine=bool(re.fullmatch(r"ray:[0-9]+", str(workers))))


def processes_in(workers: int | str) -> int | None:
    """Number of processes on this machine, if that is what was asked for."""
    if isinstance(workers, bool) or not isinstance(workers, int | str):
        raise TypeError(f"workers must be a number or a text such as 'ray:4', but it is {workers!r}.")
    found = re.fullmatch(r"(?:local:)?([0-9]+)", str(workers))
    if found is None:
        return None
    if not int(found[1]):
        raise ValueError("there must be at least one worker, but workers is 0.")
    return int(found[1])
