"""What a row is: a message, an event, or a change of a row of one table; and which events are duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from pyspark_ticdc.options import GivenOptions
from pyspark_ticdc.rules import ROWS, check_combinations
from ticdc_producer.errors import ArgumentError, TopicError
from ticdc_producer.hints import nearest
from ticdc_producer.model.column_functions import Flags, of_partitions
from ticdc_producer.model.fingerprint import Hashes, combined, text_hashes
from ticdc_producer.model.shapes import DECODED, MESSAGES, BatchFunction
from ticdc_producer.rows.changes import OF_CHANGES, OF_ERRORS, ChangeReader
from ticdc_producer.rows.columns import OnError, table_name, table_schema, undamaged
from ticdc_producer.rows.origin import Origin
from ticdc_producer.rows.state import StateReader
from ticdc_producer.spark.storage import arrow_schema
from ticdc_producer.verifier.event_layouts import Images

MOST_EVENTS = 1 << 22
"""Events after a resolved event that are remembered, with 8 bytes each."""
_TEXTS = ("kind", "schema", "table", "op", "query")
ResolvedTS: TypeAlias = Mapping[tuple[str, int], int]
"""The highest resolved-ts by topic and partition."""


@dataclass
class _PartitionMarks:
    """The state of a partition between batches.

    :param resolved_ts: the highest that was read.
    :param seen: hashes of the events since the resolved event that set it, sorted.
    """

    resolved_ts: int = 0
    seen: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))


def without_duplicates(before: Callable[[], ResolvedTS] = dict) -> BatchFunction:
    """Return the function that drops duplicates from events (shape ``DECODED``) in order of their offsets.

    TiCDC may send an event again (docs/stream-semantics.md §9).

    An event is dropped if its commit-ts is not above the partition's resolved-ts, or if it is equal to an
    event since the newest resolved event that raised the resolved-ts. Errors and events without commit-ts
    stay.

    :param before: returns the resolved-ts of the partitions before the first event.
    """

    def drop(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        marks = {partition: _PartitionMarks(ts) for partition, ts in before().items()}
        for batch in batches:
            if not batch.num_rows:
                continue
            first: Flags = np.zeros(batch.num_rows, bool)
            for partition, rows in of_partitions(batch):
                mark = marks.setdefault(partition, _PartitionMarks())
                first[rows] = _first(batch.take(pa.array(rows)), mark, partition)
            yield batch if first.all() else batch.filter(pa.array(first))

    return drop


def _first(events: pa.RecordBatch, mark: _PartitionMarks, partition: tuple[str, int]) -> Flags:
    """Return which events of a partition are not duplicates, and remember them.

    After a resolved event, the events up to it are duplicates, and those before it are forgotten.

    >>> sent = [("row", 5), ("row", 5), ("resolved", 5), ("row", 5), ("row", 6), ("resolved", 5)]
    >>> rows = [{"kind": kind, "commit_ts": commit_ts} for kind, commit_ts in sent]
    >>> mark = _PartitionMarks()
    >>> _first(pa.RecordBatch.from_pylist(rows, DECODED), mark, ("topic", 0)).tolist()
    [True, False, True, False, True, False]
    >>> mark.resolved_ts, len(mark.seen)
    (5, 1)
    """
    commit_ts = pc.fill_null(events.column("commit_ts"), 0).to_numpy(zero_copy_only=False)
    resolved = pc.equal(events.column("kind"), "resolved").to_numpy(zero_copy_only=False)
    highest = np.maximum.accumulate(np.where(resolved, commit_ts, 0))
    before = np.maximum(np.concatenate([[0], highest[:-1]]), mark.resolved_ts)
    raises = resolved & (commit_ts > before)
    # An event belongs to the segment after the resolved events before it.
    segments = np.cumsum(raises) - raises
    hashes = _event_hashes(events)
    known = commit_ts > 0
    first: Flags = ~known | (commit_ts > before)
    first &= ~known | ~((segments == 0) & np.isin(hashes, mark.seen))
    keys = combined(hashes, segments)
    candidates = np.flatnonzero(first & known)
    _, earliest = np.unique(keys[candidates], return_index=True)
    once: Flags = np.zeros(len(first), bool)
    once[candidates[earliest]] = True
    first &= ~known | once
    last = int(segments[-1] + raises[-1])
    mark.resolved_ts = max(mark.resolved_ts, int(highest[-1]))
    newest = hashes[first & known & ~raises & (segments == last)]
    mark.seen = np.union1d(mark.seen, newest) if last == 0 else np.unique(newest)
    if len(mark.seen) > MOST_EVENTS:
        what = f"partition {partition[1]} has more than {MOST_EVENTS} events after a resolved event"
        raise TopicError(what, topic=partition[0], hint="duplicates=drop needs resolved events; use keep")
    return first


def _event_hashes(events: pa.RecordBatch) -> Hashes:
    """Return a hash of what each event says, without its position."""
    numbers = [
        pc.fill_null(events.column(name), -1).to_numpy(zero_copy_only=False).astype(np.int64)
        for name in ("commit_ts", "table_id")
    ]
    images = [Images(events.column(name)).hashes for name in ("before", "after")]
    texts = [text_hashes(pc.fill_null(events.column(name), "")) for name in _TEXTS]
    return combined(*numbers, *images, *texts)


OriginOf: TypeAlias = Callable[[GivenOptions], Origin]
_HINT = "read it as another type with .schema(…), or set the option on-error=rows"
RANGES = pa.schema(
    [("topic", pa.string()), ("partition", pa.int32()), ("start", pa.int64()), ("end", pa.int64())]
)
"""The fields of an ``OffsetRange``."""
_SHAPES = {"messages": MESSAGES, "events": DECODED, "ranges": RANGES}


def check_rows(options: GivenOptions) -> None:
    """Check the options that say what a row is.

    :raises ArgumentError: for options that have no effect, or that lack another one.
    """
    check_combinations(ROWS, options)
    if options.values["rows"] not in _SHAPES:
        table_name(str(options.values["table"]))


def columns_of(options: GivenOptions, origin: OriginOf) -> StructType:
    """Return the columns of the rows that options name.

    :param origin: returns what the options name; called if the columns depend on it.
    :raises ProducerError: for invalid options, and a table of which no message has a row.
    """
    check_rows(options)
    kind = str(options.values["rows"])
    if kind in _SHAPES:
        shape: StructType = from_arrow_schema(_SHAPES[kind])
        return shape
    columns = [*table_schema(origin(options), *table_name(str(options.values["table"]))).columns]
    if kind != "state":
        columns += [*OF_CHANGES, *(OF_ERRORS if on_error(options) == "rows" else ())]
    of_table: StructType = from_arrow_schema(pa.schema(columns))
    return of_table


def row_function(
    options: GivenOptions, read: Origin, columns: StructType, before: Callable[[], ResolvedTS] = dict
) -> BatchFunction:
    """Return the function from messages to the rows that options name.

    :param columns: those that Spark expects.
    :param before: returns the resolved-ts of the partitions before the first message.
    :raises ProducerError: for options that do not fit the messages, and columns that the rows do not have.
    """
    check_rows(options)
    kind = options.values["rows"]
    if kind == "messages":
        return selected(columns, MESSAGES)
    drop = options.values["duplicates"] == "drop"
    if drop:
        _check_resolved(read)
    if kind == "changes" and not drop:
        changes, events_of = _changes(options, read, columns), read.events_decoder
        return lambda batches: changes.changes(events_of(batches))
    steps = [read.decoder, undamaged(on_error(options))]
    if drop:
        steps.append(without_duplicates(before))
    steps.append(_last_step(options, read, columns))

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for step in steps:
            batches = step(batches)
        return batches

    return rows


def _last_step(options: GivenOptions, read: Origin, columns: StructType) -> BatchFunction:
    """Return the function from events to rows."""
    if options.values["rows"] == "events":
        return selected(columns, DECODED)
    changes = _changes(options, read, columns)
    return changes if options.values["rows"] == "changes" else _state(options, read, changes)


def _state(options: GivenOptions, read: Origin, changes: ChangeReader) -> StateReader:
    at = options.values.get("state-at")
    return StateReader.of(read, changes, None if at is None else int(at), "state-at")


def _changes(options: GivenOptions, read: Origin, columns: StructType) -> ChangeReader:
    schema = arrow_schema(columns)
    return ChangeReader.of(read, table_name(str(options.values["table"])), schema, on_error(options), _HINT)


def _check_resolved(read: Origin) -> None:
    if not read.fidelity.resolved:
        what = f"duplicates=drop needs resolved events, which {read.changefeed.protocol} does not send"
        raise ArgumentError(what, argument="duplicates", hint="with these options of the changefeed")


def on_error(options: GivenOptions) -> OnError:
    """Return the option ``on-error``."""
    return "rows" if options.values["on-error"] == "rows" else "fail"


def selected(columns: StructType, available: pa.Schema) -> BatchFunction:
    """Return the function that selects columns, in Spark's Arrow types.

    :param columns: by name, in their order.
    :raises ArgumentError: for a column that is not available.
    """
    for name in columns.names:
        if name not in available.names:
            what = f"the rows have no column {name!r}"
            raise ArgumentError(what, argument="schema", hint=nearest(name, available.names))
    schema = arrow_schema(columns)

    def select(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.select(schema.names).cast(schema)

    return select
