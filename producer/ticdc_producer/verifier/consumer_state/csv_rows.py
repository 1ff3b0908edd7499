"""CSV files of a table. An empty field is NULL, and ``""`` is the empty text.

Arrow reads them, because Spark's reader reads both as NULL. The MySQL type decides how a value is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from ticdc_producer.errors import StateError
from ticdc_producer.verifier.consumer_state.comparable_rows import row_batches
from ticdc_producer.verifier.consumer_state.plan import TablePlan
from ticdc_producer.verifier.consumer_state.source import BatchReader

_FORMAT = csv.ParseOptions(newlines_in_values=True)


def csv_columns(files: Sequence[Path]) -> tuple[str, ...]:
    """The column names in the first line.

    :raises StateError: if it cannot be read.
    """
    return tuple(_names(files[0]))


def _names(file: Path) -> list[str]:
    try:
        with csv.open_csv(file, parse_options=_FORMAT) as reader:
            names: list[str] = reader.schema.names
            return names
    except UnicodeDecodeError:
        raise StateError("not a CSV file with a header (it is not UTF-8)", source=str(file)) from None
    except (pa.ArrowInvalid, OSError) as error:
        raise StateError(f"not a CSV file with a header ({error})", source=str(file)) from None


def csv_reader(files: Sequence[Path], plan: TablePlan) -> BatchReader:
    """Returns the function with which one Spark task reads the files."""

    def read(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        row = plan.actual_row()
        for file in files:
            for batch in _open(file):
                columns = [batch.column(name).to_pylist() for name in plan.actual_columns]
                values = (list(map(_text, fields)) for fields in zip(*columns, strict=True))
                yield from row_batches(plan.number, map(row, values))

    return read


def _open(file: Path) -> csv.CSVStreamingReader:
    options = csv.ConvertOptions(
        column_types=dict.fromkeys(_names(file), pa.binary()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return csv.open_csv(file, parse_options=_FORMAT, convert_options=options)


def _text(value: bytes | None) -> str | bytes | None:
    """Text if possible, so that digits are not read as the bytes of a BIT."""
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value
