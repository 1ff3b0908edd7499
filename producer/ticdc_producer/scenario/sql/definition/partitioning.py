"""Locates the partition of a row.

Rules: tidb ``pkg/table/tables/partition.go`` (``locateRangePartition``, ``ForHashPruning``,
``ForKeyPruning``).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import CHARSET_BEARING
from ticdc_producer.model.row_key import encode_part
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.collation import sort_key
from ticdc_producer.model.values.sql_value import Bits, SQLMode, display_value
from ticdc_producer.scenario.sql.expression.evaluate import evaluate
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.text.parse import parse_expression

Component: TypeAlias = tuple[int, int | bytes]
"""One value of a partition key in comparable form: NULL sorts before all values, MAXVALUE after them."""
Bound: TypeAlias = tuple[Component, ...]

NULL: Component = (0, 0)
MAXVALUE: Component = (2, 0)
_MODE = SQLMode(strict=False, zero_dates=True, zero_in_date=True)
"""Partition functions may not depend on the session (TiDB refuses those that do)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitioning:
    """The partitioning of a table; partitions are in the order of ``TableInfo.partitions``.

    :param kind: LIST and RANGE compare with ``bounds``, HASH and KEY take the remainder by ``count``.
    :param columns: names of the columns of ``COLUMNS`` and ``KEY``.
    :param expression: SQL text of the partition function, if it has no columns.
    :param bounds: per partition: for RANGE its one exclusive upper bound, for LIST all its values.
    :param count: number of partitions.
    :param default: index of the LIST partition for all other values; -1 without one.
    :param texts: per partition, its VALUES clause as SQL; empty for HASH and KEY.
    """

    kind: Literal["RANGE", "LIST", "HASH", "KEY"]
    columns: tuple[str, ...] = ()
    expression: str = ""
    bounds: tuple[tuple[Bound, ...], ...] = ()
    count: int = 0
    default: int = -1
    texts: tuple[str, ...] = field(default=(), compare=False)

    def locate(self, table: TableInfo, values: Sequence[Value]) -> int:
        """Return the index of the partition that a row belongs to.

        :raises ScenarioError: if no partition accepts the row.
        """
        if self.kind == "KEY":
            return _key_hash([_column(table, name) for name in self.columns], table, values) % self.count
        key = self._key(table, values)
        if self.kind == "HASH":
            rank, number = key[0]
            return abs(_signed(int(number))) % self.count if rank else 0
        index = self._range_partition(key) if self.kind == "RANGE" else self._list_partition(key)
        if index < 0:
            displayed = "NULL" if key[0] == NULL else display_value(self._displayed(table, values))
            raise ScenarioError(f"Table has no partition for value {displayed}", value=displayed)
        return index

    def accepts(self, table: TableInfo, values: Sequence[Value]) -> bool:
        """Return whether any partition accepts the row."""
        if self.kind in ("HASH", "KEY"):
            return True
        key = self._key(table, values)
        return (self._range_partition(key) if self.kind == "RANGE" else self._list_partition(key)) >= 0

    @property
    def accepts_all(self) -> bool:
        """Whether a partition accepts every value, because of MAXVALUE or DEFAULT, or by the kind."""
        if self.kind == "LIST":
            return self.default >= 0
        return self.kind != "RANGE" or any(bound[:1] == (MAXVALUE,) for bound in self.bounds[-1])

    @property
    def is_of_plain_column(self) -> bool:
        """Whether the value of one column alone is compared, without a function."""
        return len(self.columns) == 1 or (
            not self.columns and isinstance(_parsed(self.expression), exp.Column)
        )

    def uses(self) -> set[str]:
        """Return the names of the columns that the partition of a row depends on, in lower case."""
        if self.columns:
            return {name.lower() for name in self.columns}
        tree = _parsed(self.expression)
        return {node.name.lower() for node in tree.find_all(exp.Column)}

    def _key(self, table: TableInfo, values: Sequence[Value]) -> Bound:
        if self.columns:
            return tuple(component(column, values[offset]) for offset, column in self._key_columns(table))
        number = evaluate(_parsed(self.expression), Scope(_MODE, table, list(values)))
        if isinstance(number, Bits):
            number = number.number
        if number is not None and not isinstance(number, int):
            raise ScenarioError(
                "The PARTITION function returns the wrong type",
                value=display_value(number),
                hint="it must be INT",
            )
        return (NULL if number is None else (1, int(number)),)

    def _key_columns(self, table: TableInfo) -> list[tuple[int, ColumnInfo]]:
        return [(offset, table.columns[offset]) for offset in (_column(table, name) for name in self.columns)]

    def _displayed(self, table: TableInfo, values: Sequence[Value]) -> object:
        if self.columns:
            return (values[_column(table, self.columns[0])] or b"").decode("utf-8", "replace")
        return self._key(table, values)[0][1]

    def _range_partition(self, key: Bound) -> int:
        return next((offset for offset, (bound,) in enumerate(self.bounds) if key < bound), -1)

    def _list_partition(self, key: Bound) -> int:
        return next((offset for offset, accepted in enumerate(self.bounds) if key in accepted), self.default)


def _signed(number: int) -> int:
    """Return the signed 64-bit number with the bits of an unsigned one.

    Source: tidb ``locateHashPartition``.

    >>> _signed((1 << 64) - 2)
    -2
    """
    return number - (1 << 64) if number >= 1 << 63 else number


def component(column: ColumnInfo, value: Value) -> Component:
    """Return a column's value as part of a partition key."""
    return NULL if value is None else (1, encode_part(column, value))


def _column(table: TableInfo, name: str) -> int:
    return Scope(_MODE, table).offset(name)


def _key_hash(offsets: list[int], table: TableInfo, values: Sequence[Value]) -> int:
    """Return the CRC-32 over the values: text by its sort key, all else as text; NULL is one zero byte."""
    data = b""
    for offset in offsets:
        column, value = table.columns[offset], values[offset]
        if value is None:
            data += b"\0"
        elif column.type in CHARSET_BEARING:
            data += sort_key(value, column.collation)
        else:
            data += value
    return zlib.crc32(data)


@lru_cache(maxsize=256)
def _parsed(text: str) -> exp.Expr:
    return parse_expression(text, 1)


def chosen_partitions(table: TableInfo, names: Sequence[str]) -> frozenset[int] | None:
    """Return the ids of the partitions that ``PARTITION (…)`` names; None for no name.

    :raises ScenarioError: for an unknown partition, and for a table without partitions.
    """
    if not names:
        return None
    if not table.partitions:
        raise ScenarioError("PARTITION () clause on non partitioned table", value=table.name)
    ids = {partition.name.lower(): partition.id for partition in table.partitions}
    for name in names:
        if name.lower() not in ids:
            raise ScenarioError(f"Unknown partition '{name}' in table '{table.name}'", value=name)
    return frozenset(ids[name.lower()] for name in names)
