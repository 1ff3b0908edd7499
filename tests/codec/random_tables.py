"""Hypothesis strategies for tables of any columns, and rows that fit them: the same for every protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from producer.model.event import Op, Value
from producer.model.flags import ColumnFlag
from producer.model.mysql_type import (
    FLOATS,
    INTEGERS,
    LOBS,
    STRINGS,
    TEMPORALS,
    MySQLType,
)
from producer.model.table import ColumnInfo, IndexInfo, PartitionInfo, TableInfo
from tests.codec.random_values import TEXTS, values
from tests.golden_events import GoldenRow

T = MySQLType
PARTITION = 9
STAMPS = st.sampled_from([1, 1 << 18, 2**62, 2**63 - 1]) | st.integers(1, 2**63 - 1)
NAMES = TEXTS.filter(bool)

_TYPES = sorted((INTEGERS | FLOATS | STRINGS | LOBS | TEMPORALS | {
    T.YEAR, T.BIT, T.ENUM, T.SET, T.JSON, T.NEW_DECIMAL, T.VECTOR_FLOAT32,
}) - {T.NEW_DATE})  # fmt: skip
_UNSIGNABLE = INTEGERS | FLOATS | {T.NEW_DECIMAL}
_WITHOUT_DEFAULT = LOBS | {T.JSON, T.VECTOR_FLOAT32}  # TiDB refuses one


@dataclass(frozen=True)
class History:
    """Rows of one table version, in order."""

    table: TableInfo
    rows: list[GoldenRow]


@st.composite
def _columns(draw: st.DrawFn, name: str) -> ColumnInfo:
    code = draw(st.sampled_from(_TYPES))
    charset = "utf8mb4" if code in (T.ENUM, T.SET) else "binary"
    if code in STRINGS | LOBS:
        charset = draw(st.sampled_from(["binary", "utf8mb4"]))
    unsigned = code in (T.BIT, T.YEAR) or (code in _UNSIGNABLE and draw(st.booleans()))
    length, decimal = draw(_sizes(code))
    column = ColumnInfo(
        name=name,
        type=code,
        length=length,
        decimal=decimal,
        unsigned=unsigned,
        zerofill=unsigned and code in INTEGERS and draw(st.booleans()),
        charset=charset,
        elements=draw(_elements(code)),
        nullable=draw(st.booleans()),
    )
    return draw(_with_default(column))


def _sizes(code: MySQLType) -> st.SearchStrategy[tuple[int, int]]:
    """Length and decimals as the type has them."""
    unspecified = st.just(-1)
    if code == T.BIT:
        return st.tuples(st.sampled_from([1, 8, 9, 63, 64]), unspecified)
    if code == T.NEW_DECIMAL:
        return st.sampled_from([(1, 0), (10, 0), (12, 4), (65, 30), (30, 30)])
    if code in (T.DATETIME, T.TIMESTAMP, T.DURATION):
        return st.tuples(unspecified, st.integers(0, 6))
    if code in FLOATS:
        return st.sampled_from([(-1, -1), (20, 3)])
    return st.tuples(st.just(12) if code in STRINGS else unspecified, unspecified)


def _elements(code: MySQLType) -> st.SearchStrategy[tuple[str, ...]]:
    """Members differ even without regard to case; a SET's hold no comma.

    Only the last one may end with a backslash: Debezium's list of members does not tell it from an
    escaped comma.
    """
    if code not in (T.ENUM, T.SET):
        return st.just(())
    members = st.sampled_from(
        ["a", "A b", "it's", "'", "''", '"', "é", "%d", "back\\", "\\'", "<&>", "🙂", ""]
    )
    if code == T.ENUM:
        members |= st.just("a,b")
    few = st.lists(members, min_size=1, max_size=5, unique=True).map(_backslash_last)
    return few if code == T.ENUM else few | st.just(tuple(f"m{place}" for place in range(64)))


def _backslash_last(members: list[str]) -> tuple[str, ...]:
    return tuple(sorted(members, key=lambda member: member.endswith("\\")))


@st.composite
def _with_default(draw: st.DrawFn, column: ColumnInfo) -> ColumnInfo:
    if column.type in _WITHOUT_DEFAULT or not draw(st.booleans()):
        return column
    if column.type in (T.DATETIME, T.TIMESTAMP) and draw(st.booleans()):
        return replace(column, has_default=True, default_expression="CURRENT_TIMESTAMP")
    return replace(column, has_default=True, default=draw(values(column)))


@st.composite
def tables(draw: st.DrawFn) -> TableInfo:
    """Tables with a primary key, a unique one, or none; some are partitioned, some hide a column."""
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique_by=str.lower))
    columns = [draw(_columns(name)) for name in names]
    key = draw(st.lists(st.integers(0, len(names) - 1), min_size=1, max_size=2, unique=True).map(tuple))
    primary = draw(st.sampled_from([True, False, None]))
    for place in () if primary is None else key:
        columns[place] = replace(columns[place], nullable=False)
    index = IndexInfo(
        id=1, name="k", offsets=key, unique=True, primary=bool(primary), clustered=bool(primary)
    )
    virtual = ColumnInfo(name="virtual \u2028", type=T.LONG, generated="virtual")
    return TableInfo(
        schema=draw(NAMES),
        name=draw(NAMES),
        table_id=1,
        columns=(*columns, virtual) if draw(st.booleans()) and virtual.name not in names else tuple(columns),
        indexes=() if primary is None else (index,),
        partitions=(PartitionInfo(id=PARTITION, name="p"),) if draw(st.booleans()) else (),
    )


@st.composite
def histories(draw: st.DrawFn) -> History:
    """A table and some of its changes; an update keeps its handle key, or it would have been split."""
    table = draw(tables())
    values_of = [_values(column) for column in table.sent_columns]
    kept = [place for place, flag in enumerate(table.sent_flags) if flag & ColumnFlag.HANDLE_KEY]
    rows = []
    for op in draw(st.lists(st.sampled_from(Op), min_size=1, max_size=6)):
        before = tuple(draw(value) for value in values_of)
        after = list(before)
        for place, value in enumerate(values_of):
            if op == Op.INSERT or (place not in kept and draw(st.booleans())):
                after[place] = draw(value)
        rows.append(_row(table, op, draw(STAMPS), before, tuple(after)))
    return History(table, rows)


def _values(column: ColumnInfo) -> st.SearchStrategy[Value]:
    return st.none() | values(column) if column.nullable else values(column)


def _row(table: TableInfo, op: Op, ts: int, before: tuple[Value, ...], after: tuple[Value, ...]) -> GoldenRow:
    handle = table.handle_index
    return GoldenRow(
        seq=0,
        commit_ts=ts,
        table=table,
        table_id=PARTITION if table.partitions else 1,
        row_id=ts >> 1,
        op=op,
        before=None if op == Op.INSERT else before,
        after=None if op == Op.DELETE else after,
        is_partitioned=bool(table.partitions),
        flags=table.flags,
        handle_key_columns=tuple(table.columns[place].name for place in handle.offsets) if handle else (),
    )
