"""Folders scored by workers that are killed: the same files, each row once, nothing left behind."""

import random

import numpy as np
import polars as pl
import pytest

from killing import kill_node, kill_worker, meanwhile
from unskew import distributed, make
from unskew.distributed.scoring import WAITING

N_FILES, ROWS, COLUMNS = 6, 120_000, [f"x{number}" for number in range(8)]


def frame_of(n, seed):
    X = np.random.default_rng(seed).standard_normal((n, len(COLUMNS))).astype(np.float32)
    return pl.DataFrame(
        {"case": np.arange(n) + seed * ROWS, "word": ["a", "b"] * (n // 2), **dict(zip(COLUMNS, X.T, strict=True))}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and files to score."""
    folder = tmp_path_factory.mktemp("scoring")
    train, rng = frame_of(2000, 100), np.random.default_rng(0)
    eta = 1 / (1 + np.exp(1 - 2 * train["x0"].to_numpy()))
    y = (rng.random(2000) < 0.3 * eta).astype(int)
    ranker = make("conf-auc", max_epochs=2, random_state=0)
    ranker.fit(train.drop("case"), y, confidence=eta).save(folder / "model")
    (folder / "new").mkdir()
    for number in range(N_FILES):
        frame_of(ROWS, number).write_parquet(folder / "new" / f"{number}.parquet", row_group_size=60_000)
    return folder


@pytest.fixture(scope="module")
def undisturbed(folder, connection):
    scored(folder, folder / "undisturbed", connection)
    return folder / "undisturbed"


def scored(folder, out, workers):
    return distributed.score(folder / "model", folder / "new", out, workers=workers, ids=["case"])


def assert_same(out, undisturbed):
    names = sorted(each.name for each in undisturbed.iterdir())
    assert sorted(each.name for each in out.iterdir()) == names  # and no temporary file
    for name in names:
        if not name.startswith("_"):
            assert (out / name).read_bytes() == (undisturbed / name).read_bytes()
    rows = pl.read_parquet(sorted(out.glob("*.parquet")))
    assert sorted(rows["case"]) == list(range(N_FILES * ROWS))
    in_order = rows.sort("score", descending=True)
    assert in_order["rank"].is_sorted()
    assert in_order["rank"][0] == 1


def parts_done(out):
    return lambda least: sum(1 for _ in (out / WAITING).glob("scores-*.json")) >= least


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_worker_is_killed(folder, undisturbed, cluster, pool, tmp_path, seed):
    rng, out = random.Random(seed), tmp_path / "out"
    least, done = rng.randrange(N_FILES - 2), parts_done(out)
    with meanwhile(kill_worker, cluster, lambda: done(least), rng.random() * 0.3):
        scored(folder, out, pool)
    assert_same(out, undisturbed)


def test_a_node_is_killed(folder, undisturbed, cluster, pool, tmp_path):
    out = tmp_path / "out"
    done = parts_done(out)
    with meanwhile(kill_node, cluster, lambda: done(2), 0.1):
        scored(folder, out, pool)
    assert_same(out, undisturbed)
