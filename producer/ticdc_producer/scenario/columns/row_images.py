"""Row images from columns of values, and images of one version of a table as those of a later version.

A DDL changes the rows of a table without events: a later change of a row has the image of the new version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import TYPES
from ticdc_producer.model.shapes import IMAGE
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import STRICT
from ticdc_producer.scenario.columns.key_columns import stored_key
from ticdc_producer.scenario.sql.definition.column_changes import column_converter

Values: TypeAlias = Mapping[int, pa.Array]
"""Canonical values by the offset of their column."""


def images_of(values: Values, present: Flags, rows: Numbers | None = None) -> pa.ListArray:
    """Return the row images of some rows, NULL for the others.

    >>> values = {0: pa.array([b"1", b"2"]), 1: pa.array([b"a", None])}
    >>> images_of(values, np.array([False, True])).to_pylist()
    [None, [b'2', None]]
    >>> images_of(values, np.array([True, False, True]), np.array([1, 0, 0])).to_pylist()
    [[b'2', None], None, [b'1', b'a']]

    :param present: which images have values.
    :param rows: the number of the row of each image; None: those of the values, in their order.
    """
    width, columns = len(values), [values[offset] for offset in sorted(values)]
    joined = pa.concat_arrays(columns)
    filled = np.flatnonzero(present) if rows is None else rows[present]
    positions = (np.arange(width) * len(columns[0]) + filled[:, None]).ravel()
    offsets = np.concatenate([[0], np.cumsum(present * width)]).astype(np.int32)
    starts = pa.array(offsets, mask=np.append(~present, False))
    return pa.ListArray.from_arrays(starts, joined.take(pa.array(positions)), type=IMAGE)


def columns_of(images: pa.ListArray, width: int) -> list[pa.Array]:
    """Return the columns of images, NULL where there is no image.

    :param width: the number of values of each image.

    >>> [column.to_pylist() for column in columns_of(pa.array([[b"1", b"a"], None], IMAGE), 2)]
    [[b'1', None], [b'a', None]]
    """
    starts = images.offsets.to_numpy(zero_copy_only=False)[:-1].astype(np.int64)
    absent = images.is_null().to_numpy(zero_copy_only=False)
    return [images.values.take(pa.array(starts + index, mask=absent)) for index in range(width)]


@dataclass(frozen=True, slots=True)
class _Move:
    """The value of a column after a DDL.

    :param source: index of its old value in the image; None: the column is new, and ``constant`` its value.
    :param rewritten: the column before and after, if the DDL converts its values.
    """

    source: int | None = None
    constant: Value = None
    rewritten: tuple[ColumnInfo, ColumnInfo] | None = None


def _moves(old: TableInfo, new: TableInfo) -> list[_Move]:
    """Return where the values of an image come from after a DDL.

    :raises UnsupportedSQL: if the two versions do not show it.
    """
    by_id = {old.columns[offset].id: index for index, offset in enumerate(old.sent)}
    remaining = {column.id for column in new.columns}
    gone = {column.name.lower(): column for column in old.columns if column.id not in remaining}
    moves, names = [], {column.name.lower() for column in new.columns}
    for column in new.sent_columns:
        if column.id in by_id:
            moves.append(_Move(by_id[column.id]))
        elif (before := gone.get(column.name.lower())) is not None and before.id in by_id:
            moves.append(_Move(by_id[before.id], rewritten=(before, column)))
        elif gone.keys() - names:
            raise _refused(new, f"whether column {column.name!r} is new or was renamed is not known")
        else:
            moves.append(_Move(constant=column.origin_default))
    if any(move.rewritten for move in moves) and any(column.generated == "stored" for column in new.columns):
        raise _refused(new, "a stored generated column may follow from the changed one")
    return moves


def check_alteration(old: TableInfo, new: TableInfo) -> None:
    """Check that rows of a table can follow a DDL without being read.

    :raises UnsupportedSQL: if they cannot.
    """
    _moves(old, new)
    if _key(old) != _key(new):
        raise _refused(new, "it changes the key that identifies rows")


def _key(table: TableInfo) -> tuple[object, ...]:
    """Return what the encoding of a table's keys depends on."""
    key = stored_key(table)
    columns = (table.columns[offset] for offset in key.offsets)
    each = ((c.id, TYPES[c.type].key, c.unsigned, c.decimal, c.collation) for c in columns)
    return key.integer, key.index.lengths, *each


