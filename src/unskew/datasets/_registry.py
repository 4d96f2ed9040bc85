"""Data sets by name: a function that reads files, and what is known before it runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from unskew.data.records import RawData, Sizes
from unskew.datasets._files import PublishedFile, data_home, find, provide
from unskew.errors import DataMissing, closest_name

Loader = TypeVar("Loader", bound=Callable[..., RawData])

BATCH_SIZE, LEARNING_RATE = 1024, 1e-4
"""The paper's (App. E.3)."""


@dataclass(frozen=True)
class FileDescription:
    """One file of a data set.

    Attributes
    ----------
    path, address : str
        Where it is, or where it would be put; and where it is published.
    present : bool
    checksum : str or None
        None where it is not known.

    Examples
    --------
    >>> from unskew import datasets
    >>> datasets.describe("fmnist-h").files[-1].path.endswith("fmh_counts.csv")
    True
    """

    path: str
    present: bool
    address: str
    checksum: str | None


@dataclass(frozen=True)
class Description:
    """What is known about a data set before it is loaded.

    Attributes
    ----------
    name, table_name : str
        For programs and for tables.
    summary : str
        What it is and what is positive.
    network : str or None
        Kind of network that experiments train on it; None where the shape of its features decides.
    source, licence : str
    files : tuple of FileDescription
    stand_in : str or None
        Name of a similar data set that may be used, under its own name, where this one is missing.
    sizes : Sizes
        Instances of each part that an experiment draws from it.
    batch_size, learning_rate : int and float
        How experiments train on it.

    Examples
    --------
    >>> from unskew import datasets
    >>> datasets.describe("mnist").table_name, datasets.describe("digits").present
    ('Mnist', True)
    """

    name: str
    table_name: str
    summary: str
    network: str | None
    source: str
    licence: str
    files: tuple[FileDescription, ...]
    stand_in: str | None
    sizes: Sizes
    batch_size: int
    learning_rate: float

    @property
    def present(self) -> bool:
        """True if no file is missing."""
        return all(file.present for file in self.files)


class _DatasetEntry(NamedTuple):
    about: Description  # without its files: which of them exist is looked up when someone wants to know
    files: tuple[PublishedFile, ...]
    read: Callable[..., RawData]


_entries: dict[str, _DatasetEntry] = {}


def dataset(
    name: str,
    *,
    table_name: str | None = None,
    network: str | None = None,
    source: str = "",
    licence: str = "",
    files: tuple[PublishedFile, ...] = (),
    stand_in: str | None = None,
    sizes: Sizes | None = None,
    batch_size: int = BATCH_SIZE,
    learning_rate: float = LEARNING_RATE,
) -> Callable[[Loader], Loader]:
    """Add a data set: a decorator of the function that reads it.

    The function gets the paths of `files`, in their order, and returns a `RawData`; the first line of its docstring is
    the summary. From then on `names`, `load`, `fetch` and `describe` know the data set in this process. A name can be
    taken only once, except by the same function of a module that is loaded again.

    Parameters
    ----------
    name : str
    table_name : str, optional
        Its name in tables; by default `name`.
    network : str, optional
        Kind of network that experiments train on it: "mlp", "cnn", "linear" or "kernel". By default "cnn" for images
        (n x channels x height x width), else "mlp".
    source, licence : str
        Where it comes from, and its terms of use.
    files : tuple of PublishedFile
        The files that it is read from.
    stand_in : str, optional
        Name of a similar data set for those who do not have the files.
    sizes : Sizes, optional
        Instances of each part that an experiment draws from it; by default the paper's, for which it must have about
        18,000 negatives.
    batch_size, learning_rate : int and float
        How experiments train on it; by default as in the paper. Where the training part is smaller than a batch, an
        epoch is one step, and the paper's 200 epochs are too few: use a smaller batch and a higher rate.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import datasets
    >>> @datasets.dataset("stripes-of-an-example")
    ... def stripes():
    ...     X = np.arange(400, dtype=np.float32)[:, None]
    ...     return datasets.by_distance(X, (X[:, 0] % 4 == 0).astype(int))
    >>> int(datasets.load("stripes-of-an-example").y.sum())
    100
    """
    if sizes is not None and not isinstance(sizes, Sizes):
        raise TypeError(f"sizes of {name!r} must be a Sizes(train=..., validation=..., ...), but it is {sizes!r}.")

    def add(read: Loader) -> Loader:
        taken = _entries.get(name)
        if taken and (taken.read.__module__, taken.read.__qualname__) != (read.__module__, read.__qualname__):
            raise ValueError(
                f"the name {name!r} is taken by the data set {taken.about.table_name}. Choose another name."
            )
        title, summary = table_name or name, (read.__doc__ or "").strip().partition("\n")[0]
        training = sizes or Sizes(), batch_size, learning_rate
        about = Description(name, title, summary, network, source, licence, (), stand_in, *training)
        _entries[name] = _DatasetEntry(about, tuple(files), read)
        return read

    return add


