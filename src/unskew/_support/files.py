"""Writing files so that a reader never sees half of one."""

import os
import re
import secrets
import shutil
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from unskew._support.text import StrPath

try:
    import fcntl
except ImportError:  # Windows: without locks no temporary file is taken for abandoned
    fcntl = None  # type: ignore[assignment]

LONGEST_NAME = 200
"""Bytes of a name that leave room for the rest of a temporary name: most file systems allow 255."""


def write_atomically(path: StrPath, content: bytes) -> None:
    """Write a whole file; the old one stays until the new one is complete."""
    require_writable(path)
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        if error.errno is None:
            raise
        name = os.path.realpath(path)
        raise OSError(error.errno, error.strerror, name) from None  # else it names the temporary file, or none


@contextmanager
def replacing(path: StrPath) -> Iterator[IO[bytes]]:
    """Give a new file to write to, which takes the place of `path` when the block ends without an error.

    Until then it has a temporary name in the same folder and the rights of the file that it will replace; after an
    error it is removed. If `path` is a link, what it points to is replaced. Temporary files that killed processes left
    behind when they wrote to the same path are removed first.
    """
    target = Path(os.path.realpath(path))
    remove_abandoned(target)
    file = _open_temporary(target)
    try:
        yield file
        file.flush()
        os.fsync(file.fileno())
        if os.name == "nt":
            file.close()  # Windows does not move an open file
        os.replace(file.name, target)
        file.close()
    except BaseException:
        with suppress(OSError):
            file.close()  # what it could not write is thrown away
        Path(file.name).unlink(missing_ok=True)
        raise


@contextmanager
def scratch_folder(path: StrPath) -> Iterator[Path]:
    """Give an empty hidden folder beside `path`, for what does not fit into memory while that file is made.

    It is removed when the block ends, in whatever way; those of killed processes are removed by the next one.
    """
    target = Path(os.path.realpath(path))
    remove_abandoned(target)
    folder, lock = _make_scratch(target)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _make_scratch(target: Path) -> tuple[Path, int | None]:
    """Create a folder that only we can read, and lock it."""
    while True:
        folder = target.with_name(f"{_temporary_start(target)}{secrets.token_hex(4)}.parts")
        folder.mkdir(mode=0o700)
        if fcntl is None:
            return folder, None
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY)
            _lock(lock, wait=True)
            if folder.exists():
                return folder, lock
            os.close(lock)  # before it was locked, another process took it for abandoned and removed it


def _open_temporary(target: Path) -> IO[bytes]:
    """Create a locked file beside `target`, which no more people can read than `target` itself."""
    try:
        old = target.stat()
    except OSError:
        old = None
    rights = 0o666 if old is None else 0o600  # the system takes away what the umask forbids
    while True:
        name = target.with_name(f"{_temporary_start(target)}{secrets.token_hex(4)}.part")
        file = open(name, "xb", opener=lambda path, flags: os.open(path, flags, rights))  # noqa: SIM115
        _lock(file, wait=True)
        if name.exists():
            break
        file.close()  # before it was locked, another process took it for abandoned and removed it
    if old is not None:
        _copy_rights(old, name)
    return file


def _copy_rights(old: os.stat_result, new: Path) -> None:
    """Give a file the owner, group and rights of another, as far as the system allows."""
    mode = stat.S_IMODE(old.st_mode)
    try:
        if os.stat(new).st_gid != old.st_gid:
            os.chown(new, -1, old.st_gid)
    except OSError:
        mode = mode & ~0o070 | (mode & 0o007) << 3  # its group is another one, and gets the rights of everybody else
    with suppress(OSError):
        os.chown(new, old.st_uid, -1)  # only root may give a file away
    os.chmod(new, mode)


def remove_abandoned(target: Path) -> None:
    """Remove temporary files and scratch folders whose writer was killed.

    A writer holds a lock on its file, and the system drops the lock when the process ends in whatever way. A process
    number in the name would say less: numbers are used again, and differ between containers that share a folder.
    """
    pattern = re.compile(re.escape(_temporary_start(target)) + r"[0-9a-f]{8}\.parts?")
    with suppress(OSError):  # a folder that cannot be listed can still be written to
        for each in list(os.scandir(target.parent)):
            if pattern.fullmatch(each.name) and each.is_file(follow_symlinks=False):
                with suppress(OSError), open(each.path, "rb") as file:
                    if _lock(file, wait=False):
                        os.unlink(each.path)
            elif fcntl is not None and pattern.fullmatch(each.name) and each.is_dir(follow_symlinks=False):
                _remove_abandoned_folder(each.path)


def _remove_abandoned_folder(path: str) -> None:
    with suppress(OSError):
        lock = os.open(path, os.O_RDONLY)
        try:
            if _lock(lock, wait=False):
                shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(lock)


def _temporary_start(target: Path) -> str:
    """How the names of temporary files for this target begin; those of no other target do."""
    name, encoded = target.name, os.fsencode(target.name)
    return f".{name}." if len(encoded) <= LONGEST_NAME else f".{name[:40]}.{zlib.crc32(encoded):08x}."


def _lock(opened: IO[bytes] | int, *, wait: bool) -> bool:
    """Lock an open file or folder until it is closed; False if another process holds it, or there are no locks here."""
    with suppress(OSError):
        if fcntl is not None:
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return True
    return False


def require_writable(path: StrPath | None, *inputs: StrPath | None, beside: StrPath | None = None) -> None:
    """Refuse a path that cannot be written, or is an input or another result, before anything long begins."""
    if path is None:
        return
    path = Path(path)
    if any(_is_same(path, each) for each in inputs):
        raise FileExistsError(f"{path} must not be overwritten: the same command reads it. Choose another name.")
    if _is_same(path, beside):
        raise FileExistsError(f"{path} must hold one result, but the same command writes two. Choose another name.")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise FileExistsError(f"{path} must be the name of a file, but it is a device or a pipe. Choose another name.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} must be the name of a file, but it is a folder. Choose a name inside it.")
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {folder}. Create it first.")
    _require_room(path, folder)


def _is_same(path: Path, other: StrPath | None) -> bool:
    """Whether both paths lead to one file; a file that does not exist yet is compared by its path."""
    if other is None:
        return False
    if path.exists() and Path(other).exists():
        return path.samefile(other)
    return os.path.realpath(path) == os.path.realpath(other)


def _require_room(path: Path, folder: Path) -> None:
    """Refuse a path in whose folder no file can be created: by trying, because root has every right."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        reason = f"a file cannot be created in {folder} ({error.strerror})"
        if isinstance(error, PermissionError):
            reason = f"you do not have permission to write to {folder}"
        failed = type(error)(f"{path} cannot be written: {reason}. Choose another folder.")
        failed.errno = error.errno  # distinguishes a full disk from a wrong request
        raise failed from None


def require_folder(path: StrPath) -> None:
    """Refuse a path that is not a folder to write to and cannot become one; nothing is created yet."""
    path = Path(path)
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not there.is_dir():
        found = "it is a file" if there == path else f"{there} is a file"
        raise NotADirectoryError(f"{path} must be a folder, but {found}. Choose another name.")
    _require_room(path, there)


def make_folder(path: StrPath) -> None:
    """Create a folder, with those above it, unless it exists."""
    require_folder(path)
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        failed = OSError(f"{path} must be a folder, but it cannot be created: {error.strerror}. Choose another name.")
        failed.errno = error.errno
        raise failed from None
