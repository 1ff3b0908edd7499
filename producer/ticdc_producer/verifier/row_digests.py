"""Digests of row events: keys, fingerprints of images, dispatch keys, sets of columns.

H(a, b) is CRC-32 of the bytes of a followed by b; the parts are combined by xor; the partition is the
unsigned result modulo the number of partitions (docs/stream-semantics.md §6).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.dispatch.row_hashes import value_hashes
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.column import ColumnFlag as F
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.fingerprint import Hashes, combined
from ticdc_producer.verifier.event_layouts import DescribedColumn, EventLayout
from ticdc_producer.verifier.events import NOTHING, Rule
from ticdc_producer.verifier.options import ExpectedDispatch, VerifyOptions

RULES = {
    "table": Rule.TABLE,
    "index-value": Rule.INDEX_VALUE,
    "columns": Rule.COLUMNS,
    "ts": Rule.TS,
}
BY_VALUE = (Rule.INDEX_VALUE, Rule.COLUMNS)


class TableRules:
    """The dispatch rule of each table."""

    def __init__(self, options: VerifyOptions) -> None:
        self._options = options
        self._by_table: dict[tuple[str, str], ExpectedDispatch | None] = {}
        if options.rules is not None and not callable(options.rules):
            self._by_table = {(rule.schema, rule.table): rule for rule in options.rules}

    def of(self, schema: str, table: str) -> ExpectedDispatch | None:
        """Return the rule of a table; None if it is unknown."""
        name = schema, table
        if name not in self._by_table:
            rules = self._options.rules
            self._by_table[name] = rules(schema, table) if callable(rules) else None
        return self._by_table[name]


def hashed_columns(columns: tuple[DescribedColumn, ...], rule: ExpectedDispatch) -> list[DescribedColumn]:
    """Return the event's columns that a rule hashes."""
    if rule.columns is None:
        return [column for column in columns if column.flag & ColumnFlag.HANDLE_KEY]
    listed = {name.lower() for name in rule.columns}
    return [column for column in columns if column.name.lower() in listed]


def dispatch_keys(
    layout: EventLayout, commit_ts: Numbers, rule: ExpectedDispatch, options: VerifyOptions
) -> Numbers:
    """Return the number that decides the partition of each row; -1 if a value that the rule takes is unknown.

    >>> from ticdc_producer.verifier.event_layouts import Images
    >>> images = Images(pa.array([[("id", b"1")], [("id", b"2")]], pa.map_(pa.string(), pa.binary())))
    >>> columns = (DescribedColumn("id", "int", F.HANDLE_KEY),)
    >>> layout = EventLayout(np.array([1]), "s", "t", False, columns, {}, {"id": 0}, images, images)
    >>> rule = ExpectedDispatch(schema="s", table="t", rule="index-value")
    >>> dispatch_keys(layout, np.array([9]), rule, VerifyOptions()).tolist() == [crc32(b"st") ^ crc32(b"id2")]
    True

    :param commit_ts: of the layout's events.
    """
    of_table = crc32(f"{rule.schema}{rule.table}".encode())
    if rule.rule == "table":
        return np.full(len(layout.rows), of_table)
    if rule.rule == "ts":
        exact = options.fidelity.commit_ts in ("exact", "not deletes")
        return np.where(exact & (commit_ts != 0), commit_ts, NOTHING)
    hashed = hashed_columns(layout.columns, rule)
    # Some protocols mark primary keys only: a row without a marked one may still have a handle key.
    unmarked = not (hashed or options.fidelity.marks_handle_keys)
    listed = int(unmarked) if rule.columns is None else len(rule.columns)
    if len(hashed) < listed or any(column.name not in layout.key_image for column in hashed):
        return np.full(len(layout.rows), NOTHING)
    keys, known = np.full(len(layout.rows), of_table), np.ones(len(layout.rows), bool)
    for column in hashed:
        values = layout.key_values(column.name)
        keys ^= value_hashes(column.name, values)
        known &= _as_hashed(column.type, values, options)
    return np.where(known, keys, NOTHING)


def _as_hashed(kind: str, values: pa.Array, options: VerifyOptions) -> Flags | bool:
    """Return whether values read as the text that TiCDC hashes."""
    how = "always" if options.fidelity.hashed_types is None else options.fidelity.hashed_types.get(kind)
    if how != "unless negative":
        return how == "always"
    negative = pc.fill_null(pc.starts_with(values.cast(pa.binary()), "-"), False)
    not_negative: Flags = ~negative.to_numpy(zero_copy_only=False)
    return not_negative


