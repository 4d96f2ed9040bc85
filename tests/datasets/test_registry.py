"""Data sets by name: what is told of them, sets of one's own, and the command that lists them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from program import run_program
from unskew import datasets
from unskew.cli import app
from unskew.datasets._registry import _entries
from unskew.errors import DataMissing
from unskew.records import RawData

PAPER_NAMES = ("mnist", "fmnist", "svhn", "cifar10", "diabetes", "blood", "cifar10-h", "fmnist-h")
PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder."""
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def mnist_folder(folder):
    """Files by the names of MNIST's; what is in them is not looked at here."""
    (folder / "mnist").mkdir()
    for kind in ("images-idx3", "labels-idx1"):
        for part in ("train", "t10k"):
            (folder / "mnist" / f"{part}-{kind}-ubyte.gz").write_bytes(b"something")
    return folder / "mnist"


@pytest.fixture
def own_entries(monkeypatch):
    """What a test registers is forgotten after it."""
    monkeypatch.setattr("unskew.datasets._registry._entries", dict(_entries))


def small_data():
    y = np.repeat([0, 1], 5)
    return RawData(np.arange(10.0)[:, None], y, y, y == 1)


def test_every_name_is_described():
    assert set(datasets.names()) == {*PAPER_NAMES, "digits", "toy", "diabetes-2015", "blood-2015"}
    for name in datasets.names():
        description = datasets.describe(name)
        assert description.table_name.lower() == name
        assert all((description.summary, description.source, description.licence))
        assert description.network == ("cnn" if name in ("svhn", "cifar10", "cifar10-h") else "mlp")
        assert all(file.address.startswith("https://") for file in description.files)
        special = name in ("digits", "cifar10-h", "fmnist-h")
        assert (description.sizes == datasets.Sizes()) != special
        assert (description.batch_size, description.learning_rate) == ((64, 1e-3) if name == "digits" else (1024, 1e-4))
    assert datasets.describe("fmnist-h").sizes == datasets.Sizes(train=3000)
    assert datasets.describe("diabetes").stand_in == "diabetes-2015"
    assert datasets.describe("blood").stand_in == "blood-2015"


def test_what_is_there_and_what_is_missing(mnist_folder):
    assert datasets.describe("mnist").present
    (mnist_folder / "t10k-images-idx3-ubyte.gz").unlink()
    description = datasets.describe("mnist")
    assert not description.present
    assert [file.present for file in description.files] == [True, True, False, True]
    assert description.files[2].path == str(mnist_folder / "t10k-images-idx3-ubyte.gz")
    assert datasets.describe("digits").present


def test_the_toy_set():
    raw = datasets.load("toy")
    assert raw.X.shape == (40_000, 2)
    assert raw.y.mean() == pytest.approx(0.2, abs=0.01)
    assert raw.favored[raw.y == 1].mean() == pytest.approx(0.5, abs=0.02)
    for group, center in enumerate([(1.5, 1.5), (1.0, -1.5), (-0.5, 0.0)]):
        np.testing.assert_allclose(raw.X[raw.classes == group].mean(axis=0), center, atol=0.06)
    np.testing.assert_array_equal(raw.favored, raw.classes == 0)
    np.testing.assert_array_equal(datasets.load("toy").X, raw.X)


def test_a_data_set_of_ones_own(folder, own_entries):
    @datasets.dataset("mine", files=(datasets.PublishedFile("mine/rows.csv", "https://example.org/rows.csv"),))
    def read_mine(path):
        """Rows of mine."""
        table = np.loadtxt(path, delimiter=",")
        return datasets.by_class(table[:, 1:], table[:, 0], positive=(1, 2), favored=(1,))

    assert datasets.names()[-1] == "mine"
    assert datasets.describe("mine").summary == "Rows of mine."
    assert datasets.describe("mine").network is None
    assert datasets.reader("mine") is read_mine
    with pytest.raises(
        DataMissing, match=r"mine/rows.csv is needed.*Get it from https://example.org/rows.csv and put it there"
    ):
        datasets.load("mine")
    (folder / "mine").mkdir()
    (folder / "mine" / "rows.csv").write_text("0,1.5\n1,2.5\n2,3.5\n")
    assert datasets.fetch("mine") == (folder / "mine" / "rows.csv",)
    raw = datasets.load("mine")
    assert raw.y.tolist() == [0, 1, 1]
    assert raw.favored.tolist() == [False, True, False]


