"""The two streams that are compared: their messages, and what is known of them and of their columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

import numpy as np

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import MySQLType, types_by_name
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.shapes import DECODED, BatchFunction
from ticdc_producer.replica.versions import Version
from ticdc_producer.verifier.event_layouts import DescribedColumn
from ticdc_producer.verifier.events import EventID
from ticdc_producer.verifier.history.common_form import (
    CONVERSION_ERRORS,
    CommonForm,
    Projection,
    Projections,
    applied,
)
from ticdc_producer.verifier.history.history_rows import TableName
from ticdc_producer.verifier.messages import Messages

_NAME = re.compile(r"(\w+)(?:\(.*\))?((?: \w+)*)", re.DOTALL)
_MEMBER = re.compile(r"'((?:[^']|'')*)'")
_MEMBERS = (MySQLType.ENUM, MySQLType.SET)


@dataclass(frozen=True)
class KnownDefinition:
    """A table between two DDLs.

    :param columns: by name, as the messages name them.
    :param key: names of the handle key's columns; empty without one; None: unknown.
    :param since: commit-ts of the DDL that began it; -1: unknown.
    """

    columns: Mapping[str, ColumnInfo]
    key: tuple[str, ...] | None = None
    since: int = -1


_UNKNOWN = KnownDefinition({})


@dataclass(frozen=True)
class TableDefinitions:
    """The definitions of tables in the order of their time.

    :param tables: by schema and table.
    """

    tables: Mapping[tuple[str, str], Sequence[KnownDefinition]] = field(default_factory=dict)

    @classmethod
    def of_versions(
        cls,
        versions: Iterable[Version],
        others: Mapping[tuple[str, str], KnownDefinition],
        name: Callable[[str], str],
    ) -> TableDefinitions:
        """Return the definitions that DDLs made.

        :param others: what else is known, for the tables that no DDL defines.
        :param name: returns a name as it is compared.
        """
        tables: dict[tuple[str, str], list[KnownDefinition]] = {}
        for version in versions:
            if not version.uncomparable_reason and version.definition.info.columns:
                table = name(version.schema), name(version.table)
                columns = version.definition.info.sent_columns
                key = tuple(map(name, version.definition.key))
                tables.setdefault(table, []).append(
                    KnownDefinition({name(column.name): column for column in columns}, key, version.since)
                )
        known = {
            (name(schema), name(table)): [
                replace(other, columns={name(key): column for key, column in other.columns.items()})
            ]
            for (schema, table), other in others.items()
        }
        return cls({**known, **tables})

    def has_keys_of(self, tables: Iterable[tuple[str, str]]) -> bool:
        """Return whether the handle key of one of some tables is known."""
        return any(version.key for table in tables for version in self.tables.get(table, ()))

    def of_rows(
        self, table: tuple[str, str], names: Iterable[str], commit_ts: Numbers, ticks: int = 0
    ) -> list[tuple[KnownDefinition, Numbers]]:
        """Return the definitions of rows, each with the numbers of its rows.

        A row with the ts of a DDL belongs before it; if commit-ts are rounded, after it, unless its columns
        differ from the columns after the DDL. Without a commit-ts a row belongs to the newest definition with
        its columns.

        >>> versions = [KnownDefinition({"a": None}, since=since) for since in (5, 9)]
        >>> definitions = TableDefinitions({("s", "t"): versions})
        >>> rows = definitions.of_rows(("s", "t"), ["a"], np.array([9, 10, 0]))
        >>> [(definition.since, numbers.tolist()) for definition, numbers in rows]
        [(5, [0]), (9, [1, 2])]

        :param names: the columns of the rows.
        :param commit_ts: of each row; 0: unknown.
        :param ticks: the number of TSOs that are rounded to one; 0: commit-ts are exact.
        """
        versions, own = self.tables.get(table, ()), {*names}
        same = [version for version in versions if own == version.columns.keys()]
        fitting = same or [version for version in versions if own <= version.columns.keys()] or versions
        if not fitting:
            return [(_UNKNOWN, np.arange(len(commit_ts)))]
        since = np.array([version.since for version in fitting])
        rounded = since - since % ticks if ticks else since
        numbers = np.searchsorted(rounded, commit_ts, "right" if ticks else "left") - 1
        numbers = np.where(commit_ts == 0, len(fitting) - 1, np.maximum(numbers, 0))
        return [(fitting[number], np.flatnonzero(numbers == number)) for number in np.unique(numbers)]


def described_column(column: DescribedColumn) -> ColumnInfo | None:
    """Return the definition of a column as a message describes it; None if its type is unknown.

    >>> described = described_column(DescribedColumn("a", "enum('x','y')", 0))
    >>> described.type_name, described.elements
    ('enum', ('x', 'y'))
    """
    parts = _NAME.fullmatch(column.type.lower())
    known = parts and types_by_name().get(f"{parts[1]}{parts[2]}".replace(" zerofill", ""))
    if not known:
        return None
    code, binary, unsigned = known
    members = _MEMBER.findall(column.type) if code in _MEMBERS else ()
    binary = binary or bool(column.flag & ColumnFlag.BINARY)
    return ColumnInfo(
        name=column.name,
        type=code,
        unsigned=unsigned,
        charset="binary" if binary else "utf8mb4",
        elements=tuple(member.replace("''", "'") for member in members),
    )


@dataclass(frozen=True, kw_only=True)
class HistorySide:
    """One of two streams that are compared.

    :param name: as the user named it.
    :param decode: decodes messages (shape ``MESSAGES``) to events (shape ``DECODED``).
    :param tables: what is known of tables without their DDLs.
    :param ddls: DDLs that are in no message: commit-ts, schema, table, text and action code.
    :param without_ddls: why the stream has no DDLs; empty: it has them.
    :param ordered: whether positions order the changes of a partition.
    """

    name: str
    protocol: str
    profile: Profile
    fidelity: Fidelity
    messages: Messages
    decode: BatchFunction
    tables: Mapping[TableName, KnownDefinition] = field(default_factory=dict)
    ddls: Sequence[tuple[int, str, str, str, int]] = ()
    without_ddls: str = ""
    ordered: bool = True

    @property
    def events(self) -> Dataset:
        """The events (shape ``DECODED``), decoded whenever they are read."""
        return self.messages.rows.merged().map(self.decode, DECODED)

    def at(self, positions: Iterable[EventID]) -> dict[EventID, DecodedRow]:
        """Return the events at some positions; only their messages are decoded."""
        return self.messages.decoded_at(positions, self.decode, DECODED)


@dataclass(frozen=True, kw_only=True)
class KnownSide:
    """The known properties of one side before its rows are read.

    :param side: its number, 0 or 1.
    :param definitions: what is known of tables besides the descriptions in messages.
    :param keys: by table the handle key of the other side, if it is known and never changes.
    :param described: by table the columns as the other side describes them.
    :param keyless: tables whose rows are compared without their key.
    :param patterns: ``SCHEMA.TABLE`` of the tables that are compared, with ``*``; empty: all.
    """

    form: CommonForm
    side: int
    definitions: TableDefinitions
    keys: Mapping[TableName, tuple[str, ...]] = field(default_factory=dict)
    described: Mapping[TableName, Mapping[str, DescribedColumn]] = field(default_factory=dict)
    keyless: Collection[TableName] = ()
    patterns: Sequence[str] = ()

    @property
    def fidelity(self) -> Fidelity:
        """What this side carries."""
        return self.form.fidelities[self.side]

    def includes(self, schema: str, table: str) -> bool:
        """Return whether a table is compared."""
        name = f"{schema}.{table}"
        matches = any(fnmatchcase(name, pattern) for pattern in self.patterns)
        return not self.patterns or (bool(table) and matches)


class ColumnProjections:
    """The conversion of the columns of one side to the common form.

    :ivar unreadable: columns that are not compared.
    """

    def __init__(self, known: KnownSide) -> None:
        self.unreadable: set[str] = set()
        self._known, self._of_column = known, dict[ColumnInfo, Projections | None]()

    def of(
        self, table: TableName, column: DescribedColumn, definition: KnownDefinition
    ) -> tuple[Projection | None, bool]:
        """Return the projection of a column, None if there is none, and whether the column is compared."""
        form, side = self._known.form, self._known.side
        if form.fidelities[0] == form.fidelities[1]:
            return None, True  # both change values alike
        other = self._known.described.get(table, {}).get(column.name)
        info = definition.columns.get(column.name) or described_column(column)
        if info is None and other is not None:
            info = described_column(other)
        if info is None:
            return None, True
        if info not in self._of_column:
            self._of_column[info] = form.projections(info)
        projections = self._of_column[info]
        if projections is None:
            self.unreadable.add(f"{'.'.join(table)}.{column.name}")
            return None, False
        return projections[side], True


def readable(projection: Projection | None, value: bytes | None) -> bytes | None:
    """Return a value in the common form; a value that is invalid for the type is unchanged."""
    try:
        return applied(projection, value)
    except CONVERSION_ERRORS:
        return value
