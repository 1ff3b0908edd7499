"""Judging a stream: on its own, and against what a scenario says must come."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from producer.changefeed import Changefeed
from producer.codec import registry
from producer.dispatch.rules import Router
from producer.jobs.events import expected_events
from producer.jobs.generated_state import generated_state, state_lines
from producer.jobs.prepare import Job, codec_options
from producer.jobs.untold import tables_in_part, untold_tables
from producer.jobs.write_folder import replicated_state
from producer.model.losses import Losses
from producer.source.decode import decoded
from producer.verifier.checking import examine
from producer.verifier.comparison import compare
from producer.verifier.options import DispatchRule, VerifyOptions
from producer.verifier.registry import INVARIANTS
from producer.verifier.table_state import STATE, StateComparison, compare_state, final_state
from producer.verifier.verdict import Verdict


def judge(
    job: Job,
    events: DataFrame,
    encoded: DataFrame,
    back: DataFrame,
    skipped: Collection[str] = (),
    *,
    claims: str = "",
) -> Verdict:
    """The verdict on messages that were read back.

    :param events: the event stream; ``encoded`` its messages.
    :param back: messages as the topic or folder has them.
    :param skipped: ``schema.table`` of tables with rows that were left out; their state is not compared.
    :param claims: where claim-check objects are, as URI or path.
    """
    wanted = expected_events(job, events, encoded)
    return verdict(job.changefeed, back, job=job, wanted=wanted, skipped=skipped, claims=claims)


def verdict(
    changefeed: Changefeed,
    back: DataFrame,
    *,
    job: Job | None = None,
    wanted: DataFrame | None = None,
    skipped: Collection[str] = (),
    strict_seed: bool = False,
    claims: str = "",
) -> Verdict:
    """Check messages; with a job, also against its expected events and state.

    :param wanted: the job's expected events, placed.
    :param claims: where claim-check objects are, as URI or path; empty: rows in them are not looked at.
    """
    options = codec_options(changefeed)
    losses = registry.encoder(changefeed.protocol, options).losses
    stream = decoded(back, changefeed.protocol, options, claims).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        known = _verify_options(changefeed, losses, back, strict_seed=strict_seed)
        if job is not None and losses.table_ids == "none":
            known = replace(known, partitioned=_partitioned(job))
        findings, census = examine(stream, known)
        unchecked = {finding.id for finding in findings if finding.severity == "not checked"}
        return Verdict(
            findings=tuple(findings),
            checked=tuple(one.id for one in INVARIANTS if one.id not in unchecked),
            kinds=census.kinds,
            comparison=None if wanted is None else compare(wanted, stream),
            state=None if job is None else _state_compared(job, stream, known, skipped),
        )
    finally:
        stream.unpersist()


def _partitioned(job: Job) -> frozenset[str]:
    return frozenset(table.qualified_name for table in job.history.catalog.tables if table.partitions)


def _state_compared(
    job: Job, stream: DataFrame, options: VerifyOptions, skipped: Collection[str]
) -> StateComparison:
    untold = untold_tables(job) | tables_in_part(stream)
    wanted = _expected_state(stream.sparkSession, job, {*skipped, *untold})
    return compare_state(wanted, final_state(stream, options), tuple(sorted(untold)))


def _expected_state(spark: SparkSession, job: Job, skipped: Collection[str]) -> DataFrame:
    """Rows of the replicated tables as a reader gets them; a table without rows is a line without row."""
    losses = job.encoder.losses
    lines: list[tuple[str, str, dict[str, bytes | None] | None]] = []
    for table, rows in replicated_state(job, job.history.state):
        if table.handle_index is None or table.qualified_name in skipped:
            continue
        columns = [(column.name, losses.told(column)) for column in table.sent_columns]
        lines.append((table.schema, table.name, None))
        lines += [
            (
                table.schema,
                table.name,
                {name: told(value) for (name, told), value in zip(columns, row, strict=True)},
            )
            for row in rows
        ]
    state = spark.createDataFrame(lines, STATE)
    for table, frame in generated_state(spark, job, job.sent):
        if table.qualified_name not in skipped:
            state = state.unionByName(state_lines(job, table, frame))
    return state


def _verify_options(
    changefeed: Changefeed, losses: Losses, back: DataFrame, *, strict_seed: bool
) -> VerifyOptions:
    router = Router(changefeed)

    def rule(schema: str, table: str) -> DispatchRule | None:
        found = router.rule_of(schema, table)
        if found.index:
            return None  # which columns the index has is not in the stream
        columns = found.columns if found.rule == "columns" else None
        return DispatchRule(schema=schema, table=table, rule=found.rule, columns=columns)

    topics = [row["topic"] for row in back.select("topic").distinct().collect()]
    return VerifyOptions(
        rules=rule,
        partitions=dict.fromkeys(topics, changefeed.partition_num),
        ddl_broadcast=changefeed.ddl_to_all_partitions,
        resolved=losses.resolved,
        strict_seed=strict_seed,
        raw_key_update=changefeed.output_raw_change_event,
        max_batch_size=changefeed.max_batch_size,
        max_message_bytes=changefeed.max_message_bytes,
        old_value=losses.old_values != "none",
        commit_ts=losses.commit_ts,
        table_ids=losses.table_ids != "none",
        unique_columns=losses.unique_columns,
        hashed_types=losses.hashed_types,
    )
