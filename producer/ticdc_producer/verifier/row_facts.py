"""What the verifier needs of row events: keys, fingerprints of their images, combinations of flags."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.column import ColumnFlag as F
from ticdc_producer.verifier.events import NOTHING
from ticdc_producer.verifier.fingerprint import Flags, Hashes, Numbers, combined, not_zero
from ticdc_producer.verifier.forms import DescribedColumn, Form
from ticdc_producer.verifier.options import ExpectedDispatch, VerifyOptions
from ticdc_producer.verifier.routing import BY_VALUE, RULES, dispatch_keys, has_null, hashed_columns

_UNSIGNED = re.compile("bit|year")
_BINARY = re.compile(
    "(tinyint|smallint|mediumint|int|bigint|float|double|decimal|bit|year|date|datetime|timestamp|time|json)"
    r"( |$|\()"
)


def is_odd(column: DescribedColumn) -> bool:
    """Whether a column has flags that TiDB never produces.

    A primary key is not nullable; the handle key is a primary or unique key; BIT and YEAR are unsigned;
    numbers, dates and JSON are binary. TiCDC new architecture sends a column of a partitioned table that was
    added or renamed without flags, but for the handle key's.
    """
    flag, kind = column.flag, column.type.lower()
    return bool(flag & ~F.HANDLE_KEY) and bool(
        (flag & F.PRIMARY_KEY and flag & F.NULLABLE)
        or (flag & F.HANDLE_KEY and not flag & (F.PRIMARY_KEY | F.UNIQUE_KEY))
        or (_UNSIGNED.match(kind) and not flag & F.UNSIGNED)
        or (_BINARY.match(kind) and not flag & F.BINARY)
    )


Texts: TypeAlias = npt.NDArray[np.object_]
_UNIQUE = ColumnFlag.HANDLE_KEY | ColumnFlag.UNIQUE_KEY


@dataclass(frozen=True)
class RowFacts:
    """Columns for the rows of a form; see ``Events`` and ``Observation``, which have them for all events.

    :param tables: hash of schema, table and physical table id of each row.
    :param commit_ts: of each row.
    :param reduced: the row has its handle key only, because it is large.
    :param rule: the dispatch rule of the table; None: unknown.
    """

    form: Form
    tables: Hashes
    commit_ts: Numbers
    reduced: Flags
    rule: ExpectedDispatch | None
    options: VerifyOptions

    def columns(self) -> dict[str, Any]:
        """The columns by name."""
        return {name: getattr(self, name) for name in ROW_COLUMNS}

    @cached_property
    def _handle(self) -> list[str]:
        return [column.name for column in self.form.columns if column.flag & ColumnFlag.HANDLE_KEY]

    @cached_property
    def keyed(self) -> Flags:
        return np.full(len(self.form.rows), bool(self._handle))

    @cached_property
    def _key(self) -> tuple[Numbers, Numbers]:
        return row_key([self.form.key_pair(name) for name in self._handle], self.tables)

    @property
    def key(self) -> Numbers:
        return self._key[0]

    @property
    def key_check(self) -> Numbers:
        return self._key[1]

    @property
    def null_handle(self) -> Flags:
        return has_null(self.form, self._handle)

    @cached_property
    def whole(self) -> Flags:
        """Large rows may have the handle key columns only, and deletes if configured."""
        handle_only = len(self._handle) == len(self.form.columns)
        delete = self.form.deletes and (handle_only or self.options.fidelity.deletes != "all")
        return ~(self.reduced | delete)

    @property
    def old(self) -> Numbers:
        return np.where(self.whole, self._completed, 0)

    @property
    def new(self) -> Numbers:
        return np.where(self.whole, self.form.new_images.hashes[self.form.rows], 0)

    @property
    def _completed(self) -> Numbers:
        """Fingerprints of the old images, with the unchanged columns if only updated ones are sent."""
        form = self.form
        others = [name for name in form.after if name not in form.before]
        updates = form.before and not form.deletes
        if self.options.fidelity.old_values != "updated" or not others or not updates:
            return form.old_images.hashes[form.rows]
        with np.errstate(over="ignore"):
            total = form.old_images.sums[form.rows]
            for name in others:
                total = total + form.new_pair(name)
        return not_zero(combined(total, np.full(len(total), len(form.before) + len(others))))

    @cached_property
    def _changes(self) -> dict[str, Flags]:
        """For each handle or unique column, whether an update changes it.

        An old image of the updated columns lacks the other columns, which did not change.
        """
        form = self.form
        names = [column.name for column in form.columns if column.flag & _UNIQUE]
        both = [name for name in names if name in form.before and name in form.after]
        return {name: form.old_pair(name) != form.new_pair(name) for name in both}

    @property
    def key_change(self) -> Texts:
        found = np.full(len(self.form.rows), "", object)
        for row in np.flatnonzero(_any(self._changes.values(), len(found))).tolist():
            found[row] = ", ".join(name for name, changed in self._changes.items() if changed[row])
        return found

    @cached_property
    def moves(self) -> Flags:
        changes = (changed for name, changed in self._changes.items() if name in self._handle)
        return _any(changes, len(self.form.rows))

    @cached_property
    def _left(self) -> tuple[Numbers, Numbers]:
        if not self.moves.any():
            return self._key
        form = self.form
        pairs = (form.old_pair if name in form.before else form.key_pair for name in self._handle)
        return row_key([pair(name) for pair, name in zip(pairs, self._handle, strict=True)], self.tables)

    @property
    def left_key(self) -> Numbers:
        return self._left[0]

    @property
    def left_key_check(self) -> Numbers:
        return self._left[1]

    @property
    def odd_flags(self) -> Texts:
        if not self.options.fidelity.unique_columns:  # the protocol has no flags
            return np.full(len(self.form.rows), None, object)
        odd = [column.name for column in self.form.columns if is_odd(column)]
        return np.full(len(self.form.rows), ", ".join(odd) or None, object)

    @property
    def dispatch_key(self) -> Numbers:
        if self.rule is None:
            return np.full(len(self.form.rows), NOTHING)
        return dispatch_keys(self.form, self.commit_ts, self.rule, self.options)

    @property
    def certain(self) -> Flags:
        if self.rule is None:
            return np.ones(len(self.form.rows), bool)
        certain = np.full(len(self.form.rows), self.rule.certain)
        if RULES[self.rule.rule] not in BY_VALUE:
            return certain
        hashed = [column.name for column in hashed_columns(self.form.columns, self.rule)]
        return certain & ~self.reduced & ~has_null(self.form, hashed)


ROW_COLUMNS = (
    "keyed", "key", "key_check", "null_handle", "whole", "old", "new", "key_change", "moves", "left_key",
    "left_key_check", "odd_flags", "dispatch_key", "certain",
)  # fmt: skip


def row_key(pairs: list[Hashes], tables: Hashes) -> tuple[Numbers, Numbers]:
    """128 bits of the table and the handle key, 0 without one; the order of its columns does not count.

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


def _any(changes: Any, rows: int) -> Flags:
    found = np.zeros(rows, bool)
    for changed in changes:
        found |= changed
    return found
