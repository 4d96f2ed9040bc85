"""Where data-set files live, and what to say when one is missing."""

import os
from pathlib import Path

from unskew.errors import DataMissing


def data_home() -> Path:
    """Folder where data-set files are looked up: `UNSKEW_DATA`, or the user's cache folder."""
    if os.environ.get("UNSKEW_DATA"):
        return Path(os.environ["UNSKEW_DATA"])
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "unskew"


def locate(path: str, source: str) -> Path:
    """Full path of a file under the data folder; if it is missing the error says where it comes from and goes."""
    full = data_home() / path
    if not full.is_file():
        raise DataMissing(
            f"the file {path} is wanted, but {full} does not exist. It is published at {source}; put it there, or set "
            "UNSKEW_DATA to the folder that has it."
        )
    return full