def test_a_taken_name_is_refused(own_entries):
    with pytest.raises(ValueError, match="the name 'mnist' is taken by the data set Mnist. Choose another"):
        datasets.dataset("mnist")(small_data)
    datasets.dataset("mine")(small_data)
    datasets.dataset("mine")(small_data)  # a module that is loaded again


def test_sizes_of_ones_own(own_entries):
    sizes = datasets.Sizes(train=40, validation=20, confidence=0, test=10)
    datasets.dataset("mine", network="linear", sizes=sizes, batch_size=8, learning_rate=0.01)(small_data)
    described = datasets.describe("mine")
    assert (described.network, described.batch_size, described.learning_rate) == ("linear", 8, 0.01)
    assert described.sizes == sizes
    assert json.loads(run("--json", "mine"))[0]["sizes"]["train"] == 40
    with pytest.raises(TypeError, match=r"sizes of 'mine' must be a Sizes\(.*but it is 40"):
        datasets.dataset("mine", sizes=40)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.zeros(9, dtype=int)}, r"y of 'mine' must have one entry per row of X, .* \(9,\) and X has 10 rows"),
        ({"confidence": np.zeros((10, 1))}, r"confidence of 'mine' must have one entry per row"),
        ({"y": np.zeros(10, dtype=int)}, r"y of 'mine' must hold positives \(1\) and negatives \(0\), .* \[0\]"),
        ({"favored": np.ones(10, dtype=bool)}, "favored of 'mine' must be True or False, and True only for positives"),
        ({"favored": np.zeros(10)}, "favored of 'mine' must be True or False"),
    ],
)
def test_a_reader_that_returns_nonsense_is_reported(own_entries, changes, message):
    datasets.dataset("mine")(lambda: RawData(**{**vars(small_data()), **changes}))
    with pytest.raises(ValueError, match=message):
        datasets.load("mine")


def test_a_reader_that_returns_something_else_is_reported(own_entries):
    datasets.dataset("mine")(lambda: (1, 2))
    with pytest.raises(TypeError, match="the reader of 'mine' must return a RawData, but it returned tuple"):
        datasets.load("mine")


def test_a_missing_file_says_where_it_comes_from_and_what_is_similar(folder):
    with pytest.raises(DataMissing) as caught:
        datasets.load("diabetes")
    message = str(caught.value)
    assert "the file brfss/LLCP2015XPT.zip is needed" in message
    assert str(folder / "brfss" / "LLCP2015XPT.zip") in message
    assert "https://www.cdc.gov/brfss/annual_data/2015/files/LLCP2015XPT.zip" in message
    assert "UNSKEW_DATA is set, so nothing is downloaded" in message
    assert message.endswith("A similar data set is 'diabetes-2015'.")


