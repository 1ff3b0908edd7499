"""Which columns of a table are compared, and how a row of either side becomes what is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, TypeAlias

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Losses
from ticdc_producer.model.json_value import from_json
from ticdc_producer.verifier.consumer_state.cell import actual_reader, expected_reader
from ticdc_producer.verifier.consumer_state.expected import ExpectedTable

Comparable: TypeAlias = tuple[list[Value], list[Value]]
"""The key's values and those of the other columns; both empty of NULL only where the row is."""


@dataclass(frozen=True, kw_only=True)
class TablePlan:
    """One table, matched with what the consumer filled.

    :param number: of the table in this comparison.
    :param actual: the name it has there.
    :param key: columns by which rows are paired; all that are compared where there is no handle key.
    :param rest: the other columns that are compared.
    :param names: expected to actual column name, of the compared columns.
    :param missing: columns that should be there and are not.
    :param extra: columns that are there and nobody expects.
    """

    number: int
    table: ExpectedTable
    actual: str
    key: tuple[ColumnInfo, ...]
    rest: tuple[ColumnInfo, ...]
    names: Mapping[str, str]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    zone: tzinfo
    losses: Losses

    def expected_row(self) -> Callable[[Mapping[str, Any]], Comparable]:
        """Of a line of a state file."""
        key, rest = (
            [(column.name, expected_reader(column, self.losses)) for column in columns]
            for columns in (self.key, self.rest)
        )

        def row(line: Mapping[str, Any]) -> Comparable:
            return (
                [read(from_json(line[name])) for name, read in key],
                [read(from_json(line[name])) for name, read in rest],
            )

        return row

    def actual_row(self) -> Callable[[Sequence[Any]], Comparable]:
        """Of values in the order of ``actual_columns``."""
        key, rest = (
            [actual_reader(column, self.zone, self.losses) for column in columns]
            for columns in (self.key, self.rest)
        )
        width = len(key)

        def row(values: Sequence[Any]) -> Comparable:
            return (
                [read(value) for read, value in zip(key, values[:width], strict=True)],
                [read(value) for read, value in zip(rest, values[width:], strict=True)],
            )

        return row

    @property
    def actual_columns(self) -> list[str]:
        """Names of the compared columns on the actual side, the key's first."""
        return [self.names[column.name] for column in (*self.key, *self.rest)]


def plan_table(
    number: int,
    table: ExpectedTable,
    actual: str,
    columns: Iterable[str] | None,
    *,
    ignored: frozenset[str],
    zone: tzinfo,
    losses: Losses,
) -> TablePlan:
    """Match the columns of both sides by name, in the same case or not.

    :param columns: those of the consumer's table; None where only its rows tell: then all are there.
    :param ignored: ``COLUMN`` or ``SCHEMA.TABLE.COLUMN`` in lower case.
    """
    wanted = [column for column in table.columns if not _ignored(table, column.name, ignored)]
    names = _matched([column.name for column in wanted], columns)
    compared = [column for column in wanted if column.name in names]
    taken = {*names.values(), *(column.name for column in table.columns)}
    aside = {name.lower() for name in (*taken, *table.virtual)}
    extra = [
        name
        for name in columns or ()
        if name not in taken and name.lower() not in aside and not _ignored(table, name, ignored)
    ]
    keyed = bool(table.key) and all(name in names for name in table.key)
    key = [column for column in compared if not keyed or column.name in table.key]
    return TablePlan(
        number=number,
        table=table,
        actual=actual,
        key=tuple(key),
        rest=tuple(column for column in compared if column not in key),
        names=names,
        missing=tuple(column.name for column in wanted if column.name not in names),
        extra=tuple(extra),
        zone=zone,
        losses=losses,
    )


def _ignored(table: ExpectedTable, column: str, ignored: frozenset[str]) -> bool:
    return not ignored.isdisjoint({column.lower(), f"{table.qualified_name}.{column}".lower()})


def _matched(wanted: Sequence[str], columns: Iterable[str] | None) -> dict[str, str]:
    if columns is None:
        return {name: name for name in wanted}
    there = list(columns)
    by_case = {name.lower(): name for name in there}
    return {
        name: name if name in there else by_case[name.lower()]
        for name in wanted
        if name in there or name.lower() in by_case
    }
