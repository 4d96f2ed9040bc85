"""Downloading a published file: resumed where it stopped, checked, and moved into place when it is whole."""

import logging
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew._support.progress import progress_bar
from unskew.datasets._source import PublishedFile, missing

if TYPE_CHECKING:
    import requests

_BLOCK = 1 << 20
_TIMEOUT = (15, 60)  # seconds to connect, seconds between two blocks


def download(file: PublishedFile, target: Path) -> Path:
    """Download `file` to `target`; what went wrong is told together with where to get the file by hand."""
    try:
        import pooch
    except ImportError as error:
        raise missing(file, "pooch, which would download it, is not installed (pip install 'unskew[data]')") from error
    target.parent.mkdir(parents=True, exist_ok=True)
    with _alone_in(target.parent), _quiet(pooch.get_logger()):
        if target.is_file():  # another process was first
            return target
        try:
            pooch.retrieve(
                file.address, file.checksum, target.name, target.parent, downloader=_ResumingDownloader(target)
            )
        except OSError as error:  # of the connection, of the server, of the disk
            raise missing(file, f"its download failed ({error})") from error
        except ValueError as error:  # pooch's word for another checksum
            raise missing(
                file, f"what was downloaded was removed, because it is not what was published: {error}"
            ) from error
    return target


class _ResumingDownloader:
    """Writes into a .part file that stays when the transfer stops; the next call goes on behind what is there."""

    def __init__(self, target: Path) -> None:
        self.name = target.name
        self.part = target.with_name(f"{target.name}.part")

    def __call__(self, url: str, output_file: str, _pooch: Any) -> None:
        import requests

        start = self.part.stat().st_size if self.part.exists() else 0
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
            too_long = start > 0 and response.status_code == 416  # nothing is published behind what is there
            if not too_long:
                response.raise_for_status()
            if not _goes_on(response, start):
                self.part.unlink(missing_ok=True)
                start = 0
            if not too_long:
                self._receive(response, start)
        if too_long:
            self(url, output_file, _pooch)
        else:
            os.replace(self.part, output_file)

    def _receive(self, response: "requests.Response", start: int) -> None:
        length = response.headers.get("Content-Length")
        total = None if length is None else start + int(length)
        n_blocks = math.ceil(int(length or 0) / _BLOCK)
        with (
            progress_bar(f"{self.name} (MB)", n_blocks, shown=True) as step,
            self.part.open("ab") as part,
        ):
            for block in response.iter_content(_BLOCK):
                part.write(block)
                step()
        received = self.part.stat().st_size
        if total is not None and received != total:
            raise OSError(f"the transfer stopped after {received} of {total} bytes; another call goes on from there")


def _goes_on(response: "requests.Response", start: int) -> bool:
    """Whether the server sends what comes behind the first `start` bytes, and not everything once more."""
    return response.status_code == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {start}-")


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Wait while another process downloads into the folder: two must not write one file."""
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from announcing each file on standard error."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
