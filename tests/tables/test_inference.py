"""What a column is taken for when a few values are odd, or when whole numbers are stored as something else."""

import datetime
import decimal

import numpy as np
import polars as pl
import pytest

from unskew.tables import infer_features, read_table

DAYS = [str(datetime.date(2020, 1, 1) + datetime.timedelta(2 * day)) for day in range(600)]
CODES = np.random.default_rng(0).permutation(1_000_000)[:600] + 1_000_000


def note(values):
    """What a user is told of this column."""
    schema, _ = infer_features(pl.DataFrame({"x": np.linspace(0, 1, len(values)) ** 2, "column": values}))
    return schema.describe()[-1][2]


def left_out(name, values):
    """Whether a column is left out as an identifier."""
    schema, _ = infer_features(pl.DataFrame({"x": np.linspace(0, 1, len(values)) ** 2, name: values}))
    assert all("looks like an identifier: whole numbers" in each.reason for each in schema.left_out)
    return name not in schema.names


@pytest.mark.parametrize("odd", ["2025-02-30", "2025-02-28T24:00:00", "unknown", "28.2.2025"])
def test_a_few_values_that_are_no_dates_are_told_with_the_first(odd):
    told = note([*DAYS[:7], odd, *DAYS[8:300], "2025-13-01", None, *DAYS[302:]])
    assert f'all but 2 of 599 values are dates (first other: "{odd}" at row 8); fix those or leave them blank' in told
    assert "write them as" not in told


def test_the_hint_is_there_for_categories_as_well():
    assert 'all but 1 of 600 values are dates (first other: "2025-02-30" at row 6)' in note(
        [*DAYS[:5], "2025-02-30", *DAYS[:5] * 118, *DAYS[:4]]
    )


def test_many_impossible_times_are_not_told_to_be_written_as_they_are():
    told = note([f"{day}T24:00:00" for day in DAYS])
    assert 'as 2024-01-31 or 2024-01-31T23:59 to use it as a date (first that cannot be read: "2020-01-01T24:' in told
    told = note([*DAYS[:300], *(day.replace("-", "/") for day in DAYS[300:])])
    assert f'(first that cannot be read: "{DAYS[300].replace("-", "/")}" at row 301)' in told


@pytest.mark.parametrize(
    "store",
    [
        list,
        lambda numbers: [float(each) for each in numbers],
        lambda numbers: [str(each) for each in numbers],
        lambda numbers: [f"{each}.0" for each in numbers],
        lambda numbers: [f"{float(each):e}" for each in numbers],
        lambda numbers: pl.Series(numbers, dtype=pl.Float64).fill_null(float("nan")),
        lambda numbers: [decimal.Decimal(int(each)) for each in numbers],
    ],
    ids=["integers", "floats", "text", "text of floats", "exponents", "NaN", "decimals"],
)
def test_whole_numbers_are_alike_however_they_are_stored(store):
    assert left_out("customer_id", store(CODES))
    assert left_out("row", store(range(600)))
    assert left_out("counter", store(range(600)))
    assert left_out("in order", store(np.sort(CODES)))
    assert not left_out("paid", store(CODES))
    assert not left_out("age_id", store(CODES % 50))


def test_an_identifier_with_a_blank_is_one_in_every_file(tmp_path):
    typed = pl.DataFrame({"customer_id": [*CODES[:9].astype(float), None, *CODES[10:].astype(float)]})
    typed = typed.with_columns(x=pl.Series(np.linspace(0, 1, 600) ** 2))
    typed.write_parquet(tmp_path / "typed.parquet")
    typed.write_csv(tmp_path / "text.csv")
    for name in ("typed.parquet", "text.csv"):
        assert infer_features(read_table(tmp_path / name))[0].names == ("x",)


@pytest.mark.parametrize(
    "values",
    [
        np.sort(CODES) + 0.5,
        np.append(np.arange(599.0), 598.5),
        [f"{each}.25" for each in range(600)],
        np.linspace(1e20, 1e22, 600),
        [datetime.timedelta(seconds=each) for each in range(600)],
        [datetime.time(each // 60, each % 60) for each in range(600)],
    ],
    ids=["halves", "one fraction", "text", "too large to tell", "durations", "times"],
)
def test_fractions_and_times_are_no_identifiers(values):
    assert not left_out("in order", values)
    assert not left_out("customer_id", values)
