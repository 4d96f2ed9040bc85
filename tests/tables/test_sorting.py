"""The order of scored rows is that of a sort in memory, whatever fits into memory."""

import resource
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.tables import BestFirst, sorted_on_disk, sorting


def sorted_in_memory(frames, top=None):
    rows = pl.concat(frames)
    return rows[np.argsort(-rows["score"].to_numpy(), kind="stable")][:top]


def sorted_by_runs(folder, frames, top=None):
    best = BestFirst(folder, "score", top)
    for frame in frames:
        best.add(frame)
    return pl.concat(best.frames())


def frames_of(scores, cuts):
    rows = pl.DataFrame({"score": np.asarray(scores, dtype=np.float64), "row": np.arange(len(scores))})
    rows = rows.with_columns(pl.format("case {}", "row").alias("case"))
    ends = sorted(min(cut, len(scores)) for cut in cuts)
    return [rows[first:last] for first, last in zip([0, *ends], [*ends, len(scores)], strict=True)]


@settings(max_examples=60, deadline=None)
@given(
    scores=st.lists(st.sampled_from([-0.0, 0.0, 1.0, 2.0, -3.0, 1e300]) | st.floats(-2, 2), max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=8),
    run_rows=st.integers(1, 20),
    block=st.integers(1, 9),
    top=st.none() | st.integers(1, 70),
)
def test_runs_on_disk_give_the_order_of_a_sort_in_memory(tmp_path_factory, scores, cuts, run_rows, block, top):
    frames = frames_of(scores, cuts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "RUN_ROWS", run_rows)
        patch.setattr(sorting, "ROWS_AT_ONCE", block)
        found = sorted_by_runs(tmp_path_factory.mktemp("runs"), frames, top)
    assert found.equals(sorted_in_memory(frames, top))


def test_few_of_many_rows_need_no_disk_and_all_of_them_do(tmp_path, monkeypatch):
    monkeypatch.setattr(sorting, "RUN_ROWS", 100)
    frames = frames_of(np.random.default_rng(0).normal(size=1000), range(30, 1000, 30))
    for top, on_disk in ((10, False), (80, True), (None, True)):
        folder = tmp_path / str(top)
        folder.mkdir()
        assert sorted_by_runs(folder, frames, top).equals(sorted_in_memory(frames, top))
        assert any(folder.iterdir()) == on_disk


def test_wide_rows_are_written_before_they_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(sorting, "RUN_BYTES", 2000)
    frames = frames_of([3.0, 1.0, 2.0] * 100, range(50, 300, 50))
    assert sorted_by_runs(tmp_path, frames).equals(sorted_in_memory(frames))
    assert len(list(tmp_path.glob("run-*"))) > 2


def test_columns_keep_their_types_on_the_way_over_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(sorting, "RUN_ROWS", 2)
    rows = pl.DataFrame({"score": [1.0, 3.0, 2.0, 4.0], "day": [0, 1, None, 3], "kind": ["b", "a", None, "b"]})
    rows = rows.with_columns(
        pl.col("day").cast(pl.Date),
        pl.col("kind").cast(pl.Categorical),
        pl.col("kind").cast(pl.Enum(["b", "a"])).alias("enum"),
        pl.Series("parts", [[1], [], None, [2, 3]]),
    )
    assert sorted_by_runs(tmp_path, [rows[:2], rows[2:]]).equals(rows[[3, 1, 2, 0]])


def test_floats_of_a_file_are_sorted_beside_it(tmp_path):
    numbers = np.random.default_rng(0).normal(size=50)
    numbers.tofile(tmp_path / "keys")
    assert (sorted_on_disk(tmp_path / "keys") == np.sort(numbers)).all()
    assert (np.fromfile(tmp_path / "keys") == numbers).all()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not say how much memory is used")
@pytest.mark.parametrize("top", [200, None])
def test_memory_does_not_grow_with_the_rows(top, tmp_path, monkeypatch):
    monkeypatch.setattr(sorting, "RUN_BYTES", 16 << 20)
    rng = np.random.default_rng(0)
    best, most, first = BestFirst(tmp_path, "score", top), 0, 0
    for number in range(40):
        rows = pl.DataFrame({"score": rng.random(8000)})
        best.add(rows.with_columns(pl.format("{}" + "x" * 1000, "score").alias("text")))  # 8 MB
        del rows
        if number == 9:
            first = memory_in_use()
        most = max(most, memory_in_use())
    for frame in best.frames():
        del frame
    assert most - first < 120 << 20  # the rows after the first ten are 240 MB


def memory_in_use():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
