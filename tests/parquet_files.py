"""Small Parquet files, and scripts that read them in a process of their own."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq


def write(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def run(script, *arguments):
    subprocess.run([sys.executable, "-c", script, *map(str, arguments)], check=True)
