"""Tables: a CSV or Parquet file in, features, labels and confidence out, and scored rows back to a file.

A file is read as it is written: every column of a CSV file is text, a column of a Parquet file has the file's type. A
table to fit on goes from the file to compact columns in one pass (`read_features`), or stays in its Parquet files
(`EncodedParquetRows`).
What a column *is* (numeric, boolean, categorical, date) is decided from all its values (`infer_features`), kept as data
(`Schema`), and every later file is read by it, so that no batch of rows can be taken for something else.

Messages count rows from 1 and do not count the header. Lines of a file, where they are named, are counted from 1 with
the header.

Importing this package loads polars; importing unskew does not. pyarrow is loaded when it is needed, which for CSV files
it is not.
"""

from importlib.util import find_spec

from unskew.errors import MissingExtra

try:
    import polars  # noqa: F401

    if find_spec("pyarrow") is None:
        raise ModuleNotFoundError("No module named 'pyarrow'")
except ImportError as error:
    raise MissingExtra("reading tables needs polars and pyarrow. Install them: pip install 'unskew[tables]'") from error

from unskew.tables._values import Kind, read_column, require_column
from unskew.tables.chosen_kinds import check_kinds
from unskew.tables.encoded import EncodedRows, encoded_frame
from unskew.tables.encoded_files import EncodedParquetRows
from unskew.tables.frames import as_polars, words_as_polars
from unskew.tables.inference import infer_features, infer_schema
from unskew.tables.labels import (
    TwoClasses,
    blank_rows,
    label_column,
    read_confidence,
    read_labels,
    read_truth,
    require_both_kinds,
)
from unskew.tables.reading import (
    READABLE_ENDINGS,
    CsvFolder,
    ParquetTable,
    Table,
    most_bytes,
    open_folder,
    open_table,
    read_batches,
    read_table,
    require_file,
)
from unskew.tables.schema import Column, Schema, Tally, code_numbers
from unskew.tables.sorting import BestFirst, append_floats, sorted_on_disk
from unskew.tables.streaming import Roles, read_features
from unskew.tables.writing import WRITABLE_ENDINGS, TableWriter, check_ending, check_types, is_parquet, without_formulas

__all__ = [
    "READABLE_ENDINGS",
    "WRITABLE_ENDINGS",
    "BestFirst",
    "Column",
    "CsvFolder",
    "EncodedParquetRows",
    "EncodedRows",
    "Kind",
    "ParquetTable",
    "Roles",
    "Schema",
    "Table",
    "TableWriter",
    "Tally",
    "TwoClasses",
    "append_floats",
    "as_polars",
    "blank_rows",
    "check_ending",
    "check_kinds",
    "check_types",
    "code_numbers",
    "encoded_frame",
    "infer_features",
    "infer_schema",
    "is_parquet",
    "label_column",
    "most_bytes",
    "open_folder",
    "open_table",
    "read_batches",
    "read_column",
    "read_confidence",
    "read_features",
    "read_labels",
    "read_table",
    "read_truth",
    "require_both_kinds",
    "require_column",
    "require_file",
    "sorted_on_disk",
    "without_formulas",
    "words_as_polars",
]
