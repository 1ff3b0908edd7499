"""Verification of a stream: against TiCDC's guarantees, and against the events of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.config import Changefeed
from ticdc_producer.dispatch.rules import Router
from ticdc_producer.model.fidelity import Fidelity, has_commit_ts
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.registry import Options
from ticdc_producer.runs.change_log import StepRows
from ticdc_producer.runs.generated_state import generated_state, state_rows
from ticdc_producer.runs.observed_names import observed_names
from ticdc_producer.runs.prepare import Job, codec_options
from ticdc_producer.runs.schemas import with_schemas
from ticdc_producer.runs.unverifiable_tables import (
    handle_key_only_tables,
    untracked_tables,
    unverifiable_tables,
)
from ticdc_producer.runs.write_golden import replicated_state
from ticdc_producer.spark.background_jobs import background_jobs
from ticdc_producer.spark.materialize import materialized
from ticdc_producer.targets.decoding.decode import decoded
from ticdc_producer.verifier.checking import check_with_stats, enabled_invariants
from ticdc_producer.verifier.comparison import Comparison, compare
from ticdc_producer.verifier.options import DispatchRule, Strictness, VerifyOptions
from ticdc_producer.verifier.table_state import STATE, StateComparison, compare_state, final_state
from ticdc_producer.verifier.verdict import Verdict

_USUAL = Strictness()


@dataclass(frozen=True)
class Expected:
    """What a scenario requires of a stream.

    :param steps: the rows of the scenario's ``generate`` and ``data`` steps.
    :param events: returns the expected events with ``offset`` and ``index``.
    :param skipped: ``schema.table`` of tables with rejected rows; their state is not compared.
    """

    job: Job
    steps: StepRows
    events: Callable[[], DataFrame]
    skipped: frozenset[str]


@dataclass(frozen=True)
class VerifiedStream:
    """A stream with its verdict, as passed to ``on_verdict``.

    :param scenario: name of the scenario it was compared with; empty without one.
    :param stream: the decoded events (shape ``DECODED``); materialized only during the call.
    """

    changefeed: Changefeed
    scenario: str
    stream: DataFrame
    verdict: Verdict


OnVerdict: TypeAlias = Callable[[VerifiedStream], None]


def ignore_verdict(_verified: VerifiedStream) -> None:
    """The default ``on_verdict``: does nothing."""


def verify_messages(
    changefeed: Changefeed,
    read_messages: DataFrame,
    expected: Expected | None = None,
    *,
    strictness: Strictness = _USUAL,
    skipped: Collection[str] = (),
    claims: str = "",
    schemas: Mapping[int, str] | None = None,
    on_verdict: OnVerdict = ignore_verdict,
) -> Verdict:
    """Verify messages, and compare them with a scenario if one is given.

    :param read_messages: messages read from a topic or folder.
    :param expected: the scenario; None: no comparison.
    :param skipped: ``schema.table`` of tables with rejected rows, as far as known without a scenario.
    :param claims: location of the claim-check objects, as URI or path; empty: the objects are not read.
    :param schemas: Avro schemas stored in a folder, by the ids in its messages.
    :param on_verdict: called with the decoded stream and the verdict while the stream is materialized.
    """
    options: Options = codec_options(changefeed)
    fidelity = registry.encoder(changefeed.protocol, options).fidelity
    own = schemas or ({} if expected is None else expected.job.known_schemas)
    options = with_schemas(options, changefeed, read_messages, own)
    with materialized(decoded(read_messages, changefeed.protocol, options, claims)) as stream:
        settings = verify_options(changefeed, fidelity, read_messages, strictness, expected)
        settings = replace(settings, untracked=_untracked_tables(changefeed, expected, skipped))
        if expected is not None and fidelity.table_ids == "none":
            settings = replace(settings, partitioned=_partitioned(expected.job))
        with background_jobs(stream.sparkSession) as submit:
            comparing = None if expected is None else submit(partial(_compared, expected, stream, settings))
            findings, stats = check_with_stats(stream, settings)
            comparison, state, states = (None, None, {}) if comparing is None else comparing()
        unchecked = {finding.id for finding in findings if finding.severity == "not checked"}
        found = Verdict(
            findings=tuple(findings),
            checked=tuple(one.id for one in enabled_invariants(settings) if one.id not in unchecked),
            kinds=stats.kinds,
            comparison=comparison,
            state=state,
            states=states,
        )
        scenario = "" if expected is None else expected.job.scenario.name
        on_verdict(VerifiedStream(changefeed, scenario, stream, found))
        return found


def _partitioned(job: Job) -> frozenset[str]:
    return frozenset(table.qualified_name for table in job.history.catalog.tables if table.partitions)


def _compared(
    expected: Expected, stream: DataFrame, options: VerifyOptions
) -> tuple[Comparison, StateComparison, dict[int, StateComparison]]:
    """Compare the events, the rows at the end, and the rows at the job's ``state_at``."""
    events = compare(expected.events(), stream)
    state = _state_compared(expected, stream, options)
    return events, state, _states_compared(expected, stream, options)


