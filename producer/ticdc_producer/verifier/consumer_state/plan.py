"""The tables that a golden folder expects, the sources of a consumer's tables, and their comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pyarrow as pa

from ticdc_producer.engine.dataset import Dataset, Engine
from ticdc_producer.errors import FolderError, StateError
from ticdc_producer.hints import nearest
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.event_line import from_json
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.table import column_from_json
from ticdc_producer.verifier.consumer_state.canonical_value import actual_reader, expected_reader
from ticdc_producer.verifier.consumer_state.row_sums import RowSums, sums_of_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WRITE_AGAIN = "write it again: `run` with `out`"


@dataclass(frozen=True, kw_only=True)
class ExpectedTable:
    """One table of the state.

    :param columns: the columns that are sent, in table order.
    :param key: names of the handle key's columns; empty without a handle key.
    :param virtual: names of the columns that are not sent.
    :param file: its rows, one JSON object of column name and canonical text per line.
    :param sums: the sums of its rows; None: the folder has none.
    """

    schema: str
    name: str
    columns: tuple[ColumnInfo, ...]
    key: tuple[str, ...]
    virtual: tuple[str, ...]
    file: Path
    sums: RowSums | None = None

    @property
    def qualified_name(self) -> str:
        return f"{self.schema}.{self.name}"


def state_folder(at: int | None) -> str:
    """Return the folder of a state in a golden folder.

    :param at: its time stamp (TSO); None: the end.
    """
    return "state" if at is None else f"state.at/{at}"


def expected_tables(
    folder: Path, manifest: Mapping[str, object], at: int | None = None
) -> list[ExpectedTable]:
    """Return all tables of a state, sorted by name.

    :param manifest: the manifest of the folder.
    :param at: time stamp (TSO) of a state in the folder; None: the end.
    :raises FolderError: if the folder has no such state, or its manifest has no columns.
    """
    state = state_folder(at)
    tables = manifest.get("tables")
    if not isinstance(tables, Mapping):
        what = "the manifest lacks the columns of the tables"
        path = str(folder / "manifest.json")
        raise FolderError(what, path=path, hint=_WRITE_AGAIN).about("run", "out")
    if not (folder / state).is_dir():
        error = FolderError("the folder has no such state", path=str(folder / state), hint=_states(folder))
        raise error.about("out", "state_at", "messages_only")
    of_state = [
        _table(folder / str(name), table, sums_of_folder(str(name), manifest))
        for name, table in tables.items()
        if str(Path(name).parent) == state
    ]
    return sorted(of_state, key=lambda table: table.qualified_name)


def _states(folder: Path) -> str:
    existing = sorted(path.name for path in (folder / "state.at").glob("*"))
    if existing:
        return f"it has: {', '.join(existing)}"
    return (
        "a run with `out` writes the state at the end, with `state_at` at others, with `messages_only` none"
    )


def _table(file: Path, content: Mapping[str, Any], sums: RowSums | None) -> ExpectedTable:
    try:
        return ExpectedTable(
            schema=str(content["schema"]),
            name=str(content["table"]),
            columns=tuple(column_from_json(column) for column in content["columns"]),
            key=tuple(content["handle_key"]),
            virtual=tuple(content["virtual"]),
            file=file,
            sums=sums,
        )
    except (KeyError, TypeError, ValueError):
        what = "the manifest's columns of this table cannot be read"
        raise FolderError(what, path=str(file), hint=_WRITE_AGAIN).about("run", "out") from None


def select_tables(
    tables: Sequence[ExpectedTable], patterns: Sequence[str], *, argument: str = "tables"
) -> list[ExpectedTable]:
    """Return the tables whose names match one of the patterns.

    :param patterns: ``SCHEMA.TABLE``, in which ``*`` matches any characters; empty: all tables.
    :param argument: the argument of ``verify_state`` that has the patterns, for errors.
    :raises StateError: for a pattern that matches no table.
    """
    names = [table.qualified_name for table in tables]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            what = f"no table {pattern!r} is expected"
            raise StateError(what, source=f"`{argument}`", hint=nearest(pattern, names)).about(argument)
    return [
        table
        for table in tables
        if not patterns or any(fnmatchcase(table.qualified_name, pattern) for pattern in patterns)
    ]


Comparable: TypeAlias = tuple[list[Value], list[Value]]
"""Values of the key, and of the other columns; NULL only where the row has NULL."""


@dataclass(frozen=True, kw_only=True)
class TablePlan:
    """An expected table, matched with the consumer's table.

    :param number: number of the table in this comparison.
    :param actual: name of the consumer's table.
    :param key: columns by which rows are paired; all compared columns without a handle key.
    :param others: the other compared columns.
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
    others: tuple[ColumnInfo, ...]
    names: Mapping[str, str]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    zone: tzinfo
    fidelity: Fidelity

    def expected_row(self) -> Callable[[Mapping[str, object]], Comparable]:
        """Return the conversion of a row of a state file, given by column name."""
        key, others = (
            [(column.name, expected_reader(column, self.fidelity)) for column in columns]
            for columns in (self.key, self.others)
        )

        def row(values: Mapping[str, object]) -> Comparable:
            return (
                [read(from_json(values[name])) for name, read in key],
                [read(from_json(values[name])) for name, read in others],
            )

        return row

    def actual_row(self) -> Callable[[Sequence[object]], Comparable]:
        """Return the conversion of a row of the consumer, with values in the order of ``actual_columns``."""
        key, others = (
            [actual_reader(column, self.zone, self.fidelity) for column in columns]
            for columns in (self.key, self.others)
        )
        width = len(key)

        def row(values: Sequence[object]) -> Comparable:
            return (
                [read(value) for read, value in zip(key, values[:width], strict=True)],
                [read(value) for read, value in zip(others, values[width:], strict=True)],
            )

        return row

    @property
    def compares_whole_rows(self) -> bool:
        """Whether all columns of the expected table are compared."""
        return len(self.names) == len(self.table.columns)

    @property
    def actual_columns(self) -> list[str]:
        """Names of the compared columns in the consumer's table, those of the key first."""
        return [self.names[column.name] for column in (*self.key, *self.others)]


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
    expected = [column for column in table.columns if not _ignored(table, column.name, ignored)]
    names = _match_names([column.name for column in expected], columns)
    compared = [column for column in expected if column.name in names]
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
        others=tuple(column for column in compared if column not in key),
        names=names,
        missing=tuple(column.name for column in expected if column.name not in names),
        extra=tuple(extra),
        zone=zone,
        fidelity=fidelity,
    )