def test_where_files_are_looked_up(tmp_path, monkeypatch):
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path / "data"))
    assert datasets.data_home() == tmp_path / "data"
    monkeypatch.delenv("UNSKEW_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert datasets.data_home() == tmp_path / "unskew"
    with pytest.raises(
        DataMissing, match="brfss2015_joined.csv is needed, .* it is not published as a file that could be"
    ):
        datasets.load("blood-2015")


# -- the command -------------------------------------------------------------------------------------------------------


def run(*arguments):
    result = CliRunner().invoke(app, ["datasets", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_command_lists_what_is_there(mnist_folder):
    lines = run().splitlines()
    begin = [line for line in lines if line[2:3].strip()]  # names are on the left; what is folded is not
    states = {line.split()[0]: line for line in begin if line.split()[0] in datasets.names()}
    assert list(states) == list(datasets.names())
    assert " there " in states["mnist"]
    assert "4 of 4 missing" in states["fmnist"]
    assert "none needed" in states["digits"]


def test_the_command_shows_each_file(mnist_folder):
    text = run("mnist", "cifar10-h")
    assert f"{mnist_folder / 'train-images-idx3-ubyte.gz'}: there" in text
    assert "checksum md5:f68b3c2dcbeaaa9fbdd348bbdeb94873" in text
    assert "cifar10h-counts.npy: MISSING" in text
    assert "checksum none published" in text


def test_the_command_writes_json(mnist_folder):
    told = json.loads(run("--json", "mnist", "svhn"))
    assert [(each["name"], each["present"]) for each in told] == [("mnist", True), ("svhn", False)]
    assert told[1]["files"][0]["address"] == "https://ufldl.stanford.edu/housenumbers/train_32x32.mat"


def test_an_unknown_name_is_refused_in_one_line_and_nothing_heavy_is_loaded(tmp_path):
    script = (
        "import sys; sys.argv = ['unskew', 'datasets', *sys.argv[1:]]\n"
        "from unskew.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print([name for name in ('torch', 'pooch', 'requests') if name in sys.modules], file=sys.stderr)"
    )
    environment = {**os.environ, "UNSKEW_DATA": str(tmp_path)}
    command = [sys.executable, "-c", script, "mnist"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0
    assert result.stderr.strip() == "[]"
    refused = run_program("datasets", "mnits")
    assert refused.returncode == 2
    assert "error: there is no data set 'mnits'" in refused.stderr
    assert "Did you mean 'mnist'?" in refused.stderr
    assert "Traceback" not in refused.stderr


# -- the page ----------------------------------------------------------------------------------------------------------


def test_the_pages_example_runs_and_every_set_is_on_it(folder, own_entries, monkeypatch):
    text = PAGE.read_text()
    for name in datasets.names():
        assert f"`{name}`" in text
        for file in datasets.describe(name).files:
            assert file.address.split(" ")[0] in text or file.address.rpartition("/")[0] in text
    (example,) = re.findall(r"```python\n(.*?)```", text, re.S)
    (folder / "wine").mkdir()
    rows = np.random.RandomState(0).normal(size=(1599, 12))
    rows[:, -1] = np.repeat([3, 4, 5, 6, 7, 8], [10, 53, 681, 638, 199, 18])  # as many as there are of each quality
    np.savetxt(folder / "wine" / "winequality-red.csv", rows, delimiter=";", header=";".join("abcdefghijkl"))
    (folder / "wine.py").write_text(example)
    (command,) = re.findall(r"unskew (reproduce table1 --import wine.py .*)", text)
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, [*command.split(), "--method", "ntc", "--epochs", "1", "--out", "results"])
    assert result.exit_code == 0, result.stderr
    assert "12 runs, 0 of them done already" in result.stderr  # four priors, three seeds
    assert "| Wine | 4 × 3 |" in result.stdout
    assert datasets.load("wine").X.shape == (1599, 11)
    assert datasets.describe("wine").present


def test_the_page_has_the_sizes_of_every_set():
    """A line for each kind of sizes, and one for all others."""
    lines = re.findall(
        r"^\| (.*) \| ([\d,]+) \| ([\d,]+) \| (.*) \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \|$", PAGE.read_text(), re.M
    )
    assert len(lines) == 3
    told = {}
    for titles, train, validation, confidence, test, batch, rate in lines:
        numbers = [int(each.replace(",", "")) for each in (train, validation, test, batch)]
        for name in re.findall("`(.*?)`", titles) or set(datasets.names()) - told.keys():
            told[name] = (*numbers, float(rate), confidence)
    for name, (*numbers, confidence) in told.items():
        about = datasets.describe(name)
        sizes = about.sizes
        assert numbers == [sizes.train, sizes.validation, sizes.test, about.batch_size, about.learning_rate]
        assert confidence == ("none" if name.endswith("-h") else f"{sizes.confidence:,}")
