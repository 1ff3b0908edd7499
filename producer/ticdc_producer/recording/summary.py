"""Summary of one pass over the messages. Its size does not depend on their number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches
from ticdc_producer.errors import MessageError
from ticdc_producer.model.column_functions import Flags, of_partitions
from ticdc_producer.model.shapes import DecodedBatch
from ticdc_producer.recording.selection import Selection
from ticdc_producer.replica.stream_ddl import StreamDDL
from ticdc_producer.verifier.event_layouts import DescribedColumn, EventLayout

TableName: TypeAlias = tuple[str, str]


@dataclass(frozen=True, order=True, kw_only=True)
class FirstRow:
    """The first row event of a table.

    :param position: topic, partition and offset of its message.
    :param last_ts: commit-ts of the last row event of the table.
    """

    commit_ts: int
    position: tuple[str, int, int]
    columns: tuple[DescribedColumn, ...] = field(compare=False)
    last_ts: int = field(compare=False)

    @property
    def origin(self) -> str:
        """The position as text."""
        topic, partition, offset = self.position
        return f"{topic}/{partition}@{offset}"


@dataclass
class Summary:
    """The summary of a part of the messages.

    :ivar damaged: number of messages that do not decode, or that have a handle key alone.
    :ivar without_key: tables with rows of which no handle key is known, with the last commit-ts of them.
    :ivar begins: the first offset of each partition, and the commit-ts of its first event; 0: it has none.
    :ivar before: the highest commit-ts before the offsets at which the recording begins.
    :ivar lowest: the lowest commit-ts of a recorded event; 0: there is none.
    :ivar ddls: each recorded DDL by its time, names and text, with its first position.
    :ivar first_rows: the first row event of each table.
    """

    damaged: int = 0
    without_key: dict[TableName, int] = field(default_factory=dict)
    begins: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    before: int = 0
    lowest: int = 0
    ddls: dict[tuple[int, str, str, str], tuple[int, int, int]] = field(default_factory=dict)
    first_rows: dict[TableName, FirstRow] = field(default_factory=dict)

    def merge(self, others: Iterable[Summary]) -> None:
        """Add what is known of other parts."""
        for other in others:
            self.damaged += other.damaged
            for table, ts in other.without_key.items():
                self.without_key[table] = max(ts, self.without_key.get(table, 0))
            for partition, begin in other.begins.items():
                self.begins[partition] = min(begin, self.begins.get(partition, begin))
            self.before = max(self.before, other.before)
            self.lowest = min(filter(None, (self.lowest, other.lowest)), default=0)
            for ddl, position in other.ddls.items():
                self.ddls[ddl] = min(position, self.ddls.get(ddl, position))
            for name, row in other.first_rows.items():
                self._see_first(name, row)

    def _see_first(self, name: TableName, row: FirstRow) -> None:
        known = self.first_rows.get(name, row)
        self.first_rows[name] = replace(min(row, known), last_ts=max(row.last_ts, known.last_ts))

    def see_messages(self, messages: pa.RecordBatch, batch: DecodedBatch, selection: Selection) -> None:
        """Note where partitions begin, before events are left out.

        :param batch: the events of the messages.
        """
        for name, rows in of_partitions(messages):
            if name not in self.begins:
                self.begins[name] = int(messages.column("offset")[int(rows[0])].as_py()), 0
        offsets = batch.column("offset").to_numpy()
        ts = pc.fill_null(batch.column("commit_ts"), 0).to_numpy()
        for name, rows in of_partitions(batch):
            offset, first = self.begins[name]
            timed = rows[ts[rows] > 0]
            if not first and len(timed):
                self.begins[name] = offset, int(ts[timed[0]])
            if name[1] in selection.offsets:
                earlier = rows[offsets[rows] < selection.offsets[name[1]]]
                self.before = max(self.before, int(ts[earlier].max(initial=0)))

    def see_recorded(self, batch: DecodedBatch) -> None:
        """Note the DDLs and the lowest time of recorded events."""
        self.lowest = min(filter(None, (self.lowest, pc.min(batch.column("commit_ts")).as_py())), default=0)
        names = ("commit_ts", "schema", "table", "query", "partition", "offset", "index")
        for row in batch.filter(pc.equal(batch.column("kind"), "ddl")).select(names).to_pylist():
            ddl = row["commit_ts"], row["schema"] or "", row["table"] or "", row["query"]
            position = row["partition"], row["offset"], row["index"]
            self.ddls[ddl] = min(position, self.ddls.get(ddl, position))

    def see_rows(self, batch: DecodedBatch, layout: EventLayout) -> None:
        """Note the first row of a table."""
        name, ts = (
            (layout.schema, layout.table),
            batch.column("commit_ts").take(pa.array(layout.rows)).to_numpy(),
        )
        row = int(layout.rows[int(np.argmin(ts))])
        topic, partition, offset = (batch.column(of)[row].as_py() for of in ("topic", "partition", "offset"))
        first = FirstRow(
            commit_ts=int(ts.min()),
            position=(topic, partition, offset),
            columns=layout.columns,
            last_ts=int(ts.max()),
        )
        self._see_first(name, first)

    def see_keyless(self, batch: DecodedBatch, rows: Flags) -> None:
        """Note the tables of rows without a handle key."""
        keyless = pa.Table.from_batches([batch.filter(pa.array(rows))])
        tables = keyless.group_by(["schema", "table"]).aggregate([("commit_ts", "max")])
        for row in tables.to_pylist():
            name = row["schema"] or "", row["table"]
            self.without_key[name] = max(row["commit_ts_max"], self.without_key.get(name, 0))

    def start_ts(self, selection: Selection) -> int | None:
        """Return the TSO after which everything is known; None: from the beginning.

        A partition that begins in the middle lacks what commits before its first event, and
        perhaps rows of the transaction of that event.
        """
        cut = (ts for offset, ts in self.begins.values() if offset > 0)
        return max((selection.after, self.before, *cut)) or None

    def stream_ddls(self) -> list[StreamDDL]:
        """Return the DDLs in their order."""
        return sorted(
            StreamDDL(commit_ts=ts, order=position, schema=schema, table=table, query=query)
            for (ts, schema, table, query), position in self.ddls.items()
        )


def without_gaps(batches: Batches) -> Batches:
    """Yield messages.

    :raises MessageError: if messages are missing between others of their partition.
    """
    last: dict[tuple[str, int], int] = {}
    for batch in batches:
        offsets = batch.column("offset").to_numpy()
        for name, rows in of_partitions(batch):
            own = offsets[rows]
            before = np.concatenate([[last.get(name, int(own[0]) - 1)], own[:-1]])
            gaps = np.flatnonzero(own != before + 1)
            if len(gaps):
                first, until = int(before[gaps[0]]) + 1, int(own[gaps[0]])
                what = f"the messages from offset {first} up to here are missing"
                hint = "a topic of TiCDC has cleanup.policy=delete; compaction removes what a consumer needs"
                raise MessageError(what, topic=name[0], partition=name[1], offset=until, hint=hint)
            last[name] = int(own[-1])
        yield batch
