"""A column of text, taken in a part at a time, in as little memory as its kind needs while that is not decided yet.

As long as a column has few different values, each row is one byte, a code (`_Coded`). Text with more is no category, so
only what it can still be is kept: numbers and days as numbers, or of free text a digest of each different value
(`_Readings`). What is said about a column at the end is the same as if its whole text had been there.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import polars as pl

from unskew.tables._values import clean, has_separators, to_booleans, to_days, to_numbers

MOST_CATEGORIES = 200
MISSING = 255
"""Code of a missing value; other codes are below `MOST_CATEGORIES`."""
LIKE_DATES = r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(\D.*)?$"
WHOLE = r"^[+-]?\d+(\.0*)?$"
"""Text of a number without a fraction; it may have more digits than a number can hold."""


class Unread(NamedTuple):
    """Values that cannot be read in some way: how many, and the first of them with its place."""

    total: int = 0
    place: int = 0
    value: str = ""

    def then(self, text: pl.Series, unread: np.ndarray, n_before: int) -> "Unread":
        """The same after the next rows, of which `unread` marks those that cannot be read."""
        more = int(np.count_nonzero(unread))
        if not more or self.total:
            return self._replace(total=self.total + more)
        first = int(unread.argmax())
        return Unread(more, n_before + first, text[first])


@dataclass
class TextColumn:
    """What a column of text was found to be; see the module.

    Attributes
    ----------
    first : str or None
        Its first value as it is in the file.
    infinite : Unread
        Values that are infinite numbers, as they are in the file.
    """

    name: str
    n_rows: int = 0
    n_present: int = 0
    first: str | None = None
    infinite: Unread = field(default_factory=Unread)
    looks_again: bool = False
    _coded: "_Coded | None" = field(default_factory=lambda: _Coded())
    _readings: "_Readings | None" = None

    def take_in(self, series: pl.Series) -> None:
        """Read the next rows."""
        raw = series.cast(pl.String)
        cleaned = clean(raw)
        if not self.n_rows and len(raw):
            self.first = raw[0]
        if self._coded is not None and not self._coded.take_in(raw, cleaned, self.n_rows):
            self._readings = _Readings(keeps_digests=self.looks_again)
            n_before = 0
            for earlier_raw, earlier in self._coded.parts():
                self._read(earlier_raw, earlier, n_before)
                n_before += len(earlier)
            self._coded = None
        if self._readings is not None:
            self._read(raw, cleaned, self.n_rows)
        self.n_rows += len(raw)
        self.n_present += len(cleaned) - cleaned.null_count()

    def _read(self, raw: pl.Series, cleaned: pl.Series, n_before: int) -> None:
        assert self._readings is not None
        infinite = self._readings.take_in(cleaned, n_before)
        self.infinite = self.infinite.then(raw, infinite, n_before)

    @property
    def n_bytes(self) -> int:
        """Memory that it holds, about."""
        return self._coded.n_bytes if self._coded is not None else self._readings.n_bytes if self._readings else 0

    def needs_another_look(self) -> bool:
        """Whether it turned out late to be free text, so that its different values could not all be counted."""
        return self._readings is not None and self._readings.needs_another_look()

    def anew(self) -> "TextColumn":
        """An empty one for another look, which keeps what the first one did not."""
        return TextColumn(self.name, looks_again=True)

    def decide(self) -> "Decided":
        """What the values are; they are given back once, and kept no longer."""
        if self._coded is not None:
            coded, self._coded = self._coded, None
            return coded.decide(self)
        assert self._readings is not None
        readings, self._readings = self._readings, None
        return readings.decide()


@dataclass(frozen=True)
class Decided:
    """The kind of a column, and its values.

    Attributes
    ----------
    values : Series or None
        Float64 for numbers, truth values and days; an Enum for categories, and None where there are too many.
    different : int
        How many different values there are; of numbers, truth values and days 0 where it does not matter.
    whole : bool
        Whether all numbers are whole.
    not_numbers, not_dates : Unread
    separated : bool
        Whether all would be numbers without separators, units and decimal commas.
    like_dates : bool
        Whether all look like dates.
    """

    kind: str
    values: pl.Series | None
    different: int = 0
    whole: bool = False
    not_numbers: Unread = field(default_factory=Unread)
    not_dates: Unread = field(default_factory=Unread)
    separated: bool = False
    like_dates: bool = False


class _Coded:
    """Codes of a column with few different values, in the order in which these came up."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.raw: list[str] = []  # how each was first written
        self.places: list[int] = []
        self.codes: list[np.ndarray] = []
        self._kind = pl.Enum([])

    @property
    def n_bytes(self) -> int:
        return sum(len(each) for each in self.codes)

    def take_in(self, raw: pl.Series, cleaned: pl.Series, n_before: int) -> bool:
        """Whether the next rows have been taken in; if not, there are too many different values now."""
        coded = cleaned.cast(self._kind, strict=False)
        new = coded.is_null() & cleaned.is_not_null()
        if new.any():
            rows = new.arg_true()
            fresh = rows.gather(cleaned.gather(rows).arg_unique().sort())
            if len(self.text) + len(fresh) > MOST_CATEGORIES:
                return False
            self.text += cleaned.gather(fresh).to_list()
            self.raw += raw.gather(fresh).to_list()
            self.places += (fresh + n_before).to_list()
            self._kind = pl.Enum(self.text)
            coded = cleaned.cast(self._kind)
        self.codes.append(coded.to_physical().cast(pl.UInt8).fill_null(MISSING).to_numpy(writable=True))
        return True

    def parts(self) -> Iterator[tuple[pl.Series, pl.Series]]:
        """The rows again as text, as they were first written and clean."""
        raw, text = (pl.Series([*each, None], dtype=pl.String) for each in (self.raw, self.text))
        while self.codes:
            place = np.minimum(self.codes.pop(0), len(self.text))
            yield raw.gather(place), text.gather(place)

    def decide(self, column: TextColumn) -> Decided:
        text, n = pl.Series(column.name, self.text, dtype=pl.String), len(self.text)
        codes = np.concatenate([np.empty(0, dtype=np.uint8), *self.codes])
        self.codes = []
        numbers = to_numbers(text)
        if not numbers.has_nulls():
            infinite = numbers.is_infinite().to_numpy()
            if infinite.any():
                first = int(infinite.argmax())
                count = int(np.bincount(codes, minlength=256)[:n][infinite].sum())
                column.infinite = Unread(count, self.places[first], self.raw[first])
            whole = bool(text.str.contains(WHOLE).all()) or are_whole(numbers)
            return Decided("numeric", _spread(column.name, numbers, codes), n, whole)
        truth = to_booleans(text, numbers)
        if not truth.has_nulls():
            return Decided("boolean", _spread(column.name, truth.cast(pl.Float64), codes))
        days = to_days(text)
        if not days.has_nulls():
            return Decided("date", _spread(column.name, days, codes))
        counts = np.bincount(codes, minlength=256)[:n]
        not_numbers, not_dates = (self._unread(each.is_null().to_numpy(), counts) for each in (numbers, days))
        order = text.arg_sort()  # categories are in the order of the alphabet
        kind = pl.Enum(text.gather(order))
        coded = pl.Series(codes)
        values = text.cast(kind).gather(coded.set(coded == MISSING, None)).alias(column.name)
        like_dates = bool(text.str.contains(LIKE_DATES).all())
        return Decided("categorical", values, n, False, not_numbers, not_dates, has_separators(text), like_dates)

    def _unread(self, unread: np.ndarray, counts: np.ndarray) -> Unread:
        first = int(unread.argmax())  # values are in the order of their first rows
        return Unread(int(counts[unread].sum()), self.places[first], self.text[first])


