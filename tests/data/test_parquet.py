"""Rows of Parquet files: the same rows as in memory, in bounded memory, and clear words where something is wrong."""

import copy
import pickle
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import unskew
from parquet_files import run, write
from quick_fits import QUICK
from unskew.data.parquet import WINDOWS_IN_MEMORY, ParquetRows
from unskew.datasets import toy
from unskew.errors import TableError

N, GROUP = 2000, 90
COLUMNS = ["a", "b", "c"]
MEMORY = 24_000  # bytes: 12 per row, so that a window has 500 rows


@pytest.fixture(scope="module")
def table():
    rng = np.random.RandomState(0)
    data = toy.draw(N, random_state=0)
    X = np.column_stack([data.X, rng.normal(size=N)]).astype(np.float32)
    return X, data


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    X, data = table
    path = tmp_path_factory.mktemp("table")
    columns = {name: X[:, place] for place, name in enumerate(COLUMNS)}
    whole = pa.table({**columns, "flag": data.labeled, "risk": data.confidence, "id": [f"row {n}" for n in range(N)]})
    for number, start in enumerate(range(0, N, 700)):  # the last file is shorter, and so is each file's last row group
        pq.write_table(whole.slice(start, 700), path / f"part-{number}.parquet", row_group_size=GROUP)
    return path


def opened(folder, memory=MEMORY, columns=COLUMNS):
    return ParquetRows(folder, columns, memory=memory)


def test_rows_and_columns_are_those_of_the_files(folder, table):
    X, data = table
    rows = opened(folder)
    assert (len(rows), rows.shape, rows.columns) == (N, (3,), ("a", "b", "c"))
    index = np.random.RandomState(1).permutation(N)  # the worst order there is
    np.testing.assert_array_equal(rows.take(index), X[index])
    np.testing.assert_array_equal(rows.column("flag"), data.labeled)
    assert rows.column("id")[-1] == f"row {N - 1}"
    assert ParquetRows(folder, memory=MEMORY * 2).columns == ("a", "b", "c", "flag", "risk")


def test_kept_rows_are_not_read_again(folder, table, monkeypatch):
    X, _ = table
    rows = opened(folder)
    rows.keep(np.array([5, 1999, 700, 5]))
    monkeypatch.setattr(rows, "_read", lambda groups: pytest.fail("read a row group"))
    np.testing.assert_array_equal(rows.take(np.array([700, 5, 5, 1999])), X[[700, 5, 5, 1999]])


def test_an_epoch_has_each_row_once_and_reads_each_row_group_once(folder, table, monkeypatch):
    X, _ = table
    rows, wanted = opened(folder), np.flatnonzero(np.arange(N) % 7)
    generator = torch.Generator().manual_seed(0)
    first, second = (rows.shuffle(wanted, generator).numpy() for _ in range(2))
    np.testing.assert_array_equal(np.sort(second), np.arange(len(wanted)))
    assert not np.array_equal(first, second)
    read, plain = [], rows._read
    monkeypatch.setattr(rows, "_read", lambda groups: read.extend(groups) or plain(groups))
    for part in np.array_split(wanted[second], 30):
        np.testing.assert_array_equal(rows.take(part), X[part])
        assert len(rows._loaded) <= WINDOWS_IN_MEMORY
    assert sorted(read) == list(range(len(rows._groups)))


def test_rows_are_shuffled_as_far_as_the_windows_reach(folder):
    rows = opened(folder)
    order = rows.shuffle(np.arange(N), torch.Generator().manual_seed(0)).numpy()
    window = rows._window_of[np.searchsorted(rows._starts, order, side="right") - 1]
    assert (np.diff(window) >= 0).all()  # one window after another
    assert len(np.unique(window)) >= 4
    steps = np.diff(order[window == 0])
    assert (steps == 1).mean() < 0.05  # rows do not follow each other inside
    everything = opened(folder, memory=10**7).shuffle(np.arange(N), torch.Generator().manual_seed(0)).numpy()
    assert abs(np.corrcoef(everything, np.arange(N))[0, 1]) < 0.1


