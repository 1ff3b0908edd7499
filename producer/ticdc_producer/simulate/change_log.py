"""The change log of a scenario: the changes committed upstream, from sources of any size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, Part, Sides, union
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.model.fingerprint import combined, value_hashes
from ticdc_producer.model.shapes import CHANGE_LOG, EVENT_STREAM, ChangeBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline import event_stream as rules
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.pipeline.go_sort import (
    NEW_ORDER_KEYS,
    ORDER_KEYS,
    TRANSACTION,
    are_split,
    new_order_keys,
    order_keys,
    order_keys_of_tables,
    unstable_order_keys,
    with_order_keys,
)
from ticdc_producer.pipeline.mutations import IN_KEY_ORDER, KEY
from ticdc_producer.scenario.history import Change
from ticdc_producer.simulate.job import Job

_COMMITTED = pa.schema(
    [
        *(field for field in CHANGE_LOG if not field.name.startswith("old_")),
        pa.field("commit_ts", pa.int64()),
    ]
)
TIMES = pa.schema([("commit_ts", pa.int64())])
RESOLVED_AFTER = pa.schema([("commit_ts", pa.int64()), ("after", pa.int64())])
"""Resolved events: the resolved-ts, and the TSO after whose commits they are delivered."""
_MOST_SORTED = 10_000_000
"""Rows of transactions that Go's sort reorders. They come from SQL, so they fit into the driver's memory."""


class UpstreamSource(ABC):
    """Row changes, and the rows that they leave in the tables."""

    @abstractmethod
    def changes(self, engine: Engine) -> Dataset:
        """Return the changes (shape ``CHANGE_LOG``), in no order."""

    def row_events(self, engine: Engine, plan: StreamPlan, stack: ExitStack) -> Dataset | None:
        """Return the row events (shape ``EVENT_STREAM``), in no order.

        None: a shuffle has to bring the changes of a transaction to one row together.

        :param stack: removes the data stored for them.
        """
        return None

    def has_large_transaction(self, engine: Engine) -> bool:  # for the sources that may have one
        """Return whether Go's sort may be unstable for rows of ``StreamPlan.large_tables``."""
        return False

    def commit_times(self, engine: Engine) -> Dataset | None:
        """Return the commit-ts of the commits that are numbered by it, each once (shape ``TIMES``).

        None: all commits of the source are counted, or it has all their resolved events.
        """
        return None

    def resolved_events(self, engine: Engine) -> Dataset | None:  # for sources that have any
        """Return the resolved events of the source, each once (shape ``RESOLVED_AFTER``); None: none."""
        return None

    def rows(self, engine: Engine, job: Job, commits: int | None) -> Iterator[tuple[TableInfo, Dataset]]:
        """Yield the replicated tables that the source filled, and their rows as they are sent.

        :param commits: the number of commits after which the rows are taken; None: after the last one.
        :return: datasets of shape ``scenario.generate.changes.ROWS``.
        """
        return iter(())


class DividedSource(UpstreamSource):
    """A source that can order its changes and divide them by Kafka partition, without a shuffle."""

    @property
    @abstractmethod
    def is_divided(self) -> bool:
        """Whether dividing at the source takes less time than a shuffle of its changes."""

    @abstractmethod
    def ordered_events(
        self, engine: Engine, plan: StreamPlan, few: ChangeBatch, faults: EventFaults | None
    ) -> Dataset:
        """Return the whole event stream, divided by Kafka partition and in delivery order.

        :param few: the changes of SQL, in addition to those of the source (shape ``CHANGE_LOG``).
        :param faults: local faults; None: no faults.
        """


@dataclass(frozen=True)
class UpstreamLog:
    """The row changes of a history.

    :param few: the changes of SQL (shape ``CHANGE_LOG``).
    :param sources: all others.
    :param row_events: the row events of the stream if they were already computed; None: computed on demand.
    """

    few: pa.RecordBatch
    sources: Sequence[UpstreamSource] = ()
    row_events: Dataset | None = None

    def changes(self, engine: Engine) -> Dataset:
        """Return all changes (shape ``CHANGE_LOG``), in no order."""
        return union([self._sql(engine), *(source.changes(engine) for source in self.sources)])

    def commit_times(self, engine: Engine) -> list[Dataset]:
        """Return the commit-ts of the commits that are not counted (shape ``TIMES``)."""
        times = (source.commit_times(engine) for source in self.sources)
        return [dataset for dataset in times if dataset is not None]

    def resolved_events(self, engine: Engine) -> list[Dataset]:
        """Return the resolved events of sources (shape ``RESOLVED_AFTER``)."""
        resolved = (source.resolved_events(engine) for source in self.sources)
        return [dataset for dataset in resolved if dataset is not None]

    def divided_source(self, plan: StreamPlan, faults: EventFaults | None) -> DividedSource | None:
        """Return the only source if it divides its events with such faults; None: a shuffle divides them."""
        if len(self.sources) != 1 or self.row_events is not None or plan.changefeed.describes_in_first:
            return None
        if faults is not None and not faults.is_local:
            return None
        (source,) = self.sources
        return source if isinstance(source, DividedSource) and source.is_divided else None

    def rows(self, engine: Engine, plan: StreamPlan, stack: ExitStack) -> Dataset:
        """Return the row events (shape ``EVENT_STREAM``), without DDL and resolved events, in no order.

        :param stack: removes the data stored for them.
        """
        if self.row_events is not None:
            return self.row_events
        of_sources = [(source, source.row_events(engine, plan, stack)) for source in self.sources]
        changes = [source.changes(engine) for source, events in of_sources if events is None]
        shuffled = shuffled_row_events(union([self._sql(engine), *changes]), plan, stack)
        may_be_large = plan.sorts_again and plan.large_tables
        given = [
            sorted_again(engine, events, plan, stack)
            if may_be_large and source.has_large_transaction(engine)
            else events
            for source, events in of_sources
            if events is not None
        ]
        return union([shuffled, *given])

    def with_stored_rows(self, engine: Engine, plan: StreamPlan, stack: ExitStack) -> UpstreamLog:
        """Return this change log with its row events stored, for callers that read them several times."""
        return replace(self, row_events=stack.enter_context(self.rows(engine, plan, stack).cached()))

    def _sql(self, engine: Engine) -> Dataset:
        return engine.of_batches([self.few], CHANGE_LOG)


