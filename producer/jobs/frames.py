"""The driver's small collections as DataFrames, and DataFrames as what a report needs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from producer.jobs.prepare import Job
from producer.model.shapes import CHANGE_LOG
from producer.scenario.dataframe.data import data_changes
from producer.scenario.generate.log import generated_changes
from producer.scenario.history import Change, History
from producer.sink.messages import NOTES, REFUSED

FEW_CHANGES = 100_000


def told_changes(spark: SparkSession, history: History) -> DataFrame:
    """The change log of what a scenario's SQL did on the driver, and of the data it names."""
    log = spark.createDataFrame([_row(change) for change in history.changes], CHANGE_LOG)
    for plan in history.data:
        log = log.unionByName(data_changes(spark, plan))
    return log


def change_log(spark: SparkSession, history: History) -> DataFrame:
    """The change log of a whole scenario, each of its generated changes included."""
    log = told_changes(spark, history)
    for plan in history.generated:
        log = log.unionByName(settled(generated_changes(spark, plan), history))
    return log


def settled(generated: DataFrame, history: History) -> DataFrame:
    """A DataFrame of generated rows, worked out now if they are few.

    Planning is all that few rows cost, and whatever follows would plan their windows and cells again.
    """
    return generated.localCheckpoint() if history.row_changes < FEW_CHANGES else generated


def _row(change: Change) -> tuple[Any, ...]:
    return (
        change.commit_seq,
        change.row_seq,
        change.table_version,
        change.table_id,
        change.row_key,
        change.row_id,
        int(change.op),
        None if change.before is None else list(change.before),
        None if change.after is None else list(change.after),
        change.old_table_id,
        change.old_row_key,
        change.old_row_id,
    )


@dataclass(frozen=True)
class Counts:
    """What a stream holds.

    :param messages: by (topic, partition, kind); ``events`` and ``size`` (bytes) likewise.
    :param refused: how many rows TiCDC would not send.
    """

    messages: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    events: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    size: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    refused: int = 0

    @property
    def total(self) -> int:
        """Messages in all."""
        return sum(self.messages.values())

    def by_kind(self) -> dict[str, dict[str, int]]:
        """``{kind: {messages, events, bytes}}``."""
        kinds = sorted({kind for *_, kind in self.messages})
        return {kind: self._sums(lambda key, kind=kind: key[2] == kind) for kind in kinds}

    def by_partition(self) -> dict[str, dict[str, int]]:
        """``{"topic/partition": {messages, events, bytes}}``."""
        places = sorted({(topic, partition) for topic, partition, _ in self.messages})
        return {f"{t}/{p}": self._sums(lambda key, t=t, p=p: key[:2] == (t, p)) for t, p in places}

    def _sums(self, wanted: Any) -> dict[str, int]:
        def total(of: Counter[tuple[str, int, str]]) -> int:
            return sum(count for key, count in of.items() if wanted(key))

        return {"messages": total(self.messages), "events": total(self.events), "bytes": total(self.size)}


def count(messages: DataFrame) -> Counts:
    """Count a DataFrame of messages by place and kind, lines about them apart."""
    size = F.coalesce(F.octet_length("key"), F.lit(0)) + F.coalesce(F.octet_length("value"), F.lit(0))
    grouped = messages.groupBy("topic", "partition", "type").agg(
        F.count("*").alias("messages"), F.sum("events").alias("events"), F.sum(size).alias("bytes")
    )
    lines = grouped.collect()  # one per partition and kind
    counts = Counts(refused=sum(row["messages"] for row in lines if row["type"] == REFUSED))
    for row in (row for row in lines if row["type"] not in NOTES):
        place = (row["topic"], row["partition"], row["type"])
        counts.messages[place] = row["messages"]
        counts.events[place] = row["events"]
        counts.size[place] = row["bytes"]
    return counts


def discarded(job: Job) -> list[dict[str, Any]]:
    """What TiCDC never hands to its sink: DDLs with the reason, rows of ineligible tables by table."""
    ddls = [
        {"kind": "ddl", "schema": ddl.schema, "table": ddl.table, "query": ddl.query, "reason": ddl.reason}
        for ddl in job.history.catalog.ddls
        if not ddl.sent
    ]
    replicated = {table.version for table in job.stream.replicated}
    left_out = Counter(
        job.history.catalog.tables[change.table_version].qualified_name
        for change in job.history.changes
        if change.table_version not in replicated
    )
    reason = "no primary key or not-null unique key, and force-replicate is false"
    rows = [
        {"kind": "row", "table": table, "changes": changes, "reason": reason}
        for table, changes in sorted(left_out.items())
    ]
    return ddls + rows
