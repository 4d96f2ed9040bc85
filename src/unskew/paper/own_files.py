"""Users' own files that register methods or data sets: each is run once, and known by the digest of its content.

A row of a method or data set from such a file keeps the digest, so that results of an earlier version of the file
are not taken for those of the present one. What the file imports does not count. The package's own have no digest.
"""

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from unskew.datasets import reader

_DIGESTS = {"method": "method_file", "dataset": "dataset_file"}
"""Fields of a row that keep a digest, by what the digest is of."""

_digests: dict[str, str] = {}
"""Digest of each module's file, as it was when it was run (or first looked up)."""
_methods: dict[str, tuple[str, ...]] = {}
"""Methods that each imported file registered, by the name of its module."""


def import_files(paths: Iterable[Path]) -> tuple[str, ...]:
    """Run Python files that register methods or data sets; returns the names of these methods.

    A file that was run before is run again only if it was changed.
    """
    return tuple(dict.fromkeys(name for path in paths for name in _import_file(path)))


def _import_file(path: Path) -> tuple[str, ...]:
    if path.suffix != ".py" or not path.is_file():
        found = "is not a .py file" if path.exists() else "does not exist"
        raise ValueError(f"{path} must be a Python file that registers a method or a data set, but it {found}.")
    content = path.read_bytes()
    # Files in different folders may have the same name.
    module = f"unskew_import_{path.stem}_{_short_digest(str(path.resolve()).encode())}"
    if _digests.get(module) != _short_digest(content):
        _methods[module] = _run_file(path, content, module)
        _digests[module] = _short_digest(content)
    return _methods[module]


def _run_file(path: Path, content: bytes, name: str) -> tuple[str, ...]:
    """Run the content of a file as a module of that name; returns the methods that it registers."""
    from unskew.rankers import ranker_classes

    before = ranker_classes()
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        # An import might run what an earlier version left in __pycache__.
        exec(compile(content, path, "exec", dont_inherit=True), vars(module))
    except Exception as error:
        del sys.modules[name]
        raise ValueError(f"{path} must run without an error, but it ended with {error!r}. Fix the file.") from error
    return tuple(kind.name for kind in ranker_classes() if kind not in before)


def row_digests(row: dict[str, Any]) -> dict[str, str]:
    """Digests that a row of this method and data set keeps: those of files of the user's own."""
    found = {field: digest_of(what, row[what]) for what, field in _DIGESTS.items()}
    return {field: digest for field, digest in found.items() if digest is not None}


def current_rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows that were made with the present versions of the files of their method and data set.

    The version of a file that was not imported is that of the last row of its method or data set.
    """
    rows = list(rows)
    last = {(what, row[what]): row.get(field) for row in rows for what, field in _DIGESTS.items()}
    wanted = {key: digest_of(*key, unknown=digest) for key, digest in last.items()}
    return [row for row in rows if all(row.get(field) == wanted[what, row[what]] for what, field in _DIGESTS.items())]


def digest_of(what: str, name: str, *, unknown: str | None = None) -> str | None:
    """Digest of the file that defines a method or data set.

    None for the package's own and for what no file defines; `unknown` for what is not registered here.
    """
    from unskew.rankers import ranker_class

    try:
        module = (reader if what == "dataset" else ranker_class)(name).__module__
    except ValueError:
        return unknown
    if module.partition(".")[0] == __name__.partition(".")[0]:
        return None
    path = getattr(sys.modules.get(module), "__file__", None)
    if module not in _digests and path is not None and Path(path).is_file():
        _digests[module] = _short_digest(Path(path).read_bytes())
    return _digests.get(module)


def _short_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
