"""Every file of a folder is scored once, whoever is killed and whatever arrives."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import polars as pl
import pytest

from toy_table import ASIDE, COLUMNS, run, toy_frame, write_toy
from unskew.practice import watch
from unskew.practice.list_options import ListOptions
from unskew.practice.model import TableModel
from unskew.practice.score import score_file
from unskew.practice.watch import Arrivals, WatchOptions, result_name, watch_folder

QUICK = WatchOptions(once=True, settled=0.05)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    write_toy(folder / "cases.csv", 400)
    fast = "--method", "conf-reg", "--no-estimate", "--out", folder / "m.unskew"
    run("fit", folder / "cases.csv", *COLUMNS, *ASIDE, *fast)
    return folder / "m.unskew"


@pytest.fixture(scope="module")
def model(model_file):
    return TableModel.load(model_file, to_score=True)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def arrive(folder, name, n=60, seed=0):
    frame = toy_frame(n, seed=seed)
    (frame.write_parquet if name.endswith(".parquet") else frame.write_csv)(folder / name)


def watched(model, folder, *args, **options):
    return list(watch_folder(model, folder, None, ListOptions(ids=["case"], **options), *args or (QUICK,)))


def log(out):
    return [json.loads(line) for line in (out / "watch.jsonl").read_text().splitlines()]


def test_lists_and_lines_are_what_score_gives(model, folder, tmp_path):
    arrive(folder, "a.csv", 70)
    arrive(folder, "b.parquet", 50, seed=1)
    (folder / "c.txt").write_bytes((folder / "a.csv").read_bytes())
    records = watched(model, folder, top=20, reasons=1)
    assert records == log(folder / "scored")
    assert [(each["file"], each["result"], each["rows"], each["written"]) for each in records] == [
        ("a.csv", "a.csv", 70, 20),
        ("b.parquet", "b.parquet", 50, 20),
        ("c.txt", "c.txt.csv", 70, 20),
    ]
    score_file(model, folder / "a.csv", tmp_path / "own.csv", ListOptions(ids=["case"], top=20, reasons=1))
    own = (tmp_path / "own.csv").read_bytes()
    assert (folder / "scored/a.csv").read_bytes() == (folder / "scored/c.txt.csv").read_bytes() == own
    best = pl.read_csv(folder / "scored/a.csv")["score"][0]
    assert records[0]["highest_score"] == pytest.approx(best)
    assert 0 < records[0]["mean_probability"] < 1
    assert 0 < records[0]["flagged"] < 1
    assert records[0]["drift"]["moved"] == []
    assert records[0]["model"] == "m.unskew"


def test_a_file_is_scored_once_and_again_when_it_changes(model, folder):
    arrive(folder, "a.csv")
    assert len(watched(model, folder)) == 1
    assert watched(model, folder) == []
    before = (folder / "scored/a.csv").read_bytes()
    arrive(folder, "a.csv", 61, seed=5)
    (again,) = watched(model, folder)
    assert again["rows"] == 61
    assert (folder / "scored/a.csv").read_bytes() != before
    assert len(log(folder / "scored")) == 2


def test_a_damaged_file_has_a_line_and_is_not_tried_again_until_it_changes(model, folder):
    arrive(folder, "bad.csv")
    (folder / "bad.csv").write_text((folder / "bad.csv").read_text() + "1,2,3\n")
    (folder / "cut.parquet").write_bytes(b"PAR1 and no more")
    arrive(folder, "good.csv")
    records = {each["file"]: each for each in watched(model, folder)}
    assert "line 62" in records["bad.csv"]["error"]
    assert "cut off" in records["cut.parquet"]["error"]
    assert records["bad.csv"]["result"] is None
    assert "error" not in records["good.csv"]
    assert sorted(os.listdir(folder / "scored")) == [".unskew-watch", ".unskew-watch.lock", "good.csv", "watch.jsonl"]
    assert watched(model, folder) == []
    arrive(folder, "bad.csv")
    (mended,) = watched(model, folder)
    assert (mended["file"], mended["rows"]) == ("bad.csv", 60)


def test_names_that_are_not_complete_or_no_tables_are_left_alone(model, folder):
    for name in (".a.csv", "_a.csv", "~a.csv", "a.csv.part", "a.tmp", "readme.md"):
        arrive(folder, name)
    (folder / "folder.csv").mkdir()
    assert watched(model, folder) == []
    assert not (folder / "scored/watch.jsonl").exists()


def test_two_files_whose_lists_would_have_one_name(model, folder):
    arrive(folder, "a.txt")
    watched(model, folder)
    arrive(folder, "a.txt.csv", 20)
    (refused,) = watched(model, folder)
    assert refused["error"].endswith("its list must have a name of its own, but a.txt has one of that name. Rename it.")
    assert pl.read_csv(folder / "scored/a.txt.csv").height == 60


def test_a_file_that_grows_waits_until_it_is_whole(model, folder):
    arrive(folder, "whole.csv", 300)
    content = (folder / "whole.csv").read_bytes()
    (folder / "whole.csv").unlink()

    def grow():
        with open(folder / "a.csv", "wb") as file:
            for start in range(0, len(content), 4000):
                file.write(content[start : start + 4000])
                file.flush()
                time.sleep(0.15)

    growing = threading.Thread(target=grow)
    growing.start()
    records = []
    for record in watch_folder(model, folder, None, None, WatchOptions(every=0.05, settled=1.0)):
        records.append(record)
        break
    growing.join()
    assert [each["rows"] for each in records] == [300]


def test_a_file_that_changes_while_it_is_scored_is_looked_at_again(model, folder, monkeypatch):
    arrive(folder, "a.csv")
    score_file = watch.score_file

    def and_meanwhile(*args):
        found = score_file(*args)
        arrive(folder, "a.csv", 80)
        monkeypatch.setattr(watch, "score_file", score_file)
        return found

    monkeypatch.setattr(watch, "score_file", and_meanwhile)
    assert watched(model, folder) == []
    assert os.listdir(folder / "scored/.unskew-watch") == []
    assert [each["rows"] for each in watched(model, folder)] == [80]


def test_arrivals_come_in_the_order_of_their_time(folder):
    for place, name in enumerate(("c.csv", "a.csv", "b.csv")):
        arrive(folder, name, 5)
        os.utime(folder / name, (1_000 + place, 1_000 + place))
    arrivals = Arrivals(folder, 0.0, {})
    arrivals.look()
    assert [name for name, _ in arrivals.complete()] == ["c.csv", "a.csv", "b.csv"]


def test_two_watchers_of_one_folder(model, folder, tmp_path):
    arrive(folder, "a.csv")
    first = watch_folder(model, folder, None, None, WatchOptions(settled=0.05))
    next(first)
    for out in (None, tmp_path / "elsewhere"):
        with pytest.raises(FileExistsError, match="must be watched by one process alone, but another one is at it"):
            next(watch_folder(model, folder, out, None, QUICK))
    (tmp_path / "other").mkdir()
    with pytest.raises(FileExistsError, match="must be watched by one process alone"):
        next(watch_folder(model, tmp_path / "other", folder / "scored", None, QUICK))
    first.close()
    assert watched(model, folder) == []


def test_what_cannot_be_is_refused(model, folder, tmp_path):
    with pytest.raises(NotADirectoryError, match="nowhere must be a folder that files arrive in, but there is nothing"):
        next(watch_folder(model, tmp_path / "nowhere"))
    with pytest.raises(FileExistsError, match="must be another folder than the one that is watched"):
        next(watch_folder(model, folder, folder))
    with pytest.raises(ValueError, match="--every must be above 0 and at most 86400 seconds, one day, but it is 0"):
        next(watch_folder(model, folder, None, None, WatchOptions(every=0)))
    with pytest.raises(ValueError, match="--top must be 1 or more"):
        next(watch_folder(model, folder, None, ListOptions(top=0)))
    (folder / "scored").mkdir()
    (folder / "scored/watch.jsonl").write_text('{"file": "a", "size": 1, "modified_ns": 2}\nhello\n')
    with pytest.raises(ValueError, match="one JSON object with file, size and modified_ns in each line, but line 2 is"):
        next(watch_folder(model, folder))
    gone = Arrivals(folder / "gone", 0.0, {})
    with pytest.raises(NotADirectoryError, match="must stay a folder that can be read while it is watched"):
        gone.look()


def test_a_full_disk_stops_the_command_and_loses_nothing(model, folder, monkeypatch):
    arrive(folder, "a.csv")

    def full(*args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(watch, "score_file", full)
        with pytest.raises(OSError, match="No space left"):
            watched(model, folder)
    assert [each["file"] for each in watched(model, folder)] == ["a.csv"]


KILLED = """
import json, os, random, signal, sys, threading, time
from pathlib import Path
from unskew.practice import watch
from unskew.practice.model import TableModel
from unskew.practice.list_options import ListOptions