def _spread(name: str, values: pl.Series, codes: np.ndarray) -> pl.Series:
    """The value of each row from those of the codes."""
    table = np.full(256, np.nan)
    table[: len(values)] = values.to_numpy()
    return pl.Series(name, table[codes]).fill_nan(None)


class _Readings:
    """What a column with many different values can still be."""

    def __init__(self, *, keeps_digests: bool) -> None:
        self.numbers, self.truth, self.days = _Candidate(), _Candidate(), _Candidate()
        self.not_numbers, self.not_dates = Unread(), Unread()
        self.separated = self.like_dates = self.whole_text = self.whole_numbers = True
        self.digests: _Digests | None = _Digests()
        self._keeps_digests = keeps_digests

    @property
    def n_bytes(self) -> int:
        held = sum(each.n_bytes for each in (self.numbers, self.truth, self.days))
        return held + (0 if self.digests is None else self.digests.n_bytes)

    def take_in(self, text: pl.Series, n_before: int) -> np.ndarray:
        """Read the next rows of clean text; returns which of them are infinite numbers."""
        present = text.is_not_null().to_numpy()
        numbers = to_numbers(text)
        no_number = present & numbers.is_null().to_numpy()
        self.not_numbers = self.not_numbers.then(text, no_number, n_before)
        if self.truth.possible:
            truth = to_booleans(text, numbers)
            self.truth.take_in(truth.cast(pl.Float64), bool((present & truth.is_null().to_numpy()).any()))
        self._take_in_others(text, present, no_number, n_before)
        self.numbers.take_in(numbers, bool(self.not_numbers.total))
        if self.numbers.possible and (self.whole_text or self.whole_numbers):
            there = text.drop_nulls()
            self.whole_text = self.whole_text and bool(there.str.contains(WHOLE).all())
            self.whole_numbers = self.whole_numbers and are_whole(numbers.drop_nulls())
        self._digest(text)
        return np.asarray(numbers.is_infinite().fill_null(False).to_numpy())

    def _take_in_others(self, text: pl.Series, present: np.ndarray, no_number: np.ndarray, n_before: int) -> None:
        """What is no number may be a date, or a number that is written in another way; no number is a date."""
        if not no_number.any():
            self.not_dates = self.not_dates.then(text, present, n_before)
            self.like_dates = self.like_dates and not present.any()
            self.days.take_in(pl.Series(np.full(len(text), np.nan)), bool(present.any()))
            return
        days = to_days(text.set(~pl.Series(no_number), None))
        no_date = present & days.is_null().to_numpy()
        self.not_dates = self.not_dates.then(text, no_date, n_before)
        self.days.take_in(days, bool(no_date.any()))
        rest = text.filter(pl.Series(no_number))
        self.separated = self.separated and has_separators(rest)
        all_others = bool((present == no_number).all())
        self.like_dates = self.like_dates and all_others and bool(rest.str.contains(LIKE_DATES).all())

    def _digest(self, text: pl.Series) -> None:
        """Count different values, where that may matter: of what is a number only if it may be a counter."""
        if self.digests is None:
            return
        self.digests.take_in(text.drop_nulls())
        counter = not self.digests.repeated and (self.whole_text or self.whole_numbers)
        needed = counter if self.numbers.possible else not self.days.possible
        if not (needed or self._keeps_digests):
            self.digests = None

    def needs_another_look(self) -> bool:
        """Whether different values should have been counted, but were not."""
        undecided = not (self.numbers.possible or self.truth.possible or self.days.possible)
        return undecided and self.digests is None

    def decide(self) -> Decided:
        different = 0 if self.digests is None else len(self.digests)
        for kind, candidate in (("numeric", self.numbers), ("boolean", self.truth), ("date", self.days)):
            if candidate.possible:
                return Decided(kind, candidate.values(), different, self.whole_text or self.whole_numbers)
        unread = self.not_numbers, self.not_dates
        return Decided("categorical", None, different, False, *unread, self.separated, self.like_dates)


