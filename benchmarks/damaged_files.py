"""Does any damaged or crafted file end the program, hang it, or show a traceback?

    python benchmarks/damaged_files.py [--parquet 2000] [--models 5000] [--trees 5000] [--seed 0]
        [--workers 2] [--keep FOLDER] [--out FILE]

Parquet files with flipped bits, cut off, with zeroed, repeated and random blocks, with footers of other files and with
lengths altered are scored with a good model. Model files are damaged in the same ways or made wrong under a right
checksum: entries of their header replaced, dropped, added and swapped, arrays dropped, renamed, reshaped and retyped;
good rows are scored with them, and their report is written. Of models of boosted trees, single entries of the arrays
are altered, too: children, features, thresholds, offsets. Workers run the commands in their own processes, hundreds of
files each. A model loads wrong if its checksum does not match its bytes or one of its scores is not a finite number.
Exit code 1 if a file loads wrong, or ends in anything but a result or a message that names it.
"""

import argparse
import collections
import contextlib
import copy
import hashlib
import io
import json
import multiprocessing
import resource
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

import unskew
from rows import Rows, add_out, save_rows
from unskew import load as load_model
from unskew._support.modelfile import read_model_file
from unskew.cli import app
from unskew.learning.boosted_trees import BoostedTrees

Random = np.random.RandomState
LONGEST = 20.0
"""Seconds that one file may take."""
MOST_MEMORY = 12 * 2**30
"""Bytes of address space of a worker: a file that asks for more gives a MemoryError instead of a frozen machine."""
READ, REFUSED, WRONGLY, TRACEBACK = "read", "refused by name", "LOADED WRONG", "TRACEBACK"
ABORTED, HUNG = "ABORTED", "HUNG"
ENDINGS = READ, REFUSED, WRONGLY, TRACEBACK, ABORTED, HUNG
BEGIN = struct.Struct("<8s32sIQ")


@dataclass(frozen=True)
class Outcome:
    """What became of one file."""

    kind: str
    number: int
    ending: str
    message: str = ""


@dataclass(frozen=True)
class Samples:
    """Good files that damaged ones are made of: one table, written in several ways, and a model of it."""

    tables: tuple[Path, ...]
    model: Path
    trees: Path


def make_samples(folder: Path, n_rows: int = 300) -> Samples:
    rng = Random(0)
    table = sample_table(rng, n_rows)
    ways: list[dict[str, Any]] = [
        {"compression": "snappy", "row_group_size": 100},
        {"compression": "zstd", "use_dictionary": False},
        {"compression": "none", "data_page_version": "2.0", "row_group_size": 37},
        {"compression": "gzip", "write_statistics": False, "data_page_size": 256},
    ]
    paths = tuple(folder / f"table{number}.parquet" for number in range(len(ways)))
    for path, way in zip(paths, ways, strict=True):
        pq.write_table(table, path, **way)
    model = folder / "model.unskew"
    fit = ["fit", paths[0], "--label", "known", "--confidence", "risk", "--exclude", "truth", "--epochs", "2"]
    with quiet():
        app([*map(str, fit), "--out", str(model)], standalone_mode=False)
    trees = folder / "trees.unskew"
    made = load_model(model)
    grown = unskew.make("conf-auc", network="trees", max_epochs=12, probability=False, random_state=0)
    X = rng.normal(size=(n_rows, made.n_features_in_))
    labeled = X[:, 0] + rng.normal(size=n_rows) > 1
    grown.fit(X, labeled.astype(int), confidence=rng.uniform(size=n_rows))
    grown.network_ = with_sets(grown.network_, rng)
    grown.save(trees, notes=read_model_file(model).header["notes"])  # so that the commands can use it
    return Samples(paths, model, trees)


def with_sets(network: BoostedTrees, rng: Random) -> BoostedTrees:
    """The same trees, but that every third node asks for a set of two columns."""
    arrays = {name: value.numpy().copy() for name, value in network.state_dict().items()}
    arrays["n_members"][::3] = 2
    arrays["member"] = rng.randint(network.n_features, size=arrays["n_members"].sum()).astype(np.int32)
    return BoostedTrees.from_arrays(arrays, network.n_features).eval()


