"""A ranker together with the table it was fitted on: its columns, how they became features, what was found."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from unskew._support.modelfile import read_model_file
from unskew.errors import ModelFileError
from unskew.metrics.evidence import Evidence
from unskew.rankers import Ranker, ranker_in
from unskew.tables import Encoder, Schema, require_file


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
        Columns as they were in training.
    encoder : Encoder
        Turns rows into features.
    source : Source
    evidence : Evidence or None
        What cross-validation said of it; None if it was not asked for, or could not be.
    written_with : mapping of str to str
        Versions that it was made with; of a model that was not saved yet those of now.
    """

    ranker: Ranker
    schema: Schema
    encoder: Encoder
    source: Source
    evidence: Evidence | None
    written_with: Mapping[str, str] = field(default_factory=dict)

    def score(self, frame: Any) -> np.ndarray:
        """Scores of the rows of a frame that was checked against the schema."""
        return np.asarray(self.ranker.decision_function(self.encoder.transform(frame)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to one model file, which holds data only."""
        self.ranker.save(
            path,
            notes={
                "schema": self.schema.to_json(),
                "encoder": self.encoder.to_json(),
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
                ranker, *_parts(notes), {"unskew": model.header["library_version"], **model.header["written_with"]}
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelFileError(
                f"{path} must say what the columns of its table were, but that part is not as this version writes it "
                f"({error}). Fit again."
            ) from error


def _parts(notes: dict[str, Any]) -> tuple[Schema, Encoder, Source, Evidence | None]:
    source = {**notes["source"], "excluded": tuple(notes["source"]["excluded"])}
    evidence = notes["evidence"]
    return (
        Schema.from_json(notes["schema"]),
        Encoder.from_json(notes["encoder"]),
        Source(**source),
        None if evidence is None else Evidence.from_json(evidence),
    )
