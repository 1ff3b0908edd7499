"""The events of a recorded topic that came again: delivered again at their positions.

    events ───┬──by event key──▶ copies, behind the events of their time ──▶ divided by partition, sorted
    recorded ─┘                                                          ──▶ at their positions in this time

The key of an event is its commit-ts, its table and the key of its row, which depend on no protocol,
dispatch rule or number of partitions. Under those of the recording a copy follows as many events of its
time as it did in the recorded topic. Damaged messages are at their positions there, too; under another
topology they have none.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Sides, Stored, Tagged
from ticdc_producer.errors import MessageError
from ticdc_producer.faults.event_traps import integers, is_kind, replaced
from ticdc_producer.faults.traps.messages import Poison
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column_functions import (
    Flags,
    Numbers,
    first_of_groups,
    flat_positions,
    whole_groups,
)
from ticdc_producer.model.event import DAMAGE, ROW_ELSEWHERE, Kind, Op
from ticdc_producer.model.shapes import EVENT_STREAM, RECORDED_FAULTS, EventBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.model.xx_hash import xx_hash
from ticdc_producer.pipeline.delivery import TopicPartitions, event_batch
from ticdc_producer.pipeline.mutations import eight_bytes
from ticdc_producer.pipeline.row_images import column_values
from ticdc_producer.scenario.frames.image_values import map_columns
from ticdc_producer.simulate.fault_counts import MAX_UNMET, UnmetFaults
from ticdc_producer.simulate.faults_file import TRAPS

_EVENT_KEY = "event_key"
_BY_EVENT_KEY = pa.field(_EVENT_KEY, pa.int64())
_REQUIRED = pa.field("required", pa.bool_())
_BEHIND = b"\xff"
"""The order key of a copy begins with it, and that of no other event: table ids and TSOs are positive."""
_AT_END = (1 << 63) - 1
_KIND_ORDER = 2
COPIES = "copies"


@dataclass(frozen=True)
class FaultMessages:
    """The damaged messages of a recorded topic as events of a stream of its topology.

    :param start: TSO before all events, the place of messages that no event of their partition precedes.
    """

    topic_partitions: TopicPartitions
    start: int

    def __call__(self, batches: Batches) -> Batches:
        """Yield the damaged messages (shape ``EVENT_STREAM``).

        >>> fault = {"kind": "damage", "topic": "old", "partition": 1, "offset": 3, "value": b"?"}
        >>> fault |= {"delivered_ts": 5, "delivered_count": 0}
        >>> batches = iter([pa.RecordBatch.from_pylist([fault], RECORDED_FAULTS)])
        >>> messages = FaultMessages(TopicPartitions(("new",), (2,)), start=9)
        >>> columns = ["topic", "partition_index", "deliver_after_ts", "before", "after"]
        >>> next(messages(batches)).select(columns).to_pylist()
        [{'topic': 'new', 'partition_index': 1, 'deliver_after_ts': 9, 'before': [None], 'after': [b'?']}]

        :param batches: shape ``RECORDED_FAULTS``.
        """
        for batch in batches:
            damages = batch.filter(pc.and_(pc.equal(batch.column("kind"), "damage"), _has_content(batch)))
            times = np.maximum(damages.column("delivered_ts").to_numpy(), self.start)
            topics = [self._topic(topic) for topic in damages.column("topic").to_pylist()]
            indexes = [*map(self._index, topics, *(damages.column(name).to_pylist() for name in _POSITION))]
            columns = {
                "topic": pa.array(topics, pa.string()),
                "partition": damages.column("partition"),
                "partition_index": pa.array(indexes, pa.int32()),
                "commit_ts": times,
                "deliver_after_ts": times,
                "kind": np.full(len(times), DAMAGE),
                "kind_order": np.full(len(times), _KIND_ORDER),
                "table_id": np.zeros(len(times), np.int64),
                "before": _single(damages.column("key")),
                "after": _single(damages.column("value")),
                "restart_epoch": np.zeros(len(times), np.int64),
                "delivery_no": np.ones(len(times), np.int64),
                "txn_order_key": _order_keys(damages, np.zeros(len(times), np.int64)),
                "fault": pa.repeat(Poison.id, len(times)),
            }
            yield event_batch(columns, len(times))

    def _topic(self, recorded: str) -> str:
        """Return the topic that has the messages of a recorded one; the first, if none has its name."""
        return recorded if recorded in self.topic_partitions.topics else self.topic_partitions.topics[0]

    def _index(self, topic: str, partition: int, offset: int) -> int:
        indexes = self.topic_partitions.of(topic)
        if partition >= len(indexes):
            what = "the recording has a damaged message, and the topic does not have its partition"
            hint = "set partition-num as it was recorded; `faults` none leaves such messages out"
            error = MessageError(what, topic=topic, partition=partition, offset=offset, hint=hint)
            raise error.about("faults")
        return indexes[partition]


_POSITION = ("partition", "offset")


def _has_content(faults: pa.RecordBatch) -> pa.Array:
    """Return which damaged messages have their bytes: none of a masked recording."""
    return pc.or_(faults.column("key").is_valid(), faults.column("value").is_valid())


def _single(values: pa.Array) -> pa.Array:
    """Return lists of one value each."""
    return pa.ListArray.from_arrays(pa.array(np.arange(len(values) + 1, dtype=np.int32)), values)


@contextmanager
def recorded_copies(
    faults: Dataset, events: Dataset, event_keys: EventKeys, engine: Engine
) -> Iterator[Stored[UnmetFaults]]:
    """Yield the copies of events (shape ``EVENT_STREAM``), in no order, as ``COPIES``.

    :param faults: those of the recording (shape ``RECORDED_FAULTS``).

    :param events: shape ``EVENT_STREAM``, in any order, without faults.
    """
    sides = {
        "events": events.map(event_keys.of_events, EVENT_STREAM.append(_BY_EVENT_KEY)),
        "faults": faults.map(event_keys.of_faults, _FAULTS),
    }
    with engine.grouped(sides, _EVENT_KEY).stored(_copies, {COPIES: EVENT_STREAM}) as stored:
        yield stored


_FAULTS = RECORDED_FAULTS.append(_BY_EVENT_KEY).append(_REQUIRED)


@dataclass(frozen=True)
class EventKeys:
    """The keys of the events of a stream, and of recorded events.

    :param has_messages: whether the stream has the damaged messages.
    """

    catalog: Catalog
    clock: CommitClock
    has_messages: bool

    def of_events(self, batches: Batches) -> Batches:
        """Yield events with their event key.

        >>> from ticdc_producer.model.column import ColumnInfo
        >>> from ticdc_producer.model.mysql_type import MySQLType
        >>> column = ColumnInfo(name="id", type=MySQLType.LONG)
        >>> tables = (TableInfo(schema="s", name="t", table_id=1, columns=(column,)),)
        >>> image, op = pa.array([[b"1"]] * 3, pa.list_(pa.binary())), [Op.INSERT, Op.INSERT, Op.DELETE]
        >>> events = {"kind": [Kind.ROW] * 3, "table_version": [0] * 3, "op": op, "commit_ts": [9] * 3}
        >>> batch = pa.record_batch({**events, "partition": [0, 1, 1], "before": image, "after": image})
        >>> keys = EventKeys(Catalog(tables), CommitClock(), has_messages=True)
        >>> insert, copy, delete = next(keys.of_events(iter([batch]))).column("event_key").to_pylist()
        >>> insert == copy, insert == delete
        (True, False)
        """
        for events in batches:
            ids, kinds = np.zeros(events.num_rows, np.int64), integers(events, "kind")
            versions = np.where(kinds == Kind.ROW, integers(events, "table_version"), -1)
            deleted = integers(events, "op") == Op.DELETE
            for version in np.unique(versions[versions >= 0]).tolist():
                table = self.catalog.tables[version]
                for is_delete in (False, True):
                    rows = np.flatnonzero((versions == version) & (deleted == is_delete))
                    images = events.column("before" if is_delete else "after")
                    values = [column_values(images, rows, index) for index in _key(table).values()]
                    ts = events.column("commit_ts").take(pa.array(rows))
                    ids[rows] = _row_ids(table.qualified_name, ts, values, is_delete=is_delete)
            ddls = np.flatnonzero(kinds == Kind.DDL)
            if len(ddls):
                numbers = integers(events, "ddl")[ddls].tolist()
                queries = pa.array([self.catalog.ddls[number].query for number in numbers], pa.string())
                ids[ddls] = _ids(events.column("commit_ts").take(pa.array(ddls)), queries)
            resolved = np.flatnonzero(kinds == Kind.RESOLVED)
            ids[resolved] = _ids(events.column("commit_ts").take(pa.array(resolved)), "resolved")
            yield events.append_column(_BY_EVENT_KEY, pa.array(ids))

    def of_faults(self, batches: Batches) -> Batches:
        """Yield recorded events with the event key of their event.

        An update that changes its key also has that of the delete that it may be split into.
        """
        for batch in batches:
            kinds = batch.column("kind")
            for kind in ("ddl", "resolved"):
                own = batch.filter(pc.equal(kinds, kind))
                text = own.column("statement") if kind == "ddl" else kind
                yield _with_ids(own, _ids(own.column("commit_ts"), text), required=True)
            damages = batch.filter(pc.equal(kinds, "damage"))
            if self.has_messages:
                damages = damages.filter(pc.invert(_has_content(damages)))
            yield _with_ids(damages, np.zeros(damages.num_rows, np.int64), required=True)
            rows = batch.filter(pc.equal(kinds, "row"))
            names = pc.binary_join_element_wise(rows.column("schema"), rows.column("table"), ".")
            deleted = pc.equal(rows.column("op"), Op.DELETE.label).to_numpy(zero_copy_only=False)
            updated = pc.equal(rows.column("op"), Op.UPDATE.label).to_numpy(zero_copy_only=False)
            ts = rows.column("commit_ts").to_numpy()
            for name in pc.unique(names).to_pylist():
                own = pc.equal(names, name).to_numpy(zero_copy_only=False)
                for number, table in self._tables_at(name, ts[own]):
                    indexes = np.flatnonzero(own)[number]
                    yield from _rows_of(rows, indexes[~deleted[indexes]], table, required=True)
                    yield from _rows_of(rows, indexes[deleted[indexes]], table, is_delete=True, required=True)
                    yield from _rows_of(rows, indexes[updated[indexes]], table, is_delete=True)
                if name not in self._versions:
                    unknown = rows.filter(pa.array(own))
                    yield _with_ids(unknown, np.zeros(unknown.num_rows, np.int64), required=True)

    def _tables_at(self, name: str, ts: Numbers) -> Iterator[tuple[Numbers, TableInfo]]:
        """Yield the versions of a table at some times, each with the numbers of these times."""
        versions = self._versions.get(name, [])
        for number, numbers in _versions_at([since for since, _ in versions], ts):
            yield numbers, versions[number][1]

    @cached_property
    def _versions(self) -> Mapping[str, list[tuple[int, TableInfo]]]:
        """The versions of each table by name, in order, each with the time from which it holds."""
        versions: dict[str, list[tuple[int, TableInfo]]] = {}
        for job in self.catalog.ddls:
            if job.version_after >= 0:
                table = self.catalog.tables[job.version_after]
                versions.setdefault(table.qualified_name, []).append((self.clock.ts(job.commit_seq), table))
        return versions


def _versions_at(since: Sequence[int], ts: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Yield the versions that hold at some times, each with the numbers of these times.

    The first one also holds before it.

    >>> [(version, numbers.tolist()) for version, numbers in _versions_at([5, 9], np.array([3, 9, 10]))]
    [(0, [0, 1]), (1, [2])]
    """
    versions = np.maximum(np.searchsorted(np.array(since, np.int64), ts) - 1, 0)
    for version in np.unique(versions).tolist() if since else ():
        yield version, np.flatnonzero(versions == version)


