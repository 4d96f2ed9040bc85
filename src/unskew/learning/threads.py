"""How many threads compute."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and numpy compute on one thread: sums that several share round differently."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(n_threads)
