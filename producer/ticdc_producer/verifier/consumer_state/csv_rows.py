"""CSV files of a table. Without quotes nothing is NULL, and ``""`` is the empty text.

Arrow reads them, since Spark's reader takes both for NULL. What a value means its MySQL type says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from ticdc_producer.errors import StateError
from ticdc_producer.verifier.consumer_state.plan import TablePlan
from ticdc_producer.verifier.consumer_state.rows import batches
from ticdc_producer.verifier.consumer_state.source import BatchReader

_FORM = csv.ParseOptions(newlines_in_values=True)


def csv_columns(files: Sequence[Path]) -> tuple[str, ...]:
    """The names in the first line.

    :raises StateError: if there is none.
    """
    return tuple(_names(files[0]))


def _names(file: Path) -> list[str]:
    try:
        with csv.open_csv(file, parse_options=_FORM) as reader:
            names: list[str] = reader.schema.names
            return names
    except UnicodeDecodeError:
        raise StateError("not a CSV file with a header (it is not UTF-8)", source=str(file)) from None
    except (pa.ArrowInvalid, OSError) as error:
        raise StateError(f"not a CSV file with a header ({error})", source=str(file)) from None


def csv_reader(files: Sequence[Path], plan: TablePlan) -> BatchReader:
    """A function for one Spark task that reads the files."""

    def read(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        row = plan.actual_row()
        for file in files:
            for batch in _opened(file):
                columns = [batch.column(name).to_pylist() for name in plan.actual_columns]
                values = (list(map(_text, line)) for line in zip(*columns, strict=True))
                yield from batches(plan.number, map(row, values))

    return read


def _opened(file: Path) -> csv.CSVStreamingReader:
    options = csv.ConvertOptions(
        column_types=dict.fromkeys(_names(file), pa.binary()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return csv.open_csv(file, parse_options=_FORM, convert_options=options)


def _text(value: bytes | None) -> str | bytes | None:
    """Text, so that digits are not taken for the bytes of a BIT."""
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value
