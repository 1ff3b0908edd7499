"""The counts of a report: messages, changes that never enter the stream, rows that an encoder rejects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.errors import EncodeError
from ticdc_producer.simulate.job import Job
from ticdc_producer.targets.encoding.encode_partition import PartitionSummary
from ticdc_producer.targets.kafka.delivery_stats import KindCount

_NO_KEY = "no primary key or not-null unique key, and force-replicate is false"
_NO_RULE = "no filter rule accepts the table"


@dataclass(frozen=True)
class Counts:
    """The counts of a stream.

    :param messages: by (topic, partition, kind); ``events`` and ``size`` (bytes) likewise.
    :param rejected: number of rows that TiCDC's encoder rejects.
    """

    messages: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    events: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    size: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    rejected: int = 0

    @property
    def total(self) -> int:
        """Total number of messages."""
        return sum(self.messages.values())

    @classmethod
    def of_partitions(cls, summaries: Iterable[PartitionSummary]) -> Counts:
        """Return the counts of encoded partitions."""
        partitions = [*summaries]
        counts = cls(rejected=sum(summary.rejected for summary in partitions))
        for summary in partitions:
            for kind, count in summary.kinds.items():
                counts.set(summary.topic, summary.partition, kind, count)
        return counts

    def set(self, topic: str, partition: int, kind: str, found: KindCount) -> None:
        """Set the counts of one kind of message of a partition."""
        key = topic, partition, kind
        self.messages[key], self.events[key], self.size[key] = found.messages, found.events, found.size

    def by_kind(self) -> dict[str, dict[str, int]]:
        """``{kind: {messages, events, bytes}}``."""
        kinds = sorted({kind for *_, kind in self.messages})
        return {kind: self._sums(lambda key, kind=kind: key[2] == kind) for kind in kinds}

    def by_partition(self) -> dict[str, dict[str, int]]:
        """``{"topic/partition": {messages, events, bytes}}``."""
        partitions = sorted({(topic, partition) for topic, partition, _ in self.messages})
        return {f"{t}/{p}": self._sums(lambda key, t=t, p=p: key[:2] == (t, p)) for t, p in partitions}

    def _sums(self, wanted: Any) -> dict[str, int]:
        def total(of: Counter[tuple[str, int, str]]) -> int:
            return sum(count for key, count in of.items() if wanted(key))

        return {"messages": total(self.messages), "events": total(self.events), "bytes": total(self.size)}


def discarded(job: Job) -> list[dict[str, Any]]:
    """DDLs, and rows by table, that TiCDC never passes to its sink, with reasons."""
    ddls = [
        {"kind": "ddl", "schema": ddl.schema, "table": ddl.table, "query": ddl.query, "reason": ddl.reason}
        for ddl in job.history.catalog.ddls
        if not ddl.sent
    ]
    replicated = {table.version for table in job.stream.replicated}
    names = TableFilter(job.changefeed)
    tables = [job.history.catalog.tables[change.table_version] for change in job.history.changes]
    left_out = Counter(
        (table.qualified_name, _NO_KEY if names.accepts(table) else _NO_RULE)
        for table in tables
        if table.version not in replicated
    )
    rows = [
        {"kind": "row", "table": table, "changes": changes, "reason": reason}
        for (table, reason), changes in sorted(left_out.items())
    ]
    return ddls + rows


def stop_error(row: dict[str, Any]) -> EncodeError:
    """The error that ends a run with ``on-error: stop`` at a rejected event."""
    return EncodeError(
        f"{row['error'].removeprefix(row['code'] + ': ')}, commit-ts {row['commit_ts']}",
        code=row["code"],
        table=row["table"],
        commit_ts=row["commit_ts"],
        hint="TiCDC's changefeed would stop here; on-error: skip leaves such events out",
    )
