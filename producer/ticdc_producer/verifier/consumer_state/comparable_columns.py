"""Arrow columns of either side as comparable rows.

Arrow's kernels convert the usual types. Every other column, and a batch with a value that a kernel cannot
convert without a loss, is converted value by value (``canonical_value``), to the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, tzinfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.verifier.consumer_state.canonical_value import (
    actual_reader,
    is_normalized,
    is_text,
    is_trimmed,
)
from ticdc_producer.verifier.consumer_state.compare import COMPARABLE_ARROW, COMPARABLE_ROWS, row_batches
from ticdc_producer.verifier.consumer_state.plan import BatchReader, TablePlan

_T = MySQLType
_ROWS = 10_000
"""A part of a batch whose values fit into an array with offsets of 32 bits."""
_PLAIN_SCALE = 6
"""Up to this number of digits, Arrow prints no DECIMAL with an exponent."""
_UNITS = {0: "s", 3: "ms", 6: "us"}
"""By the number of fraction digits."""


def expected_rows(spark: SparkSession, plan: TablePlan) -> DataFrame:
    """Return the rows of a state file (shape ``COMPARABLE_ROWS``), in no order."""
    return json_lines(spark, str(plan.table.file.absolute())).mapInArrow(
        _read_expected(plan), COMPARABLE_ROWS
    )


def json_lines(spark: SparkSession, path: str) -> DataFrame:
    """Return the lines of JSON files, in the column ``value``; only a line feed ends a line."""
    return spark.read.option("lineSep", "\n").text(path)


def _read_expected(plan: TablePlan) -> BatchReader:
    def read(read_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        row = plan.expected_row()
        for batch in read_batches:
            lines = [line for line in batch.column(0).to_pylist() if line]
            for start in range(0, len(lines), _ROWS):
                part = lines[start : start + _ROWS]
                converted = expected_batch(plan, part)
                if converted is None:
                    yield from row_batches(plan.number, (row(json.loads(line)) for line in part))
                else:
                    yield converted

    return read


def actual_batches(plan: TablePlan, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield rows of the consumer as rows of the shape ``COMPARABLE_ROWS``.

    :param batch: with the columns ``plan.actual_columns``, in any order, and maybe others.
    """
    compared = (*plan.key, *plan.others)
    for start in range(0, batch.num_rows, _ROWS):
        part = batch.slice(start, _ROWS)
        arrays = (part.column(name) for name in plan.actual_columns)
        columns = [
            _actual(column, array, plan.zone, plan.fidelity)
            for column, array in zip(compared, arrays, strict=True)
        ]
        yield _rows(plan, columns, part.num_rows)


def expected_batch(plan: TablePlan, lines: Sequence[str]) -> pa.RecordBatch | None:
    """Return lines of a state file as rows of the shape ``COMPARABLE_ROWS``.

    :return: None if Arrow cannot read them as texts, because a value is not UTF-8.
    """
    compared = (*plan.key, *plan.others)
    if any(is_normalized(column) or _projects(column, plan.fidelity) for column in compared):
        return None
    text = "\n".join(lines).encode("utf-8", "surrogatepass")
    schema = pa.schema([(column.name, pa.string()) for column in compared])
    try:
        table = arrow_json.read_json(
            pa.BufferReader(text),
            arrow_json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowInvalid:
        return None
    (batch,) = table.combine_chunks().to_batches()
    columns = [batch.column(column.name).cast(pa.binary()) for column in compared]
    return _rows(plan, columns, batch.num_rows)


def _rows(plan: TablePlan, columns: Sequence[pa.Array], rows: int) -> pa.RecordBatch:
    width, numbers = len(plan.key), pa.array(np.full(rows, plan.number, "int32"))
    arrays = [numbers, _lists(columns[:width], rows), _lists(columns[width:], rows)]
    return pa.record_batch(arrays, schema=COMPARABLE_ARROW)


def _lists(columns: Sequence[pa.Array], rows: int) -> pa.Array:
    """Return the values of each row as a list.

    >>> _lists([pa.array([b"1", b"2"]), pa.array([b"x", None])], rows=2).to_pylist()
    [[b'1', b'x'], [b'2', None]]
    """
    width = len(columns)
    offsets = pa.array(np.arange(rows + 1, dtype="int32") * width)
    in_columns = pa.concat_arrays(columns) if columns else pa.array([], pa.binary())
    by_row = np.arange(rows * width).reshape(width, rows).T.ravel()
    return pa.ListArray.from_arrays(offsets, in_columns.take(pa.array(by_row)))


def _actual(column: ColumnInfo, array: pa.Array, zone: tzinfo, fidelity: Fidelity) -> pa.Array:
    if not _projects(column, fidelity):
        try:
            converted = _converted(column, array, zone, fidelity)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a loss, or no such kernel
            converted = None
        if converted is not None:
            return converted.cast(pa.binary())
    read: Callable[[object], Value] = actual_reader(column, zone, fidelity)
    return pa.array(map(read, array.to_pylist()), pa.binary(), size=len(array))


def _projects(column: ColumnInfo, fidelity: Fidelity) -> bool:
    """Return whether the protocol carries another value of valid UTF-8 than the upstream has."""
    return fidelity.value_projection(column) is not None


def _converted(column: ColumnInfo, array: pa.Array, zone: tzinfo, fidelity: Fidelity) -> pa.Array | None:
    """Return the canonical texts; None if the types have no kernel.

    :raises pa.ArrowInvalid: if a value would lose digits.
    """
    code, kind = column.type, array.type
    if code in INTEGERS or code == _T.YEAR:
        return array.cast(pa.string()) if pa.types.is_integer(kind) else None
    if code == _T.NEW_DECIMAL:
        return _decimals(column, array) if pa.types.is_decimal(kind) else None
    if code == _T.DATE:
        return array.cast(pa.string()) if pa.types.is_date32(kind) else None
    if code in (_T.DATETIME, _T.TIMESTAMP):
        return _times(column, array, zone) if pa.types.is_timestamp(kind) else None
    if is_text(column):
        return _texts(column, array, repaired=fidelity.replaces_invalid_utf8(column))
    return None


def _decimals(column: ColumnInfo, array: pa.Array) -> pa.Array | None:
    if not 0 <= column.decimal <= _PLAIN_SCALE or array.type.scale < 0:
        return None
    return array.cast(pa.decimal128(38, column.decimal)).cast(pa.string())


def _times(column: ColumnInfo, array: pa.Array, zone: tzinfo) -> pa.Array | None:
    unit = _UNITS.get(max(column.decimal, 0))
    if unit is None:
        return None
    if array.type.tz is not None:
        if zone is not UTC:
            return None
        array = array.cast(pa.timestamp(array.type.unit, "UTC")).cast(pa.timestamp(array.type.unit))
    return array.cast(pa.timestamp(unit)).cast(pa.string())


def _texts(column: ColumnInfo, array: pa.Array, *, repaired: bool) -> pa.Array | None:
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return pc.utf8_rtrim(array, " ") if is_trimmed(column) else array
    as_is = pa.types.is_binary(array.type) and not is_trimmed(column) and not repaired
    return array if as_is else None