def names() -> tuple[str, ...]:
    """Names of all data sets.

    Examples
    --------
    >>> "digits" in names()
    True
    """
    return tuple(_entries)


def load(name: str) -> RawData:
    """Features `X`, true class `y` (0/1), original `classes`, and which instances labelers favor.

    Files are looked up in the folder that `UNSKEW_DATA` names. If it is not set, they are looked up in the user's cache
    folder, and downloaded into it if they are missing.

    Examples
    --------
    >>> load("digits").X.shape
    (1797, 64)
    """
    raw = _dataset_entry(name).read(*fetch(name))
    _check_raw_data(raw, name)
    return raw


def fetch(name: str) -> tuple[Path, ...]:
    """Paths of the files of a data set, downloaded first where they are missing and `UNSKEW_DATA` is not set.

    Examples
    --------
    >>> from unskew import datasets
    >>> datasets.fetch("digits")  # comes with scikit-learn: no files
    ()
    """
    entry = _dataset_entry(name)
    try:
        return tuple(provide(file) for file in entry.files)
    except DataMissing as error:
        if entry.about.stand_in is None:
            raise
        raise DataMissing(f"{error} A similar data set is {entry.about.stand_in!r}.") from error


def describe(name: str) -> Description:
    """What is known about a data set without loading it: source, licence, files, and which of them exist.

    Examples
    --------
    >>> from unskew import datasets
    >>> datasets.describe("digits").source
    'scikit-learn, from the UCI collection of handwritten digits'
    """
    entry, files = _dataset_entry(name), []
    for file in entry.files:
        found = find(file)
        path = str(found or data_home() / file.path)
        files.append(FileDescription(path, found is not None, file.address, file.checksum))
    return replace(entry.about, files=tuple(files))


def reader(name: str) -> Callable[..., RawData]:
    """The registered function that reads a data set from its files.

    Examples
    --------
    >>> from unskew import datasets
    >>> datasets.reader("digits")().X.shape
    (1797, 64)
    """
    return _dataset_entry(name).read


def _dataset_entry(name: str) -> _DatasetEntry:
    if name not in _entries:
        raise ValueError(f"there is no data set {name!r}, only {', '.join(names())}.{closest_name(name, names())}")
    return _entries[name]


def _check_raw_data(raw: RawData, name: str) -> None:
    """Check what a reader, perhaps a user's own, returned, before an experiment fails because of it."""
    if not isinstance(raw, RawData):
        raise TypeError(f"the reader of {name!r} must return a RawData, but it returned {type(raw).__name__}.")
    n = len(raw.X)
    parts = {"y": raw.y, "classes": raw.classes, "favored": raw.favored, "confidence": raw.confidence}
    for part, values in parts.items():
        if values is not None and np.shape(values) != (n,):
            raise ValueError(
                f"{part} of {name!r} must have one entry per row of X, but its shape is {np.shape(values)} and X has "
                f"{n} rows. Correct its reader or its files."
            )
    if set(np.unique(raw.y)) != {0, 1}:
        raise ValueError(
            f"y of {name!r} must hold positives (1) and negatives (0), but it holds {np.unique(raw.y)[:5]}. Correct "
            "its reader, or use files that have both."
        )
    if raw.favored.dtype != np.bool_ or (raw.favored & (raw.y == 0)).any():
        raise ValueError(f"favored of {name!r} must be True or False, and True only for positives. Correct its reader.")
