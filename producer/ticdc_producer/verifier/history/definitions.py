"""The definitions of columns: those of DDLs, of a folder, or as far as messages describe them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.mysql_type import TYPES, MySQLType, bare_name
from ticdc_producer.replica.versions import Version
from ticdc_producer.verifier.event_layouts import DescribedColumn
from ticdc_producer.verifier.fingerprint import Numbers

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

        A row with the ts of a DDL belongs before it; if commit-ts are rounded, after it, unless it does not
        have its columns. Without a commit-ts a row belongs to the newest definition with its columns.

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
    """Return the definition of a column as far as a message describes it; None if its type is unknown.

    >>> described = described_column(DescribedColumn("a", "enum('x','y')", 0))
    >>> described.type_name, described.elements
    ('enum', ('x', 'y'))
    """
    parts = _NAME.fullmatch(column.type.lower())
    known = parts and _types().get(f"{parts[1]}{parts[2]}".replace(" zerofill", ""))
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


@cache
def _types() -> dict[str, tuple[MySQLType, bool, bool]]:
    """Return by the name of a type its code, and whether it is binary and unsigned."""
    names = {}
    for code, spec in TYPES.items():
        for binary in (True, False):
            for unsigned in (True, False):
                name = bare_name(code, binary=binary, unsigned=unsigned)
                names[name] = (
                    MySQLType(code),
                    binary and (bool(spec.bytes_name) or not spec.bears_charset),
                    (unsigned and name.endswith("unsigned")),
                )
    return names
