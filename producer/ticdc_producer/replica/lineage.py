"""Finds the version of a table that a row belongs to, and the tables whose rows a DDL moves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from ticdc_producer.model.table import TableInfo
from ticdc_producer.replica.versions import Version

TableName = tuple[str, str]
Numbers = npt.NDArray[np.int64]
NO_VERSION = -1
_END = np.iinfo(np.int64).max


class Lineage:
    """The versions of all tables, and how they follow from each other.

    :param versions: in order.
    :param keys_visible: returns whether rows name the columns of their handle key. A table without them is
        followed, because its DDL has them.
    :param exact: time stamps of rows and DDLs are exact: a row with the ts of a DDL belongs before it. If
        they are exact to the millisecond only, it counts as later.
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
        self._side: Literal["left", "right"] = "left" if exact else "right"

    @cached_property
    def followed(self) -> Mapping[int, Version]:
        """By number, the versions of tables with rows that a DDL moves, and of all tables of their names."""
        families = self._families
        moving = {families[one.number] for one in self._versions if self._must_be_followed(one)}
        while True:
            names = {version.name for version in self._versions if families[version.number] in moving}
            more = {families[version.number] for version in self._versions if version.name in names} - moving
            if not more:
                return {one.number: one for one in self._versions if families[one.number] in moving}
            moving |= more

    def _must_be_followed(self, version: Version) -> bool:
        definition = version.definition
        hidden_key = bool(definition.key) and not self._keys_visible(definition.info)
        return bool(version.moves or version.doubt) or hidden_key

    @cached_property
    def names(self) -> frozenset[TableName]:
        """Schema and table of all followed versions."""
        return frozenset(version.name for version in self.followed.values())

    @cached_property
    def doubts(self) -> Mapping[TableName, str]:
        """Why the rows at the end of some followed tables cannot be derived from the stream."""
        found: dict[int, str] = {}
        for number, version in self.followed.items():
            found[number] = found.get(number) or version.doubt
            for move in version.moves:
                found[move.target] = found.get(move.target) or found[number] or move.doubt
        return {
            version.name: found[number]
            for number, version in self.followed.items()
            if version.until is None and found[number]
        }

    def earlier_names(self, name: TableName) -> frozenset[TableName]:
        """The names of a table, and of the tables whose rows a DDL moved into it."""
        families = self._families
        own = {families[number] for number, version in self.followed.items() if version.name == name}
        return frozenset({name}) | {
            version.name for number, version in self.followed.items() if families[number] in own
        }

    def family_of(self, number: int) -> int:
        """The number that versions share whose rows a DDL may bring together."""
        return self._families[number]

    @cached_property
    def keyed_families(self) -> frozenset[int]:
        """The families whose rows never change their handle key: not its columns, nor their names or values.

        The changes of a row can be brought together by that key.
        """
        changed = {
            self._families[version.number]
            for version in self.followed.values()
            for move in version.moves
            if self._changes_key(version, self._versions[move.target])
            or any(
                cell.after is not None and cell.source in version.definition.key for cell in move.cells or ()
            )
        }
        return frozenset(self._families[number] for number in self.followed) - changed

    @staticmethod
    def _changes_key(version: Version, target: Version) -> bool:
        return version.definition.key != target.definition.key

    def version_of(self, schema: str, table: str, commit_ts: Numbers) -> Numbers:
        """The number of the version of each row of a followed table; ``NO_VERSION`` if it had none then."""
        versions = self._of_name.get((schema, table), [])
        since = np.array([version.since for version in versions], np.int64)
        until = np.array([_END if version.until is None else version.until for version in versions], np.int64)
        numbers = np.array([version.number for version in versions], np.int64)
        current = np.searchsorted(since, commit_ts, self._side) - 1
        # Versions of one name follow each other, so a row is in the newest one that has begun, or in none.
        ended = np.searchsorted(until, commit_ts, self._side)
        found = np.full(len(commit_ts), NO_VERSION)
        present = (current >= 0) & (ended <= current)
        found[present] = numbers[current[present]]
        return found

    @cached_property
    def _of_name(self) -> Mapping[TableName, list[Version]]:
        found: dict[TableName, list[Version]] = defaultdict(list)
        for version in self.followed.values():
            found[version.name].append(version)
        return found

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
            for move in version.moves:
                first, second = sorted((root(version.number), root(move.target)))
                family[second] = first
        return [root(number) for number in range(len(family))]
