"""A ranker together with the table it was fitted on: its columns, how they became features, what was found."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unskew._support.json_records import build
from unskew._support.modelfile import read_model_file
from unskew._support.text import percent, visible
from unskew.checks import TableSummary
from unskew.errors import ModelFileError
from unskew.metrics.evidence import Evidence
from unskew.rankers import Ranker, ranker_in
from unskew.tables import Schema, require_file

USUAL_METHOD = "auto"
"""What is trained if no method is named."""


@dataclass(frozen=True)
class Source:
    """Where a model comes from: file, columns with a part of their own, counts, day, validation file."""

    file: str
    label: str
    confidence: str | None
    excluded: tuple[str, ...]
    n_rows: int
    n_labeled: int
    made: str
    validation_file: str | None = None  # None also in model files from before there was this field
    n_validation_rows: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.n_labeled <= self.n_rows:
            raise ValueError(f"n_labeled must be from 0 to n_rows, {self.n_rows}, but it is {self.n_labeled}.")
        if (self.validation_file is None) != (self.n_validation_rows is None):
            raise ValueError("validation_file must come with n_validation_rows, but one of them is missing.")

    @property
    def aside(self) -> tuple[str, ...]:
        """Columns that were not to be features."""
        return (self.label, *([] if self.confidence is None else [self.confidence]), *self.excluded)

    def fit_command(self, table: str, method: str) -> str:
        """The command that fits a table of the same columns in the same way."""
        words = ["unskew", "fit", table, "--label", self.label]
        if self.confidence is not None:
            words += ["--confidence", self.confidence]
        for name in self.excluded:
            words += ["--exclude", name]
        if method != USUAL_METHOD:
            words += ["--method", method]
        return shlex.join(visible(each) for each in words)


@dataclass(frozen=True)
class TableModel:
    """A fitted ranker that takes rows of a table as they are in the file.

    Attributes
    ----------
    schema : Schema
        Columns as they were in training; turns rows into features.
    evidence_json : mapping or None
        What was estimated from left-out rows, as JSON; None if it was not requested or not possible. `evidence`
        decodes it.
    written_with : mapping of str to str
        Versions that it was made with; empty for a model that was not saved yet.
    path : Path or None
        The file that it was read from, for messages.
    summary : TableSummary or None
        Shares of the values in training, which rows to score are compared with; None for files of earlier versions.
    """

    ranker: Ranker
    schema: Schema
    source: Source
    evidence_json: Mapping[str, Any] | None
    written_with: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None
    summary: TableSummary | None = None

    @cached_property
    def evidence(self) -> Evidence | None:
        """What was estimated from left-out rows; decoded only when it is used, because scoring does without."""
        if self.evidence_json is None:
            return None
        try:
            return Evidence.from_json(self.evidence_json)
        except ValueError as error:
            raise _wrong_part(self.path, "report", error) from None

    @property
    def parts(self) -> list[tuple[str, str, str, str]]:
        """Methods that are combined, in the words of a page: weight, agreement, separation; empty for a single one."""
        rows = []
        for part in getattr(self.ranker, "parts_", ()):
            agreement, separation = (_two_digits(each) for each in (part.agreement, part.separation))
            rows.append((part.method, percent(part.weight), agreement, separation))
        return rows

    def score(self, frame: Any) -> np.ndarray:
        """Scores of the rows of a frame that was checked against the schema."""
        return np.asarray(self.ranker.decision_function(self.schema.transform(frame)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to one model file, which holds data only."""
        notes = {"schema": self.schema.to_json(), "source": vars(self.source), "evidence": self.evidence_json}
        if self.summary is not None:
            notes["summary"] = self.summary.to_json()
        self.ranker.save(path, notes=notes)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, to_score: bool = False) -> "TableModel":
        """Read what `save` wrote; nothing in the file is executed.

        To score rows, it may also be a ranker that was saved from Python, if it was fitted on a data frame with words,
        dates or missing values: then it knows the columns of its table, but not what else there is to say of them.
        """
        require_file(Path(path), "model file that `unskew fit` wrote")
        model = read_model_file(path)
        notes = model.header.get("notes")
        ranker = ranker_in(model, Path(path))
        versions = {"unskew": model.header["library_version"], **model.header["written_with"]}  # were checked with it
        if notes is None:
            schema = _take_schema(ranker) if to_score else None
            if schema is not None:
                return cls(ranker, schema, Source("", "", None, (), 0, 0, ""), None, versions, Path(path))
            raise ModelFileError(
                f"{path} must come from a table, but it holds a model that was saved from Python, without "
                f"{'the columns of a table' if to_score else 'the name of its label'}. Use it there, or make one from "
                "a file with `unskew fit`."
            )
        try:
            read: _Notes = build(_Notes, notes, "notes")
            schema = _schema_of_file(read, ranker)
            summary = None if read.summary is None else TableSummary.from_json(read.summary, schema)
        except ValueError as error:
            raise _wrong_part(path, "table", error) from None
        return cls(ranker, schema, read.source, read.evidence, versions, Path(path), summary)


def _take_schema(ranker: Ranker) -> Schema | None:
    """The schema that a ranker reads data frames by, if it has one; from then on it takes features."""
    schema: Schema | None = getattr(ranker, "schema_", None)
    if schema is not None:
        del ranker.schema_, ranker.feature_names_in_
        ranker.n_features_in_ = len(schema.feature_names)
    return schema


def _wrong_part(path: str | os.PathLike[str] | None, part: str, error: ValueError) -> ModelFileError:
    return ModelFileError(
        f"{path} must describe its {part} as this version of unskew does, but it does not: {str(error).rstrip('.')}. "
        "Fit again."
    )


@dataclass(frozen=True)
class _Encoder:
    """Files of earlier versions hold the columns a second time, as this record."""

    schema: Schema


@dataclass(frozen=True)
class _Notes:
    """What a model file holds beside the ranker; the evidence is not checked before it is used."""

    schema: dict[str, Any]
    source: Source
    evidence: dict[str, Any] | None
    encoder: _Encoder | None = None
    summary: dict[str, Any] | None = None


def _schema_of_file(notes: _Notes, ranker: Ranker) -> Schema:
    """Columns of the table, which must give as many features as the ranker takes."""
    schema = Schema.from_json(notes.schema)
    if notes.encoder is not None and notes.encoder.schema != schema:
        raise ValueError("its two records of the columns, schema and encoder, must agree, but they do not")
    given = len(schema.feature_names)
    if ranker.input_shape_ != (given,):
        raise ValueError(f"the model must take one input per feature, {given}, but it takes {ranker.input_shape_}")
    return schema


def _two_digits(number: float | None) -> str:
    return "–" if number is None else f"{number:.2f}"