model = TableModel.load(sys.argv[1], to_score=True)
for line in sys.stdin:
    folder, kind, number = json.loads(line)
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        print("killed" if os.WIFSIGNALED(status) else "done", flush=True)
        continue
    if kind == "step":
        # Dies in the middle of the step with this number, with half a line in the log if it is a write.
        left = [number]
        def counted(function):
            def wrapped(*args, **more):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*args, **more)
            return wrapped
        class Half:
            def __init__(self, file): self.file = file
            def __enter__(self): return self
            def __exit__(self, *raised): self.file.close()
            def write(self, line):
                left[0] -= 1
                if left[0] == 0:
                    self.file.write(line[: len(line) // 2]); self.file.flush()
                    os.kill(os.getpid(), signal.SIGKILL)
                self.file.write(line)
            def flush(self): self.file.flush()
            def fileno(self): return self.file.fileno()
        for name in ("score_file", "write_atomically", "stamp_of"):
            setattr(watch, name, counted(getattr(watch, name)))
        for name in ("replace", "fsync", "unlink"):
            setattr(os, name, counted(getattr(os, name)))
        watch.open = lambda path, mode: Half(open(path, mode))
    else:
        def later():
            time.sleep(number)
            os.kill(os.getpid(), signal.SIGKILL)
        threading.Thread(target=later, daemon=True).start()
    how = watch.WatchOptions(once=True, settled=0.01)
    list(watch.watch_folder(model, Path(folder), None, ListOptions(ids=["case"]), how))
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, because each would load torch")
def test_killed_at_any_moment_every_file_has_one_list_and_one_line(model, model_file, tmp_path):
    names = ["0.csv", "1.csv"]
    deaths = [*(("step", number) for number in range(1, 40)), *(("time", random.uniform(0, 0.6)) for _ in range(10))]
    expected, killed = None, []
    with subprocess.Popen([sys.executable, "-c", KILLED, model_file], stdin=-1, stdout=-1, text=True) as running:

        def child(folder, kind, number):
            running.stdin.write(json.dumps([str(folder), kind, number]) + "\n")
            running.stdin.flush()
            return running.stdout.readline().strip()

        for kind, number in deaths:
            folder = tmp_path / f"{kind} {number:g}"
            folder.mkdir()
            for seed, name in enumerate(names):
                arrive(folder, name, 30, seed=seed)
            killed += [(kind, number)] * (child(folder, kind, number) == "killed")
            done = [json.loads(each) for each in _whole_lines(folder / "scored/watch.jsonl")]
            kept = {each["file"]: os.stat(folder / "scored" / each["file"]).st_mtime_ns for each in done}
            assert child(folder, "time", 60) == "done"
            lines = log(folder / "scored")
            assert sorted(each["file"] for each in lines) == names, (kind, number)
            found = {name: (folder / "scored" / name).read_bytes() for name in names}
            expected = expected or found
            assert found == expected
            for name, time_ns in kept.items():  # what had its line was not made again
                assert os.stat(folder / "scored" / name).st_mtime_ns == time_ns
            left = sorted(os.listdir(folder / "scored"))
            assert left == sorted([".unskew-watch", ".unskew-watch.lock", "watch.jsonl", *names])
            assert os.listdir(folder / "scored/.unskew-watch") == []
        running.stdin.close()
    n_steps = sum(kind == "step" for kind, _ in killed)
    assert killed[:n_steps] == deaths[:n_steps]  # every step was one to die at, and then there are no more
    assert 20 <= n_steps < 39


def _whole_lines(path):
    return [] if not path.exists() else path.read_text().split("\n")[:-1]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_command_watches_until_it_is_stopped(model_file, folder, how):
    arrive(folder, "a.csv")
    command = [sys.executable, "-m", "unskew", "watch", model_file, folder, "--id", "case", "--every", "0.2"]
    with subprocess.Popen(command, stdout=-1, stderr=-1) as running:
        for name in ("a.csv", "b.csv"):
            _wait_for(folder / "scored" / name)
            if name == "a.csv":
                arrive(folder, "b.csv", seed=1)
        while len(log(folder / "scored")) < 2:
            time.sleep(0.05)
        running.send_signal(how)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (0, b"", b"")
    assert [each["file"] for each in log(folder / "scored")] == ["a.csv", "b.csv"]


def _wait_for(path):
    for _ in range(1200):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} never came")


def test_once_is_quiet_and_says_by_its_code_whether_all_could_be_scored(model_file, folder, monkeypatch):
    monkeypatch.setattr(WatchOptions, "settled", 0.05)
    arrive(folder, "a.csv")
    first = run("watch", model_file, folder, "--once", "--id", "case", "--out", folder.parent / "out")
    assert first.output == ""
    assert [each["rows"] for each in log(folder.parent / "out")] == [60]
    (folder / "bad.csv").write_text("a\n1\n")
    second = run("watch", model_file, folder, "--once", "--id", "case", "--out", folder.parent / "out", code=1)
    assert second.stderr == f"error: 1 file could not be scored; {folder.parent / 'out/watch.jsonl'} says why.\n"
    assert run("watch", model_file, folder, "--once", "--out", folder.parent / "out").output == ""


def test_names_of_lists():
    assert result_name("A.CSV.GZ") == "A.CSV.GZ"
    assert result_name("a.tab") == "a.tab.csv"
