"""Writing files so that a reader never sees half of one."""

import os
import re
import stat
import tempfile
from pathlib import Path

_STATUS = Path("/proc/self/status")


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write under a temporary name in the same folder, then move: the old file stays until the new one is whole."""
    path = Path(os.path.realpath(path))  # a link stays a link, and what it points to is written
    require_writable(path)
    try:
        _write_and_move(path, content)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None  # else it names the temporary file, or none


def _write_and_move(path: Path, content: bytes) -> None:
    mode = _mode_of(path)
    # With its whole name a long one would become too long.
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:50]}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def require_writable(
    path: str | os.PathLike[str] | None,
    *inputs: str | os.PathLike[str] | None,
    beside: str | os.PathLike[str] | None = None,
) -> None:
    """Refuse a path that could not be written, is one of the inputs, or another result, before anything long begins."""
    if path is None:
        return
    path = Path(path)
    if any(_is_same(path, each) for each in inputs):
        raise FileExistsError(f"{path} must not be written over: the same command reads it. Give another name.")
    if _is_same(path, beside):
        raise FileExistsError(f"{path} must take one result, but the same command writes two to it. Give another name.")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise FileExistsError(f"{path} must be the name of a file, but it is something else. Give another name.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} must be the name of a file, but it is a folder. Give a name inside it.")
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {folder}. Make it first.")
    _require_room(path, folder)


def _is_same(path: Path, other: str | os.PathLike[str] | None) -> bool:
    """Whether both name one file; what is not there yet has nothing but its name."""
    if other is None:
        return False
    if path.exists() and Path(other).exists():
        return path.samefile(other)
    return os.path.realpath(path) == os.path.realpath(other)


def _require_room(path: Path, folder: Path) -> None:
    """Refuse a path whose folder takes no new files; only trying tells, because root has every right."""
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{path} cannot be written: no right to write to {folder}. Take another folder.")
    try:
        with tempfile.NamedTemporaryFile(prefix=".unskew.", suffix=".part", dir=folder):
            pass
    except OSError as error:
        told = OSError(
            f"{path} cannot be written: {folder} takes no new files ({error.strerror}). Take another folder."
        )
        told.errno = error.errno  # tells a full disk from a wrong request
        raise told from None


def require_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot become, or be, a folder to write to; nothing is made yet."""
    path = Path(path)
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not there.is_dir():
        found = "it is a file" if there == path else f"{there} is a file"
        raise NotADirectoryError(f"{path} must be a folder, but {found}. Give another name.")
    _require_room(path, there)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder, with those above it, unless it is there."""
    require_folder(path)
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        told = OSError(f"{path} must be a folder, but it cannot be made: {error.strerror}. Give another name.")
        told.errno = error.errno
        raise told from None


def _mode_of(path: Path) -> int:
    """Rights of the file that is there (someone may have made it private), else those of any new file."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0o666 & ~_umask()


def _umask() -> int:
    """Rights that new files do not get."""
    try:
        told = re.search(rb"^Umask:\s*([0-7]+)", _STATUS.read_bytes(), re.MULTILINE)
    except OSError:
        told = None
    if told:
        return int(told[1], 8)
    # Where nothing tells it, it can only be read by setting it: what other threads make meanwhile is open to all.
    mask = os.umask(0)
    os.umask(mask)
    return mask
