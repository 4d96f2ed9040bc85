"""Writing files so that a reader never sees half of one."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write under a temporary name in the same folder, then move: the old file stays until the new one is whole."""
    path = Path(path).resolve()  # a link stays a link, and what it points to is written
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def require_writable(path: str | os.PathLike[str] | None, *inputs: str | os.PathLike[str] | None) -> None:
    """Refuse a path that could not be written, or is one of the inputs, before anything long begins."""
    if path is None:
        return
    path = Path(path)
    for each in inputs:
        if each is not None and path.exists() and Path(each).exists() and path.samefile(each):
            raise FileExistsError(f"{path} must not be written over: the same command reads it. Give another name.")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise FileExistsError(f"{path} must be the name of a file, but it is something else. Give another name.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} must be the name of a file, but it is a folder. Give a name inside it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}. Make it first.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"{path} cannot be written: no right to write to {path.parent}. Take another folder.")


def require_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot become, or be, a folder."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path} must be a folder, but it is a file. Give another name.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