def has_null(layout: EventLayout, columns: Iterable[str]) -> Flags:
    """Return whether some of the columns are NULL in the image with the row's key, or not in it."""
    null = np.zeros(len(layout.rows), bool)
    for name in columns:
        if name not in layout.key_image:
            return np.ones(len(layout.rows), bool)
        null |= layout.key_values(name).is_null().to_numpy(zero_copy_only=False)
    return null


_NUMBER = re.compile("(tinyint|smallint|mediumint|int|bigint|float|double|decimal|bit|year)( |$|\\()")
_UNSIGNED = re.compile("bit|year")
_BINARY = re.compile(
    "(tinyint|smallint|mediumint|int|bigint|float|double|decimal|bit|year|date|datetime|timestamp|time|json)"
    r"( |$|\()"
)
_ALL_FLAGS = sum(ColumnFlag)


def flag_fault(column: DescribedColumn, *, new: bool) -> str:
    """Return what is wrong with the flags of a column, which TiDB never produces; empty if nothing is.

    TiCDC new architecture sends a column of a partitioned table that was added or renamed without flags, but
    for the handle key's, and a stored generated column of the handle key without those of its index.

    :param new: whether TiCDC new architecture sends the column.
    """
    flag, kind = column.flag, column.type.lower()
    if new and not flag & ~F.HANDLE_KEY:
        return ""
    if flag & ~_ALL_FLAGS:
        return "unknown bits"
    if flag & F.NULLABLE and flag & (F.PRIMARY_KEY | F.HANDLE_KEY):
        return "a nullable primary key or handle key"
    if flag & F.HANDLE_KEY and not flag & (F.PRIMARY_KEY | F.UNIQUE_KEY | (F.GENERATED if new else 0)):
        return "a handle key that is not a primary or unique key"
    if flag & F.UNSIGNED and not _NUMBER.match(kind):
        return f"{kind} with the flag unsigned"
    if not flag & F.UNSIGNED and _UNSIGNED.match(kind):
        return f"{kind} without the flag unsigned"
    return f"{kind} without the flag binary" if _BINARY.match(kind) and not flag & F.BINARY else ""


Texts: TypeAlias = npt.NDArray[np.object_]
_UNIQUE = ColumnFlag.HANDLE_KEY | ColumnFlag.UNIQUE_KEY


