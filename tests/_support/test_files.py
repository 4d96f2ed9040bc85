"""Files that are written whole or not at all, and errors that name the file that was asked for."""

import errno
import os
import stat
import sys

import pytest

import unskew
from quick_fits import QUICK
from unskew._support.files import require_writable, write_atomically


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
    write_atomically(tmp_path / "new", b"")
    for status in (tmp_path / "nothing", tmp_path / "new"):  # as on systems that do not tell the mask
        monkeypatch.setattr("unskew._support.files._STATUS", status)
        write_atomically(tmp_path / f"beside {status.name}", b"")
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o640}
    (tmp_path / "by others").touch()
    assert stat.S_IMODE((tmp_path / "by others").stat().st_mode) == 0o640  # the mask is as it was


@pytest.mark.usefixtures("umask")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells the mask")
def test_the_mask_is_not_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("other threads would make files with this mask"))
    write_atomically(tmp_path / "new", b"")
    monkeypatch.undo()
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_model_that_cannot_be_saved_is_told_by_its_own_name(ranker, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "x")
    with pytest.raises(
        FileNotFoundError, match=r"no/x.unskew cannot be written: there is no folder .*no. Make it first"
    ):
        ranker.save(tmp_path / "no" / "x.unskew")
    with pytest.raises(IsADirectoryError, match="folder must be the name of a file, but it is a folder"):
        ranker.save(tmp_path / "folder")
    with pytest.raises(FileExistsError, match="x must be the name of a file, but it is something else"):
        ranker.save(tmp_path / "pipe" / "x")
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]
    assert os.listdir(tmp_path / "folder") == []


def test_a_folder_without_the_right_to_write(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(PermissionError, match="x cannot be written: no right to write to"):
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
