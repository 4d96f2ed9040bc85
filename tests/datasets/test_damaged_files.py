"""Whatever happens to a file on its way, its reader returns its content or an error that names the file."""

import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataset_samples import annotations, idx_bytes, survey, write_cifar_archive
from unskew.data.parquet import ParquetRows
from unskew.datasets._brfss2015 import load_diabetes_2015
from unskew.datasets._image_files import read_cifar, read_counts, read_idx
from unskew.datasets._xpt import read_xpt
from xpt_file import write_xpt


def read_survey(path):
    return read_xpt(path, {"A", "B"})


def write_zip(path):
    write_xpt(path.with_suffix(".xpt"), {"A": list(range(100)), "B": ["x"] * 100})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path.with_suffix(".xpt"), "A.XPT ")


def write_parquet(path):
    table = {"a": np.arange(90.0), "b": np.arange(90) % 2, "id": [f"row {number}" for number in range(90)]}
    pq.write_table(pa.table(table), path, row_group_size=30)


def read_parquet(path):
    rows = ParquetRows(path, ["a", "b"])
    rows.take(np.arange(len(rows)))
    rows.column("id")


FORMATS = {
    "counts.npy": (lambda path: np.save(path, annotations()), read_counts),
    "counts.csv": (lambda path: np.savetxt(path, annotations(), fmt="%d", delimiter=","), read_counts),
    "cifar.tar.gz": (write_cifar_archive, read_cifar),
    "images.idx": (lambda path: path.write_bytes(idx_bytes(np.zeros((3, 4, 4)))), read_idx),
    "survey.xpt": (lambda path: write_xpt(path, {"A": list(range(100)), "B": ["x"] * 100}), read_survey),
    "survey.zip": (write_zip, read_survey),
    "survey.csv": (lambda path: survey().to_csv(path, index=False), load_diabetes_2015),
    "rows.parquet": (write_parquet, read_parquet),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_read_or_reported_by_name(name, tmp_path):
    write, read = FORMATS[name]
    path = tmp_path / name
    write(path)
    read(path)
    whole = path.read_bytes()
    rng = np.random.RandomState(0)
    messages = []
    for number in range(120):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 4)):  # most often where the headers are
            content[rng.randint(len(content) if number % 2 else min(len(content), 400))] = rng.randint(256)
        path.write_bytes(content[: rng.randint(len(content))] if number % 5 == 0 else content)
        try:
            read(path)
        except ValueError as error:
            messages.append(str(error))
    assert len(messages) > 20
    assert [message for message in messages if str(path) not in message] == []