def sample_table(rng: Random, n_rows: int) -> pa.Table:
    score = rng.normal(size=n_rows)
    positive = score + rng.normal(size=n_rows) > 1
    known = positive & (rng.uniform(size=n_rows) < 0.6)
    day = [date(2020, 1, 1) + timedelta(days=int(each)) for each in rng.randint(0, 900, n_rows)]
    return pa.table(
        {
            "known": pa.array(known.astype(int)),
            "risk": pa.array(np.where(known, rng.uniform(0.5, 1, n_rows), np.nan), from_pandas=True),
            "truth": pa.array(positive),
            "amount": pa.array(score),
            "count": pa.array(rng.randint(0, 50, n_rows).astype(np.int32)),
            "price": pa.array([Decimal(int(each)) / 100 for each in rng.randint(1, 10**6, n_rows)]),
            "kind": pa.array([None if each == "d" else each for each in rng.choice(list("abcd"), n_rows)]),
            "yes": pa.array(rng.uniform(size=n_rows) < 0.3),
            "day": pa.array(day),
            "at": pa.array([datetime.combine(each, datetime.min.time()) for each in day]),
        }
    )


# Bytes of any file.


def flipped(content: bytes, rng: Random, start: int = 0) -> bytes:
    """Some bits the other way round, behind `start`."""
    changed = bytearray(content)
    for place in rng.randint(start, len(content), size=rng.choice([1, 2, 20])):
        changed[place] ^= 1 << rng.randint(8)
    return bytes(changed)


def cut_off(content: bytes, rng: Random) -> bytes:
    return content[: rng.randint(0, len(content))]


