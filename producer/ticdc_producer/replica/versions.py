"""Versions of tables: the version of each row, and the destination of its rows when a DDL ends it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning

Partition: TypeAlias = tuple[str, int]
"""Topic and number of a partition."""
Copies: TypeAlias = Mapping[Partition, tuple[int, int]]
"""By partition the positions of the first and the last copy of a DDL."""
LENIENT = SQLMode(strict=False, zero_dates=True, zero_in_date=True, invalid_dates=True, utf8_check=False)
"""A mode without checks: the upstream has accepted the values."""


@dataclass(frozen=True, kw_only=True)
class Definition:
    """The definition of a table by the DDLs of a stream.

    :param info: without ids; columns that are added come last.
    :param next_index_id: the id of the next index; of equal candidates for the handle key the lowest wins.
    """

    info: TableInfo
    partitioning: Partitioning | None = None
    next_index_id: int = 1

    @cached_property
    def key(self) -> tuple[str, ...]:
        """Names of the columns of the handle key; empty without one."""
        index = self.info.handle_index
        return () if index is None else tuple(self.info.columns[offset].name for offset in index.offsets)


@dataclass(frozen=True, kw_only=True)
class ColumnMapping:
    """The source of a column's values when a DDL changes a table.

    :param source: name of the column before the DDL; empty for a new column.
    :param constant: value of a new column.
    :param before: the column before the DDL, if its values have to be converted.
    :param after: the column after the DDL, if its values have to be converted.
    """

    name: str
    source: str = ""
    constant: bytes | None = None
    before: ColumnInfo | None = None
    after: ColumnInfo | None = None

    @property
    def is_unchanged(self) -> bool:
        """True if name and values stay."""
        return self.source == self.name and self.after is None


@dataclass(frozen=True, kw_only=True)
class RowMigration:
    """The rows that a DDL moves from one version to another.

    :param target: number of the version.
    :param columns: columns of the target; None if all columns stay as they are.
    :param partitions: indexes of the partitions whose rows move; None: all rows.
    :param uncomparable_reason: why the values after the DDL cannot be derived from the stream, or empty.
    """

    target: int
    columns: tuple[ColumnMapping, ...] | None = None
    partitions: frozenset[int] | None = None
    uncomparable_reason: str = ""


@dataclass(kw_only=True)
class Version:
    """A table under one name and definition, between two DDLs.

    :param number: position among all versions, in the order of their DDLs.
    :param schema: name of the database; ``table``: of the table.
    :param since: commit-ts of the DDL that created it.
    :param until: commit-ts of the DDL that ended it; None: it did not end.
    :param ended_at: by partition the positions of the first and the last copy of that DDL.
    :param migrations: what becomes of its rows at its end; rows without a migration are gone.
    :param uncomparable_reason: why its rows cannot be derived from the stream; empty if they can.
    """

    number: int
    schema: str
    table: str
    since: int
    definition: Definition
    until: int | None = None
    ended_at: Copies = field(default_factory=dict)
    migrations: list[RowMigration] = field(default_factory=list)
    uncomparable_reason: str = ""

    @property
    def name(self) -> tuple[str, str]:
        """Schema and table."""
        return self.schema, self.table


TableName = tuple[str, str]
NO_VERSION, UNDECIDED = -1, -2
_END = np.iinfo(np.int64).max


class Positions(NamedTuple):
    """The positions of rows in their partitions.

    :param partitions: the different partitions.
    :param codes: by row the index of its partition.
    :param positions: by row the offset and index, as one number.
    """

    partitions: Sequence[Partition]
    codes: Numbers
    positions: Numbers


class PossibleVersions(NamedTuple):
    """The versions of a table to which rows may belong.

    :param versions: all versions of the table's name, in order.
    :param first, last: by row the indexes of the first and the last one; a row of none has a first one after
        the last one.
    """

    versions: Sequence[Version]
    first: Numbers
    last: Numbers

    def of_rows(self, rows: Positions) -> Numbers:
        """Return the number of the version of each row; ``NO_VERSION``: none, ``UNDECIDED``: one of several.

        In a partition, rows before a DDL come before it, and later rows after it (docs/stream-semantics.md
        §7.2). A row between two copies of the DDL may be a repeated one.

        >>> table, copies = {"schema": "s", "table": "t", "definition": None}, {("topic", 0): (40, 50)}
        >>> versions = [Version(number=n, since=n, ended_at=copies, **table) for n in (0, 1)]
        >>> rows = Positions([("topic", 0)], np.zeros(3, np.int64), np.array([30, 45, 60]))
        >>> PossibleVersions(versions, np.zeros(3, np.int64), np.ones(3, np.int64)).of_rows(rows).tolist()
        [0, -2, 1]
        """
        numbers = np.array([*(version.number for version in self.versions), NO_VERSION], np.int64)
        index, unknown = self.first.copy(), np.zeros(len(self.first), bool)
        index[self.first > self.last] = len(self.versions)
        several = self.first < self.last
        if several.any():
            for number in range(self.first[several].min(), self.last[several].max()):
                here = np.flatnonzero((self.first <= number) & (number < self.last))
                copies = self.versions[number].ended_at
                first, last = (
                    np.array([copies[name][end] if name in copies else _END for name in rows.partitions])
                    for end in (0, 1)
                )
                code, position = rows.codes[here], rows.positions[here]
                before, after = position < first[code], position > last[code]
                present = np.array([name in copies for name in rows.partitions], bool)[code]
                unknown[here] |= ~(present & (before | after))
                index[here] += (~(present & before)).astype(np.int64)
        return np.where(unknown, UNDECIDED, numbers[index])


class TableHistory:
    """The versions of all tables, and how they follow from each other.

    :param versions: in order.
    :param keys_visible: returns whether rows name the columns of their handle key. A table without them is
        followed, because its DDL has them.
    :param exact: time stamps of rows and DDLs are exact: a row with the ts of a DDL belongs before it. If
        they are rounded, it may belong to each version that exists at this ts.
    """

    def __init__(
        self,
        versions: Sequence[Version] = (),
        *,
        exact: bool = True,
        keys_visible: Callable[[TableInfo], bool] = lambda _: True,
    ) -> None:
        self._versions = versions
        self._keys_visible = keys_visible
        self._exact = exact

    @cached_property
    def followed(self) -> Mapping[int, Version]:
        """By number, the versions of tables with rows that a DDL moves, and of all tables of their names."""
        families = self._families
        moving = {families[version.number] for version in self._versions if self._must_be_followed(version)}
        while True:
            names = {version.name for version in self._versions if families[version.number] in moving}
            more = {families[version.number] for version in self._versions if version.name in names} - moving
            if not more:
                return {
                    version.number: version
                    for version in self._versions
                    if families[version.number] in moving
                }
            moving |= more

    def _must_be_followed(self, version: Version) -> bool:
        definition = version.definition
        hidden_key = bool(definition.key) and not self._keys_visible(definition.info)
        return bool(version.migrations or version.uncomparable_reason) or hidden_key

    @cached_property
    def names(self) -> frozenset[TableName]:
        """Schema and table of all followed versions."""
        return frozenset(version.name for version in self.followed.values())

    @cached_property
    def uncomparable_reasons(self) -> Mapping[TableName, str]:
        """Why the rows at the end of some followed tables cannot be derived from the stream."""
        reasons: dict[int, str] = {}
        for number, version in self.followed.items():
            reasons[number] = reasons.get(number) or version.uncomparable_reason
            for migration in version.migrations:
                reasons[migration.target] = (
                    reasons.get(migration.target) or reasons[number] or migration.uncomparable_reason
                )
        return {
            version.name: reasons[number]
            for number, version in self.followed.items()
            if version.until is None and reasons[number]
        }

    def earlier_names(self, name: TableName) -> frozenset[TableName]:
        """Return the names of a table, and of the tables whose rows a DDL moved into it."""
        families = self._families
        own = {families[number] for number, version in self.followed.items() if version.name == name}
        return frozenset({name}) | {
            version.name for number, version in self.followed.items() if families[number] in own
        }

    def family_of(self, number: int) -> int:
        """Return the number that versions share whose rows a DDL may bring together."""
        return self._families[number]

    @cached_property
    def keyed_families(self) -> frozenset[int]:
        """The families whose rows never change their handle key: not its columns, nor their names or values.

        The changes of a row can be brought together by that key.
        """
        changed = {
            self._families[version.number]
            for version in self.followed.values()
            for migration in version.migrations
            if self._changes_key(version, self._versions[migration.target])
            or any(
                mapping.after is not None and mapping.source in version.definition.key
                for mapping in migration.columns or ()
            )
        }
        return frozenset(self._families[number] for number in self.followed) - changed

    @staticmethod
    def _changes_key(version: Version, target: Version) -> bool:
        return version.definition.key != target.definition.key

    def versions_of(self, schema: str, table: str, commit_ts: Numbers) -> PossibleVersions:
        """Return the versions of a table to which rows may belong.

        With versions since 5 until 9, and since 9, a row at 9 is in the first one if time stamps are exact: a
        row with the ts of a DDL belongs before it. If they are rounded, it may be in either.

        >>> table = {"schema": "s", "table": "t", "definition": None}
        >>> versions = [Version(number=0, since=5, until=9, **table), Version(number=1, since=9, **table)]
        >>> for exact in (True, False):
        ...     possible = TableHistory(versions, exact=exact).versions_of("s", "t", np.array([6, 9, 10]))
        ...     print(possible.first, possible.last)
        [0 0 1] [0 0 1]
        [0 0 1] [0 1 1]
        """
        versions = self._of_name.get((schema, table), [])
        since = np.array([version.since for version in versions], np.int64)
        until = np.array([_END if version.until is None else version.until for version in versions], np.int64)
        # Versions of one name follow each other, so both bounds ascend.
        first = np.searchsorted(until, commit_ts, "left")
        last = np.searchsorted(since, commit_ts, "left" if self._exact else "right") - 1
        return PossibleVersions(versions, np.minimum(first, last + 1), last)

    @cached_property
    def _of_name(self) -> Mapping[TableName, list[Version]]:
        by_name: dict[TableName, list[Version]] = defaultdict(list)
        for version in self._versions:
            by_name[version.name].append(version)
        return by_name

    @cached_property
    def _families(self) -> list[int]:
        """By version, the lowest number of its family."""
        family = list(range(len(self._versions)))

        def root(number: int) -> int:
            while family[number] != number:
                family[number] = family[family[number]]
                number = family[number]
            return number

        for version in self._versions:
            for migration in version.migrations:
                first, second = sorted((root(version.number), root(migration.target)))
                family[second] = first
        return [root(number) for number in range(len(family))]
