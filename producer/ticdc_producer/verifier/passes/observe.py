"""Reduces decoded events to what the invariants compare: keys and fingerprints instead of images."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import Op
from ticdc_producer.model.fingerprint import Hashes, combined, text_hashes, value_hashes
from ticdc_producer.model.shapes import WIRE, DecodedBatch, ExpectedBatch
from ticdc_producer.verifier.event_layouts import EventLayout, LayoutBatch
from ticdc_producer.verifier.events import NOTHING, EventKind, Events, Rule, numbered_pairs
from ticdc_producer.verifier.options import ExpectedDispatch, VerifyOptions
from ticdc_producer.verifier.row_digests import RULES, RowDigests, TableRules
from ticdc_producer.verifier.table_epochs import ddl_effect

_KEY_SALT, _CHECK_SALT = (np.array([salt], np.uint64) for salt in (0x5449, 0x4443))


@dataclass(frozen=True, kw_only=True)
class Observation:
    """The events of a batch, and what only the checks of single events need.

    :param options: what is known of the stream.
    :param batch: the batch (shape ``DECODED``).
    :param topic_rule: the topic that the dispatch rule of the event's table gives; NULL if unknown.
    :param certain: False if TiCDC's dispatch key is uncertain: NULLs (classic and new differ), rows with the
        handle key only, uncertain rules.
    :param null_handle: a handle column is NULL.
    :param illegal_flags: names of the columns with flags that TiDB never produces, each with the reason.
    :param reduced: the row has its handle key only, because it is large.
    :param old_key, old_key_check: the old row key of updates that change it.
    """

    events: Events
    options: VerifyOptions
    batch: LayoutBatch
    topic_rule: pa.Array
    certain: Flags
    null_handle: Flags
    illegal_flags: pa.Array
    reduced: Flags
    old_key: Numbers
    old_key_check: Numbers

    @property
    def decoded(self) -> pa.RecordBatch:
        """The batch as Arrow's."""
        return self.batch.decoded


_OBSERVED_FLAGS = ("certain", "null_handle", "reduced")
_OBSERVED_NUMBERS = ("old_key", "old_key_check")
"""The columns of an observation which :class:`Events` lack."""


class Observer:
    """The reduction of batches of decoded events to observations."""

    def __init__(self, options: VerifyOptions) -> None:
        self._options = options
        self._rules = TableRules(options)

    def observe(self, decoded: DecodedBatch | ExpectedBatch) -> Observation:
        """Reduce a batch.

        :param decoded: events of shape ``DECODED`` or ``EXPECTED_EVENTS``, with or without ``WIRE``.
        """
        return _Batch(decoded, self._options, self._rules).observation()