@pytest.mark.parametrize("name", unskew.methods())
def test_every_method_trains_and_scores_as_from_memory(name, folder, table):
    X, data = table
    rows = opened(folder)
    ranker = unskew.make(name, **{**QUICK, "max_epochs": 2})
    ranker.fit(rows, rows.column("flag"), confidence=rows.column("risk"))
    assert list(ranker.feature_names_in_) == COLUMNS
    score = ranker.decision_function(rows)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(score, ranker.decision_function(X))
    again = unskew.make(name, **{**QUICK, "max_epochs": 2})
    again.fit(opened(folder), data.labeled, confidence=data.confidence)
    np.testing.assert_array_equal(again.decision_function(opened(folder, memory=10**7)), score)


def test_training_from_files_ranks_as_well_as_from_memory(folder, table):
    X, data = table
    test = toy.draw(20_000, random_state=1)
    new = np.column_stack([test.X, np.zeros(len(test.X))])
    parameters = {"learning_rate": 2e-3, "max_epochs": 40, "random_state": 0}
    rows = opened(folder)
    streamed = unskew.make("conf-auc", **parameters).fit(rows, data.labeled, confidence=data.confidence)
    whole = unskew.make("conf-auc", **parameters).fit(X, data.labeled, confidence=data.confidence)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        auc = streamed.score(new, test.y)
    assert auc == pytest.approx(whole.score(new, test.y), abs=0.02)


def test_the_hold_out_of_a_large_table_stays_within_the_memory(folder, table):
    _, data = table
    rows = opened(folder)
    ranker = unskew.make("ntc", **QUICK).fit(rows, data.labeled)
    assert ranker.training_summary_["n_validation_unlabeled"] == rows.hold_out_limit == MEMORY // 8 // 12


def test_what_cannot_be_read_is_told(folder, table, tmp_path):
    X, data = table
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        ParquetRows(tmp_path / "nowhere.parquet")
    with pytest.raises(FileNotFoundError, match=r"must hold files \*\.parquet, but there is none"):
        ParquetRows(tmp_path)
    (tmp_path / "text.parquet").write_text("no table")
    with pytest.raises(
        TableError, match=r"text.parquet: a Parquet file must be whole and readable .* but it is not \("
    ):
        ParquetRows(tmp_path)
    with pytest.raises(ValueError, match=r"has no column 'amount', only a, b, c, flag"):
        opened(folder, columns=["amount"])
    with pytest.raises(ValueError, match="features must be numbers, but the column 'id' .* is of type string"):
        opened(folder, columns=["a", "id"])
    with pytest.raises(ValueError, match=r"has no column 'label', only a, b"):
        opened(folder).column("label")
    with pytest.raises(ValueError, match=r"fit .* 1,000 bytes, .* has 90 rows of 12 bytes. Pass memory=4,324 or more"):
        opened(folder, memory=4000)
    opened(folder, memory=4324)
    with pytest.raises(ValueError, match=r"labeled and held-out rows must fit.*there are 2,000 of 12 bytes each"):
        opened(folder).keep(np.arange(N))
    with pytest.raises(ValueError, match=r"y must have one label per row, 2,000, but it has the shape \(3,\)"):
        unskew.make("ntc").fit(opened(folder), [0, 1, 0])
    with pytest.raises(ValueError, match="a scikit-learn classifier as labeling model needs all features in memory"):
        unskew.make("ntc", labeling=LogisticRegression()).fit(opened(folder), data.labeled)
    ranker = unskew.make("ntc", **QUICK).fit(opened(folder), data.labeled)
    with pytest.raises(ValueError, match=r"the columns of the training data, \['a', 'b', 'c'\], in that order"):
        ranker.decision_function(opened(folder, columns=["c", "b", "a"]))
    X = X.astype(np.float64)
    X[1234, 1] = np.nan
    pq.write_table(pa.table(dict(zip(COLUMNS, X.T, strict=True))), tmp_path / "text.parquet", row_group_size=GROUP)
    with pytest.raises(ValueError, match=r"'b' has nan .* at row 1,234, which is row 1,234 of .*\. Fill or drop such"):
        ranker.decision_function(ParquetRows(tmp_path, memory=MEMORY))


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ([], ValueError, "columns must name at least one feature, but it is empty. Leave it out to take all"),
        ("a", TypeError, r"columns must be a list of names, but it is the text 'a'. Pass columns=\['a'\]"),
        (["rsk"], ValueError, r"has no column 'rsk', only a, b, c, flag, risk, id. Did you mean 'risk'\?"),
    ],
)
def test_columns_that_are_none(columns, error, message, folder):
    with pytest.raises(error, match=message):
        opened(folder, columns=columns)