def change_batch(changes: Sequence[Change]) -> ChangeBatch:
    """Return changes of SQL as a batch (shape ``CHANGE_LOG``)."""
    columns = [[getattr(change, name) for change in changes] for name in CHANGE_LOG.names]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, CHANGE_LOG, strict=True)]
    batch: ChangeBatch = pa.record_batch(arrays, schema=CHANGE_LOG)
    return batch


def shuffled_row_events(changes: Dataset, plan: StreamPlan, stack: ExitStack) -> Dataset:
    """Return the row events of changes (shape ``EVENT_STREAM``), in no order.

    The shuffle brings together the changes of a transaction to one row.

    :param changes: shape ``CHANGE_LOG``, in any order.
    :param stack: removes the data stored for them.
    """
    rows = row_events_by_key(changes, plan)
    if not (plan.sorts_again and plan.large_transactions):
        return rows
    return _in_go_sort_order(stack.enter_context(rows.cached()), plan)


def row_events_by_key(changes: Dataset, plan: StreamPlan) -> Dataset:
    """Return the row events of changes of which none is in a large transaction of SQL, as
    ``shuffled_row_events``.
    """
    committed = changes.map(partial(_committed, plan), _COMMITTED)
    return _row_events(committed.shuffle(KEY, Order(IN_KEY_ORDER)), plan)


def row_events_by_row(changes: Dataset, plan: StreamPlan) -> Dataset:
    """Return the row events of changes (shape ``EVENT_STREAM``), in no order, without a shuffle.

    :param changes: shape ``CHANGE_LOG``; the changes of a row follow each other, in their order, and none
        moves its row to another key.
    """
    return _row_events(changes.map(partial(_committed, plan), _COMMITTED), plan)


def _row_events(committed: Dataset, plan: StreamPlan) -> Dataset:
    return committed.map_groups(partial(rules.row_events, plan=plan), KEY, EVENT_STREAM)


def _committed(plan: StreamPlan, batches: Batches) -> Batches:
    return (rules.committed(batch, plan) for batch in batches)


def _in_go_sort_order(rows: Dataset, plan: StreamPlan) -> Dataset:
    """Order large transactions as Go's unstable sort does: an exchange of their keys alone."""
    large = plan.large_transactions
    keys = rows.map(lambda batches: (order_keys(batch, large) for batch in batches), ORDER_KEYS)
    by_transaction = keys.shuffle(TRANSACTION, Order(tuple(ORDER_KEYS.names)))
    new_keys = by_transaction.map_groups(new_order_keys, TRANSACTION, NEW_ORDER_KEYS).small(_MOST_SORTED)
    return rows.map(lambda batches: (with_order_keys(batch, new_keys) for batch in batches), EVENT_STREAM)


_BY_ORDER = pa.field("order_hash", pa.int64())


def sorted_again(engine: Engine, rows: Dataset, plan: StreamPlan, stack: ExitStack) -> Dataset:
    """Return the row events of large DataFrames with the order of Go's unstable sort in large transactions.

    The keys of a transaction are in one part, and nothing of it on the driver.

    :param rows: shape ``EVENT_STREAM``, in any order.
    :param stack: removes the data stored for them.
    """
    if not (plan.sorts_again and plan.large_tables):
        return rows
    rows = stack.enter_context(rows.cached())
    own = partial(order_keys_of_tables, tables=plan.large_tables)
    keys = rows.select(*ORDER_KEYS.names).map(lambda batches: map(own, batches), ORDER_KEYS)
    if not any(keys.results(_has_split_update)):
        return rows
    by_transaction = keys.shuffle(TRANSACTION, Order(tuple(ORDER_KEYS.names)))
    new_keys = by_transaction.map_groups(_unstable_order, TRANSACTION, NEW_ORDER_KEYS)
    new_keys = stack.enter_context(new_keys.cached())
    if not new_keys.count():
        return rows
    sides = {
        "rows": rows.map(_with_hash, EVENT_STREAM.append(_BY_ORDER)),
        "keys": new_keys.map(_with_hash, NEW_ORDER_KEYS.append(_BY_ORDER)),
    }
    return engine.grouped(sides, _BY_ORDER.name).map(_reordered, EVENT_STREAM)


def _has_split_update(_part: Part, batches: Batches) -> bool:
    return any(are_split(batch).any() for batch in batches)


def _unstable_order(keys: pa.RecordBatch) -> pa.RecordBatch:
    return new_order_keys(unstable_order_keys(keys))


def _with_hash(batches: Batches) -> Batches:
    """Yield rows with a number that follows from their transaction and their order in it."""
    for batch in batches:
        times = batch.column("commit_ts").to_numpy(zero_copy_only=False)
        hashes = combined(times, value_hashes(batch.column("txn_order_key")))
        yield batch.append_column(_BY_ORDER, pa.array(hashes.view(np.int64)))


def _reordered(groups: Iterator[Sides]) -> Batches:
    for sides in groups:
        yield with_order_keys(
            sides["rows"].select(EVENT_STREAM.names), pa.Table.from_batches([sides["keys"]])
        )
