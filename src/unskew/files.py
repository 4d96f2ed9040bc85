"""Writing files so that a reader never sees half of one."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write under a temporary name in the same folder, then move: the old file stays until the new one is whole."""
    path = Path(path)
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


def require_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that could not be written, before anything long begins."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} must be the name of a file, but it is a folder. Give a name inside it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}. Make it first.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"{path} cannot be written: no right to write to {path.parent}. Take another folder.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
