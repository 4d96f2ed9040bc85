"""How workers are reached, and what a user is told when they cannot do the work."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

import unskew
from killing import CLIENT_PORT
from small_tasks import end_here, refuse, square
from unskew.datasets import toy
from unskew.metrics import cross_val_sar_auc


def test_tasks_that_kill_their_workers_are_given_up_with_one_message(pool):
    with pytest.raises(
        MemoryError, match="4 workers, one after another, were killed at the same task, perhaps because"
    ):
        list(pool.run(end_here, [1]))
    assert sorted(pool.run(square, range(5))) == [(n, n * n) for n in range(5)]


def test_errors_come_back_as_they_are(pool):
    with pytest.raises(ValueError, match="^row 7 must be a number$"):
        list(pool.run(refuse, [1]))


def test_cross_validation_by_workers_is_that_of_one_process(pool):
    data = toy.draw(300, random_state=0)
    ranker = unskew.make("ntc", max_epochs=2, random_state=0)
    request = ranker, data.X, data.labeled, data.confidence
    found = cross_val_sar_auc(*request, n_folds=3, random_state=0, workers=pool)
    assert found.auc == cross_val_sar_auc(*request, n_folds=3, random_state=0, n_jobs=1).auc


SCRIPT = """
import sys
from unskew.distributed import connected
from small_tasks import square
with connected(sys.argv[1]) as pool:
    print(sorted(pool.run(square, range(3))))
"""


@pytest.mark.parametrize("address", [f"ray://127.0.0.1:{CLIENT_PORT}", "ray:2"])
def test_addresses_lead_to_workers(cluster, address):
    done = subprocess.run([sys.executable, "-c", SCRIPT, address], capture_output=True, text=True, timeout=180)
    assert done.stdout.splitlines()[-1:] == ["[(0, 0), (1, 1), (2, 4)]"], done.stderr


@pytest.mark.skipif(shutil.which("ss") is None, reason="without ss nobody says what listens")
def test_no_process_listens_beyond_this_machine(cluster, pool):
    list(pool.run(square, [1]))
    assert listening()
    assert np.all([address.startswith("127.") for address in listening()])


def listening():
    """Addresses on which the processes of the cluster take connections."""
    lines = subprocess.run(["ss", "-ltnp"], capture_output=True, text=True).stdout.splitlines()[1:]
    ours = [line.split()[3] for line in lines if "ray" in line.split()[-1] or "gcs_server" in line]
    return [each.rpartition(":")[0].strip("[]").removeprefix("::ffff:") for each in ours]
