"""Reduces decoded events to what the invariants compare: keys and fingerprints instead of images."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Op
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.verifier.column_flags import is_odd
from ticdc_producer.verifier.ddl_effect import ddl_effect
from ticdc_producer.verifier.events import NOTHING, EventKind, Events, Rule, positions
from ticdc_producer.verifier.fingerprint import (
    Flags,
    Hashes,
    Numbers,
    combined,
    not_zero,
    text_hashes,
    value_hashes,
)
from ticdc_producer.verifier.forms import Descriptions, Form, Images, row_forms
from ticdc_producer.verifier.options import DispatchRule, VerifyOptions
from ticdc_producer.verifier.routing import (
    BY_VALUE,
    RULES,
    TableRules,
    dispatch_keys,
    has_null,
    hashed_columns,
)

_KINDS = {kind.name.lower(): int(kind) for kind in EventKind}
_OPS = {op.label: int(op) for op in Op}
_KEY_SALT, _CHECK_SALT = (np.array([salt], np.uint64) for salt in (0x5449, 0x4443))


@dataclass(frozen=True)
class Observation:
    """The events of a batch, and what only the checks of single events need.

    :param decoded: the batch (shape ``DECODED``).
    :param topic_rule: the topic that the dispatch rule of the event's table gives; NULL if unknown.
    :param certain: False if TiCDC's dispatch key is uncertain: NULLs (classic and new differ), rows with the
        handle key only, uncertain rules.
    :param null_handle: a handle column is NULL.
    :param odd_flags: names of the columns with flags that TiDB never produces, separated by commas.
    :param reduced: the row has its handle key only, because it is large.
    :param left_keys: both halves of the old row key of updates that change it.
    """

    events: Events
    decoded: pa.RecordBatch
    topic_rule: pa.Array
    certain: Flags
    null_handle: Flags
    odd_flags: pa.Array
    reduced: Flags
    left_keys: tuple[Hashes, Hashes]


class Observer:
    """Reduces batches of decoded events."""

    def __init__(self, options: VerifyOptions) -> None:
        self.options = options
        self.rules = TableRules(options)

    def observe(self, decoded: pa.RecordBatch, *, expected: bool = False) -> Observation:
        """Reduce a batch.

        :param decoded: events of shape ``DECODED`` or ``EXPECTED_EVENTS``.
        :param expected: whether they are expected events.
        """
        return _Batch(decoded, self.options, self.rules, expected).observation()


@dataclass
class _Batch:
    decoded: pa.RecordBatch
    options: VerifyOptions
    rules: TableRules
    expected: bool

    def observation(self) -> Observation:
        rows = np.flatnonzero(self.kind == EventKind.ROW)
        for form in row_forms(self.decoded, rows, self.old, self.new, self.described) if len(rows) else ():
            self._observe_form(form)
        for number in np.flatnonzero(self.kind == EventKind.DDL).tolist():
            action = self.decoded.column("ddl_type")[number].as_py() or 0
            self.columns["effect"][number] = ddl_effect(self.queries[number].as_py() or "", action)
        return Observation(
            self._events(),
            self.decoded,
            self._topic_rule(),
            self.certain,
            self.null_handle,
            pa.array(self.odd_flags, pa.string()),
            self.reduced,
            self.left_keys,
        )

    @cached_property
    def kind(self) -> Numbers:
        return _coded(self.decoded.column("kind"), _KINDS)

    @cached_property
    def op(self) -> Numbers:
        return _coded(self.decoded.column("op"), _OPS)

    @cached_property
    def queries(self) -> pa.Array:
        return self.decoded.column("query")

    @cached_property
    def old(self) -> Images:
        return Images(self.decoded.column("before"))

    @cached_property
    def new(self) -> Images:
        return Images(self.decoded.column("after"))

    @cached_property
    def described(self) -> Descriptions:
        return Descriptions(self.decoded.column("columns"))

    @cached_property
    def commit_ts(self) -> Numbers:
        return _integers(self.decoded, "commit_ts")

    @cached_property
    def table_id(self) -> Numbers:
        return _integers(self.decoded, "table_id")

    @cached_property
    def reduced(self) -> Flags:
        found: Flags = _integers(self.decoded, "handle_key_only") != 0
        return found

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """The columns of ``Events`` that depend on the form of a row."""
        size, known = self.decoded.num_rows, {field.name: str(field.type) for field in fields(Events)}
        kinds = {"Numbers": np.int64, "Flags": np.bool_}
        found = {name: np.zeros(size, kinds[kind]) for name, kind in known.items() if kind in kinds}
        found["dispatch_key"][:] = NOTHING
        return found

    @cached_property
    def certain(self) -> Flags:
        return np.ones(self.decoded.num_rows, bool)

    @cached_property
    def null_handle(self) -> Flags:
        return np.zeros(self.decoded.num_rows, bool)

    @cached_property
    def odd_flags(self) -> list[str | None]:
        return [None] * self.decoded.num_rows

    @cached_property
    def key_change(self) -> list[str]:
        return [""] * self.decoded.num_rows

    @cached_property
    def left_keys(self) -> tuple[Hashes, Hashes]:
        """The two halves of the old row key of updates that change it."""
        size = self.decoded.num_rows
        return np.zeros(size, np.uint64), np.zeros(size, np.uint64)

    def _observe_form(self, form: Form) -> None:
        rows, columns = form.rows, self.columns
        handle = [column for column in form.columns if column.flag & ColumnFlag.HANDLE_KEY]
        whole = ~self._key_columns_only(form, len(handle) == len(form.columns))
        old = self._completed(form)
        columns["whole"][rows] = whole
        columns["old"][rows] = np.where(whole, old, 0)
        columns["new"][rows] = np.where(whole, self.new.hashes[rows], 0)
        if handle:
            columns["keyed"][rows] = True
            pairs = [form.key_pair(column.name) for column in handle]
            columns["key"][rows], columns["key_check"][rows] = _row_key(pairs, self._tables[rows])
            self.null_handle[rows] = has_null(form, handle)
        self._observe_key_change(form, [column.name for column in handle])
        if odd := [column.name for column in form.columns if is_odd(column)] if self.options.flags else []:
            for row in rows.tolist():
                self.odd_flags[row] = ", ".join(odd)
        if rule := self.rules.of(form.schema, form.table):
            self._observe_rule(form, rule)

    def _observe_rule(self, form: Form, rule: DispatchRule) -> None:
        rows, columns = form.rows, self.columns
        code = RULES[rule.rule]
        columns["dispatch_key"][rows] = dispatch_keys(form, self.commit_ts[rows], rule, self.options)
        uncertain = np.zeros(len(rows), bool)
        if code in BY_VALUE:
            uncertain = self.reduced[rows] | has_null(form, hashed_columns(form.columns, rule))
        self.certain[rows] = rule.certain & ~uncertain

    def _key_columns_only(self, form: Form, handle_only: bool) -> Flags:
        """Whether events have the handle key columns only: large rows may, and deletes if configured."""
        delete = form.deletes and (handle_only or not self.options.whole_deletes)
        return self.reduced[form.rows] | delete

    def _completed(self, form: Form) -> Numbers:
        """Fingerprints of the old images, with the unchanged columns if only updated ones are sent."""
        others = [name for name in form.after if name not in form.before]
        updates = form.before and not form.deletes
        if self.options.old_columns == "all" or not others or not updates:
            return self.old.hashes[form.rows]
        starts = self.old.lists.starts[form.rows]
        with np.errstate(over="ignore"):
            total = self.old.lists.sums(self.old.pairs)[form.rows]
            for name in others:
                total = total + form.new_pair(name)
        return not_zero(self.old.closed(total, np.full(len(starts), len(form.before) + len(others))))

    def _observe_key_change(self, form: Form, handle: list[str]) -> None:
        """Note updates that change handle or unique columns.

        An old image of the updated columns lacks the other columns, which did not change.
        """
        keys = ColumnFlag.HANDLE_KEY | ColumnFlag.UNIQUE_KEY
        both = [
            column.name
            for column in form.columns
            if column.flag & keys and column.name in form.before and column.name in form.after
        ]
        if not both:
            return
        changed = np.stack([form.old_pair(name) != form.new_pair(name) for name in both])
        for number in np.flatnonzero(changed.any(axis=0)).tolist():
            names = (name for name, differs in zip(both, changed[:, number], strict=True) if differs)
            self.key_change[form.rows[number]] = ", ".join(names)
        moved = changed[[name in handle for name in both]].any(axis=0)
        if moved.any():
            pairs = [form.old_pair(name) if name in form.before else form.new_pair(name) for name in handle]
            left = _row_key(pairs, self._tables[form.rows])
            for half, keys_left in zip(self.left_keys, left, strict=True):
                half[form.rows] = keys_left.view(np.uint64)
            self.columns["moves"][form.rows] = moved

    @cached_property
    def _tables(self) -> Hashes:
        names = (text_hashes(self.decoded.column(name)) for name in ("schema", "table"))
        return combined(*names, self.table_id)

    def _events(self) -> Events:
        columns, row = self.columns, self.kind == EventKind.ROW
        shape = np.where(row, self.described.hashes, 0)
        keys = self._keys(row)
        schema, table = (pc.fill_null(self.decoded.column(name), "") for name in ("schema", "table"))
        return Events(
            **{
                **columns,
                **keys,
                "topic": self.decoded.column("topic"),
                "schema": schema,
                "table": table,
                "key_change": pa.array(self.key_change, pa.string()),
                "partition": _integers(self.decoded, "partition"),
                "position": positions(_integers(self.decoded, "offset"), _integers(self.decoded, "index")),
                "kind": self.kind,
                "commit_ts": self.commit_ts,
                "table_id": self.table_id,
                "op": self.op,
                "shape": shape,
                "content": np.where(row, self.new.hashes, 0),
                "untracked": self._untracked(schema, table),
                "expected": np.full(len(row), self.expected),
                "rule": self._rule_codes,
                "hashes_handle": self._hashes_handle,
            }
        )

    def _keys(self, row: Flags) -> dict[str, Numbers]:
        """Key of the group, and what identical events of it share."""
        columns = self.columns
        images = combined(self.old.hashes, self.new.hashes)
        query = np.where(self.kind == EventKind.DDL, value_hashes(self.queries), 0)
        ddl_type = _integers(self.decoded, "ddl_type")
        names = combined(self._tables, self.kind, self.op)
        identity = combined(names, self.commit_ts, ddl_type, query, images)
        # Rows without a handle key are in a group with their copies; other events with those of their time.
        found = {"identity": identity.view(np.int64)}
        for name, salt in (("key", _KEY_SALT), ("key_check", _CHECK_SALT)):
            content = combined(np.broadcast_to(salt, len(row)), identity)
            moment = combined(np.broadcast_to(salt, len(row)), self.kind, self.commit_ts)
            other = np.where(row, content, moment).view(np.int64)
            found[name] = np.where(columns["keyed"], columns[name], other)
        return found

    def _untracked(self, schema: pa.Array, table: pa.Array) -> Flags:
        untracked = self.options.untracked
        if untracked is None:
            return np.ones(len(schema), bool)
        names = pc.binary_join_element_wise(schema, table, ".")
        found: Flags = pc.is_in(names, pa.array(sorted(untracked), pa.string())).to_numpy(
            zero_copy_only=False
        )
        return found

    @cached_property
    def _table_rules(self) -> tuple[Numbers, list[DispatchRule | None]]:
        """The rules by number, and for each event the number of the rule of its table."""
        pairs = [
            pc.fill_null(self.decoded.column(name), "").dictionary_encode() for name in ("schema", "table")
        ]
        codes = [part.indices.to_numpy(zero_copy_only=False).astype(np.int64) for part in pairs]
        schemas, tables = (part.dictionary.to_pylist() for part in pairs)
        both, found = np.unique(codes[0] * max(len(tables), 1) + codes[1], return_inverse=True)
        named = [divmod(code, len(tables)) for code in both.tolist()]
        return found, [self.rules.of(schemas[one], tables[other]) for one, other in named]

    @cached_property
    def _rule_codes(self) -> Numbers:
        codes, rules = self._table_rules
        known = [Rule.UNKNOWN if rule is None else RULES[rule.rule] for rule in rules]
        return np.array([int(code) for code in known], np.int64)[codes]

    @cached_property
    def _hashes_handle(self) -> Flags:
        """TiCDC hashes the handle key if a rule lists no columns."""
        codes, rules = self._table_rules
        return np.array([rule is None or rule.columns is None for rule in rules], bool)[codes]

    def _topic_rule(self) -> pa.Array:
        codes, rules = self._table_rules
        topics = pa.array([None if rule is None else rule.topic for rule in rules], pa.string())
        return topics.take(pa.array(codes))


def _row_key(pairs: list[Hashes], tables: Hashes) -> tuple[Numbers, Numbers]:
    """128 bits of the table and the handle key; the order of its columns does not count."""
    with np.errstate(over="ignore"):
        total, product = pairs[0].copy(), combined(pairs[0])
        for pair in pairs[1:]:
            total, product = total + pair, product + combined(pair)
    width = np.full(len(total), len(pairs))
    key = combined(tables, total, width), combined(total, product, tables)
    return key[0].view(np.int64), key[1].view(np.int64)


def with_left_keys(events: Events, left: tuple[Hashes, Hashes]) -> Events:
    """The events, and one more at the old key of each update that changes the handle key."""
    rows = np.flatnonzero(events.moves)
    if not len(rows):
        return events
    moved = events.take(rows)
    leaving = replace(
        moved,
        kind=np.full(len(rows), int(EventKind.LEFT_KEY)),
        op=np.full(len(rows), int(Op.DELETE)),
        key=left[0][rows].view(np.int64),
        key_check=left[1][rows].view(np.int64),
        new=np.zeros(len(rows), np.int64),
        content=np.zeros(len(rows), np.int64),
    )
    return Events.joined([events, leaving])


def _coded(texts: pa.Array, codes: dict[str, int]) -> Numbers:
    """The number of each text; 0 for NULL."""
    numbers = pc.index_in(texts, pa.array(list(codes), pa.string()))
    values = np.array([0, *codes.values()], np.int64)
    found: Numbers = values[pc.fill_null(numbers, -1).to_numpy(zero_copy_only=False) + 1]
    return found


def _integers(batch: pa.RecordBatch, name: str) -> Numbers:
    """A column of integers, NULL as 0; zeros if the batch has no such column."""
    if name not in batch.schema.names:
        return np.zeros(batch.num_rows, np.int64)
    found: Numbers = pc.fill_null(batch.column(name), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return found