class _Candidate:
    """Values of a column as one kind of number, as long as all can be read so."""

    def __init__(self) -> None:
        self.possible = True
        self.parts: list[np.ndarray] = []

    @property
    def n_bytes(self) -> int:
        return sum(each.nbytes for each in self.parts)

    def take_in(self, values: pl.Series, some_unread: bool) -> None:
        """Keep the next values, null where they are missing, in half the memory where nothing is lost by it."""
        self.possible = self.possible and not some_unread
        if not self.possible:
            self.parts = []
            return
        numbers = values.to_numpy()
        with np.errstate(over="ignore"):
            narrow = numbers.astype(np.float32)
        self.parts.append(narrow if np.array_equal(narrow, numbers, equal_nan=True) else numbers)

    def values(self) -> pl.Series:
        numbers = np.concatenate([np.empty(0), *self.parts])  # in float64
        self.parts = []
        return pl.Series(numbers, nan_to_null=True)


class _Digests:
    """Different values by 64 bits of each: two of ten million are taken for one with a chance of one in 300,000."""

    def __init__(self) -> None:
        self.repeated = False
        self._runs: list[np.ndarray] = []

    @property
    def n_bytes(self) -> int:
        return sum(each.nbytes for each in self._runs)

    def take_in(self, text: pl.Series) -> None:
        run = np.unique(text.hash().to_numpy())
        self.repeated = self.repeated or len(run) < len(text)
        # Runs at least halve in length, so that there are few of them, and each value is merged a few times only.
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            run = self._merged(self._runs.pop(), run)
        self._runs.append(run)

    def __len__(self) -> int:
        while len(self._runs) > 1:
            self._runs.append(self._merged(self._runs.pop(), self._runs.pop()))
        return sum(len(each) for each in self._runs)

    def _merged(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        both = np.union1d(first, second)
        self.repeated = self.repeated or len(both) < len(first) + len(second)
        return both


def are_whole(numbers: pl.Series) -> bool:
    """Whether numbers have no fraction. Beyond 64 bits every float is whole, which says nothing, and counts as no."""
    return bool((numbers.cast(pl.Int64, strict=False) == numbers).fill_null(False).all())