def test_a_file_without_numbers(tmp_path):
    path = write(tmp_path / "names.parquet", name=["x", "y"], city=["Rome", "Oslo"])
    with pytest.raises(
        ValueError, match=r"must have columns of numbers .* only name \(string\), city \(string\). Encode"
    ):
        ParquetRows(path)


@pytest.mark.parametrize("columns", [None, ["a", "b"]])
def test_every_file_of_a_folder_must_have_the_features_as_numbers(columns, tmp_path):
    write(tmp_path / "1.parquet", a=[1.0, 2.0], b=[1, 2])
    second = write(tmp_path / "2.parquet", a=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"2.parquet has no column 'b', only a"):
        ParquetRows(tmp_path, columns)
    write(second, a=[1.0, 2.0], b=["1", "2"])
    with pytest.raises(ValueError, match=r"the column 'b' of .*2.parquet is of type string. Encode it first"):
        ParquetRows(tmp_path, columns)
    write(second, more=["x", "y"], b=[True, False], a=[3, 4])  # numbers of another kind, in another order
    rows = ParquetRows(tmp_path, columns)
    np.testing.assert_array_equal(rows.take(np.arange(4)), [[1, 1], [2, 2], [3, 1], [4, 0]])
    with pytest.raises(ValueError, match=r"1.parquet has no column 'more', only a, b"):
        rows.column("more")


def test_two_columns_of_one_name(tmp_path):
    pq.write_table(pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"columns must have different names, but .*x.parquet has 2 called 'a'"):
        ParquetRows(tmp_path)


def test_a_copy_opens_the_files_anew(folder, table, tmp_path, monkeypatch):
    X, _ = table
    monkeypatch.chdir(folder.parent)
    rows = opened(folder.name)
    rows.keep(np.arange(10))
    rows.take(np.arange(100))
    packed = pickle.dumps(rows)
    monkeypatch.chdir(tmp_path)  # where the relative path leads nowhere
    for again in (pickle.loads(packed), copy.deepcopy(opened(folder))):
        assert (again.columns, again.memory, len(again)) == (rows.columns, rows.memory, N)
        np.testing.assert_array_equal(again.take(np.arange(N)), X)
    (tmp_path / "gone").mkdir()
    write(tmp_path / "gone" / "x.parquet", a=[1.0])
    packed = pickle.dumps(ParquetRows(tmp_path / "gone" / "x.parquet"))
    (tmp_path / "gone" / "x.parquet").unlink()
    with pytest.raises(FileNotFoundError, match="there is no file or folder .*gone/x.parquet"):
        pickle.loads(packed)


def test_a_relative_path_holds_from_anywhere(folder, table, tmp_path, monkeypatch):
    X, _ = table
    monkeypatch.chdir(folder.parent)
    rows = opened(folder.name)
    monkeypatch.chdir(tmp_path)
    for each in (rows, pickle.loads(pickle.dumps(rows))):
        np.testing.assert_array_equal(each.take(np.arange(N)), X)


@pytest.mark.parametrize("memory", [float(MEMORY), np.int64(MEMORY), np.float32(MEMORY)])
def test_memory_may_be_any_whole_number(memory, folder, table):
    X, data = table
    rows = opened(folder, memory=memory)
    assert type(rows.memory) is int
    unskew.make("ntc", **QUICK).fit(rows, data.labeled)
    np.testing.assert_array_equal(rows.take(np.arange(N)), X)


