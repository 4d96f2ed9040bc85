"""A cluster of two nodes on this machine, which takes no connections from others."""

import os
import shutil
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SCRATCH = tempfile.mkdtemp(prefix="ur")  # short: sockets are in it, whose names may have a hundred letters
# Read by Ray when it is imported, and by the processes that it starts.
os.environ |= {
    "HOME": SCRATCH,
    "RAY_TMPDIR": SCRATCH,
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
    "GLOO_SOCKET_IFNAME": "lo",
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent / "tests"), os.environ.get("PYTHONPATH", "")]),
}

import pytest  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

import killing  # noqa: E402
from unskew.workers import connected  # noqa: E402

NODE = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 80 << 20}


@pytest.fixture(scope="session")
def cluster():
    """Two nodes with one worker each, the second of which tests may kill."""
    head = {**NODE, "include_dashboard": False, "ray_client_server_port": killing.CLIENT_PORT}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    os.environ["RAY_ADDRESS"] = cluster.address
    cluster.add_node(**NODE)
    yield cluster
    cluster.shutdown()
    shutil.rmtree(SCRATCH, ignore_errors=True)


@pytest.fixture(scope="session")
def connection(cluster):
    """One connection for all tests: each takes seconds."""
    with connected("ray:auto") as pool:
        yield pool


@pytest.fixture
def pool(cluster, connection):
    """Workers on two nodes that are alive, whatever the test before has killed."""
    if not cluster.worker_nodes:
        cluster.add_node(**NODE)
    killing.wait_until(lambda: connection.count == 2)
    return connection


def pytest_configure(config):
    """Files that Ray leaves open, and what else it does, are its own affair; our warnings stay errors."""
    for rule in ("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning", "ignore:::ray"):
        config.addinivalue_line("filterwarnings", rule)
