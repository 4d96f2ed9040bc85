"""Where data-set files are, how missing ones are downloaded, and the error that says what to do otherwise."""

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from unskew._support.progress import Step, progress_bar
from unskew.errors import DataMissing

_MEGABYTE = 1 << 20
_TIMEOUT = (15, 60)  # seconds to connect, and between two blocks
_RETRIES = 2
_QUIET_SECONDS = 1
"""How long to wait for another process before saying so."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PublishedFile:
    """A file of a data set, as its authors publish it.

    Attributes
    ----------
    path, address : str
        Its place under the data folder, and where it is published.
    checksum : str or None
        As in ``"md5:..."``; None where it is not known.
    unpacked : str or None
        Place under the data folder of its content, which is used instead of the file if it exists.
    downloadable : bool
        False where the address is a page about the file and not the file.

    Examples
    --------
    >>> from unskew import datasets
    >>> datasets.PublishedFile("wine/red.csv", "https://example.org/red.csv").checksum is None
    True
    """

    path: str
    address: str
    checksum: str | None = None
    unpacked: str | None = None
    downloadable: bool = True


def data_home() -> Path:
    """Folder of the data-set files: `UNSKEW_DATA`, or the user's cache folder.

    Examples
    --------
    >>> from unskew import datasets
    >>> datasets.data_home().is_absolute()
    True
    """
    if named := os.environ.get("UNSKEW_DATA"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unskew"


def find(file: PublishedFile) -> Path | None:
    """Full path of the file, or of its unpacked content; None if neither exists."""
    home = data_home()
    if file.unpacked and (home / file.unpacked).exists():
        return home / file.unpacked
    return home / file.path if (home / file.path).is_file() else None


def provide(file: PublishedFile) -> Path:
    """Full path of the file; a missing one is downloaded, unless `UNSKEW_DATA` is set."""
    found = find(file)
    if found is not None:
        return found
    # A folder that the user named holds what the user put there and nothing else.
    if os.environ.get("UNSKEW_DATA"):
        raise _missing_file_error(file, "UNSKEW_DATA is set, so nothing is downloaded")
    if not file.downloadable:
        raise _missing_file_error(file, "it is not published as a file that could be downloaded")
    return _download(file, data_home() / file.path)


def _missing_file_error(file: PublishedFile, reason: str) -> DataMissing:
    return DataMissing(
        f"the file {file.path} is needed, but {data_home() / file.path} does not exist, and {reason}. Get it "
        f"from {file.address} and put it there, or set UNSKEW_DATA to the folder that has it."
    )


def _download(file: PublishedFile, target: Path) -> Path:
    """Download with pooch, which compares the checksum and moves the file into place only then."""
    try:
        import pooch
    except ImportError as error:
        raise _missing_file_error(
            file, "downloads need pooch, which is not installed (pip install 'unskew[data]')"
        ) from error
    target.parent.mkdir(parents=True, exist_ok=True)
    with _lock(target), _quiet(pooch.get_logger()), ExitStack() as stack:
        if target.is_file():  # another process was first
            return target
        listed = {"registry": {target.name: file.checksum}, "urls": {target.name: file.address}}
        cache = pooch.create(target.parent, base_url="", **listed, retry_if_failed=_RETRIES)
        downloader = pooch.HTTPDownloader(
            progressbar=_DownloadBar(f"{target.name} (MB)", stack),
            chunk_size=_MEGABYTE,
            timeout=_TIMEOUT,
            headers={"Accept-Encoding": "identity"},  # else a text might come compressed, and its length not be known
        )
        try:
            cache.fetch(target.name, downloader=downloader)
        except OSError as error:  # of the connection, of the server, of the disk
            raise _missing_file_error(file, f"its download failed ({error})") from error
        except ValueError as error:  # another checksum
            raise _missing_file_error(
                file, f"its download was removed, because it is not the published file: {error}"
            ) from error
    return target


@contextmanager
def _lock(target: Path) -> Iterator[None]:
    """Let one process at a time download a file; the operating system releases the lock of a killed one."""
    lock = FileLock(target.with_name(f".{target.name}.lock"))
    try:
        held = lock.acquire(timeout=_QUIET_SECONDS)
    except Timeout:
        _log.warning("Another process is downloading %s; waiting for it.", target)
        held = lock.acquire()
    with held:
        yield


class _DownloadBar:
    """A progress bar with the interface that pooch expects; it appears on a terminal and nowhere else."""

    def __init__(self, title: str, stack: ExitStack) -> None:
        self.title, self.stack, self.total = title, stack, 0
        self.step: Step | None = None

    def update(self, received: int) -> None:
        """Advance by so many bytes."""
        if self.step is None:
            megabytes = -(-self.total // _MEGABYTE)
            self.step = self.stack.enter_context(progress_bar(self.title, megabytes, shown=True))
        self.step(n=received // _MEGABYTE)

    def reset(self) -> None:
        """Remove the bar: pooch resets it at the end, to fill it with a last update."""
        self.stack.close()
        self.step = lambda note="", n=1: None

    def close(self) -> None:
        """Pooch calls this after the last update."""


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from announcing each file on standard error."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
