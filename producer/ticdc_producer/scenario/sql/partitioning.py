"""Which partition takes a row.

Rules: tidb ``pkg/table/tables/partition.go`` (``locateRangePartition``, ``ForHashPruning``,
``ForKeyPruning``).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.collation import sort_key
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import CHARSET_BEARING
from ticdc_producer.model.row_key import encode_part
from ticdc_producer.model.sql_mode import SQLMode, shown_value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.dialect import parse_expression
from ticdc_producer.scenario.sql.evaluate import evaluate
from ticdc_producer.scenario.sql.scope import Scope

Component: TypeAlias = tuple[int, Any]
"""One value of a partition key, made to be compared: NULL before all values, MAXVALUE behind them."""
Bound: TypeAlias = tuple[Component, ...]

NULL: Component = (0, 0)
MAXVALUE: Component = (2, 0)
_MODE = SQLMode(strict=False, zero_dates=True, zero_in_date=True)
"""Partition functions may not depend on the session (TiDB refuses those that do)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitioning:
    """How a table is partitioned; its partitions stand in ``TableInfo.partitions`` in this order.

    :param kind: LIST and RANGE compare with ``bounds``, HASH and KEY divide by their number.
    :param columns: names of the columns of ``COLUMNS`` and ``KEY``.
    :param expression: SQL text where there are no columns.
    :param bounds: per partition: RANGE has the one bound it stays below, LIST all values it takes.
    :param default: the LIST partition that takes what no other does; -1 without one.
    """

    kind: Literal["RANGE", "LIST", "HASH", "KEY"]
    columns: tuple[str, ...] = ()
    expression: str = ""
    bounds: tuple[tuple[Bound, ...], ...] = ()
    count: int = 0
    default: int = -1

    def locate(self, table: TableInfo, values: Sequence[Value]) -> int:
        """The place of the partition that takes a row.

        :raises ScenarioError: if none does.
        """
        if self.kind == "KEY":
            return _key_hash([_column(table, name) for name in self.columns], table, values) % self.count
        key = self._key(table, values)
        if self.kind == "HASH":
            rank, number = key[0]
            return abs(number) % self.count if rank else 0
        found = self._below(key) if self.kind == "RANGE" else self._listed(key)
        if found < 0:
            shown = "NULL" if key[0] == NULL else shown_value(self._shown(table, values))
            raise ScenarioError(f"Table has no partition for value {shown}", value=shown)
        return found

    def takes(self, table: TableInfo, values: Sequence[Value]) -> bool:
        """Whether a partition takes the row."""
        if self.kind in ("HASH", "KEY"):
            return True
        key = self._key(table, values)
        return (self._below(key) if self.kind == "RANGE" else self._listed(key)) >= 0

    def uses(self) -> set[str]:
        """Names of the columns that the partition of a row depends on, in lower case."""
        if self.columns:
            return {name.lower() for name in self.columns}
        tree = _parsed(self.expression)
        return {node.name.lower() for node in tree.find_all(exp.Column)}

    def _key(self, table: TableInfo, values: Sequence[Value]) -> Bound:
        if self.columns:
            return tuple(component(column, values[place]) for place, column in self._places(table))
        number = evaluate(_parsed(self.expression), Scope(_MODE, table, list(values)))
        if number is not None and not isinstance(number, int):
            raise ScenarioError(
                "The PARTITION function returns the wrong type",
                value=shown_value(number),
                hint="it must be INT",
            )
        return (NULL if number is None else (1, int(number)),)

    def _places(self, table: TableInfo) -> list[tuple[int, ColumnInfo]]:
        return [(place, table.columns[place]) for place in (_column(table, name) for name in self.columns)]

    def _shown(self, table: TableInfo, values: Sequence[Value]) -> object:
        if self.columns:
            return (values[_column(table, self.columns[0])] or b"").decode("utf-8", "replace")
        return self._key(table, values)[0][1]

    def _below(self, key: Bound) -> int:
        return next((place for place, (bound,) in enumerate(self.bounds) if key < bound), -1)

    def _listed(self, key: Bound) -> int:
        return next((place for place, taken in enumerate(self.bounds) if key in taken), self.default)


def component(column: ColumnInfo, value: Value) -> Component:
    """A column's value as part of a partition key."""
    return NULL if value is None else (1, encode_part(column, value))


def _column(table: TableInfo, name: str) -> int:
    return Scope(_MODE, table).offset(name)


def _key_hash(places: list[int], table: TableInfo, values: Sequence[Value]) -> int:
    """CRC-32 over the values: text by its sort key, all else as text; NULL is one zero byte."""
    data = b""
    for place in places:
        column, value = table.columns[place], values[place]
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
