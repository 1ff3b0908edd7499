"""Statistics of a whole stream after one pass over its partitions; small, whatever the stream's size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ticdc_producer.model.event import Op
from ticdc_producer.model.shapes import DecodedBatch
from ticdc_producer.replica.rows import Replica
from ticdc_producer.replica.stream_ddl import StreamDDL, apply_ddls
from ticdc_producer.replica.table_changes import ColumnChanges
from ticdc_producer.replica.versions import Copies, Partition, TableHistory
from ticdc_producer.verifier.events import NOTHING, Effect, EventKind, Rule, without_tombstones
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.partition_marks import MarkedEvents, partitions_of
from ticdc_producer.verifier.snapshot import SnapshotTable
from ticdc_producer.verifier.table_epochs import TableDDL, TableEpochs

_Statement: TypeAlias = tuple[int, str, str, str]
"""Commit-ts, schema, table and text of a DDL."""
_UNDECIDED = "rows and a DDL are within the same unit of time, and the commit-ts of the messages is in {}"
KINDS = (EventKind.ROW, EventKind.DDL, EventKind.RESOLVED, EventKind.ERROR)


@dataclass(kw_only=True)
class KindStats:
    """Events of one kind in one partition.

    :param last: commit-ts and position of the newest event; -1 if no event has a commit-ts.
    :param without_key: rows of tables without handle key.
    :param without_rule: rows of tables whose dispatch rule is unknown.
    :param without_hash: rows that lack a column that their rule hashes.
    :param uncomparable: rows of tables whose rows cannot be tracked.
    :param partition_varies: rows of tables whose dispatch rule sends events of one row to several partitions.
    :param without_old: updates and deletes without their whole old image.
    """

    count: int = 0
    last: tuple[int, int] = (NOTHING, NOTHING)
    without_key: int = 0
    without_rule: int = 0
    without_hash: int = 0
    uncomparable: int = 0
    partition_varies: int = 0
    without_old: int = 0

    def add(self, other: KindStats) -> None:
        """Add the events of another part of the partition."""
        for counter in fields(self):
            mine, more = getattr(self, counter.name), getattr(other, counter.name)
            setattr(self, counter.name, max(mine, more) if counter.name == "last" else mine + more)


@dataclass
class StreamStats:
    """Counts, DDLs, and violations by single events.

    :param counts: by topic, partition and kind.
    :param ddls: the DDLs of all partitions.
    :param statements: the DDLs by their text, with the positions of their copies.
    :param reduced_tables: the tables with rows of which only the handle key was sent.
    :param undecided_tables: the tables with rows of which the stream does not show whether a DDL precedes
        them.
    :param tombstones: number of messages without value from which no event follows.
    :param snapshot: the tables with which a consumer starts.
    """

    options: VerifyOptions
    counts: dict[tuple[str, int, EventKind], KindStats] = field(default_factory=dict)
    ddls: set[TableDDL] = field(default_factory=set)
    statements: dict[_Statement, dict[Partition, tuple[int, int]]] = field(default_factory=dict)
    reduced_tables: set[tuple[str, str]] = field(default_factory=set)
    undecided_tables: set[tuple[str, str]] = field(default_factory=set)
    tombstones: int = 0
    snapshot: Sequence[SnapshotTable] = ()
    _replicas: dict[int | None, Replica] = field(default_factory=dict)

    def without_tombstones(self, decoded: DecodedBatch) -> DecodedBatch:
        """Return the events of a batch (shape ``DECODED``), and count its tombstones."""
        events = without_tombstones(decoded)
        self.tombstones += decoded.num_rows - events.num_rows
        return events

    def add(self, marked: MarkedEvents) -> None:
        """Add the events of a batch."""
        events = marked.events
        for (topic, partition), rows in partitions_of(events):
            for kind in KINDS:
                of_kind = rows[events.kind[rows] == kind]
                if len(of_kind):
                    counted = self.counts.setdefault((topic, partition, kind), KindStats())
                    counted.add(_counted(marked, of_kind))
        for number in np.flatnonzero(events.kind == EventKind.DDL).tolist():
            self._add_statement(marked, number)
            self.ddls.add(
                TableDDL(
                    topic=events.topic[number].as_py(),
                    schema=events.schema[number].as_py(),
                    table=events.table[number].as_py(),
                    commit_ts=int(events.commit_ts[number]),
                    effect=Effect(int(events.effect[number])),
                    action=marked.observation.decoded.column("ddl_type")[number].as_py() or 0,
                )
            )
        codes, tables = events.tables
        reduced = np.unique(codes[marked.observation.reduced])
        self.reduced_tables.update(tables[code] for code in reduced.tolist())

    def _add_statement(self, marked: MarkedEvents, number: int) -> None:
        events = marked.events
        query = marked.observation.decoded.column("query")[number].as_py() or ""
        names = events.schema[number].as_py(), events.table[number].as_py()
        partition = events.topic[number].as_py(), int(events.partition[number])
        position = int(events.position[number])
        self._see_statement((int(events.commit_ts[number]), *names, query), {partition: (position, position)})

    def _see_statement(self, statement: _Statement, copies: Copies) -> None:
        self._replicas.clear()
        self.__dict__.pop("epochs", None)
        known = self.statements.setdefault(statement, {})
        for partition, (first, last) in copies.items():
            earliest, latest = known.get(partition, (first, last))
            known[partition] = min(first, earliest), max(last, latest)

    def merge(self, others: Iterable[StreamStats]) -> None:
        """Add the statistics of other parts of the stream."""
        for other in others:
            for name, counted in other.counts.items():
                self.counts.setdefault(name, KindStats()).add(counted)
            self.ddls |= other.ddls
            for statement, copies in other.statements.items():
                self._see_statement(statement, copies)
            self.reduced_tables |= other.reduced_tables
            self.tombstones += other.tombstones

    def replica(self, until: int | None = None) -> Replica:
        """Return the tables that follow the DDLs of the stream.

        :param until: only DDLs up to this commit-ts count; None: all.
        """
        if until not in self._replicas:
            self._replicas[until] = self._replica(until)
        return self._replicas[until]

    def _replica(self, until: int | None) -> Replica:
        fidelity = self.options.fidelity
        ddls = [
            StreamDDL(
                commit_ts=table.ts,
                order=(number,),
                schema=table.schema,
                table=table.table,
                query=table.create,
            )
            for number, table in enumerate(self.snapshot)
        ]
        ddls += [
            StreamDDL(
                commit_ts=ts,
                order=min((partition, first) for (_, partition), (first, _) in copies.items()),
                schema=schema,
                table=table,
                query=query,
                copies=copies,
            )
            for (ts, schema, table, query), copies in self.statements.items()
            if until is None or ts <= until
        ]
        exact = fidelity.commit_ts == "exact"
        # Without a commit-ts a row belongs to no version of its table.
        versions = (
            apply_ddls(ddls, fidelity, self.options.profile) if self.options.rows_have_commit_ts else []
        )
        history = TableHistory(versions, exact=exact, keys_visible=fidelity.handle_key_visible)
        return Replica(history, ColumnChanges(fidelity), exact)

    def uncomparable_tables(self, until: int | None = None) -> dict[str, str]:
        """Return ``schema.table`` of the tables whose rows the stream does not determine, and the reason.

        :param until: the time of the rows as commit-ts; None: the end.
        """
        history = self.replica(until).history
        names = {*self.reduced_tables, *self.undecided_tables, *history.names}
        reasons = {}
        for name in names:
            if not history.earlier_names(name).isdisjoint(self.reduced_tables):
                reasons[".".join(name)] = "some of its rows were sent with their handle key only"
            elif not history.earlier_names(name).isdisjoint(self.undecided_tables):
                reasons[".".join(name)] = _UNDECIDED.format(self.options.fidelity.commit_ts)
            elif name in history.uncomparable_reasons:
                reasons[".".join(name)] = history.uncomparable_reasons[name]
        return reasons

    @cached_property
    def epochs(self) -> TableEpochs:
        """The DDLs of each table, in order; a table of the snapshot has its rows and no others."""
        begins = (
            TableDDL(
                topic=table.topic,
                schema=table.schema,
                table=table.table,
                commit_ts=table.ts,
                effect=Effect.CLEARS,
                action=0,
            )
            for table in self.snapshot
        )
        return TableEpochs([*self.ddls, *begins], self.options)

    @property
    def events(self) -> int:
        """Number of decoded events."""
        return sum(counted.count for (_, _, kind), counted in self.counts.items() if kind != EventKind.ERROR)

    def count(self, kind: EventKind) -> int:
        """Return the number of events of a kind in all partitions."""
        return sum(counted.count for (_, _, of), counted in self.counts.items() if of == kind)

    def rows(self, counter: str) -> int:
        """Return the sum of one of the counters of :class:`KindStats` over the rows."""
        return sum(
            getattr(counted, counter) for (_, _, of), counted in self.counts.items() if of == EventKind.ROW
        )

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics that have events."""
        return tuple(sorted({topic for topic, _, _ in self.counts}))

    def newest(self, topic: str, *kinds: EventKind) -> Mapping[int, tuple[int, int]]:
        """Return commit-ts and position of the newest event of some kinds in each partition that has any."""
        by_partition: dict[int, tuple[int, int]] = {}
        for (name, partition, kind), counted in self.counts.items():
            if name == topic and kind in kinds and counted.last[0] != NOTHING:
                by_partition[partition] = max(counted.last, by_partition.get(partition, counted.last))
        return by_partition

    def covered(self, topic: str) -> int:
        """Return the highest resolved-ts that all partitions of a topic have; 0 without one."""
        resolved = self.newest(topic, EventKind.RESOLVED)
        partitions = range(self.options.partitions.get(topic, 0))
        return min((resolved.get(partition, (0, 0))[0] for partition in partitions), default=0)


def _counted(marked: MarkedEvents, rows: np.ndarray) -> KindStats:
    events = marked.events
    rule, ts = events.rule[rows], events.commit_ts[rows]
    fixed = (rule == Rule.TABLE) | ((rule == Rule.INDEX_VALUE) & events.hashes_handle[rows])
    newest = int(ts.max())
    return KindStats(
        count=len(rows),
        last=_NO_EVENT
        if events.kind[rows[0]] == EventKind.ERROR
        else (newest, int(events.position[rows][ts == newest].max())),
        without_key=int((~events.keyed[rows]).sum()),
        without_rule=int((rule == Rule.UNKNOWN).sum()),
        without_hash=int(((rule != Rule.UNKNOWN) & (events.dispatch_key[rows] == NOTHING)).sum()),
        uncomparable=int(events.uncomparable[rows].sum()),
        partition_varies=int(((rule != Rule.UNKNOWN) & ~fixed).sum()),
        without_old=int(((events.op[rows] != Op.INSERT) & (events.old[rows] == 0)).sum()),
    )


_NO_EVENT = (NOTHING, NOTHING)
