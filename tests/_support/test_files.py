"""Files that are written whole or not at all, and errors that name the file that was asked for."""

import errno
import os
import stat
import subprocess
import sys
import tempfile

import pytest

import unskew
from quick_fits import QUICK
from unskew._support import files
from unskew._support.files import replacing, require_writable, scratch_folder, write_atomically


@pytest.fixture(scope="module")
def ranker():
    data = unskew.datasets.toy.draw(200, random_state=0)
    return unskew.make("ntc", **QUICK).fit(data.X, data.labeled)


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path):
    (tmp_path / "link").symlink_to("file")
    for content in (b"one", b"two"):
        write_atomically(tmp_path / "link", content)
        assert (tmp_path / "file").read_bytes() == content
    assert (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["file", "link"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_keeps_its_rights(mode, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    (tmp_path / "link").symlink_to("file")
    write_atomically(tmp_path / "link", b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.fixture
def umask():
    """A mask that is not the usual one."""
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_new_file_has_the_rights_of_any_new_file(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("other threads would create files with this mask"))
    write_atomically(tmp_path / "new", b"")
    with replacing(tmp_path / "other"):
        assert {rights(each) for each in tmp_path.iterdir()} == {0o640}
    monkeypatch.undo()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
@pytest.mark.usefixtures("umask")
def test_nobody_else_can_read_along(mode, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(mode)
    with replacing(tmp_path / "file"):
        assert {rights(each) for each in tmp_path.iterdir()} == {mode}


def test_rights_of_a_group_stay_with_the_group(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.touch()
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 12345, 54321)
        write_atomically(path, b"new")
        assert (path.stat().st_uid, path.stat().st_gid, rights(path)) == (12345, 54321, 0o640)

    def refuse(*_):
        raise PermissionError

    group = path.stat().st_gid
    monkeypatch.setattr(os, "chown", refuse)  # as for a user who is not in the group
    write_atomically(path, b"newer")
    assert rights(path) == (0o640 if path.stat().st_gid == group else 0o600)


def rights(path):
    return stat.S_IMODE(path.stat().st_mode)


WRITE = """
import sys, time
from unskew._support.files import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print(flush=True)
    time.sleep(60)
"""


@pytest.fixture
def writing(tmp_path):
    """Start processes that are in the middle of writing to a file of this name."""
    started = []

    def start(name):
        process = subprocess.Popen([sys.executable, "-c", WRITE, tmp_path / name], stdout=subprocess.PIPE)
        process.stdout.readline()
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("name", ["file", "é" * 120])
def test_what_a_killed_process_left_is_removed_by_the_next_one(name, writing, tmp_path):
    killed = writing(name)
    killed.kill()
    killed.wait()
    [left] = os.listdir(tmp_path)
    assert left.endswith(".part")
    write_atomically(tmp_path / f"{name}2", b"of another file")
    assert left in os.listdir(tmp_path)
    write_atomically(tmp_path / name, b"whole")
    assert sorted(os.listdir(tmp_path)) == [name, f"{name}2"]


def test_what_a_living_process_writes_stays(writing, tmp_path):
    writing("file")
    others = ".file.0123abcd.txt.part", ".file.0123abcd.part.gz", ".file.part"
    for name in others:
        (tmp_path / name).touch()
    (tmp_path / ".file.0123abcd.part").symlink_to(others[0])
    before = os.listdir(tmp_path)
    write_atomically(tmp_path / "file", b"whole")
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "file"])


def test_a_file_that_was_taken_for_abandoned_is_created_again(tmp_path, monkeypatch):
    lock, taken = files._lock, []

    def remove_first(file, *, wait):
        if wait and not taken:
            taken.append(file.name)
            os.unlink(file.name)
        return lock(file, wait=wait)

    monkeypatch.setattr(files, "_lock", remove_first)
    write_atomically(tmp_path / "file", b"whole")
    assert taken
    assert (tmp_path / "file").read_bytes() == b"whole"


@pytest.mark.parametrize("locks", [None, "no locks on this file system"])
def test_without_locks_files_are_written_and_nothing_is_removed(locks, tmp_path, monkeypatch):
    import fcntl

    def fail(*_):
        raise OSError(errno.ENOLCK, locks)

    if locks is None:
        monkeypatch.setattr("unskew._support.files.fcntl", None)
    else:
        monkeypatch.setattr(fcntl, "flock", fail)
    (tmp_path / ".file.0123abcd.part").touch()
    write_atomically(tmp_path / "file", b"whole")
    assert sorted(os.listdir(tmp_path)) == [".file.0123abcd.part", "file"]


def test_a_model_that_cannot_be_saved_is_told_by_its_own_name(ranker, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "x")
    with pytest.raises(
        FileNotFoundError, match=r"no/x.unskew cannot be written: there is no folder .*no. Create it first"
    ):
        ranker.save(tmp_path / "no" / "x.unskew")
    with pytest.raises(IsADirectoryError, match="folder must be the name of a file, but it is a folder"):
        ranker.save(tmp_path / "folder")
    with pytest.raises(FileExistsError, match="x must be the name of a file, but it is a device or a pipe"):
        ranker.save(tmp_path / "pipe" / "x")
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]
    assert os.listdir(tmp_path / "folder") == []


def test_a_folder_without_the_right_to_write(tmp_path, monkeypatch):
    def refuse(**_):  # root may write anywhere
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(PermissionError, match="x cannot be written: you do not have permission to write to"):
        write_atomically(tmp_path / "x", b"")


def test_what_fails_while_writing_names_the_file_too(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "x").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match=r"No space left on device: .*/x'") as caught:
        write_atomically(tmp_path / "x", b"new")
    assert caught.value.errno == errno.ENOSPC
    assert (tmp_path / "x").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


def test_a_name_as_long_as_names_may_be(tmp_path):
    name = "x" * os.pathconf(tmp_path, "PC_NAME_MAX")
    write_atomically(tmp_path / name, b"whole")
    assert (tmp_path / name).read_bytes() == b"whole"
    with pytest.raises(OSError, match=f"too long: .*/{name}x'"):
        write_atomically(tmp_path / f"{name}x", b"")


def test_links_that_go_in_a_circle_are_written_over(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.symlink_to(second)
    second.symlink_to(first)
    require_writable(first, second, beside=tmp_path / "third")
    write_atomically(first, b"new")
    assert first.read_bytes() == b"new"


def test_a_scratch_folder_is_hidden_locked_and_gone_after_an_error(tmp_path):
    path = tmp_path / "file"

    def fill_and_fail():
        with scratch_folder(path) as folder, scratch_folder(path) as other:  # of another process, for the same path
            (folder / "part").touch()
            assert (folder.parent, folder.name[:6], rights(folder)) == (tmp_path, ".file.", 0o700)
            write_atomically(path, b"whole")
            assert sorted(os.listdir(tmp_path)) == sorted([folder.name, other.name, "file"])
            assert (folder / "part").exists()
            raise KeyError

    with pytest.raises(KeyError):
        fill_and_fail()
    assert os.listdir(tmp_path) == ["file"]


def test_an_abandoned_scratch_folder_is_removed_by_the_next_writer_of_its_file_alone(tmp_path):
    (tmp_path / ".file.0123abcd.parts").mkdir()
    (tmp_path / ".file.0123abcd.parts" / "part").touch()
    (tmp_path / ".other.0123abcd.parts").mkdir()
    write_atomically(tmp_path / "file", b"whole")
    assert sorted(os.listdir(tmp_path)) == [".other.0123abcd.parts", "file"]


def test_a_scratch_folder_that_was_taken_for_abandoned_is_created_again(tmp_path, monkeypatch):
    lock, taken = files._lock, []

    def remove_first(opened, *, wait):
        if wait and not taken:
            taken.extend(tmp_path.iterdir())
            taken[0].rmdir()
        return lock(opened, wait=wait)

    monkeypatch.setattr(files, "_lock", remove_first)
    with scratch_folder(tmp_path / "file") as folder:
        assert folder.is_dir()
        assert folder != taken[0]
