"""The counts of a stream, and what TiCDC does not send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.errors import EncodeError
from ticdc_producer.faults.trap import Effect
from ticdc_producer.model.event import Kind
from ticdc_producer.simulate.job import Job
from ticdc_producer.targets.encode import Rejection
from ticdc_producer.targets.encode_partition import PartitionSummary
from ticdc_producer.targets.message_rows import KindCount

_NO_KEY = "no primary key or not-null unique key, and force-replicate is false"
_NO_RULE = "no filter rule accepts the table"


@dataclass(frozen=True)
class Counts:
    """The counts of a stream.

    :param messages: by (topic, partition, kind); ``events`` and ``size`` (bytes) have the same keys.
    :param rejected: number of rows that TiCDC's encoder rejects.
    :param large_rows: number of rows that are too large for a message.
    :param key_updates: number of updates that change a key, if a trap asks for them.
    """

    messages: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    events: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    size: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    rejected: int = 0
    large_rows: int = 0
    key_updates: int = 0

    @property
    def total(self) -> int:
        """Total number of messages."""
        return sum(self.messages.values())

    def offsets_after(self, starts: Mapping[tuple[str, int], int]) -> dict[tuple[str, int], int]:
        """Return by topic and partition the offset after its messages.

        :param starts: the offsets of the first ones, of all partitions.
        """
        ends = dict(starts)
        for (topic, partition, _), number in self.messages.items():
            ends[topic, partition] += number
        return ends

    @classmethod
    def of_partitions(cls, summaries: Iterable[PartitionSummary]) -> Counts:
        """Return the counts of encoded partitions."""
        partitions = [*summaries]
        counts = cls(
            rejected=sum(summary.rejected for summary in partitions),
            large_rows=sum(summary.large_rows for summary in partitions),
            key_updates=sum(summary.key_updates for summary in partitions),
        )
        for summary in partitions:
            for kind, count in summary.kinds.items():
                counts.set(summary.topic, summary.partition, kind, count)
        return counts

    def set(self, topic: str, partition: int, kind: str, count: KindCount) -> None:
        """Set the counts of one kind of message of a partition."""
        key = topic, partition, kind
        self.messages[key], self.events[key], self.size[key] = count.messages, count.events, count.size

    def by_kind(self) -> dict[str, dict[str, int]]:
        """Return ``{kind: {messages, events, bytes}}``."""
        kinds = sorted({kind for *_, kind in self.messages})
        return {kind: self._sums(key for key in self.messages if key[2] == kind) for kind in kinds}

    def by_partition(self) -> dict[str, dict[str, int]]:
        """Return ``{"topic/partition": {messages, events, bytes}}``."""
        partitions = sorted({(topic, partition) for topic, partition, _ in self.messages})
        return {
            f"{t}/{p}": self._sums(key for key in self.messages if key[:2] == (t, p)) for t, p in partitions
        }

    def effects(self, effect: Effect) -> int:
        """Return how often a setting of the changefeed had an effect."""
        if effect == "large rows":
            return self.large_rows
        if effect == "key updates":
            return self.key_updates
        partitions = {(topic, partition) for topic, partition, _ in self.messages}
        return sum(
            bool(self.messages[topic, partition, Kind.RESOLVED.label])
            and not self.messages[topic, partition, Kind.ROW.label]
            for topic, partition in partitions
        )

    def _sums(self, keys: Iterable[tuple[str, int, str]]) -> dict[str, int]:
        counters = {"messages": self.messages, "events": self.events, "bytes": self.size}
        selected = [*keys]
        return {name: sum(counts[key] for key in selected) for name, counts in counters.items()}


def discarded(job: Job) -> list[dict[str, object]]:
    """Return the DDLs, and the rows by table, that TiCDC never passes to its sink, with reasons."""
    ddls: list[dict[str, object]] = [
        {"kind": "ddl", "schema": ddl.schema, "table": ddl.table, "query": ddl.query, "reason": ddl.reason}
        for ddl in job.history.catalog.ddls
        if not ddl.sent
    ]
    replicated = {table.version for table in job.stream.replicated}
    names = TableFilter(job.changefeed)
    tables = [job.history.catalog.tables[change.table_version] for change in job.history.changes]
    unreplicated = Counter(
        (table.qualified_name, _NO_KEY if names.accepts(table) else _NO_RULE)
        for table in tables
        if table.version not in replicated
    )
    rows: list[dict[str, object]] = [
        {"kind": "row", "table": table, "changes": changes, "reason": reason}
        for (table, reason), changes in sorted(unreplicated.items())
    ]
    return ddls + rows


def stop_error(row: Rejection) -> EncodeError:
    """Return the error that ends a run with ``on-error: stop`` at a rejected event."""
    return EncodeError(
        f"{row['error'].removeprefix(row['code'] + ': ')}, commit-ts {row['commit_ts']}",
        code=row["code"],
        table=row["table"],
        commit_ts=row["commit_ts"],
        hint="TiCDC's changefeed would stop here; on-error: skip leaves such events out",
    )