def _key(table: TableInfo) -> Mapping[str, int]:
    """Return the columns that identify a row by name, each with its index in images: all without a key."""
    handle = table.handle_index
    offsets = table.sent if handle is None else handle.offsets
    indexes = {table.columns[offset].name: table.image_index(offset) for offset in offsets}
    return {name: index for name, index in sorted(indexes.items()) if index is not None}


def _row_ids(name: str, ts: pa.Array, values: Sequence[pa.Array], *, is_delete: bool) -> Numbers:
    parts = [part for column in values for part in (column.is_valid().cast(pa.int32()), column)]
    return _ids(ts, name, int(is_delete), *parts)


def _ids(ts: pa.Array, *parts: pa.Array | int | str) -> Numbers:
    ids: Numbers = xx_hash(len(ts), ts, *parts).view(np.int64)
    return ids


def _with_ids(faults: pa.RecordBatch, ids: Numbers, *, required: bool) -> pa.RecordBatch:
    columns = [*faults.columns, pa.array(ids), pa.repeat(required, faults.num_rows)]
    typed = [column.cast(kind.type) for column, kind in zip(columns, _FAULTS, strict=True)]
    return pa.RecordBatch.from_arrays(typed, schema=_FAULTS)


def _rows_of(
    rows: pa.RecordBatch,
    indexes: Numbers,
    table: TableInfo,
    *,
    is_delete: bool = False,
    required: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Yield some recorded rows of a table version with their event key."""
    if not len(indexes):
        return
    own = rows.take(pa.array(indexes))
    columns = {
        name: values.cast(pa.binary())
        for name, values, _ in map_columns(own.column("before" if is_delete else "after"))
    }
    absent = pa.nulls(len(indexes), pa.binary())
    values = [columns.get(name, absent) for name in _key(table)]
    ids = _row_ids(table.qualified_name, own.column("commit_ts"), values, is_delete=is_delete)
    yield _with_ids(own, ids, required=required)


def _copies(groups: Iterator[Sides]) -> Generator[Tagged, None, UnmetFaults]:
    """Yield the copies of the events that came again, and return those without an event."""
    unmet = UnmetFaults()
    for sides in groups:
        events, faults = sides["events"], sides["faults"]
        fault_of, event_of = _matches(events, faults)
        if len(fault_of):
            copied = events.take(pa.array(event_of)).select(EVENT_STREAM.names)
            yield COPIES, _behind(copied, faults.take(pa.array(fault_of)))
        missing = faults.column("required").to_numpy(zero_copy_only=False).copy()
        missing[fault_of] = False
        lost = faults.filter(pa.array(missing))
        unmet.add([UnmetFaults(lost.num_rows, _examples(lost))])
    return unmet


def _matches(events: pa.RecordBatch, faults: pa.RecordBatch) -> tuple[Numbers, Numbers]:
    """Return the numbers of faults and of their events.

    DDLs and resolved events are those in the partition of the fault; of its topic, if that is one of theirs.

    >>> events = {"event_key": [5, 6, 6], "kind": [Kind.ROW, Kind.DDL, Kind.DDL], "partition": [0, 0, 1]}
    >>> faults = {"event_key": [6, 5], "topic": ["t"] * 2, "partition": [1, 1], "row_id": [0, 0]}
    >>> _matches(*map(pa.record_batch, ({**events, "topic": ["t"] * 3, "row_id": [0] * 3}, faults)))
    (array([0, 1]), array([2, 0]))
    """
    ids, wanted = (side.column(_EVENT_KEY).to_numpy() for side in (events, faults))
    order = np.argsort(ids, kind="stable")
    start, stop = (np.searchsorted(ids[order], wanted, side) for side in ("left", "right"))
    counts = stop - start
    fault_of = np.repeat(np.arange(len(wanted)), counts)
    event_of = order[flat_positions(start, counts)]
    in_partition = integers(events, "partition")[event_of] == faults.column("partition").to_numpy()[fault_of]
    topics = (
        side.column("topic").take(pa.array(of)) for side, of in ((events, event_of), (faults, fault_of))
    )
    in_topic = pc.equal(*topics).to_numpy(zero_copy_only=False)
    has_topic = np.zeros(len(wanted), np.bool_)
    has_topic[fault_of[in_partition & in_topic]] = True
    fits = is_kind(events, Kind.ROW)[event_of] | (in_partition & (in_topic | ~has_topic[fault_of]))
    given = pc.fill_null(faults.column("row_id"), 0).to_numpy()[fault_of]
    own = integers(events, "row_id")[event_of]
    fits &= (given == 0) | (own <= 0) | (given == own)
    return fault_of[fits], event_of[fits]


def _behind(events: EventBatch, faults: pa.RecordBatch) -> EventBatch:
    """Return copies behind all events of their time, in the order of their recorded messages."""
    halves = faults.column("required").to_numpy(zero_copy_only=False).astype(np.int64)
    kinds = faults.column("kind").dictionary_encode()
    traps = pa.array([TRAPS[kind] for kind in kinds.dictionary.to_pylist()]).take(kinds.indices)
    return replaced(
        events,
        {
            "deliver_after_ts": faults.column("delivered_ts"),
            "kind_order": _KIND_ORDER,
            "txn_order_key": _order_keys(faults, halves),
            "delivery_no": 1,
            "fault": traps,
        },
    )


def _order_keys(faults: pa.RecordBatch, halves: Numbers) -> pa.Array:
    """Return the order keys of recorded faults: their positions, then those of their messages."""
    count = faults.column("delivered_count").to_numpy().astype(np.int64)
    positions = [np.where(count < 0, _AT_END, count)]
    positions += [faults.column(name).to_numpy().astype(np.int64) for name in ("partition", "offset")]
    positions.append(pc.fill_null(faults.column("index"), 0).to_numpy().astype(np.int64))
    return pc.binary_join_element_wise(_BEHIND, *map(eight_bytes, (*positions, halves)), b"")


def _examples(faults: pa.RecordBatch) -> list[tuple[str, str]]:
    rows = faults.slice(0, MAX_UNMET).select(["kind", "topic", "partition", "offset"]).to_pylist()
    return [(TRAPS[row["kind"]], f"{row['topic']}/{row['partition']}@{row['offset']}") for row in rows]


_TIME = ("partition_index", "restart_epoch", "deliver_after_ts")


def at_recorded_positions(batches: Batches) -> Batches:
    """Move copies to their positions among the events of their time.

    :param batches: shape ``EVENT_STREAM``, whole partitions in delivery order.
    """
    for batch in whole_groups(batches, _TIME):
        copies = pc.starts_with(batch.column("txn_order_key"), _BEHIND).to_numpy(zero_copy_only=False)
        yield batch.take(pa.array(_order(batch, copies))) if copies.any() else batch


def _order(events: EventBatch, copies: Flags) -> Numbers:
    """Return the order in which each copy follows as many events of its time as in the recorded topic.

    >>> at_one_time = {"partition_index": [0] * 3, "restart_epoch": [0] * 3, "deliver_after_ts": [9] * 3}
    >>> keys = [b"a", b"b", _BEHIND + (1).to_bytes(8, "big")]
    >>> events = pa.record_batch({**at_one_time, "kind": [1] * 3, "txn_order_key": keys})
    >>> _order(events, np.array([False, False, True]))
    array([0, 2, 1])
    """
    starts = first_of_groups(events, _TIME)
    groups = np.cumsum(starts)
    counted = ~copies & (integers(events, "kind") != ROW_ELSEWHERE)
    total = np.cumsum(counted)
    before = (total - counted)[np.flatnonzero(starts)][groups - 1]
    position = total - before
    keys = events.column("txn_order_key").filter(pa.array(copies))
    packed = pc.binary_slice(keys, len(_BEHIND), len(_BEHIND) + 8).cast(pa.binary(8))
    position[copies] = np.frombuffer(packed.buffers()[1], ">i8", len(packed))
    return np.lexsort((copies, position, groups))
