"""Hypothesis strategies for tables of any columns.

Examples shrink to the first of several strategies: an ``int`` column named ``a``, a primary key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from hypothesis import strategies as st

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import (
    FLOATS,
    INTEGERS,
    LOBS,
    STRINGS,
    TYPES,
    WITH_FSP,
    MySQLType,
    bare_name,
)
from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.testing.random_values import values

T = MySQLType
Key: TypeAlias = Literal["primary", "unique", "none"]

TABLE_ID, PARTITION_ID = 1, 9

_FIRST = (T.LONG, T.VARCHAR)
_CODES = (*_FIRST, *sorted(T(code) for code in TYPES if code not in (T.NEW_DATE, *_FIRST)))


@dataclass(frozen=True, slots=True)
class DrawnType:
    """A column type; its name is the SQL name without parameters."""

    name: str
    code: MySQLType
    charset: str


def _column_types() -> Sequence[DrawnType]:
    column_types = []
    for code in _CODES:
        bears = TYPES[code].bears_charset
        charsets = ["utf8mb4", "binary"] if code in STRINGS | LOBS else ["utf8mb4" if bears else "binary"]
        for charset in charsets:
            name = bare_name(code, binary=charset == "binary", unsigned=False)
            column_types.append(DrawnType(name, code, charset))
    return tuple(column_types)


COLUMN_TYPES = _column_types()

# Identifiers that MySQL accepts between backquotes: no NUL, nothing beyond the BMP, no space at the end.
_LETTERS = st.characters(min_codepoint=1, max_codepoint=0xFFFF, exclude_categories=["Cs"])
NAMES = st.sampled_from(
    ["a", "b", "c", "order", "Select", "a b", "a.b", "é", "`", "x'", "%s", "名"]
) | st.text(_LETTERS, min_size=1, max_size=8).filter(lambda name: not name[-1].isspace())


@st.composite
def random_table(
    draw: st.DrawFn,
    types: Sequence[DrawnType],
    max_columns: int,
    keys: Sequence[Key],
    partitioned: Sequence[bool],
    names: st.SearchStrategy[str],
) -> TableInfo:
    """Draw a table. Some have a virtual column, which messages do not contain."""
    distinct = draw(st.lists(names, min_size=1, max_size=max_columns, unique_by=str.lower))
    columns = [draw(_columns(name, types)) for name in distinct]
    offsets = draw(
        st.lists(st.integers(0, len(distinct) - 1), min_size=1, max_size=2, unique=True).map(tuple)
    )
    key = draw(st.sampled_from(keys))
    for offset in () if key == "none" else offsets:
        columns[offset] = replace(columns[offset], nullable=False)
    primary = key == "primary"
    index = IndexInfo(id=1, name="k", offsets=offsets, unique=True, primary=primary, clustered=primary)
    virtual = ColumnInfo(name="virtual \u2028", type=T.LONG, generated="virtual")
    with_virtual = draw(st.booleans()) and virtual.name not in distinct
    return TableInfo(
        schema=draw(st.just("test") | names),
        name=draw(st.just("t") | names),
        table_id=TABLE_ID,
        columns=(*columns, virtual) if with_virtual else tuple(columns),
        indexes=() if key == "none" else (index,),
        partitions=(PartitionInfo(id=PARTITION_ID, name="p"),) if draw(st.sampled_from(partitioned)) else (),
    )


@st.composite
def _columns(draw: st.DrawFn, name: str, types: Sequence[DrawnType]) -> ColumnInfo:
    kind = draw(st.sampled_from(types))
    code = kind.code
    sign = TYPES[code].unsigned
    unsigned = sign == "always" or (sign == "optional" and draw(st.booleans()))
    length, decimal = draw(_sizes(code))
    column = ColumnInfo(
        name=name,
        type=code,
        length=length,
        decimal=decimal,
        unsigned=unsigned,
        zerofill=unsigned and code in INTEGERS and draw(st.booleans()),
        charset=kind.charset,
        elements=draw(_elements(code)),
        nullable=draw(st.booleans()),
    )
    return draw(_with_default(column))


def _sizes(code: MySQLType) -> st.SearchStrategy[tuple[int, int]]:
    """Generate valid combinations of length and decimals of a type."""
    unspecified = st.just(-1)
    if code == T.BIT:
        return st.tuples(st.sampled_from([1, 8, 9, 63, 64]), unspecified)
    if code == T.NEW_DECIMAL:
        return st.sampled_from([(10, 0), (12, 4), (1, 0), (65, 30), (30, 30)])
    if code in WITH_FSP:
        return st.tuples(unspecified, st.integers(0, 6))
    if code in FLOATS:
        return st.sampled_from([(-1, -1), (20, 3)])
    return st.tuples(st.just(12) if code in STRINGS else unspecified, unspecified)


def _elements(code: MySQLType) -> st.SearchStrategy[tuple[str, ...]]:
    """Generate members of an ENUM or SET, distinct even case-insensitively.

    Members of a SET contain no comma.

    Only the last one may end with a backslash: Debezium's list of members does not distinguish a backslash
    before a separator from an escaped comma.
    """
    if code not in (T.ENUM, T.SET):
        return st.just(())
    members = st.sampled_from(
        ["a", "A b", "it's", "'", "''", '"', "é", "%d", "back\\", "\\'", "<&>", "🙂", ""]
    )
    if code == T.ENUM:
        members |= st.just("a,b")
    few = st.lists(members, min_size=1, max_size=5, unique=True).map(_backslash_last)
    return few if code == T.ENUM else few | st.just(tuple(f"m{number}" for number in range(64)))


def _backslash_last(members: list[str]) -> tuple[str, ...]:
    return tuple(sorted(members, key=lambda member: member.endswith("\\")))


@st.composite
def _with_default(draw: st.DrawFn, column: ColumnInfo) -> ColumnInfo:
    if not TYPES[column.type].default or not draw(st.booleans()):
        return column
    if column.type in (T.DATETIME, T.TIMESTAMP) and draw(st.booleans()):
        return replace(column, has_default=True, default_expression="CURRENT_TIMESTAMP")
    return replace(column, has_default=True, default=draw(values(column)))
