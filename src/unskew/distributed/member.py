"""What one worker of a training does: read its rows, join the others, learn, and, the first one, write the model."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import warnings
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

MODEL, LOST = "model.unskew", 75
"""Name of the model in the folder of a run; what a worker ends with when another one has gone."""
SECONDS_TO_ANSWER = 1800
"""For what one worker computes while the others wait, and for a machine that is gone without a word."""


@dataclass(frozen=True)
class Work:
    """What a worker is told.

    Attributes
    ----------
    ranker : Ranker
        Not fitted, but it knows its columns.
    table : SharedTable
    run : str
        Folder in which workers meet and the training is noted.
    meeting : str
        Name of the file there by which they find each other.
    seconds : float
        Between two files that say how far the training has come.
    on_this_machine : bool
        Whether all workers are here, so that they need no network.
    """

    ranker: Any
    table: Any
    run: str
    meeting: str
    seconds: float
    rank: int
    n_workers: int
    on_this_machine: bool


class Lost(Exception):
    """Another worker has gone, so that the training cannot go on as it is."""


def learn(work: Work) -> None:
    """Take part in a training, from where it was."""
    if work.on_this_machine:
        os.environ["GLOO_SOCKET_IFNAME"] = "lo" if sys.platform.startswith("linux") else "lo0"
    import torch

    from unskew.distributed.shares import read_share
    from unskew.learning.journal import Journal
    from unskew.learning.team import GlooTeam, OthersLost
    from unskew.learning.threads import one_thread
    from unskew.rankers import fit_share

    meeting, longest = f"file://{Path(work.run) / work.meeting}", timedelta(seconds=SECONDS_TO_ANSWER)
    try:
        torch.distributed.init_process_group("gloo", meeting, longest, work.n_workers, work.rank)
    except (RuntimeError, OSError) as error:
        raise Lost(str(error)) from None
    try:
        team = GlooTeam(work.table.n_shards, work.n_workers, work.rank)
        journal = Journal(Path(work.run), writes=work.rank == 0, seconds=work.seconds)
        work.ranker.verbose = work.ranker.verbose and work.rank == 0
        with one_thread():
            fitted = fit_share(work.ranker, read_share(work.table, team, journal))
        if work.rank == 0:
            fitted.save(Path(work.run) / MODEL)
    except OthersLost as error:
        raise Lost(str(error)) from None
    finally:
        with suppress(RuntimeError):
            torch.distributed.destroy_process_group()


def main() -> None:
    """Do the work that standard input says; an error goes to standard output, and only that."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is not taken for the report
    work: Work = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if work.rank:
        warnings.simplefilter("ignore")  # the first one says it
    try:
        learn(work)
    except Lost:
        os._exit(LOST)
    except Exception as error:  # is raised where the training was asked for
        out.write(_packed(error))
        out.flush()
        os._exit(1)
    os._exit(0)  # not after the threads of gloo, which may wait for others


def _packed(error: Exception) -> bytes:
    try:
        pickle.loads(content := pickle.dumps(error))
    except Exception:
        content = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return content


def _end_with_parent() -> None:
    """Standard input stays open as long as the process that started this one lives."""
    sys.stdin.buffer.read()
    os._exit(LOST)
