"""Tasks in processes of their own: stopped, killed, gone, still there after a restart; and the command itself."""

import contextlib
import json
import signal
import subprocess
import sys
import time

import httpx

from program import run_program
from studio_visits import (
    PATIENCE,
    AtOnce,
    Visitor,
    columns_form,
    listed,
    make_site,
    mark,
    serving,
    text_of,
    train,
    visiting,
    wait_for,
)
from unskew.studio.tasks import Job, Tasks


def test_training_can_be_stopped(tmp_path):
    with visiting(tmp_path / "studio") as visitor:
        table = visitor.add()
        place = train(visitor, table, "auto")
        while visitor.get(f"{place}/progress").json()["title"] in ("starting", "loading what is needed"):
            time.sleep(0.05)
        twice = visitor.post(f"{table}/suggest", {"model": 1, "rows": 5})
        assert "there is no model of this table yet" in text_of(twice)
        twice = visitor.post(f"{table}/columns", {"revision": 1, "then": "train", **columns_form("ntc")})
        assert twice.status_code == 409
        assert "one task at a time can run for a table" in text_of(twice)
        begin = time.monotonic()
        assert visitor.post(f"{place}/stop").status_code == 303
        state, page = wait_for(visitor, place)
        assert (state, time.monotonic() - begin < 10) == ("stopped", True)
        assert "Stopped on request" in text_of(page)
        task = tmp_path / "studio" / table.removeprefix("/") / "tasks" / "1"
        assert not (task / "model.unskew").exists()
        assert visitor.get(f"{place}/report").status_code == 404
        assert not is_alive(int((task / "process").read_text()))
        place = train(visitor, table, "auto", revision=2)
    # Who closes the studio ends what it started.
    end = tmp_path / "studio" / table.removeprefix("/") / "tasks" / "2" / "end.json"
    assert json.loads(end.read_text())["state"] == "stopped"


def is_alive(number):
    """Whether a process runs; one that has ended may still be listed until its parent asks."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True).stdout
    return bool(state.strip()) and not state.startswith("Z")


def test_a_process_that_does_not_end_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("unskew.studio.tasks.TIME_TO_END", 0.3)
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
    process.stdout.readline()
    tasks, task = start_by_hand(tmp_path, process)
    tasks.stop(task)
    assert process.poll() == -signal.SIGKILL
    assert tasks.state(task) == "stopped"
    process.stdout.close()


def test_a_process_that_is_gone_without_a_word_has_failed(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    tasks, task = start_by_hand(tmp_path, process)
    assert tasks.state(task) == "failed"
    assert "It ended before it was done" in task.end.message


def start_by_hand(folder, process):
    """A task that this process is said to work on."""
    from unskew.studio.store import write_record
    from unskew.studio.tasks import Task

    tasks, task = Tasks(), Task(folder / "1")
    task.folder.mkdir()
    write_record(task.folder / "job.json", Job("train", "table.csv", time.time()))
    tasks._processes[task.folder] = process
    return tasks, task


@contextlib.contextmanager
def opened(folder):
    """A studio in a process of its own, and someone who opened its address."""
    with serving(folder) as (process, address):
        base, token = address.split("/?token=")
        with httpx.Client(base_url=base, timeout=PATIENCE) as client:
            yield process, Visitor(client, token)


def test_all_is_there_after_a_restart_and_what_still_runs_can_be_stopped(tmp_path):
    folder = tmp_path / "studio"
    with opened(folder) as (process, visitor):
        table = visitor.add()
        mark(visitor, table, 3, "positive", "0.5")
        place = train(visitor, table, "auto")
        while visitor.get(f"{place}/progress").json()["title"] == "starting":
            time.sleep(0.05)
        process.kill()
        process.wait()
    with opened(folder) as (process, visitor):
        assert "claims.csv" in text_of(visitor.get("/"))
        assert "a task is running" in text_of(visitor.get("/"))
        assert mark(visitor, table, 4, "negative").json()["checked"] == 2
        assert visitor.get(f"{place}/progress").json()["state"] == "running"
        visitor.post(f"{place}/stop")
        assert visitor.get(f"{place}/progress").json()["state"] == "stopped"
        process.send_signal(signal.SIGINT)  # Ctrl-C is how it ends
        assert process.wait(PATIENCE) == 0
    number = int((folder / place.removeprefix("/") / "process").read_text())
    end = time.monotonic() + PATIENCE
    while is_alive(number) and time.monotonic() < end:
        time.sleep(0.1)  # it has let its lock go, and is on its way out
    assert not is_alive(number)


def test_models_are_there_after_a_restart(tmp_path):
    with visiting(tmp_path / "studio", tasks=AtOnce()) as visitor:
        table = visitor.add()
        train(visitor, table)
    moved = (tmp_path / "studio").rename(tmp_path / "moved")
    with visiting(moved, tasks=AtOnce()) as visitor:
        assert len(listed(visitor, table, show="all")) == 200
        drawn = visitor.post(f"{table}/draw", {"model": 1, "rows": 10}).headers["location"]
        assert wait_for(visitor, drawn)[0] == "done"


def test_the_command_line_says_what_is_wrong(tmp_path):
    assert "--max-upload-mb must be 1 or more" in run_program("studio", "--max-upload-mb", "0").stderr
    assert "--port must be from 0" in run_program("studio", "--port", "70000", "--folder", tmp_path).stderr
    (tmp_path / "file").write_text("x")
    assert "must be a folder, but it is a file" in run_program("studio", "--folder", tmp_path / "file").stderr
    site = make_site(tmp_path / "used")
    assert "must be used by one studio at a time" in run_program("studio", "--folder", tmp_path / "used").stderr
    site.store.close()


def test_a_missing_extra_is_named():
    code = (
        "import sys\nsys.modules['starlette'] = None\nsys.argv = ['unskew', 'studio']\n"
        "from unskew.cli import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'unskew[studio]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_server_loads_nothing_that_trains():
    code = (
        "import sys\nimport unskew.studio.server\nfrom unskew.cli import app\n"
        "assert not [name for name in ('torch', 'sklearn') if name in sys.modules]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
