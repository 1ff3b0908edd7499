"""Row changes of messages, with the values, the names and the keys that their tables have.

Messages of some protocols have other ones. The definition of a table says what they stand for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Flags, Numbers, concatenated, distinct_rows, filtered
from ticdc_producer.model.fidelity import Fidelity, StoredValues
from ticdc_producer.model.fingerprint import combined, not_zero, text_hashes, value_hashes
from ticdc_producer.model.mysql_type import TYPES, WITH_FSP, MySQLType
from ticdc_producer.replica.rows import columns_of, positions_of
from ticdc_producer.replica.versions import NO_VERSION, TableHistory, Version

_SIDES = (("before", "old_key"), ("after", "new_key"))


def changes_columns(fidelity: Fidelity) -> bool:
    """Return whether messages may have other values of columns, or other names, than their tables."""
    columns = (
        ColumnInfo(name="c", type=MySQLType(code), charset=charset, unsigned=True, elements=("a",))
        for code in TYPES
        for charset in ("binary", "utf8mb4")
    )
    changes_values = any(fidelity.stored_values(column) is not None for column in columns)
    return changes_values or fidelity.visible_name("-") != "-"


@dataclass(frozen=True)
class DefinedChanges:
    """The function from changes of messages to those of their tables (both shape ``events.CHANGES``).

    A change of a table whose definition is not known stays as it is.

    :param versions: of all tables, by the DDLs of the messages and the definitions of earlier tables.
    :param exact: whether time stamps are exact.
    """

    versions: tuple[Version, ...]
    fidelity: Fidelity
    exact: bool

    @property
    def is_needed(self) -> bool:
        """Whether messages may have other values, names or keys than their tables."""
        return changes_columns(self.fidelity) or not self.fidelity.marks_handle_keys

    def __call__(self, batches: Batches) -> Batches:
        """Yield the changes, in their order."""
        history = table_history(self.versions, exact=self.exact)
        for batch in batches:
            if not batch.num_rows:
                continue
            _, versions = families_of(history, batch)
            numbers = np.unique(versions).tolist()
            if all(self._is_as_sent(batch, versions == number, number) for number in numbers):
                yield batch
                continue
            of_versions = [self._changes(filtered(batch, versions == number), number) for number in numbers]
            rows = concatenated(of_versions)
            if len(numbers) > 1:
                rows = rows.take(pa.array(np.argsort(np.argsort(versions, kind="stable"))))
            yield rows

    def _is_as_sent(self, batch: pa.RecordBatch, rows: Flags, version: int) -> bool:
        return version == NO_VERSION or self._columns[version].is_as_sent(batch, rows)

    def _changes(self, rows: pa.RecordBatch, version: int) -> pa.RecordBatch:
        return rows if version == NO_VERSION else self._columns[version].changes(rows)

    @cached_property
    def _columns(self) -> Sequence[_VersionColumns]:
        return [_VersionColumns.of(version, self.fidelity) for version in self.versions]


@dataclass(frozen=True)
class _VersionColumns:
    """The meaning of the columns of a table in messages.

    :param names: the names of its columns by those in messages, if they differ.
    :param values: the functions from the values in messages, by the names of their columns there.
    """

    version: Version
    names: Mapping[str, str]
    values: Mapping[str, StoredValues]

    @classmethod
    def of(cls, version: Version, fidelity: Fidelity) -> _VersionColumns:
        columns = {fidelity.visible_name(column.name): column for column in version.definition.info.columns}
        values = {name: fidelity.stored_values(column) for name, column in columns.items()}
        return cls(
            version,
            {name: column.name for name, column in columns.items() if name != column.name},
            {
                name: partial(_complete, own, _digits(columns[name]))
                for name, own in values.items()
                if own is not None or _digits(columns[name])
            },
        )

    @property
    def _texts(self) -> Mapping[str, str]:
        """The names of the table by column of the changes."""
        info = self.version.definition.info
        return {"schema": info.schema, "table": info.name}

    def is_as_sent(self, batch: pa.RecordBatch, rows: Flags) -> bool:
        """Return whether the rows of this version in a batch have its names, values and keys already."""
        if self.names or self.values or (self.version.definition.key and _unmarked(batch)[rows].any()):
            return False
        own = pa.array(rows)
        return all(
            pc.all(pc.equal(batch.column(name).filter(own), text), skip_nulls=False).as_py()
            for name, text in self._texts.items()
        )

    def changes(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the changes of the table."""
        columns = {name: rows.column(name) for name in rows.schema.names}
        for name, text in self._texts.items():
            columns[name] = pa.repeat(text, rows.num_rows)
        for side, _ in _SIDES:
            columns[side] = self._images(columns[side])
        unmarked = _unmarked(rows)
        if self.version.definition.key and unmarked.any():
            columns["has_key"] = pc.or_(columns["has_key"], pa.array(unmarked))
            for side, key in _SIDES:
                columns[key] = pc.if_else(unmarked, self._keys(columns[side]), columns[key])
        return pa.RecordBatch.from_arrays([columns[name] for name in rows.schema.names], schema=rows.schema)

    def _images(self, images: pa.MapArray) -> pa.MapArray:
        keys, items = images.keys, images.items
        for name, values in self.values.items():
            own = pc.equal(keys, name)
            if pc.any(own).as_py():
                items = pc.replace_with_mask(items, own, values(items.filter(own)))
        if self.names:
            other = pc.index_in(keys, pa.array([*self.names]))
            keys = pc.coalesce(pa.array([*self.names.values()], pa.string()).take(other), keys)
        offsets = pc.if_else(
            pa.array(np.append(images.is_valid(), True)), images.offsets, pa.scalar(None, pa.int32())
        )
        return pa.MapArray.from_arrays(offsets, keys, items).cast(images.type)

    def _keys(self, images: pa.MapArray) -> pa.Array:
        """Return digests of the handle keys' values; 0 where an image lacks one."""
        names = self.version.definition.key
        present = np.logical_and.reduce([at >= 0 for at in positions_of(images, names)])
        hashes = combined(*map(value_hashes, columns_of(images, names)))
        return pa.array(np.where(present, not_zero(hashes), 0))