@dataclass
class _Batch(LayoutBatch):
    options: VerifyOptions
    rules: TableRules

    def observation(self) -> Observation:
        columns = self._empty_columns()
        for layout in self.layouts():
            for name, column in self._digests(layout).columns().items():
                columns[name][layout.rows] = column
        return Observation(
            events=self._events(columns),
            options=self.options,
            batch=self,
            topic_rule=self._topic_rule(),
            certain=columns["certain"],
            null_handle=columns["null_handle"],
            illegal_flags=pa.array(columns["illegal_flags"], pa.string()),
            reduced=self.reduced,
            old_key=columns["old_key"],
            old_key_check=columns["old_key_check"],
        )

    def _empty_columns(self) -> dict[str, Any]:
        """Return the columns of ``Events`` and ``Observation`` for events other than rows."""
        rows, schema = self.decoded.num_rows, Events.arrow_schema()
        flags = [column.name for column in schema if pa.types.is_boolean(column.type)]
        numbers = [column.name for column in schema if pa.types.is_integer(column.type)]
        columns: dict[str, Any] = {name: np.zeros(rows, np.bool_) for name in (*flags, *_OBSERVED_FLAGS)}
        columns.update({name: np.zeros(rows, np.int64) for name in (*numbers, *_OBSERVED_NUMBERS)})
        columns["key_change"] = np.full(rows, "", object)
        columns["illegal_flags"] = np.full(rows, None, object)
        columns["dispatch_key"][:] = NOTHING
        columns["certain"][:] = True
        return columns

    def _digests(self, layout: EventLayout) -> RowDigests:
        rule = self.rules.of(layout.schema, layout.table)
        rows = layout.rows
        return RowDigests(
            layout, self.tables[rows], self.commit_ts[rows], self.reduced[rows], rule, self.options
        )

    @cached_property
    def schema(self) -> pa.Array:
        return pc.fill_null(self.decoded.column("schema"), "")

    @cached_property
    def table(self) -> pa.Array:
        return pc.fill_null(self.decoded.column("table"), "")

    @cached_property
    def table_id(self) -> Numbers:
        return self.integers("table_id")

    @cached_property
    def tables(self) -> Hashes:
        """A hash of schema, table and physical table id."""
        return combined(text_hashes(self.schema), text_hashes(self.table), self.table_id)

    def _events(self, columns: dict[str, Any]) -> Events:
        row = self.kind == EventKind.ROW
        codes, rules = self._table_rules
        columns |= self._keys(columns, row)
        columns |= {
            "topic": self.decoded.column("topic"),
            "schema": self.schema,
            "table": self.table,
            "key_change": pa.array(columns["key_change"], pa.string()),
            "partition": self.integers("partition"),
            "position": self.positions,
            "kind": self.kind,
            "commit_ts": self.commit_ts,
            "table_id": self.table_id,
            "op": self.op,
            "shape": np.where(row, self.described.hashes, 0),
            "content": np.where(row, self.new.hashes, 0),
            "effect": self._effects(),
            "uncomparable": self._uncomparable(),
            "rule": np.array([_code(rule) for rule in rules], np.int64)[codes],
            # TiCDC hashes the handle key if a rule lists no columns.
            "hashes_handle": np.array([rule is None or rule.columns is None for rule in rules], bool)[codes],
        }
        if WIRE.name in self.decoded.schema.names:
            columns[WIRE.name] = self.integers(WIRE.name)
        return Events(**{field.name: columns[field.name] for field in fields(Events)})

    def _keys(self, columns: dict[str, Any], row: Flags) -> dict[str, Numbers]:
        """Return the key of each event's group, and what identical events of the group share."""
        ddl_type, images = self.integers("ddl_type"), combined(self.old.hashes, self.new.hashes)
        query = np.where(self.kind == EventKind.DDL, value_hashes(self.decoded.column("query")), 0)
        identity = combined(self.tables, self.kind, self.op, self.commit_ts, ddl_type, query, images)
        keys = {"identity": identity.view(np.int64)}
        # Rows without a handle key are in a group with their copies; other events with those of their time.
        for name, salt in (("key", _KEY_SALT), ("key_check", _CHECK_SALT)):
            salts = np.broadcast_to(salt, len(row))
            content, moment = combined(salts, identity), combined(salts, self.kind, self.commit_ts)
            other = np.where(row, content, moment).view(np.int64)
            keys[name] = np.where(columns["keyed"], columns[name], other)
        return keys

    def _effects(self) -> Numbers:
        effects = np.zeros(len(self.kind), np.int64)
        queries, actions = self.decoded.column("query"), self.integers("ddl_type")
        for number in np.flatnonzero(self.kind == EventKind.DDL).tolist():
            effects[number] = ddl_effect(queries[number].as_py() or "", int(actions[number]))
        return effects

    def _uncomparable(self) -> Flags:
        uncomparable = self.options.uncomparable
        if uncomparable is None:
            return np.ones(len(self.kind), bool)
        names = pc.binary_join_element_wise(self.schema, self.table, ".")
        listed = pc.is_in(names, pa.array(sorted(uncomparable), pa.string()))
        flags: Flags = listed.to_numpy(zero_copy_only=False)
        return flags

    @cached_property
    def _table_rules(self) -> tuple[Numbers, list[ExpectedDispatch | None]]:
        """For each event the number of the rule of its table, and the rules by number."""
        codes, tables = numbered_pairs(self.schema, self.table)
        return codes, [self.rules.of(*table) for table in tables]

    def _topic_rule(self) -> pa.Array:
        codes, rules = self._table_rules
        topics = pa.array([None if rule is None else rule.topic for rule in rules], pa.string())
        return topics.take(pa.array(codes))


def with_old_keys(events: Events, observation: Observation) -> Events:
    """Return the events, and one more at the old key of each update that changes the handle key.

    >>> rows = Events.with_columns(2, kind=EventKind.ROW, moves=[False, True], key=[5, 7])
    >>> of_observation = dict.fromkeys((field.name for field in fields(Observation)))
    >>> of_observation |= {"old_key": np.array([0, 6]), "old_key_check": np.array([0, 0])}
    >>> events = with_old_keys(rows, Observation(**of_observation))
    >>> events.key.tolist(), [EventKind(kind).name for kind in events.kind]
    ([5, 7, 6], ['ROW', 'ROW', 'OLD_KEY'])

    :param events: those of the observation, with their marks.
    """
    rows = np.flatnonzero(events.moves)
    if not len(rows):
        return events
    leaving = replace(
        events.take(rows),
        kind=np.full(len(rows), int(EventKind.OLD_KEY)),
        op=np.full(len(rows), int(Op.DELETE)),
        key=observation.old_key[rows],
        key_check=observation.old_key_check[rows],
        new=np.zeros(len(rows), np.int64),
        content=np.zeros(len(rows), np.int64),
    )
    return Events.joined([events, leaving])


def _code(rule: ExpectedDispatch | None) -> int:
    return int(Rule.UNKNOWN if rule is None else RULES[rule.rule])