def with_other_block(content: bytes, rng: Random) -> bytes:
    """A block of zeros, of random bytes, or of bytes that stand elsewhere in the file."""
    length = int(min(rng.choice([1, 4, 8, 64, 1024]), len(content) // 2))
    start, other = rng.randint(0, len(content) - length, size=2)
    block = [bytes(length), rng.bytes(length), content[other : other + length]][rng.randint(3)]
    return content[:start] + block + content[start + (length if rng.randint(2) else 0) :]


def with_other_number(content: bytes, rng: Random) -> bytes:
    """Four or eight bytes, often a length, as another number."""
    form = rng.choice(["<i", "<q"])
    low, high = (-(2**31), 2**31 - 1) if form == "<i" else (-(2**63), 2**63 - 1)
    number = [0, 1, -1, low, high, int(rng.randint(0, 1000))][rng.randint(6)]
    place = rng.randint(0, len(content) - 8)
    return content[:place] + struct.pack(form, number) + content[place + struct.calcsize(form) :]


def with_tail(content: bytes, rng: Random) -> bytes:
    return content + rng.bytes(rng.randint(1, 100))


ANY_DAMAGE: tuple[Callable[[bytes, Random], bytes], ...] = (
    flipped,
    cut_off,
    with_other_block,
    with_other_number,
    with_tail,
)


# Parquet: the footer says where everything is; its length stands before the last four bytes.


def damaged_parquet(samples: Samples, rng: Random) -> bytes:
    contents = [path.read_bytes() for path in samples.tables]
    content, other = (contents[each] for each in rng.randint(len(contents), size=2))
    length, other_length = (struct.unpack("<I", each[-8:-4])[0] for each in (content, other))
    pages, footer = content[: -8 - length], content[-8 - length : -8]
    way = rng.randint(6)
    if way == 0:
        return pages + other[-8 - other_length :]
    if way == 1:
        wrong = rng.choice([0, 1, length - 1, length + 1, len(content), 2**31, 2**32 - 1])
        return content[:-8] + struct.pack("<I", int(wrong)) + content[-4:]
    damage = ANY_DAMAGE[rng.randint(len(ANY_DAMAGE))]
    if way in (2, 3):
        footer = damage(footer, rng)
        return pages + footer + struct.pack("<I", len(footer)) + content[-4:]
    if way == 4:
        return damage(pages, rng) + content[-8 - length :]
    return damage(content, rng)


# Model files: damaged as they are, or made wrong under a right checksum.


def damaged_model(samples: Samples, rng: Random) -> bytes:
    content = samples.model.read_bytes()
    signature, _, version, length = BEGIN.unpack_from(content)
    header, arrays = content[BEGIN.size : BEGIN.size + length], content[BEGIN.size + length :]
    way = rng.randint(10)
    if way == 0:
        return ANY_DAMAGE[rng.randint(len(ANY_DAMAGE))](content, rng)
    if way == 1:
        header = ANY_DAMAGE[rng.randint(len(ANY_DAMAGE))](header, rng)
    elif way == 2:
        arrays = ANY_DAMAGE[rng.randint(len(ANY_DAMAGE))](arrays, rng)
    elif way == 3:
        length = int(rng.choice([0, 1, length - 1, length + 1, len(content), 2**40, 2**62]))
    elif way == 4:
        arrays = with_other_arrays(arrays, rng)
    else:
        for _ in range(rng.choice([1, 1, 1, 2, 5])):
            header = with_other_entry(header, rng)
    length = length if way == 3 else len(header)
    body = struct.pack("<IQ", version, length) + header + arrays
    return bytes(signature + hashlib.sha256(body).digest() + body)


def damaged_trees(samples: Samples, rng: Random) -> bytes:
    """A model of boosted trees, half of the time with other arrays under a right checksum."""
    if rng.randint(2):
        return damaged_model(replace(samples, model=samples.trees), rng)
    content = samples.trees.read_bytes()
    signature, _, version, length = BEGIN.unpack_from(content)
    header, arrays = content[BEGIN.size : BEGIN.size + length], content[BEGIN.size + length :]
    found = {name: each.copy() for name, each in load_arrays(arrays).items()}
    names = [name for name, each in found.items() if name.startswith(("network", "labeling")) and each.size]
    for _ in range(rng.choice([1, 1, 2, 10])):
        with_other_number_in(found[names[rng.randint(len(names))]], rng)
    body = struct.pack("<IQ", version, length) + header + bytes(save_arrays(found))
    return bytes(signature + hashlib.sha256(body).digest() + body)


def with_other_number_in(array: np.ndarray, rng: Random) -> None:
    """One entry replaced by an odd number or by another entry, or two exchanged."""
    flat = array.reshape(-1)
    if not flat.size:
        return
    place, other = rng.randint(flat.size, size=2)
    way = rng.randint(3)
    if way == 0:
        flat[place] = flat[other]
    elif way == 1:
        flat[[place, other]] = flat[[other, place]]
    elif array.dtype.kind == "f":
        flat[place] = rng.choice([np.nan, np.inf, -np.inf, 0, 3e38, -3e38, 1e-45])
    elif array.dtype.kind == "i":
        ends = np.iinfo(array.dtype)
        flat[place] = [0, 1, -1, ends.min, ends.max, rng.randint(-40, 40)][rng.randint(6)]
    else:
        flat[place] = not flat[place]


def with_other_entry(header: bytes, rng: Random) -> bytes:
    """One entry of the header replaced, dropped, added or swapped with one beside it."""
    content = json.loads(header)
    inside: Any = content
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        key = keys[rng.randint(len(keys))]
        deeper = isinstance(inside[key], dict | list) and len(inside[key])
        if not deeper or rng.randint(5) == 0:
            break
        inside = inside[key]
    way = rng.randint(8)
    if way == 0:
        del inside[key]
    elif way == 1 and isinstance(inside, dict):
        inside[f"{key}_"] = copy.deepcopy(inside[key])
    elif way == 1:
        inside.append(copy.deepcopy(inside[key]))
    elif way == 2:
        other = keys[rng.randint(len(keys))]
        inside[key], inside[other] = inside[other], inside[key]
    else:
        inside[key] = WRONG[rng.randint(len(WRONG))]
    return json.dumps(content).encode() if content else b"{}"


WRONG: list[Any] = [None, True, False, -1, 0, 1, 0.5, 1e-300, 1e308, -1e308, float("nan"), float("inf"), 10**9, 2**62]
WRONG += [2**64, 10**400, "", "word", "\x00", "NaN", "linear", "kernel", "cnn", "two-sample", "date", "x" * 10_000]
WRONG += [[], {}, [[]], [None], [1], [10**9], [0], [-1, 2], ["a", "a"], {"a": 1}, {"": None}, [[0, 1.0, 2.0]]]
WRONG += [eval("[" * 60 + "]" * 60), [1.5] * 1000, {"begin": [1, {"end": "x"}]}]


def with_other_arrays(arrays: bytes, rng: Random) -> bytes:
    found = load_arrays(arrays)
    name = list(found)[rng.randint(len(found))]
    array, way = found.pop(name), rng.randint(6)
    if way == 1:
        found["".join([name, "x"]) if rng.randint(2) else "threshold.weights"] = array
    elif way == 2:
        found[name] = np.ascontiguousarray(
            [array, array.T, array.ravel(), array.ravel()[:0], array[None]][rng.randint(1, 5)]
        )
    elif way == 3:
        found[name] = array.astype(rng.choice(["f2", "f8", "i4", "u1", "?"]))
    elif way == 4:
        array = array.copy()
        if array.dtype.kind == "f" and array.size:
            array.reshape(-1)[rng.randint(array.size)] = rng.choice([np.nan, np.inf, -np.inf, 3e38, 1e-45])
        else:
            with_other_number_in(array, rng)
        found[name] = array
    elif way == 5:
        found |= {name: array, f"{name.partition('.')[0]}7.weights": np.ones((2, 3), dtype=np.float32)}
    return bytes(save_arrays(found))


DAMAGES = {"parquet": damaged_parquet, "models": damaged_model, "trees": damaged_trees}


def damaged(kind: str, number: int, seed: int, samples: Samples) -> bytes:
    return DAMAGES[kind](samples, Random([seed, number, *kind.encode()]))


# Reading, in a process of its own.


def commands_on(kind: str, path: Path, samples: Samples, folder: Path) -> list[list[str]]:
    if kind == "parquet":
        return [["score", str(samples.model), str(path), "--id", "day", "--out", str(folder / "scored.csv")]]
    score = ["score", str(path), str(samples.tables[0]), "--out", str(folder / "scored.csv")]
    return [score, ["report", str(path), "--out", str(folder / "report.html")]]


def ending_of(commands: list[list[str]]) -> tuple[str, str]:
    """How the commands end, and the message if it is not a result."""
    for command in commands:
        try:
            with quiet():
                app(command, standalone_mode=False)
        except (ValueError, OSError) as error:
            named = any(Path(each).name in str(error) for each in (*command[1:3], command[-1]))
            return (REFUSED if named else TRACEBACK), f"{type(error).__name__}: {error}"
        except BaseException:  # whatever else it is, a user would see it
            return TRACEBACK, traceback.format_exc(limit=-3)
    return READ, ""


def loads_wrong(kind: str, content: bytes, scored: Path) -> str:
    """What is wrong with a model that was read, or with its scores; empty if nothing is."""
    if kind != "parquet" and hashlib.sha256(content[BEGIN.size - 12 :]).digest() != BEGIN.unpack_from(content)[1]:
        return "the checksum does not match"
    score = pl.read_csv(scored)["score"].cast(pl.Float64, strict=False)
    return "" if bool(score.is_finite().fill_null(False).all()) else "not all scores are finite numbers"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


Case = tuple[str, int]
"""Kind of a file, and its number."""


def work(connection: Any, cases: list[Case], seed: int, samples: Samples) -> None:
    """Read one file after another, and say before each which it is."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ending, message = ending_of(commands_on("models", samples.model, samples, folder))  # loads all that is needed
        assert ending == READ, message
        for kind, number in cases:
            path = folder / f"file{number}.{'parquet' if kind == 'parquet' else 'unskew'}"
            content = damaged(kind, number, seed, samples)
            path.write_bytes(content)
            connection.send((kind, number))
            ending, message = ending_of(commands_on(kind, path, samples, folder))
            wrong = loads_wrong(kind, content, folder / "scored.csv") if ending == READ else ""
            connection.send(Outcome(kind, number, WRONGLY if wrong else ending, wrong or message))
            path.unlink()
    connection.send(None)


def endings(cases: list[Case], seed: int, samples: Samples) -> list[Outcome]:
    """What becomes of these files, in processes that are replaced when they end or hang."""
    context = multiprocessing.get_context("spawn")
    left, outcomes = list(cases), []
    while left:
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, left, seed, samples))
        process.start()
        theirs.close()
        found = list(reports(ours))
        process.kill()
        process.join()
        outcomes += found
        left = left[len(found) :]
    return outcomes


def reports(connection: Any) -> Iterator[Outcome]:
    """What a worker says, in the order of its files; the last one may be the file that it ended or hung at."""
    case, patience = None, 300.0  # it takes a while to start on a busy machine
    while True:
        try:
            message = connection.recv() if connection.poll(patience) else HUNG
        except EOFError:
            message = ABORTED
        if message is None:
            return
        if isinstance(message, Outcome):
            yield message
        elif isinstance(message, tuple):
            case, patience = message, LONGEST
        elif case is None:
            raise RuntimeError(f"a worker {message} before its first file")
        else:
            yield Outcome(*case, message)
            return


def run(counts: dict[str, int], seed: int, workers: int, keep: Path | None = None) -> list[Outcome]:
    """What became of so many files of each kind."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(workers) as pool:
        samples = make_samples(Path(name))
        cases = [(kind, number) for kind, count in counts.items() for number in range(count)]
        shares = [cases[part::workers] for part in range(workers)]
        outcomes = [each for found in pool.map(partial(endings, seed=seed, samples=samples), shares) for each in found]
        for outcome in outcomes:
            if keep is not None and outcome.ending not in (READ, REFUSED):
                keep.mkdir(parents=True, exist_ok=True)
                path = keep / f"{outcome.kind}-{seed}-{outcome.number}-{outcome.ending.replace(' ', '-')}"
                path.write_bytes(damaged(outcome.kind, outcome.number, seed, samples))
                path.with_suffix(".txt").write_text(outcome.message)
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parquet", type=int, default=2000, help="damaged Parquet files")
    parser.add_argument("--models", type=int, default=5000, help="damaged and crafted model files")
    parser.add_argument("--trees", type=int, default=5000, help="the same of boosted trees")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="folder for the files that ended in anything but a message")
    add_out(parser)
    arguments = parser.parse_args()
    begin = time.perf_counter()
    counts = {"parquet": arguments.parquet, "models": arguments.models, "trees": arguments.trees}
    outcomes = run(counts, arguments.seed, arguments.workers, arguments.keep)
    results: Rows = []
    for kind in filter(counts.get, counts):
        found = collections.Counter(outcome.ending for outcome in outcomes if outcome.kind == kind)
        print(f"{kind}: " + ", ".join(f"{found[each]} {each}" for each in ENDINGS))
        results.append({"kind": kind, "files": counts[kind], "seed": arguments.seed, "workers": arguments.workers})
        results[-1] |= {each.lower().replace(" ", "_"): found[each] for each in ENDINGS}
    failed = [outcome for outcome in outcomes if outcome.ending not in (READ, REFUSED)]
    for outcome in failed[:20]:
        print(f"{outcome.kind} {outcome.number} {outcome.ending}: {outcome.message}")
    print(f"{time.perf_counter() - begin:.0f} s")
    save_rows(results, arguments.out)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