@pytest.mark.parametrize("memory", [True, None, "1e9", 0, -1, 24_000.5, np.nan, np.inf, [24_000]])
def test_memory_must_be_a_whole_number(memory, folder):
    message = (
        f"memory must be a whole number of bytes, 1 or more, but it is {memory!r}. Pass memory=256 << 20 for 256 MiB"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        opened(folder, memory=memory)


@pytest.mark.parametrize("n_labeled", [400, 600, 1500])
@pytest.mark.parametrize("fraction", [0.1, 0.45])
def test_the_memory_that_is_advised_is_enough(n_labeled, fraction, folder):
    y, fit = np.arange(N) < n_labeled, unskew.make("ntc", **QUICK, validation_fraction=fraction).fit
    with pytest.raises(ValueError, match="labeled and held-out rows must fit") as told:
        fit(opened(folder, memory=14_000), y)
    advised = re.search(r"Pass ParquetRows\(\.\.\., memory=\.\.\.\) of ([\d,]+) bytes or more", str(told.value))[1]
    for memory in (int(advised.replace(",", "")), int(advised.replace(",", "")) + 1):
        fit(opened(folder, memory=memory), y)


def test_threads_get_their_own_rows(folder, table):
    X, _ = table
    rows = opened(folder)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # a thread is stopped wherever it can be

    def take(seed):
        rng, generator = np.random.RandomState(seed), torch.Generator().manual_seed(seed)
        for _ in range(40):
            announce = [
                rows.walk,
                partial(rows.shuffle, np.arange(N), generator),
                partial(rows.keep, rng.choice(N, 50)),
            ]
            announce[rng.randint(3)]()
            index = rng.choice(N, 30)
            np.testing.assert_array_equal(rows.take(index), X[index])

    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(take, range(4)))
    finally:
        sys.setswitchinterval(interval)


def test_threads_score_one_source_as_alone(folder, table):
    _, data = table
    rows = opened(folder)
    ranker = unskew.make("ntc", **QUICK).fit(rows, data.labeled)
    alone = ranker.decision_function(opened(folder))
    with ThreadPoolExecutor(3) as pool:
        for score in pool.map(ranker.decision_function, [rows] * 6):
            np.testing.assert_array_equal(score, alone)


def test_a_forked_process_reads_on_its_own(folder):
    script = """if True:
        import os, signal, sys, threading
        import numpy as np
        from unskew.data.parquet import ParquetRows

        rows = ParquetRows(sys.argv[1], ["a", "b", "c"], memory=24_000)
        everything = np.arange(len(rows))
        expected = rows.take(everything)
        stopped = threading.Event()

        def take():  # holds the lock nearly all the time, and keeps the reader busy
            while not stopped.is_set():
                rows.walk()
                rows.take(everything)

        thread = threading.Thread(target=take)
        thread.start()
        for _ in range(3):
            child = os.fork()
            if not child:
                signal.alarm(20)  # rather than wait forever
                os._exit(not np.array_equal(rows.take(everything), expected))
            status = os.waitpid(child, 0)[1]
            if status:
                break
        stopped.set()
        thread.join()
        sys.exit(status != 0)
    """
    run(script, folder)


@pytest.mark.parametrize("kind", [pa.int8(), pa.bool_(), pa.float32(), pa.dictionary(pa.int8(), pa.int64())])
def test_a_missing_label_is_told(kind, folder, table, tmp_path):
    X, data = table
    y = pa.array([None if row == 7 else int(label) for row, label in enumerate(data.labeled)]).cast(pa.int8())
    y = y.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else y.cast(kind)
    risk = pa.array([int(label) or None for label in data.labeled])  # missing where it is not read
    rows = ParquetRows(write(tmp_path / "x.parquet", **dict(zip(COLUMNS, X.T, strict=True)), y=y, risk=risk), COLUMNS)
    with pytest.raises(
        ValueError, match=r"Input y contains NaN.* 1 of 2000 entries are missing \(first: .* at row 7\)"
    ):
        unskew.make("ntc", **QUICK).fit(rows, rows.column("y"))
    unskew.make("conf-auc", **QUICK).fit(rows, data.labeled, confidence=rows.column("risk"))