def _states_compared(
    expected: Expected, stream: DataFrame, options: VerifyOptions
) -> dict[int, StateComparison]:
    """Compare the states at the job's ``state_at``, after all events up to that commit-ts."""
    return {
        ts: _state_compared(expected, stream.where(F.col("commit_ts") <= ts), options, ts)
        for ts in expected.job.state_at
    }


def _state_compared(
    expected: Expected, stream: DataFrame, options: VerifyOptions, ts: int | None = None
) -> StateComparison:
    unverifiable = unverifiable_tables(expected.job) | handle_key_only_tables(stream)
    wanted = _expected_state(expected, unverifiable, ts)
    return compare_state(wanted, final_state(stream, options), tuple(sorted(unverifiable)))


def _expected_state(expected: Expected, unverifiable: Collection[str], ts: int | None) -> DataFrame:
    """Rows of the replicated tables as a reader decodes them, plus one record without a row per table.

    :param ts: time stamp (TSO) of the state; None: the state at the end.
    """
    job, left_out = expected.job, expected.skipped.union(unverifiable)
    fidelity = job.encoder.fidelity
    records: list[tuple[str, str, dict[str, bytes | None] | None]] = []
    for table, rows in replicated_state(job, job.history.state if ts is None else job.state_until(ts)):
        if table.handle_index is None or table.qualified_name in left_out:
            continue
        columns = [
            (fidelity.visible_name(column.name), fidelity.full_projection(column))
            for column in table.sent_columns
        ]
        names = fidelity.visible_name(table.schema), fidelity.visible_name(table.name)
        records.append((*names, None))
        records += [
            (
                *names,
                {name: project(value) for (name, project), value in zip(columns, row, strict=True)},
            )
            for row in rows
        ]
    state = expected.steps.spark.createDataFrame(records, STATE)
    commits = job.sent if ts is None else job.commits_until(ts)
    for table, frame in generated_state(expected.steps, job, commits):
        if table.qualified_name not in left_out:
            state = state.unionByName(state_rows(job, table, frame))
    return state


def _untracked_tables(
    changefeed: Changefeed, expected: Expected | None, skipped: Collection[str]
) -> frozenset[str] | None:
    """Tables whose changes the stream does not carry completely; None: it carries no DDL at all."""
    if expected is not None:
        return expected.skipped.union(skipped, untracked_tables(expected.job))
    return frozenset(skipped) if changefeed.output_ddl else None


def verify_options(
    changefeed: Changefeed,
    fidelity: Fidelity,
    read_messages: DataFrame,
    strictness: Strictness,
    expected: Expected | None = None,
) -> VerifyOptions:
    """The verification options that follow from a changefeed.

    :param read_messages: its messages, for the names of the topics.
    :param expected: the scenario, for the names of its tables.
    """
    router = Router(changefeed)
    names = observed_names(fidelity, None if expected is None else expected.job.history.catalog)

    def rule(schema: str, table: str) -> DispatchRule | None:
        found = router.rule_of(schema, table)
        if not names.match_hashed(schema, table, by_column=found.rule in ("index-value", "columns")):
            return None
        if found.rule == "ts" and not has_commit_ts(fidelity.commit_ts):
            return None
        if found.index:
            return None  # the stream does not carry the columns of the index
        columns = found.columns if found.rule == "columns" else None
        topic = router.ddl_topic("", "", schema, table)
        return DispatchRule(schema=schema, table=table, rule=found.rule, columns=columns, topic=topic)

    topics = [row["topic"] for row in read_messages.select("topic").distinct().collect()]
    return VerifyOptions(
        rules=rule,
        partitions=dict.fromkeys(topics, changefeed.partition_num),
        ddl_broadcast=changefeed.ddl_to_all_partitions,
        resolved=fidelity.resolved,
        strict_table_order=strictness.strict_table_order,
        raw_key_update=changefeed.output_raw_change_event,
        max_batch_size=changefeed.max_batch_size,
        max_message_bytes=changefeed.most_batch_bytes,
        old_value=fidelity.old_values != "none",
        commit_ts=fidelity.commit_ts,
        table_ids=fidelity.table_ids != "none",
        unique_columns=fidelity.unique_columns,
        hashed_types=fidelity.hashed_types,
        from_beginning=strictness.from_beginning,
        old_columns="updated" if fidelity.old_values == "updated" else "all",
        # A complete old image is never empty, so it identifies an update without the operation's name.
        names_operation=fidelity.names_operation or fidelity.old_values == "all",
        whole_deletes=fidelity.deletes == "all",
        handle_keys=bool(fidelity.visible_flag(ColumnFlag.HANDLE_KEY)),
        flags=fidelity.unique_columns,
        force_replicate=changefeed.force_replicate,
        batched_by_key=changefeed.batch_by != "partition",
        default_topic=router.default_topic,
        resolved_gap_ms=strictness.resolved_gap_ms,
        examples=strictness.examples,
    )
