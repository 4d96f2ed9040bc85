"""Scoring on several threads: the same bits as on one, in bounded memory, and nothing left behind after an error."""

import signal
import threading
import time

import numpy as np
import pytest
import torch
from torch import nn

from unskew.data.rows import DenseRows, as_rows
from unskew.learning import scoring
from unskew.learning.networks import build_network
from unskew.learning.scoring import score_rows

WIDTH = 300  # so that a block of 1024 rows is fetched on its own
N = 6 * 1024 + 57  # enough for three threads
SMALL = 40  # rows for which no thread is started


@pytest.fixture(params=[2, 3])
def n_threads(request, monkeypatch):
    """More threads of torch than the one of the other tests, used also for small tables."""
    monkeypatch.setattr(scoring, "NUMBERS_PER_THREAD", 1 << 19)
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(1)


def drawn(network="mlp", shape=(WIDTH,), n=N):
    x = np.random.RandomState(0).normal(size=(n, *shape)).astype(np.float32)
    return build_network(network, torch.from_numpy(x[:50]), torch.Generator().manual_seed(0)), x


def scores_by_one_thread(network, X):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    scores = score_rows(network, X)
    torch.set_num_threads(before)
    return scores


class Watched(DenseRows):
    """Rows that note who asks for them, and can fail."""

    def __init__(self, array, fail_at=None):
        super().__init__(array)
        self.first_rows, self.threads, self.busy, self.fail_at = [], set(), threading.Lock(), fail_at

    def take(self, index, out=None):
        assert self.busy.acquire(blocking=False), "two threads at once"
        self.first_rows.append(int(index[0]))
        self.threads.add(threading.current_thread())
        try:
            if len(self.first_rows) == self.fail_at:
                raise OSError("the disk is gone")
            return super().take(index, out)
        finally:
            self.busy.release()


def each_has_its_own(n_threads):
    """Whether the caller and a new thread have the threads of torch that they had."""
    seen = []
    thread = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return [torch.get_num_threads(), *seen] == [n_threads, n_threads]


@pytest.mark.parametrize(
    ("network", "shape", "n"),
    [("mlp", (WIDTH,), N), ("linear", (WIDTH,), N), ("kernel", (WIDTH,), N), ("mlp", (5, 70), N)]
    + [("cnn", (3, 32, 32), 800), ("mlp", (3,), 400_001)],
)
def test_scores_are_the_same_bits_on_any_number_of_threads(network, shape, n, n_threads):
    network, x = drawn(network, shape, n)
    X = Watched(x)
    together = score_rows(network, X)
    assert threading.current_thread() not in X.threads  # it was about threads at all
    assert torch.equal(together, scores_by_one_thread(network, as_rows(x)))
    few = np.array([n - 1, 0, n // 2])
    assert torch.equal(score_rows(network, as_rows(x), few), together[few])
    assert each_has_its_own(n_threads)


def test_rows_are_fetched_in_order_by_one_thread_at_a_time_and_few_at_once(n_threads, monkeypatch):
    network, x = drawn()
    X, sizes = Watched(x), []
    zeros = torch.zeros
    monkeypatch.setattr(torch, "zeros", lambda shape, **kind: sizes.append(shape) or zeros(shape, **kind))
    score_rows(network, X)
    assert X.first_rows == list(range(0, N, 1024))
    assert sizes == [(1024, WIDTH)] * n_threads  # a block for each thread, however many rows there are


def test_with_one_thread_none_is_started(monkeypatch):
    network, x = drawn()
    monkeypatch.setattr(threading.Thread, "start", lambda self: pytest.fail("started a thread"))
    assert score_rows(network, as_rows(x)).shape == (N,)


def test_for_few_rows_no_thread_fetches(n_threads):
    network, x = drawn()
    X = Watched(x[:SMALL])
    score_rows(network, X)
    assert X.threads == {threading.current_thread()}
    assert each_has_its_own(n_threads)


def test_no_rows(n_threads):
    network, x = drawn()
    assert score_rows(network, as_rows(x), np.array([], dtype=np.int64)).shape == (0,)


class Remembering(nn.Linear):
    """A module that must not be called by two threads: it writes down what it saw."""

    def forward(self, x):
        self.seen = x
        return super().forward(self.seen)


@pytest.mark.parametrize("with_hook", [False, True])
def test_a_module_that_may_write_to_itself_is_called_by_one_thread(n_threads, with_hook):
    _, x = drawn()
    network = nn.Sequential((nn.Linear if with_hook else Remembering)(WIDTH, 1))
    if with_hook:
        network[0].register_forward_hook(lambda *_: None)
    X = Watched(x)
    score_rows(network, X)
    assert X.threads == {threading.current_thread()}


@pytest.mark.parametrize("fail_at", [1, 3])
@pytest.mark.parametrize("n", [SMALL, N])
def test_an_error_of_the_rows_reaches_the_caller(n_threads, n, fail_at):
    network, x = drawn()
    X = Watched(x[:n], fail_at=min(fail_at, 1 + n // 1024))
    with pytest.raises(OSError, match="the disk is gone"):
        score_rows(network, X)
    assert X.fail_at <= len(X.first_rows) < X.fail_at + n_threads  # the others went on with what they had
    assert each_has_its_own(n_threads)


@pytest.mark.parametrize("n", [SMALL, N])
def test_an_error_of_the_network_reaches_the_caller(n_threads, n):
    _, x = drawn()
    X = Watched(x[:n])
    with pytest.raises(ValueError, match="one score per row"):
        score_rows(nn.Sequential(nn.Linear(WIDTH, 2)), X)
    assert len(X.first_rows) <= n_threads
    assert each_has_its_own(n_threads)


@pytest.fixture
def interruptible():
    """A shell lets what it starts in the background ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_stops_all_threads(n_threads, monkeypatch):
    network, x = drawn()
    before, stopped, stop = set(threading.enumerate()), threading.Event(), scoring._Scoring.stop
    monkeypatch.setattr(scoring._Scoring, "stop", lambda self: stop(self) or stopped.set())

    class Interrupted(Watched):
        def take(self, index, out=None):
            if not self.first_rows:
                time.sleep(0.3)  # until all workers are there, and the caller waits for them
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                assert stopped.wait(20)
            return super().take(index, out)

    X = Interrupted(x)
    with pytest.raises(KeyboardInterrupt):
        score_rows(network, X)
    assert len(X.first_rows) == 1  # what was being fetched, and nothing after it
    assert set(threading.enumerate()) == before
    assert each_has_its_own(n_threads)