def _ignored(table: ExpectedTable, column: str, ignored: frozenset[str]) -> bool:
    return not ignored.isdisjoint({column.lower(), f"{table.qualified_name}.{column}".lower()})


def _match_names(expected: Sequence[str], columns: Iterable[str] | None) -> dict[str, str]:
    if columns is None:
        return {name: name for name in expected}
    existing = list(columns)
    by_lower_case = {name.lower(): name for name in existing}
    return {
        name: name if name in existing else by_lower_case[name.lower()]
        for name in expected
        if name in existing or name.lower() in by_lower_case
    }


BatchReader: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, kw_only=True)
class ActualTable:
    """A table of the consumer.

    :param name: its name in the source.
    :param columns: its columns; None: unknown before its rows are read.
    """

    name: str
    columns: tuple[str, ...] | None


class StateSource(Protocol):
    """A source of tables: a database, a folder, or tables that Spark reads."""

    @property
    def label(self) -> str:
        """The location of the source without passwords, for messages."""

    def find(self, table: ExpectedTable, name: str | None, unique_name: bool, /) -> ActualTable | None:
        """Find the consumer's table for an expected table; None if it does not exist.

        :param name: name given by the user; None: one of the default names.
        :param unique_name: whether no other expected table has the same name in another schema.
        :raises StateError: if the source cannot contain such tables.
        :raises StateSourceError: if the source cannot be reached.
        """

    def rows(self, spark: SparkSession, plan: TablePlan, /) -> DataFrame:
        """Return the rows of a table (shape ``COMPARABLE_ROWS``), in no order; Spark reads them lazily."""

    def dataset(self, engine: Engine, plan: TablePlan, /) -> Dataset | None:
        """Return the rows of a table as the consumer has them, in no order; None: without Arrow columns.

        :param engine: reads a source that does not need Spark.
        :returns: with the columns ``plan.actual_columns``, in any order, and maybe others.
        """


def default_names(table: ExpectedTable, *, unique_name: bool) -> list[str]:
    """Return the names that a consumer may give a table in a source without schemas."""
    whole = table.qualified_name
    names = [whole, f"{table.schema}_{table.name}", *([table.name] if unique_name else [])]
    return list(dict.fromkeys([*names, *(name.lower() for name in names)]))
