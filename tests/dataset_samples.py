"""Small data-set files in the published formats."""

import io
import tarfile

import numpy as np
import pandas as pd

from unskew.datasets import _brfss2015


def in_order(n):
    """Labels 0 to 9, over and over."""
    return np.arange(n) % 10


def idx_bytes(values):
    magic = {1: 2049, 3: 2051}[values.ndim]
    header = b"".join(int(each).to_bytes(4, "big") for each in (magic, *values.shape))
    return header + values.astype(np.uint8).tobytes()


def cifar_batch(n=20, seed=0):
    pixels = np.random.RandomState(seed).randint(0, 256, (n, 3072))
    return np.column_stack([in_order(n), pixels]).astype(np.uint8)


def write_cifar_archive(path, names=("data_batch_1", "data_batch_2", "test_batch")):
    with tarfile.open(path, "w:gz") as archive:
        for seed, name in enumerate(names):
            content = cifar_batch(seed=seed).tobytes()
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}.bin")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def svhn_content(n=20):
    images = np.random.RandomState(0).randint(0, 256, (32, 32, 3, n)).astype(np.uint8)
    return {"X": images, "y": (1 + np.arange(n) % 10).astype(np.uint8)[:, None]}


def annotations(n=20):
    """Fifty annotators; 30 name the true class, 20 the next one."""
    counts = np.zeros((n, 10), dtype=np.int64)
    counts[np.arange(n), in_order(n)] = 30
    counts[np.arange(n), (in_order(n) + 1) % 10] = 20
    return counts


def survey(n=60, seed=0):
    rng = np.random.RandomState(seed)
    answers = {name: rng.choice(list(codes), n) for name, codes in _brfss2015._CODES.items()}
    numbers = {"BMI": rng.randint(15, 50, n), "MentHlth": rng.randint(0, 31, n), "PhysHlth": rng.randint(0, 31, n)}
    return pd.DataFrame({"RAW_ROW_2015": np.arange(n), **answers, **numbers, "DIABETE3": 1})
