"""Readers of images and annotations, on small files in the published formats; and on the real ones where there."""

import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.io

from dataset_samples import annotations, cifar_batch, idx_bytes, in_order, svhn_content, write_cifar_archive
from unskew import datasets
from unskew.datasets._image_files import read_cifar, read_counts, read_svhn


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder."""
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path))
    return tmp_path


# -- idx ---------------------------------------------------------------------------------------------------------------


def write_idx(folder, n=20, side=28):
    folder.mkdir()
    rng = np.random.RandomState(0)
    for part in ("train", "t10k"):
        images, labels = rng.randint(0, 256, (n, side, side)), in_order(n)
        for name, values in (("images-idx3", images), ("labels-idx1", labels)):
            (folder / f"{part}-{name}-ubyte.gz").write_bytes(gzip.compress(idx_bytes(values)))


@pytest.fixture
def idx_folder(folder):
    write_idx(folder / "mnist")
    return folder / "mnist"


def test_idx_files_are_read(idx_folder):
    raw = datasets.load("mnist")
    assert raw.X.shape == (40, 784)
    assert raw.X.dtype == np.float32
    assert 0.9 < raw.X.max() <= 1
    np.testing.assert_array_equal(raw.y, raw.classes % 2)
    np.testing.assert_array_equal(raw.favored, np.isin(raw.classes, (1, 3, 5)))
    assert raw.confidence is None
    stored = gzip.decompress((idx_folder / "t10k-images-idx3-ubyte.gz").read_bytes())[16:]
    np.testing.assert_array_equal(raw.X[20:].ravel(), np.frombuffer(stored, np.uint8) / np.float32(255))


def test_unpacked_idx_files_are_read(idx_folder):
    expected = datasets.load("mnist").X
    for path in list(idx_folder.iterdir()):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    np.testing.assert_array_equal(datasets.load("mnist").X, expected)


def test_groups_of_fashion(folder):
    write_idx(folder / "fashion-mnist")
    raw = datasets.load("fmnist")
    assert set(raw.classes[raw.y == 1]) == {1, 5, 7, 8, 9}
    assert set(raw.classes[raw.favored]) == {1, 5, 7}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-20], "is damaged"),
        (lambda content: gzip.compress(gzip.decompress(content)[:-7]), "must be a complete idx file, .* 15696 bytes"),
        (lambda content: gzip.compress(b"nonsense"), "must be a complete idx file, but it begins with b'nons'"),
        (lambda content: b"", "must be a complete idx file"),
        (lambda content: gzip.decompress(content)[:15], "must be a complete idx file"),
        (lambda content: gzip.compress(idx_bytes(np.zeros((20, 32, 32)))), "must hold images of 28 x 28 pixels"),
        (lambda content: gzip.compress(idx_bytes(np.zeros(20))), "must hold images of 28 x 28 pixels"),
    ],
)
def test_a_damaged_idx_file_is_reported_by_name(idx_folder, damage, message):
    path = idx_folder / "t10k-images-idx3-ubyte.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=rf"t10k-images-idx3-ubyte.gz {message}"):
        datasets.load("mnist")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.arange(3), "20 images and 3 labels up to 2. Get both again"),
        (np.full(20, 10), "20 images and 20 labels up to 10"),
        (np.zeros(0), "20 images and 0 labels. Get"),
        (np.zeros((20, 28, 28)), "20 images and 15680 labels up to 0"),
    ],
)
def test_mislabeled_idx_files_are_reported(idx_folder, labels, message):
    (idx_folder / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx_bytes(labels)))
    with pytest.raises(ValueError, match=f"t10k-labels-idx1-ubyte.gz must hold one label from 0 to 9 .* {message}"):
        datasets.load("mnist")


# -- CIFAR-10 ----------------------------------------------------------------------------------------------------------


def write_cifar(folder, names=("data_batch_1", "data_batch_2", "test_batch")):
    folder.mkdir()
    for seed, name in enumerate(names):
        (folder / f"{name}.bin").write_bytes(cifar_batch(seed=seed).tobytes())


def test_cifar_batches_are_read(folder):
    write_cifar(folder / "cifar-10-batches-bin")
    raw = datasets.load("cifar10")
    assert raw.X.shape == (60, 3, 32, 32)
    assert raw.X.dtype == np.float32
    red, last = cifar_batch(seed=0)[0, 1], cifar_batch(seed=2)[19, -1]
    assert raw.X[0, 0, 0, 0] == np.float32(red) / np.float32(255)
    assert raw.X[59, 2, 31, 31] == np.float32(last) / np.float32(255)
    assert set(raw.classes[raw.y == 1]) == {0, 1, 8, 9}
    assert set(raw.classes[raw.favored]) == {0, 1}


def test_the_archive_gives_what_the_folder_gives_and_is_not_unpacked(folder):
    write_cifar(folder / "cifar-10-batches-bin")
    expected = datasets.load("cifar10")
    for path in (folder / "cifar-10-batches-bin").iterdir():
        path.unlink()
    (folder / "cifar-10-batches-bin").rmdir()
    write_cifar_archive(folder / "cifar-10-binary.tar.gz")
    raw = datasets.load("cifar10")
    np.testing.assert_array_equal(raw.X, expected.X)
    np.testing.assert_array_equal(raw.classes, expected.classes)
    assert [path.name for path in folder.iterdir()] == ["cifar-10-binary.tar.gz"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"test_batch.bin must hold records of 3073 bytes .* but it has 0 bytes"),
        (cifar_batch().tobytes()[:-1], "test_batch.bin must hold records of 3073 bytes .* but it has 61459 bytes"),
        (bytes([11]) * 3073, "test_batch.bin must have labels from 0 to 9, but record 0 has 11"),
    ],
)
def test_damaged_cifar_batches_are_reported(folder, content, message):
    write_cifar(folder / "cifar-10-batches-bin")
    (folder / "cifar-10-batches-bin" / "test_batch.bin").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        datasets.load("cifar10")


def test_a_folder_without_batches_and_a_damaged_archive_are_reported(tmp_path):
    with pytest.raises(ValueError, match=r"must hold test_batch.bin or data_batch_1.bin to .* but it has none of them"):
        read_cifar(tmp_path)
    path = tmp_path / "cifar-10-binary.tar.gz"
    write_cifar_archive(path)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"<html>not found</html>", b""):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"cifar-10-binary.tar.gz must be a complete tar archive"):
            read_cifar(path)


# -- SVHN --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def scipy_here(monkeypatch):
    """The script that reads MATLAB files runs in this process, which has loaded scipy already."""

    def run(command, **_):
        out = io.TextIOWrapper(io.BytesIO())
        try:
            with monkeypatch.context() as patch:
                patch.setattr(sys, "argv", ["-c", *command[3:]])
                patch.setattr(sys, "stdout", out)
                exec(command[2], {})
        except Exception as error:
            return SimpleNamespace(returncode=1, stdout=b"", stderr=f"{type(error).__name__}: {error}".encode())
        return SimpleNamespace(returncode=0, stdout=out.buffer.getvalue(), stderr=b"")

    monkeypatch.setattr("unskew.datasets._image_files.subprocess", SimpleNamespace(run=run))


def test_svhn_is_read(folder):
    (folder / "svhn").mkdir()
    for part in ("train", "test"):
        scipy.io.savemat(folder / "svhn" / f"{part}_32x32.mat", svhn_content())
    raw = datasets.load("svhn")
    assert raw.X.shape == (40, 3, 32, 32)
    assert raw.X.flags.c_contiguous
    pixel = svhn_content()["X"][3, 7, 2, 4]  # row 3, column 7, blue, fourth image
    assert raw.X[4, 2, 3, 7] == np.float32(pixel) / np.float32(255)
    np.testing.assert_array_equal(raw.classes[:11], [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1])  # 10 stands for 0
    np.testing.assert_array_equal(raw.y, raw.classes % 2)
    np.testing.assert_array_equal(raw.favored, np.isin(raw.classes, (1, 3, 5)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.zeros((20, 32, 32, 3), np.uint8)}, r"must have an array X of shape \(32, 32, 3, n\) .* \(20, 32"),
        ({"X": np.zeros((32, 32, 3, 20))}, "of bytes, but it has .* of float64"),
        ({"y": np.ones((19, 1), np.uint8)}, "but it has 19 labels for 20 images"),
        ({"y": np.zeros((20, 1), np.uint8)}, r"must have one label y from 1 to 10 .* but it has labels \[0\]"),
        ({"X": None}, r"must have an array X .* but it has \(0,\)"),
    ],
)
def test_svhn_files_of_another_shape_are_reported(tmp_path, changes, message, scipy_here):
    content = {name: values for name, values in {**svhn_content(), **changes}.items() if values is not None}
    path = tmp_path / "train_32x32.mat"
    scipy.io.savemat(path, content)
    with pytest.raises(ValueError, match=f"train_32x32.mat .*{message}"):
        read_svhn(path)


def changed(content, place, value):
    return content[:place] + bytes([value]) + content[place + 1 :]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda whole: b"", "cannot be read as a MATLAB file"),
        (lambda whole: b"<html>", "cannot be read as a MATLAB file"),
        (lambda whole: whole[:100], "cannot be read as a MATLAB file"),
        (lambda whole: whole[: len(whole) // 2], "cannot be read as a MATLAB file"),
        (lambda whole: whole[:300], "cannot be read as a MATLAB file"),
        (lambda whole: changed(whole, 184, 127), "cannot be read .*: reading it ended scipy's process"),
    ],
)
def test_damaged_svhn_files_are_reported_by_name(tmp_path, damage, message):
    """Changed at byte 184, the type of the numbers, a file ends the process in which scipy reads it."""
    path = tmp_path / "test_32x32.mat"
    scipy.io.savemat(path, svhn_content())
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=rf"test_32x32.mat {message}"):
        read_svhn(path)


@pytest.mark.parametrize("value", [{"a": 1}, "text", np.array(["a", {}], dtype=object), np.ones((3, 2)) * 1j])
def test_svhn_files_of_something_else_than_numbers_are_refused(tmp_path, value, scipy_here):
    path = tmp_path / "test_32x32.mat"
    scipy.io.savemat(path, {**svhn_content(), "X": value})
    with pytest.raises(ValueError, match=r"test_32x32.mat (cannot be read as a MATLAB file|must have an array X)"):
        read_svhn(path)


def test_a_compressed_svhn_file_is_read(tmp_path):
    path = tmp_path / "test_32x32.mat"
    scipy.io.savemat(path, svhn_content(), do_compression=True)
    images, labels = read_svhn(path)
    np.testing.assert_array_equal(images, svhn_content()["X"].transpose(3, 2, 0, 1))
    np.testing.assert_array_equal(labels, svhn_content()["y"].ravel() % 10)


# -- annotators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_cifar10_h(folder, packed):
    if packed:
        write_cifar_archive(folder / "cifar-10-binary.tar.gz")
    else:
        write_cifar(folder / "cifar-10-batches-bin")
    (folder / "cifar10h").mkdir()
    np.save(folder / "cifar10h" / "cifar10h-counts.npy", annotations())
    raw = datasets.load("cifar10-h")
    assert raw.X.shape == (60, 3, 32, 32)
    assert raw.X[0, 0, 0, 0] == np.float32(cifar_batch(seed=2)[0, 1]) / np.float32(255)  # annotated images come first
    assert np.isnan(raw.confidence[20:]).all()
    # Class 0 (negative) with 20 votes for class 1 (positive), class 1 with 20 for class 2, class 3 with 20 for class 4.
    np.testing.assert_allclose(raw.confidence[[0, 1, 3, 8]], [0.4, 0.6, 1.0, 0.4])
    assert set(raw.classes[raw.y == 1]) == {1, 3, 4, 5, 7, 9}
    assert set(raw.classes[raw.favored]) == {1, 3, 4}


def test_cifar10_h_needs_both_parts(folder):
    (folder / "cifar10h").mkdir()
    np.save(folder / "cifar10h" / "cifar10h-counts.npy", annotations())
    write_cifar(folder / "cifar-10-batches-bin", ["data_batch_1"])
    with pytest.raises(ValueError, match=r"cifar-10-batches-bin must hold the test batch.*test_batch.bin is missing"):
        datasets.load("cifar10-h")


def test_fmnist_h(folder):
    write_idx(folder / "fashion-mnist")
    (folder / "fashion-mnist-h").mkdir()
    np.savetxt(folder / "fashion-mnist-h" / "fmh_counts.csv", annotations(), fmt="%d", delimiter=",")
    raw = datasets.load("fmnist-h")
    assert raw.X.shape == (40, 784)
    assert np.isfinite(raw.confidence).sum() == 20
    np.testing.assert_allclose(raw.confidence[[0, 2, 5, 9]], [1.0, 0.6, 0.4, 0.4])
    assert set(raw.classes[raw.y == 1]) == {0, 1, 2, 6, 7}
    assert set(raw.classes[raw.favored]) == {0, 1, 2}
    plain = datasets.load("fmnist")
    np.testing.assert_array_equal(raw.X[:20], plain.X[20:])
    np.testing.assert_array_equal(raw.X[20:], plain.X[:20])


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (annotations()[:, :9], r"must have 10 columns, but its shape is \(20, 9\)"),
        (annotations() / 50, "must hold whole numbers from 0 on, .* row 0 is .* not the shares"),
        (-annotations(), "must hold whole numbers"),
        (
            np.where(np.arange(20)[:, None] == 3, 0, annotations()),
            "must hold .* a positive sum in every row, but row 3 is",
        ),
        (np.where(np.arange(20)[:, None] == 3, np.nan, annotations()), "must hold whole numbers .* row 3"),
        (np.zeros((0, 10)), "must have 10 columns"),
        (annotations()[:19], "must have one row per image of the test part, but it has 19 rows and there are 20"),
        (np.roll(annotations(), 1, axis=0), r"must belong to the images of the test part, in their order, .* 0%"),
    ],
)
def test_annotations_that_do_not_fit_are_reported(folder, counts, message):
    write_cifar(folder / "cifar-10-batches-bin")
    (folder / "cifar10h").mkdir()
    np.save(folder / "cifar10h" / "cifar10h-counts.npy", counts)
    with pytest.raises(ValueError, match=f"cifar10h-counts.npy {message}"):
        datasets.load("cifar10-h")


def test_damaged_annotations_are_reported(tmp_path):
    npy, csv = tmp_path / "counts.npy", tmp_path / "counts.csv"
    np.save(npy, annotations())
    whole = npy.read_bytes()
    for content in (whole[:-8], b"\x93NUMPY", b"no array"):
        npy.write_bytes(content)
        with pytest.raises(ValueError, match=r"counts.npy cannot be read as a table of counts"):
            read_counts(npy)
    np.save(npy, np.array([{"an": "object"}]))
    with pytest.raises(ValueError, match=r"counts.npy cannot be read"):  # nothing from the file is executed
        read_counts(npy)
    for text in ("a,b\n1,2\n", "1,2\n1,2,3\n", "1,2.5\n"):
        csv.write_text(text)
        with pytest.raises(ValueError, match=r"counts.csv cannot be read as a table of counts"):
            read_counts(csv)


# -- the real files ----------------------------------------------------------------------------------------------------


def load_real(name):
    if not datasets.describe(name).present:
        pytest.skip(f"the files of {name} are not among the real ones")
    return datasets.load(name)


@pytest.mark.parametrize(
    ("name", "shape", "whole", "mean"),
    [
        ("mnist", (784,), 70_000, 0.1309),
        ("fmnist", (784,), 70_000, 0.2862),
        ("fmnist-h", (784,), 70_000, 0.2862),
        ("svhn", (3, 32, 32), 99_289, 0.45),
        ("cifar10", (3, 32, 32), 60_000, 0.4734),
        ("cifar10-h", (3, 32, 32), 60_000, 0.4734),
    ],
)
def test_real_images(name, shape, whole, mean, real_data):
    raw = load_real(name)
    assert raw.X.shape[1:] == shape
    assert 20_000 < len(raw.X) <= whole  # part of a data set will do
    assert (raw.X.min(), raw.X.max()) == (0, 1)
    assert raw.X.mean(dtype=np.float64) == pytest.approx(mean, abs=2e-4 if len(raw.X) == whole else 0.02)
    share = {"mnist": 0.51, "svhn": 0.54, "cifar10": 0.4, "cifar10-h": 0.6}.get(name, 0.5)
    assert raw.y.mean() == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(("name", "votes"), [("cifar10-h", 0.6011), ("fmnist-h", 0.5277)])
def test_real_annotations(name, votes, real_data):
    raw = load_real(name)
    annotated = np.isfinite(raw.confidence)
    assert annotated.sum() == 10_000
    assert annotated[:10_000].all()
    assert raw.confidence[annotated].mean() == pytest.approx(votes, abs=1e-4)
    assert raw.confidence[annotated & (raw.y == 1)].mean() > 0.8
    assert raw.confidence[annotated & (raw.y == 0)].mean() < 0.25


@pytest.mark.parametrize(
    ("name", "shape", "positives"),
    [("diabetes-2015", (253_680, 99), 35_346), ("blood-2015", (179_460, 88), 93_768)],
)
def test_real_survey_of_2015(name, shape, positives, real_data):
    raw = load_real(name)
    assert raw.X.shape == shape
    assert raw.y.sum() == pytest.approx(positives, abs=20)
    assert raw.favored.sum() == pytest.approx(positives / 2, rel=0.001)


@pytest.mark.parametrize(("name", "columns"), [("diabetes", 142), ("blood", 100)])
def test_real_survey_of_four_years(name, columns, real_data):
    raw = load_real(name)
    assert raw.X.shape[1] == columns
    assert len(raw.X) > 500_000
    assert raw.X[:, columns - 3 :].any(axis=0).all()
