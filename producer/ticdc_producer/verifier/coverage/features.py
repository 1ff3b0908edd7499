"""Counts the features of a stream, and derives the traps that it exercises.

    decoded events ──▶ cells, rows, tables, DDLs ──by key──▶ keys of rows ──by partition──▶ delivery

A view whose rows are groups of events is computed where its events come together.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Part, Sides, Tagged
from ticdc_producer.model.event import Op
from ticdc_producer.model.trap_coverage import CoverageRule, Feature, Need
from ticdc_producer.verifier.coverage import keys
from ticdc_producer.verifier.coverage.conditions import condition
from ticdc_producer.verifier.coverage.definitions import (
    DDLS,
    ColumnCells,
    Variants,
    add_ddls,
    ddl_rows,
    statement_counts,
)
from ticdc_producer.verifier.coverage.delivery import delivery_counts
from ticdc_producer.verifier.coverage.occurrences import (
    FeatureCounts,
    TrapOccurrences,
    ViewEvents,
    trap_occurrences,
)
from ticdc_producer.verifier.coverage.ordered_events import DeliveredEvents, delivered
from ticdc_producer.verifier.events import EventKind, without_tombstones
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.key_groups import first_deliveries
from ticdc_producer.verifier.passes.observe import Observation, Observer

_EVENT, _DDL = "event", "ddl"
_OBSERVED = {
    _EVENT: DeliveredEvents.arrow_schema(),
    _DDL: DDLS,
    **{kind: rows.arrow_schema() for kind, rows in keys.KEY_ROWS.items()},
}
_GROUPED = {_EVENT: DeliveredEvents.arrow_schema(), keys.MOVED_ROW: keys.MovedRows.arrow_schema()}


@dataclass(frozen=True, slots=True)
class Visibility:
    """The properties of a changefeed's events that a reader can observe.

    :param options: options of the verifier.
    :param types: events have MySQL types.
    :param flags: events have column flags.
    :param decimals: DECIMAL values have all their digits.
    :param claim_check: rows above ``max-message-bytes`` are stored, instead of sent with their handle keys.
    """

    options: VerifyOptions
    types: bool = True
    flags: bool = True
    decimals: bool = True
    claim_check: bool = False

    def lacks(self, need: Need) -> bool:
        """Return whether readers cannot observe this property."""
        visible = {
            "resolved": self.options.fidelity.resolved,
            "types": self.types,
            "flags": self.flags,
            "table ids": self.options.fidelity.has_table_ids,
            "commit-ts": self.options.fidelity.commit_ts == "exact",
            "old values": self.options.fidelity.has_old_values,
            "decimals": self.decimals,
            # Dispatch rules name tables as they are.
            "original names": self.options.fidelity.visible_name("-") == "-",
        }
        return not visible[need]


def exercised(
    engine: Engine, decoded: Dataset, visibility: Visibility, rules: Mapping[str, CoverageRule]
) -> dict[str, TrapOccurrences | None]:
    """Return all traps that are observable in the stream, by id; None for a trap that it does not exercise.

    :param decoded: shape ``DECODED``, read once.
    :param rules: the rule of each trap, by id.
    :raises FaultError: for a condition that is not supported.
    """
    observable = {
        trap: rule for trap, rule in rules.items() if not any(visibility.lacks(need) for need in rule.needs)
    }
    features = sorted({feature for rule in observable.values() for feature in rule.features})
    for feature in features:
        condition(feature)
    counts = _feature_counts(engine, decoded, visibility, tuple(features)).counts
    return {trap: trap_occurrences(rule, counts) for trap, rule in observable.items()}


def _feature_counts(
    engine: Engine, decoded: Dataset, visibility: Visibility, features: tuple[Feature, ...]
) -> FeatureCounts:
    options, total = visibility.options, _Observed(FeatureCounts(features))
    with ExitStack() as stack:
        observed = stack.enter_context(decoded.stored(partial(_observed, visibility, features), _OBSERVED))
        for of_part in observed.results:
            total.merge(of_part)
        counts = total.counts
        total.columns.add_to(counts, "table-columns")
        total.ids.add_to(counts, "table-ids")
        total.ddl_kinds.add_to(counts, "ddls-of-topic")
        sides = {kind: observed[kind] for kind in (_EVENT, *keys.KEY_ROWS)}
        by_key = engine.grouped(sides, "key").stored(partial(_grouped, options, features), _GROUPED)
        grouped = stack.enter_context(by_key)
        counts.merge(grouped.results)
        if counts.needs("swapped-keys"):
            moved = engine.grouped({keys.MOVED_ROW: grouped[keys.MOVED_ROW]}, "key")
            counts.merge(moved.results(partial(_swapped_keys, features)))
        if counts.needs("ddls-of-commit"):
            counts.merge(statement_counts(observed[_DDL], features))
        tables = total.tables.tables()
        counts.merge([delivery_counts(grouped[_EVENT], features, options.max_batch_size, tables)])
    return counts


@dataclass
class _Observed:
    """The features and variants of single events of a part.

    :param tables: the tables that have rows.
    :param columns, ids: their sets of columns and physical ids.
    :param ddl_kinds: kinds of DDL by topic.
    """

    counts: FeatureCounts
    tables: Variants = field(default_factory=Variants)
    columns: Variants = field(default_factory=Variants)
    ids: Variants = field(default_factory=Variants)
    ddl_kinds: Variants = field(default_factory=Variants)

    def merge(self, other: _Observed) -> None:
        self.counts.merge([other.counts])
        self.tables.merge(other.tables)
        self.columns.merge(other.columns)
        self.ids.merge(other.ids)
        self.ddl_kinds.merge(other.ddl_kinds)

    def add_ddls(self, ddls: pa.RecordBatch) -> None:
        """Add DDL events (``DDLS``)."""
        add_ddls(self.counts, "ddl", ddls)
        self.ddl_kinds.add_kinds(ddls)

    def add_rows(self, observation: Observation, *, claims: bool) -> Iterator[Tagged]:
        """Add the row events of a batch, and yield those with handle key."""
        events, batch = observation.events, observation.batch
        positions, plain = ViewEvents.of_events(events), batch.decoded.select(["op", "handle_key_only"])
        cells, key_rows = ColumnCells(batch.old, batch.new), keys.KeyRows(events, batch.old, self.counts)
        for layout in batch.layouts():
            of_layout = positions.take(layout.rows)
            is_described = batch.described.lists.present[layout.rows[0]]
            key_size = len(layout.handle_names) if is_described else None
            row = plain.take(pa.array(layout.rows))
            self.counts.add("row", of_layout, row, {"key_size": key_size, "claim_check": claims})
            cells.add(layout)
            name = layout.schema, layout.table
            self.tables.add([], of_layout, *name)
            # Deletes and too large rows may have the handle key only.
            op = events.op[layout.rows]
            whole = ~observation.reduced[layout.rows] & ((op == Op.INSERT) | (op == Op.UPDATE))
            names = tuple(sorted(column.name for column in layout.columns))
            self.columns.add([names], of_layout.take(np.flatnonzero(whole)), *name)
            ids = events.table_id[layout.rows]
            for table_id in np.unique(ids[ids > 0]).tolist():
                self.ids.add([table_id], of_layout.take(np.flatnonzero(ids == table_id)), *name)
            key_rows.add(layout)
        cells.add_to(self.counts, positions)
        yield from key_rows.batches()


def _observed(
    visibility: Visibility, features: tuple[Feature, ...], _part: Part, batches: Batches
) -> Generator[Tagged, None, _Observed]:
    observed, observer = _Observed(FeatureCounts(features)), Observer(visibility.options)
    for batch in batches:
        decoded = without_tombstones(batch)
        if decoded.num_rows:
            observation = observer.observe(decoded)
            yield _EVENT, delivered(observation.events).to_batch()
            ddls = ddl_rows(decoded, observation.events.position)
            observed.add_ddls(ddls)
            yield _DDL, ddls
            yield from observed.add_rows(observation, claims=visibility.claim_check)
    return observed


def _grouped(
    options: VerifyOptions, features: tuple[Feature, ...], sides: Iterator[Sides]
) -> Generator[Tagged, None, FeatureCounts]:
    """Yield the events with their first deliveries, and the rows that moved to another key."""
    counts = FeatureCounts(features)
    for groups in sides:
        events = DeliveredEvents.of(groups[_EVENT])
        first = first_deliveries(events, events.kind, events.identity, options)
        yield _EVENT, replace(events, first_delivery=first | (events.kind == EventKind.ERROR)).to_batch()
        yield from keys.add_groups(counts, groups)
    return counts


def _swapped_keys(features: tuple[Feature, ...], sides: Iterator[Sides]) -> FeatureCounts:
    counts = FeatureCounts(features)
    for groups in sides:
        keys.add_swapped_keys(counts, keys.MovedRows.of(groups[keys.MOVED_ROW]))
    return counts
