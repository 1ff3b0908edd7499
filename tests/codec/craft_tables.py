"""Hypothesis strategies: tables of any columns, and rows that fit them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TypeAlias

from hypothesis import strategies as st

from producer.codec.base import RowBatch
from producer.model.event import Op, Value
from producer.model.float_text import plain_text
from producer.model.mysql_type import (
    CHARSET_BEARING,
    FLOATS,
    INTEGERS,
    LOBS,
    NUMBERED,
    STRINGS,
    MySQLType,
    integer_range,
)
from producer.model.table import ColumnInfo, IndexInfo, PartitionInfo, TableInfo

T = MySQLType
Row: TypeAlias = tuple[Op, int, Sequence[Value], Sequence[Value]]

NAMES = st.text(min_size=1, max_size=20).filter(lambda name: name.isprintable())
STAMPS = st.integers(1, 2**63 - 1)
_TYPES = sorted(INTEGERS | FLOATS | STRINGS | LOBS | NUMBERED | {
    T.NULL, T.DATE, T.DATETIME, T.TIMESTAMP, T.DURATION, T.JSON, T.NEW_DECIMAL, T.VECTOR_FLOAT32, T.GEOMETRY,
})  # fmt: skip
_TEXTS = {
    T.DATE: [b"0000-00-00", b"2021-12-20"],
    T.DATETIME: [b"1000-01-01 00:00:00", b"2021-12-20 13:30:49.123456"],
    T.TIMESTAMP: [b"1970-01-01 00:00:01.0", b"2038-01-19 03:14:07"],
    T.DURATION: [b"-838:59:59", b"00:00:00.1"],
    T.NEW_DECIMAL: [b"0", b"-12.50", b"9" * 65, b"0." + b"0" * 29 + b"1"],
    T.VECTOR_FLOAT32: [b"[]", b"[1,-2.5e-07]"],
}


@st.composite
def columns(draw: st.DrawFn, name: str) -> ColumnInfo:
    code = draw(st.sampled_from(_TYPES))
    charset = draw(st.sampled_from(["binary", "utf8mb4"])) if code in CHARSET_BEARING else "binary"
    unsigned = code in (T.BIT, T.YEAR) or (code in INTEGERS | FLOATS and draw(st.booleans()))
    return ColumnInfo(name=name, type=code, unsigned=unsigned, charset=charset, nullable=draw(st.booleans()))


@st.composite
def tables(draw: st.DrawFn) -> TableInfo:
    """A table whose first column is its key; some are partitioned, some names are the same."""
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    key = IndexInfo(id=0, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
    return TableInfo(
        schema=draw(NAMES | st.just(names[0])),
        name=draw(NAMES | st.just(names[0])),
        table_id=1,
        columns=tuple(draw(columns(name)) for name in names),
        indexes=(key,),
        partitions=(PartitionInfo(id=1, name="p"),) if draw(st.booleans()) else (),
    )


def _values(column: ColumnInfo) -> st.SearchStrategy[Value]:
    code = column.type
    if code in (T.NULL, T.GEOMETRY):
        return st.none()
    if code in INTEGERS or code in NUMBERED:
        low, high = integer_range(code, unsigned=column.unsigned)
        numbers = st.integers(low, high) | st.sampled_from([low, high])
        return st.none() | numbers.map(lambda number: b"%d" % number)
    if code in FLOATS:
        return st.none() | st.integers(0, 2**64 - 1).map(lambda bits: _float(bits, code))
    if code == T.JSON:
        return st.none() | st.text(max_size=12).map(str.encode)
    return st.none() | (st.sampled_from(_TEXTS[code]) if code in _TEXTS else st.binary(max_size=200))


def _float(bits: int, code: MySQLType) -> bytes:
    form, width = ("<f", 4) if code == T.FLOAT else ("<d", 8)
    (number,) = struct.unpack(form, bits.to_bytes(8, "little")[:width])
    finite = number == number and abs(number) != float("inf")
    return plain_text(number, code) if finite else b"0"


@st.composite
def rows_of(draw: st.DrawFn, table: TableInfo) -> list[Row]:
    images = st.tuples(*map(_values, table.columns))
    return draw(st.lists(st.tuples(st.sampled_from(Op), STAMPS, images, images), min_size=1, max_size=8))


def batch_of(table: TableInfo, rows: Sequence[Row], table_id: int) -> RowBatch:
    """Rows as the columns that an encoder takes."""
    old = [before for op, _, before, _ in rows if op != Op.INSERT]
    new = [after for op, _, _, after in rows if op != Op.DELETE]
    width = range(len(table.columns))
    return RowBatch(
        op=[op for op, *_ in rows],
        commit_ts=[ts for _, ts, *_ in rows],
        table_id=[table_id] * len(rows),
        row_id=[0] * len(rows),
        before=[[image[place] for image in old] for place in width],
        after=[[image[place] for image in new] for place in width],
    )
