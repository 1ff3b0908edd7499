"""The dispatch rules of the tables of a stream, and the dispatch keys that they give.

H(a, b) is CRC-32 of the bytes of a followed by b; the parts are combined by xor; the partition is the
unsigned result modulo the number of partitions (docs/stream-semantics.md §6).
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.dispatch.row_hashes import value_hashes
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.verifier.events import NOTHING, Rule
from ticdc_producer.verifier.fingerprint import Flags, Numbers
from ticdc_producer.verifier.forms import DescribedColumn, Form
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
        self._found: dict[tuple[str, str], ExpectedDispatch | None] = {}
        if options.rules is not None and not callable(options.rules):
            self._found = {(rule.schema, rule.table): rule for rule in options.rules}

    def of(self, schema: str, table: str) -> ExpectedDispatch | None:
        """The rule of a table; None if it is unknown."""
        name = schema, table
        if name not in self._found:
            rules = self._options.rules
            self._found[name] = rules(schema, table) if callable(rules) else None
        return self._found[name]


def hashed_columns(columns: tuple[DescribedColumn, ...], rule: ExpectedDispatch) -> list[DescribedColumn]:
    """The event's columns that a rule hashes."""
    if rule.columns is None:
        return [column for column in columns if column.flag & ColumnFlag.HANDLE_KEY]
    listed = {name.lower() for name in rule.columns}
    return [column for column in columns if column.name.lower() in listed]


def dispatch_keys(form: Form, commit_ts: Numbers, rule: ExpectedDispatch, options: VerifyOptions) -> Numbers:
    """The number that decides the partition of each row; -1 if a hashed value is unknown.

    :param commit_ts: of the form's events.
    """
    of_table = crc32(f"{rule.schema}{rule.table}".encode())
    if rule.rule == "table":
        return np.full(len(form.rows), of_table)
    if rule.rule == "ts":
        return commit_ts
    hashed = hashed_columns(form.columns, rule)
    # Where a protocol marks primary keys only, a row without one may have a handle key nonetheless.
    unmarked = not (hashed or options.fidelity.marks_handle_keys)
    listed = int(unmarked) if rule.columns is None else len(rule.columns)
    if len(hashed) < listed or any(column.name not in form.key_image for column in hashed):
        return np.full(len(form.rows), NOTHING)
    keys, known = np.full(len(form.rows), of_table), np.ones(len(form.rows), bool)
    for column in hashed:
        values = form.key_values(column.name)
        keys ^= value_hashes(column.name, values)
        known &= _as_hashed(column.type, values, options)
    return np.where(known, keys, NOTHING)


def _as_hashed(kind: str, values: pa.Array, options: VerifyOptions) -> Flags | bool:
    """Whether values read as the text that TiCDC hashes."""
    how = "always" if options.fidelity.hashed_types is None else options.fidelity.hashed_types.get(kind)
    if how != "unless negative":
        return how == "always"
    negative = pc.fill_null(pc.starts_with(values.cast(pa.binary()), "-"), False)
    found: Flags = ~negative.to_numpy(zero_copy_only=False)
    return found


def has_null(form: Form, columns: Iterable[str]) -> Flags:
    """Whether some of the columns are NULL in the image with the row's key, or not in it."""
    found = np.zeros(len(form.rows), bool)
    for name in columns:
        if name not in form.key_image:
            return np.ones(len(form.rows), bool)
        found |= form.key_values(name).is_null().to_numpy(zero_copy_only=False)
    return found
