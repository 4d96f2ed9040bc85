"""A ranker together with the table it was fitted on: its columns, how they became features, what was found."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from unskew._support.json_records import build
from unskew._support.modelfile import read_model_file
from unskew.errors import ModelFileError
from unskew.metrics.evidence import Evidence
from unskew.rankers import Ranker, ranker_in
from unskew.tables import Schema, require_file


@dataclass(frozen=True)
class Source:
    """Where a model comes from: file, columns with a part of their own, counts, day, file that chose the epoch."""

    file: str
    label: str
    confidence: str | None
    excluded: tuple[str, ...]
    n_rows: int
    n_labeled: int
    made: str
    validation_file: str | None = None  # None also in model files from before there was this field
    n_validation_rows: int | None = None

    @property
    def aside(self) -> tuple[str, ...]:
        """Columns that were not to be features."""
        return (self.label, *([] if self.confidence is None else [self.confidence]), *self.excluded)

    @staticmethod
    def today() -> str:
        """The day of now, as text."""
        return date.today().isoformat()


@dataclass(frozen=True)
class TableModel:
    """A fitted ranker that takes rows of a table as they are in the file.

    Attributes
    ----------
    ranker : Ranker
    schema : Schema
        Columns as they were in training; turns rows into features.
    source : Source
    evidence : Evidence or None
        What cross-validation said of it; None if it was not asked for, or could not be.
    written_with : mapping of str to str
        Versions that it was made with; of a model that was not saved yet those of now.
    """

    ranker: Ranker
    schema: Schema
    source: Source
    evidence: Evidence | None
    written_with: Mapping[str, str] = field(default_factory=dict)

    def score(self, frame: Any) -> np.ndarray:
        """Scores of the rows of a frame that was checked against the schema."""
        return np.asarray(self.ranker.decision_function(self.schema.transform(frame)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to one model file, which holds data only."""
        self.ranker.save(
            path,
            notes={
                "schema": self.schema.to_json(),
                "source": {**vars(self.source), "excluded": list(self.source.excluded)},
                "evidence": None if self.evidence is None else self.evidence.to_json(),
            },
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "TableModel":
        """Read what `save` wrote; nothing in the file is executed."""
        require_file(Path(path), "model file that `unskew fit` wrote")
        model = read_model_file(path)
        notes = model.header.get("notes")
        if notes is None:
            raise ModelFileError(
                f"{path} holds a model that was saved from Python, without the columns of a table. Score it there, or "
                "make one from a file with `unskew fit`."
            )
        ranker = ranker_in(model, Path(path))
        try:
            return cls(
                ranker,
                _schema(notes, ranker),
                build(Source, notes["source"], "source"),
                None if notes["evidence"] is None else Evidence.from_json(notes["evidence"]),
                {"unskew": model.header["library_version"], **model.header["written_with"]},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"it has no {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
            raise ModelFileError(
                f"{path} must describe the table that it was fitted on as this version of unskew does, but it does "
                f"not: {reason}. Fit again."
            ) from error


@dataclass(frozen=True)
class _Encoder:
    """Files of earlier versions hold the columns a second time, as this record."""

    schema: Schema


def _schema(notes: Mapping[str, Any], ranker: Ranker) -> Schema:
    """Columns of the table, which must give as many features as the ranker takes."""
    schema = Schema.from_json(notes["schema"])
    if "encoder" in notes and build(_Encoder, notes["encoder"], "encoder").schema != schema:
        raise ValueError("its two records of the columns, schema and encoder, must agree, but they do not")
    takes, given = (getattr(ranker, "n_features_in_", None), ranker.input_shape_), len(schema.feature_names)
    if takes != (given, (given,)):
        raise ValueError(f"the model must take one input per feature, {given}, but it takes {takes[0]} {takes[1]}")
    return schema
