"""The plan of a table's comparison: its columns, and the conversion of rows of both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, TypeAlias

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.json_value import from_json
from ticdc_producer.verifier.consumer_state.canonical_value import actual_reader, expected_reader
from ticdc_producer.verifier.consumer_state.expected import ExpectedTable

Comparable: TypeAlias = tuple[list[Value], list[Value]]
"""Values of the key, and of the other columns; NULL only where the row has NULL."""


@dataclass(frozen=True, kw_only=True)
class TablePlan:
    """An expected table, matched with the consumer's table.

    :param number: number of the table in this comparison.
    :param actual: name of the consumer's table.
    :param key: columns by which rows are paired; all compared columns without a handle key.
    :param rest: the other compared columns.
    :param names: expected to actual column name, for the compared columns.
    :param missing: expected columns that the consumer's table lacks.
    :param extra: columns of the consumer's table that are not expected.
    :param zone: the changefeed's time zone.
    :param fidelity: fidelity of the protocol.
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
    fidelity: Fidelity

    def expected_row(self) -> Callable[[Mapping[str, Any]], Comparable]:
        """Returns the conversion of a row of a state file, given by column name."""
        key, rest = (
            [(column.name, expected_reader(column, self.fidelity)) for column in columns]
            for columns in (self.key, self.rest)
        )

        def row(values: Mapping[str, Any]) -> Comparable:
            return (
                [read(from_json(values[name])) for name, read in key],
                [read(from_json(values[name])) for name, read in rest],
            )

        return row

    def actual_row(self) -> Callable[[Sequence[Any]], Comparable]:
        """Returns the conversion of a row of the consumer, with values in the order of ``actual_columns``."""
        key, rest = (
            [actual_reader(column, self.zone, self.fidelity) for column in columns]
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
        """Names of the compared columns in the consumer's table, those of the key first."""
        return [self.names[column.name] for column in (*self.key, *self.rest)]


def plan_table(
    number: int,
    table: ExpectedTable,
    actual: str,
    columns: Iterable[str] | None,
    *,
    ignored: frozenset[str],
    zone: tzinfo,
    fidelity: Fidelity,
) -> TablePlan:
    """Match the columns of both sides by name, regardless of case.

    :param columns: columns of the consumer's table; None: unknown, all are assumed to exist.
    :param ignored: ``COLUMN`` or ``SCHEMA.TABLE.COLUMN`` in lower case.
    """
    wanted = [column for column in table.columns if not _ignored(table, column.name, ignored)]
    names = _match_names([column.name for column in wanted], columns)
    compared = [column for column in wanted if column.name in names]
    taken = {*names.values(), *(column.name for column in table.columns)}
    known = {name.lower() for name in (*taken, *table.virtual)}
    extra = [
        name
        for name in columns or ()
        if name not in taken and name.lower() not in known and not _ignored(table, name, ignored)
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
        fidelity=fidelity,
    )


def _ignored(table: ExpectedTable, column: str, ignored: frozenset[str]) -> bool:
    return not ignored.isdisjoint({column.lower(), f"{table.qualified_name}.{column}".lower()})


def _match_names(wanted: Sequence[str], columns: Iterable[str] | None) -> dict[str, str]:
    if columns is None:
        return {name: name for name in wanted}
    existing = list(columns)
    by_lower_case = {name.lower(): name for name in existing}
    return {
        name: name if name in existing else by_lower_case[name.lower()]
        for name in wanted
        if name in existing or name.lower() in by_lower_case
    }