@dataclass(frozen=True)
class RowDigests:
    """Columns for the rows of a layout; see ``Events`` and ``Observation``, which have them for all events.

    :param tables: hash of schema, table and physical table id of each row.
    :param commit_ts: of each row.
    :param reduced: the row has its handle key only, because it is large.
    :param rule: the dispatch rule of the table; None: unknown.
    """

    layout: EventLayout
    tables: Hashes
    commit_ts: Numbers
    reduced: Flags
    rule: ExpectedDispatch | None
    options: VerifyOptions

    def columns(self) -> dict[str, Numbers | Flags | Texts]:
        """Return the columns by name."""
        return {name: getattr(self, name) for name in ROW_COLUMNS}

    @cached_property
    def keyed(self) -> Flags:
        return np.full(len(self.layout.rows), bool(self.layout.handle_names))

    @cached_property
    def _key(self) -> tuple[Numbers, Numbers]:
        return row_key([self.layout.key_pair(name) for name in self.layout.handle_names], self.tables)

    @property
    def key(self) -> Numbers:
        return self._key[0]

    @property
    def key_check(self) -> Numbers:
        return self._key[1]

    @property
    def null_handle(self) -> Flags:
        return has_null(self.layout, self.layout.handle_names)

    @cached_property
    def whole(self) -> Flags:
        """Large rows may have the handle key columns only, and deletes if configured."""
        handle_only = len(self.layout.handle_names) == len(self.layout.columns)
        delete = self.layout.deletes and (handle_only or self.options.fidelity.deletes != "all")
        return ~(self.reduced | delete)

    @property
    def old(self) -> Numbers:
        return np.where(self.whole, self.layout.completed_old_images(self.options.fidelity), 0)

    @property
    def new(self) -> Numbers:
        return np.where(self.whole, self.layout.new_images.hashes[self.layout.rows], 0)

    @cached_property
    def _changes(self) -> dict[str, Flags]:
        """For each handle or unique column, whether an update changes it.

        An old image of the updated columns lacks the other columns, which did not change.
        """
        layout = self.layout
        names = [column.name for column in layout.columns if column.flag & _UNIQUE]
        both = [name for name in names if name in layout.before and name in layout.after]
        return {name: layout.old_pair(name) != layout.new_pair(name) for name in both}

    @property
    def key_change(self) -> Texts:
        changed_columns = np.full(len(self.layout.rows), "", object)
        for row in np.flatnonzero(_any(self._changes.values(), len(changed_columns))).tolist():
            changed_columns[row] = ", ".join(name for name, changed in self._changes.items() if changed[row])
        return changed_columns

    @cached_property
    def moves(self) -> Flags:
        changes = (changed for name, changed in self._changes.items() if name in self.layout.handle_names)
        return _any(changes, len(self.layout.rows))

    @cached_property
    def _old_key(self) -> tuple[Numbers, Numbers]:
        if not self.moves.any():
            return self._key
        layout = self.layout
        pairs = [
            layout.old_pair(name) if name in layout.before else layout.key_pair(name)
            for name in layout.handle_names
        ]
        return row_key(pairs, self.tables)

    @property
    def old_key(self) -> Numbers:
        return self._old_key[0]

    @property
    def old_key_check(self) -> Numbers:
        return self._old_key[1]

    @property
    def illegal_flags(self) -> Texts:
        if not self.options.fidelity.unique_columns:  # the protocol has no flags
            return np.full(len(self.layout.rows), None, object)
        new, columns = self.options.profile == "new", self.layout.columns
        faults = ((column.name, flag_fault(column, new=new)) for column in columns)
        texts = np.full(len(self.layout.rows), None, object)
        texts[:] = "; ".join(f"{name}: {fault}" for name, fault in faults if fault) or None
        for column in columns:
            # INV-HANDLE is about the handle key.
            if column.flag & (F.NULLABLE | F.HANDLE_KEY) or (new and not column.flag):
                continue
            for row in np.flatnonzero(self.layout.has_null(column.name)).tolist():
                fault = f"{column.name}: NULL in a column that is not nullable"
                texts[row] = f"{texts[row]}; {fault}" if texts[row] else fault
        return texts

    @property
    def dispatch_key(self) -> Numbers:
        if self.rule is None:
            return np.full(len(self.layout.rows), NOTHING)
        return dispatch_keys(self.layout, self.commit_ts, self.rule, self.options)

    @property
    def certain(self) -> Flags:
        if self.rule is None:
            return np.ones(len(self.layout.rows), bool)
        certain = np.full(len(self.layout.rows), self.rule.certain)
        if RULES[self.rule.rule] not in BY_VALUE:
            return certain
        hashed = [column.name for column in hashed_columns(self.layout.columns, self.rule)]
        return certain & ~self.reduced & ~has_null(self.layout, hashed)


ROW_COLUMNS = (
    "keyed", "key", "key_check", "null_handle", "whole", "old", "new", "key_change", "moves", "old_key",
    "old_key_check", "illegal_flags", "dispatch_key", "certain",
)  # fmt: skip


def row_key(pairs: list[Hashes], tables: Hashes) -> tuple[Numbers, Numbers]:
    """Return 128 bits of the table and the handle key, 0 without one; the order of columns does not count.

    >>> first, second, table = (np.array([number], np.uint64) for number in (5, 6, 7))
    >>> row_key([first, second], table) == row_key([second, first], table)
    True

    :param pairs: for each handle column the hashes of its name and value.
    """
    if not pairs:
        return np.zeros(len(tables), np.int64), np.zeros(len(tables), np.int64)
    with np.errstate(over="ignore"):
        total, product = pairs[0].copy(), combined(pairs[0])
        for pair in pairs[1:]:
            total, product = total + pair, product + combined(pair)
    key = combined(tables, total, np.full(len(total), len(pairs)))
    return key.view(np.int64), combined(total, product, tables).view(np.int64)


def _any(changes: Iterable[Flags], rows: int) -> Flags:
    any_changed = np.zeros(rows, bool)
    for changed in changes:
        any_changed |= changed
    return any_changed
