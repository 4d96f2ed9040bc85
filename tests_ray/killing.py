"""Ways to kill a worker or a node in the middle of its work; only processes of the test's own cluster are touched."""

import os
import re
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

with socket.create_server(("127.0.0.1", 0)) as free:
    CLIENT_PORT = free.getsockname()[1]
    """Where the head node takes connections from `ray://`."""


def wait_until(condition, seconds=90):
    """Wait for something that happens elsewhere."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


@contextmanager
def meanwhile(action, *arguments):
    """Do something in another thread while the block runs; what it raises is raised here."""
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(action, *arguments)
        yield
        done.result(timeout=0)  # the work that was to be disturbed must not end before


def raylet_of(node):
    """Process number of the program that starts the workers of a node."""
    return node.all_processes["raylet"][0].process.pid


def at_work(raylets):
    """Process numbers of the workers of these nodes that do a task now."""
    found = []
    for each in Path("/proc").iterdir():
        with suppress(OSError):  # it has ended
            if each.name.isdigit() and b"ray::Process.work" in (each / "cmdline").read_bytes():
                parent = int(re.search(r"PPid:\s+(\d+)", (each / "status").read_text())[1])
                found += [int(each.name)] if parent in raylets else []
    return found


def kill_worker(cluster, ready, pause):
    """Kill a worker, once it is time and one is at work."""
    raylets = [raylet_of(node) for node in cluster.list_all_nodes()]
    wait_until(ready)
    time.sleep(pause)
    wait_until(lambda: at_work(raylets))
    os.kill(at_work(raylets)[-1], signal.SIGKILL)


def kill_node(cluster, ready, pause):
    """Kill all processes of the second node, once it is time and its worker is at work."""
    (node,) = cluster.worker_nodes
    wait_until(ready)
    time.sleep(pause)
    wait_until(lambda: at_work([raylet_of(node)]))
    cluster.remove_node(node, allow_graceful=False)