def _refused(table: TableInfo, reason: str) -> UnsupportedSQL:
    what = f"this DDL of {table.qualified_name}, whose rows come from a large DataFrame, is not supported"
    return UnsupportedSQL(
        f"{what}: {reason}", hint="write a DDL that adds, drops, renames or modifies a column"
    )


@dataclass(frozen=True)
class RowVersions:
    """The versions of some tables, by which images become those of a later version.

    :param tables: each version, in the order in which they followed each other.
    """

    tables: Sequence[TableInfo]

    @cached_property
    def table(self) -> dict[int, TableInfo]:
        """Each version by its number."""
        return {table.version: table for table in self.tables}

    @cached_property
    def layouts(self) -> Numbers:
        """A number for each version, which is equal for those that store a row with the same columns."""
        numbers: dict[bytes, int] = {}
        layouts = np.zeros(1 + max(self.table, default=0), np.int64)
        for version, table in self.table.items():
            layouts[version] = numbers.setdefault(table.stored_ids, len(numbers))
        return layouts

    @cached_property
    def chains(self) -> dict[int, list[int]]:
        """The versions of each table, in order, by its id."""
        chains: dict[int, list[int]] = {}
        for table in self.table.values():
            chains.setdefault(table.table_id, []).append(table.version)
        return chains

    def converted(self, images: pa.ListArray, versions: Numbers, targets: Numbers) -> pa.ListArray:
        """Return images of some versions as those of later versions of the same tables.

        >>> from dataclasses import replace
        >>> from ticdc_producer.model.mysql_type import MySQLType
        >>> a, b = (ColumnInfo(name=name, id=id, type=MySQLType.LONG) for id, name in enumerate("ab"))
        >>> columns = (a,), (replace(b, origin_default=b"7"), a)  # ADD COLUMN b INT DEFAULT 7 FIRST
        >>> table = TableInfo(schema="s", name="t", table_id=1, columns=(a,))
        >>> versions = RowVersions([replace(table, version=n, columns=c) for n, c in enumerate(columns)])
        >>> images = pa.array([[b"1"], [b"2", b"3"], None], IMAGE)
        >>> versions.converted(images, np.array([0, 1, 0]), np.array([1, 1, 1])).to_pylist()
        [[b'7', b'1'], [b'2', b'3'], None]

        :param versions: the version of each image.
        :param targets: the version that it becomes.
        """
        stale = np.flatnonzero((versions != targets) & images.is_valid().to_numpy(zero_copy_only=False))
        if not len(stale):
            return images
        pairs, pair_of = np.unique(
            np.stack([versions[stale], targets[stale]], axis=1), axis=0, return_inverse=True
        )
        groups, rows = [images], [np.arange(len(images))]
        for number, (version, target) in enumerate(pairs.tolist()):
            own = stale[pair_of.ravel() == number]
            groups.append(self._advanced(images.take(pa.array(own)), version, target))
            rows.append(own)
        # The last image of a row is its own: converted ones come after the given ones.
        order = np.arange(len(images))
        ends = np.cumsum([len(group) for group in groups])
        for end, group, own in zip(ends[1:], groups[1:], rows[1:], strict=True):
            order[own] = np.arange(end - len(group), end)
        return pa.concat_arrays(groups).take(pa.array(order))

    def _advanced(self, images: pa.ListArray, version: int, target: int) -> pa.ListArray:
        """Return images of one version as those of another: the DDLs between are applied one by one."""
        chain = self.chains[self.table[target].table_id]
        passed = chain[chain.index(version) : chain.index(target) + 1]
        columns = columns_of(images, len(self.table[version].sent))
        for before, after in pairwise(passed):
            columns = [
                _moved(move, columns, len(images)) for move in _moves(self.table[before], self.table[after])
            ]
        return images_of(dict(enumerate(columns)), np.ones(len(images), bool))


def _moved(move: _Move, columns: Sequence[pa.Array], rows: int) -> pa.Array:
    if move.source is None:
        return pa.repeat(pa.scalar(move.constant, pa.binary()), rows)
    if move.rewritten is None:
        return columns[move.source]
    convert = column_converter(*move.rewritten, STRICT)
    coded = columns[move.source].dictionary_encode()
    return pa.array([convert(value) for value in coded.dictionary.to_pylist()], pa.binary()).take(
        coded.indices
    )