def _unmarked(rows: pa.RecordBatch) -> Flags:
    """Return which rows have no key in their messages."""
    old, new = (rows.column(key).to_numpy() for _, key in _SIDES)
    unmarked: Flags = (old == 0) & (new == 0)
    return unmarked


def _digits(column: ColumnInfo) -> int:
    """Return the number of digits after the point that each value of a column has."""
    fraction = column.type == MySQLType.NEW_DECIMAL or column.type in WITH_FSP
    return max(column.decimal, 0) if fraction else 0


def _complete(stored: StoredValues | None, digits: int, values: pa.Array) -> pa.Array:
    """Return values as they are stored, with all digits after the point, which some protocols leave out."""
    texts = values if stored is None else stored(values)
    return with_fraction(texts, digits) if digits else texts


def with_fraction(values: pa.Array, digits: int) -> pa.Array:
    """Return numbers or times with a number of digits after the point at least.

    >>> with_fraction(pa.array([b"1.5", b"-2", None, b"1.250"], pa.binary()), 2).to_pylist()
    [b'1.50', b'-2.00', None, b'1.250']
    """
    point = pc.fill_null(pc.find_substring(values, b"."), -1).to_numpy()
    length = pc.fill_null(pc.binary_length(values), 0).to_numpy()
    lacking = np.where(point < 0, digits + 1, np.maximum(digits + 1 - (length - point), 0))
    if not lacking.any():
        return values
    zeros = pa.array([b"." * (count > digits) + b"0" * min(count, digits) for count in range(digits + 2)])
    return pc.binary_join_element_wise(values, zeros.take(pa.array(lacking)), b"")


def table_history(versions: Sequence[Version], *, exact: bool) -> TableHistory:
    """Return the versions of tables, all of which are followed: some protocols mark primary keys alone."""
    return TableHistory(versions, exact=exact, keys_visible=lambda _: False)


def families_of(history: TableHistory, rows: pa.RecordBatch) -> tuple[Numbers, Numbers]:
    """Return a number for the table of each row, whatever its name, and the number of its version.

    >>> table, op = {"schema": "s", "table": "t", "definition": None}, pa.array(["insert", "update"])
    >>> versions = [Version(number=0, since=5, until=9, **table), Version(number=1, since=9, **table)]
    >>> columns = {"schema": ["s"] * 2, "table": ["t"] * 2, "op": op, "commit_ts": [6, 10]}
    >>> families, versions = families_of(table_history(versions, exact=True), pa.record_batch(columns))
    >>> families.tolist(), versions.tolist()
    ([0, 1], [0, 1])

    :param rows: with the columns ``schema``, ``table``, ``op`` and ``commit_ts``.
    """
    schemas, tables = rows.column("schema"), rows.column("table")
    first, codes = distinct_rows([schemas, tables])
    names = (column.take(pa.array(first)) for column in (schemas, tables))
    families = combined(*map(text_hashes, names)).view(np.int64)[codes]
    versions = np.full(rows.num_rows, NO_VERSION)
    is_row = rows.column("op").is_valid().to_numpy(zero_copy_only=False)
    for own in _groups(codes, is_row):
        name = str(schemas[int(own[0])].as_py() or ""), str(tables[int(own[0])].as_py())
        possible = history.versions_of(*name, rows.column("commit_ts").to_numpy()[own])
        # With rounded time stamps a row at the time of a DDL counts as later.
        index = np.where(possible.first > possible.last, len(possible.versions), possible.last)
        numbers = np.array([*(version.number for version in possible.versions), NO_VERSION])
        family = np.array([*(history.family_of(version.number) for version in possible.versions), 0])
        versions[own] = numbers[index]
        families[own] = np.where(versions[own] == NO_VERSION, families[own], family[index])
    return families, versions


def _groups(codes: Numbers, members: Flags) -> Iterator[Numbers]:
    """Yield the numbers of the chosen rows with each code.

    >>> codes, members = np.array([4, 7, 4, 7, 9]), np.array([True, True, True, False, False])
    >>> [numbers.tolist() for numbers in _groups(codes, members)]
    [[0, 2], [1]]
    """
    for code in np.unique(codes[members]).tolist():
        yield np.flatnonzero(members & (codes == code))
