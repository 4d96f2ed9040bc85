"""Where data-set files live, how they get there, and what to say when one is missing."""

import os
from dataclasses import dataclass
from pathlib import Path

from unskew.errors import DataMissing


@dataclass(frozen=True)
class PublishedFile:
    """A file of a data set, as its authors publish it.

    Attributes
    ----------
    path : str
        Where it lies under the data folder.
    address : str
        Where it is published.
    checksum : str or None
        As in ``"md5:..."``; None where its authors publish none.
    unpacked : str or None
        Path under the data folder of what is inside: taken where it is there, before the file itself.
    downloadable : bool
        False where the address is a page that explains the file and not the file.
    """

    path: str
    address: str
    checksum: str | None = None
    unpacked: str | None = None
    downloadable: bool = True


def data_home() -> Path:
    """Folder where data-set files are looked up: `UNSKEW_DATA`, or the user's cache folder."""
    if os.environ.get("UNSKEW_DATA"):
        return Path(os.environ["UNSKEW_DATA"])
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "unskew"


def find(file: PublishedFile) -> Path | None:
    """Full path of the file, or of what is inside it, if it is there."""
    home = data_home()
    if file.unpacked and (home / file.unpacked).exists():
        return home / file.unpacked
    return home / file.path if (home / file.path).is_file() else None


def provide(file: PublishedFile) -> Path:
    """Full path of the file, downloaded first if it is missing and `UNSKEW_DATA` is not set."""
    found = find(file)
    if found is not None:
        return found
    # A folder that the user named holds what the user put there and nothing else.
    if os.environ.get("UNSKEW_DATA"):
        raise missing(file, "UNSKEW_DATA is set, so nothing is downloaded")
    if not file.downloadable:
        raise missing(file, "it cannot be downloaded as it is")
    from unskew.datasets._download import download

    return download(file, data_home() / file.path)


def missing(file: PublishedFile, reason: str) -> DataMissing:
    """Error that says which file is wanted, where it comes from and where it goes."""
    full = data_home() / file.path
    return DataMissing(
        f"the file {file.path} is wanted, but {full} does not exist, and {reason}. It is published at {file.address}; "
        "put it there, or set UNSKEW_DATA to the folder that has it."
    )
