"""Scores of many rows: in blocks of one size, on all cores."""

import math
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Lock, Thread, active_count

import numpy as np
import torch
from torch import Tensor, nn

from unskew.data.rows import Rows
from unskew.learning._convnet import ConvNet
from unskew.learning._perceptron import Perceptron
from unskew.learning.boosted_trees import BoostedTrees
from unskew.learning.networks import KernelFeatures

SCORING_NUMBERS = 1 << 20
"""Numbers of features scored at once, about: enough for full speed, and small enough to stay in the cache."""
FETCHED_NUMBERS = 1 << 18
"""Numbers of features fetched at once by a thread, about: narrow blocks one by one would leave threads queueing."""
NUMBERS_PER_THREAD = 1 << 21
"""Numbers of features for which a thread is started, at least: below, it takes longer to start than it saves."""
# A user's module may write to itself in `forward` (a cache, a counter, statistics), and two threads in it at once would
# then silently spoil its scores. These modules do not.
SAFE_IN_THREADS = (
    *(Perceptron, ConvNet, KernelFeatures, BoostedTrees),
    *(nn.Sequential, nn.Flatten, nn.Linear, nn.Conv2d, nn.MaxPool2d, nn.ReLU),
)


def score_rows(network: nn.Module, X: Rows, rows: np.ndarray | None = None, device: str = "cpu") -> Tensor:
    """Scores of these rows (of all, if None), on the CPU.

    They are computed in blocks of one fixed size, the last one filled up with zeros: matrix products of different sizes
    round differently, and a row's score must not depend on which other rows it is scored with. So do products that
    several threads share. Where threads may be used, each therefore scores blocks of its own, and the scores do not
    depend on how many threads there are.
    """
    network.eval()
    X.walk()
    scoring = _Scoring(network, X, np.arange(len(X)) if rows is None else rows, device)
    n_threads = torch.get_num_threads()
    n_workers = min(n_threads, scoring.n_blocks, len(scoring.rows) * math.prod(X.shape) // NUMBERS_PER_THREAD)
    if n_threads == 1 or torch.device(device).type != "cpu" or not _is_safe_in_threads(network):
        scoring.work()
    elif n_workers > 1:
        _work_in_threads(scoring, n_workers, n_threads)
    else:
        _limit_this_thread(n_threads)
        try:
            scoring.work()
        finally:
            torch.set_num_threads(n_threads)
    return scoring.scores


def flat_scores(score: Tensor) -> Tensor:
    """Scores of shape (n,) from (n,) or (n, 1)."""
    if score.dim() not in (1, 2) or score.numel() != len(score):
        raise ValueError(
            f"the network must give one score per row, shape (n,) or (n, 1), but it gave {tuple(score.shape)}. End it "
            "with a layer of one output."
        )
    return score if score.dim() == 1 else score.reshape(len(score))


class _Scoring:
    """One pass over rows, on which any number of threads may `work`."""

    def __init__(self, network: nn.Module, X: Rows, rows: np.ndarray, device: str) -> None:
        self.network, self.X, self.rows, self.device = network, X, rows, device
        self.block = min(1024, max(64, SCORING_NUMBERS // math.prod(X.shape)))
        self.n_blocks = math.ceil(len(rows) / self.block)
        self.fetched = self.block * max(1, FETCHED_NUMBERS // (self.block * math.prod(X.shape)))
        # One vector from the start: small ones kept from each block would leave holes in memory that nothing fits into.
        self.scores = torch.empty(len(rows), dtype=torch.float32)
        self.starts = iter(range(0, len(rows), self.fetched))
        self.turn = Lock()

    def work(self) -> None:
        """Score rows that no thread has taken yet, until there are none left or another thread has failed."""
        shape = min(self.fetched, self.n_blocks * self.block), *self.X.shape
        memory = torch.zeros(shape, dtype=torch.float32)
        try:
            with torch.inference_mode():  # holds for the thread that enters it
                while (place := self._fetch(memory)) is not None:
                    by_block = (torch.split(each, self.block) for each in (memory, self.scores[place]))
                    for block, scores in zip(*by_block, strict=False):
                        scores[:] = flat_scores(self.network(block.to(self.device)))[: len(scores)]
        finally:
            self.stop()

    def stop(self) -> None:
        """Let no thread fetch any more."""
        self.starts = iter(())

    def _fetch(self, memory: Tensor) -> slice | None:
        """Write the next rows to `memory`, and zeros behind them; returns which ones these are."""
        with self.turn:  # one thread reads a source at a time, and in order: those that read files rely on it
            start = next(self.starts, None)
            if start is None:
                return None
            part = self.rows[start : start + self.fetched]
            self.X.take(part, out=memory[: len(part)].numpy())
        memory[len(part) :] = 0
        return slice(start, start + len(part))


def _is_safe_in_threads(network: nn.Module) -> bool:
    """Whether several threads may call the network at once, as far as we know."""
    has_openmp: bool = torch.backends.openmp.is_available()  # type: ignore[no-untyped-call]
    # Without OpenMP the number of threads cannot be set for each thread.
    return has_openmp and all(type(each) in SAFE_IN_THREADS and not _has_hooks(each) for each in network.modules())


def _has_hooks(module: nn.Module) -> bool:
    """Whether someone's function is called along with the module; yes, where torch's private lists are not there."""
    return any(getattr(module, name, True) for name in ("_forward_hooks", "_forward_pre_hooks"))


def _work_in_threads(scoring: _Scoring, n_workers: int, n_threads: int) -> None:
    # No thread of its own for fetching: one more than there are cores would often be stopped while it holds Python's
    # lock, and the others would wait for it.
    with ThreadPoolExecutor(n_workers, "unskew-scoring", _limit_this_thread, (n_threads,)) as pool:
        try:
            workers = [pool.submit(scoring.work) for _ in range(n_workers)]
            while wait(workers, timeout=0.1).not_done:
                pass  # an interrupt gets through here: a wait without end sleeps on where polars handles signals too
            for each in workers:
                each.result()
        finally:
            scoring.stop()  # so that after an interrupt the pool waits for the blocks at hand, and no others


def _limit_this_thread(n_threads: int) -> None:
    """Let torch compute what this thread needs in this thread alone.

    `set_num_threads` holds for the thread that calls it and, beyond that, is what threads begin with from then on.
    Where there are others that may begin, `n_threads` is put back for them, by a thread that does nothing else.
    """
    torch.get_num_threads()  # makes torch set up this thread, which would else undo the next line
    torch.set_num_threads(1)
    if active_count() > 1:
        putting_back = Thread(target=torch.set_num_threads, args=(n_threads,))
        putting_back.start()
        putting_back.join()
