"""Judging a stream: on its own, and against what a scenario says must come."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.config import Changefeed
from ticdc_producer.dispatch.rules import Router
from ticdc_producer.model.fidelity import Losses, tells_time
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.registry import Options
from ticdc_producer.runs.change_log import Upstream
from ticdc_producer.runs.expected_positions import expected_events
from ticdc_producer.runs.fault_free import truth
from ticdc_producer.runs.generated_state import generated_state, state_lines
from ticdc_producer.runs.observed_names import told_names
from ticdc_producer.runs.prepare import Job, codec_options
from ticdc_producer.runs.schemas import with_schemas
from ticdc_producer.runs.unverifiable_tables import tables_in_part, untold_tables, untraced_tables
from ticdc_producer.runs.write_golden import replicated_state
from ticdc_producer.spark.background_jobs import aside
from ticdc_producer.spark.materialize import kept
from ticdc_producer.targets.decoding.decode import decoded
from ticdc_producer.verifier.checking import asked, examine
from ticdc_producer.verifier.comparison import Comparison, compare
from ticdc_producer.verifier.options import Demands, DispatchRule, VerifyOptions
from ticdc_producer.verifier.table_state import STATE, StateComparison, compare_state, final_state
from ticdc_producer.verifier.verdict import Verdict

_USUAL = Demands()


@dataclass(frozen=True)
class Expected:
    """What a scenario says that must come.

    :param committed: what the job's scenario committed.
    :param events: plans the events that a reader must see, placed.
    :param skipped: ``schema.table`` of tables with rows that were left out; their state is not compared.
    """

    job: Job
    committed: Upstream
    events: Callable[[], DataFrame]
    skipped: frozenset[str]


@dataclass(frozen=True)
class Judged:
    """A stream with its verdict, for whoever wants to look at both.

    :param scenario: name of the scenario it was compared with; empty without one.
    :param stream: the decoded events (shape ``DECODED``); kept only while the observer is called.
    """

    changefeed: Changefeed
    scenario: str
    stream: DataFrame
    verdict: Verdict


Observe: TypeAlias = Callable[[Judged], None]


def unobserved(_judged: Judged) -> None:
    """The default observer."""


def judge(
    job: Job,
    committed: Upstream,
    events: DataFrame,
    places: DataFrame,
    back: DataFrame,
    skipped: Collection[str] = (),
    *,
    from_beginning: bool = False,
    claims: str = "",
    observe: Observe = unobserved,
) -> Verdict:
    """The verdict on messages that were read back.

    :param events: the event stream of ``committed``; ``places`` where its messages carry them.
    :param back: messages as the topic or folder has them.
    :param skipped: ``schema.table`` of tables with rows that were left out; their state is not compared.
    :param from_beginning: the messages are all that was ever sent of the tables.
    :param claims: where claim-check objects are, as URI or path.
    :param observe: is handed the stream and the verdict before the stream is let go.
    """

    def wanted() -> DataFrame:
        return expected_events(job, *truth(job, committed, events, places))

    expected = Expected(job, committed, wanted, frozenset(skipped))
    demands = Demands(from_beginning=from_beginning)
    return verdict(job.changefeed, back, expected, demands=demands, claims=claims, observe=observe)


def verdict(
    changefeed: Changefeed,
    back: DataFrame,
    expected: Expected | None = None,
    *,
    demands: Demands = _USUAL,
    skipped: Collection[str] = (),
    claims: str = "",
    schemas: Mapping[int, str] | None = None,
    observe: Observe = unobserved,
) -> Verdict:
    """Check messages, also against what a scenario says if it is there.

    :param skipped: ``schema.table`` of tables with rows that were left out, as far as known without it.
    :param claims: where claim-check objects are, as URI or path; empty: rows in them are not looked at.
    :param schemas: those that a folder keeps, by the ids that its messages have.
    :param observe: is handed the stream and the verdict before the stream is let go.
    """
    options: Options = codec_options(changefeed)
    losses = registry.encoder(changefeed.protocol, options).losses
    own = schemas or ({} if expected is None else expected.job.known_schemas)
    options = with_schemas(options, changefeed, back, own)
    with kept(decoded(back, changefeed.protocol, options, claims)) as stream:
        known = verify_options(changefeed, losses, back, demands, expected)
        known = replace(known, untraced=_untraced(changefeed, expected, skipped))
        if expected is not None and losses.table_ids == "none":
            known = replace(known, partitioned=_partitioned(expected.job))
        with aside(stream.sparkSession) as begin:
            against = None if expected is None else begin(partial(_compared, expected, stream, known))
            findings, census = examine(stream, known)
            comparison, state, states = (None, None, {}) if against is None else against()
        unchecked = {finding.id for finding in findings if finding.severity == "not checked"}
        found = Verdict(
            findings=tuple(findings),
            checked=tuple(one.id for one in asked(known) if one.id not in unchecked),
            kinds=census.kinds,
            comparison=comparison,
            state=state,
            states=states,
        )
        scenario = "" if expected is None else expected.job.scenario.name
        observe(Judged(changefeed, scenario, stream, found))
        return found


def _partitioned(job: Job) -> frozenset[str]:
    return frozenset(table.qualified_name for table in job.history.catalog.tables if table.partitions)


def _compared(
    expected: Expected, stream: DataFrame, options: VerifyOptions
) -> tuple[Comparison, StateComparison, dict[int, StateComparison]]:
    """Events, rows at the end, and rows at the job's ``state_at``."""
    events = compare(expected.events(), stream)
    state = _state_compared(expected, stream, options)
    return events, state, _states_compared(expected, stream, options)


def _states_compared(
    expected: Expected, stream: DataFrame, options: VerifyOptions
) -> dict[int, StateComparison]:
    """The state at the job's ``state_at``: what a reader has who applied everything up to there."""
    return {
        ts: _state_compared(expected, stream.where(F.col("commit_ts") <= ts), options, ts)
        for ts in expected.job.state_at
    }


def _state_compared(
    expected: Expected, stream: DataFrame, options: VerifyOptions, ts: int | None = None
) -> StateComparison:
    untold = untold_tables(expected.job) | tables_in_part(stream)
    wanted = _expected_state(expected, untold, ts)
    return compare_state(wanted, final_state(stream, options), tuple(sorted(untold)))


def _expected_state(expected: Expected, untold: Collection[str], ts: int | None) -> DataFrame:
    """Rows of the replicated tables as a reader gets them; a table without rows is a line without row.

    :param ts: at this time stamp; None: at the end.
    """
    job, left_out = expected.job, expected.skipped.union(untold)
    losses = job.encoder.losses
    lines: list[tuple[str, str, dict[str, bytes | None] | None]] = []
    for table, rows in replicated_state(job, job.history.state if ts is None else job.state_until(ts)):
        if table.handle_index is None or table.qualified_name in left_out:
            continue
        columns = [(losses.told_name(column.name), losses.told(column)) for column in table.sent_columns]
        names = losses.told_name(table.schema), losses.told_name(table.name)
        lines.append((*names, None))
        lines += [
            (
                *names,
                {name: told(value) for (name, told), value in zip(columns, row, strict=True)},
            )
            for row in rows
        ]
    state = expected.committed.spark.createDataFrame(lines, STATE)
    for table, frame in generated_state(
        expected.committed, job, job.sent if ts is None else job.commits_until(ts)
    ):
        if table.qualified_name not in left_out:
            state = state.unionByName(state_lines(job, table, frame))
    return state


def _untraced(
    changefeed: Changefeed, expected: Expected | None, skipped: Collection[str]
) -> frozenset[str] | None:
    """Tables that the stream alone does not tell from event to event; None: it tells no DDL at all."""
    if expected is not None:
        return expected.skipped.union(skipped, untraced_tables(expected.job))
    return frozenset(skipped) if changefeed.output_ddl else None


def verify_options(
    changefeed: Changefeed,
    losses: Losses,
    back: DataFrame,
    demands: Demands,
    expected: Expected | None = None,
) -> VerifyOptions:
    """What the changefeed says of the stream that it wrote.

    :param back: its messages, for the names of the topics.
    :param expected: for the names of its tables.
    """
    router = Router(changefeed)
    names = told_names(losses, None if expected is None else expected.job.history.catalog)

    def rule(schema: str, table: str) -> DispatchRule | None:
        found = router.rule_of(schema, table)
        if not names.hash_alike(schema, table, by_column=found.rule in ("index-value", "columns")):
            return None
        if found.rule == "ts" and not tells_time(losses.commit_ts):
            return None
        if found.index:
            return None  # which columns the index has is not in the stream
        columns = found.columns if found.rule == "columns" else None
        topic = router.ddl_topic("", "", schema, table)
        return DispatchRule(schema=schema, table=table, rule=found.rule, columns=columns, topic=topic)

    topics = [row["topic"] for row in back.select("topic").distinct().collect()]
    return VerifyOptions(
        rules=rule,
        partitions=dict.fromkeys(topics, changefeed.partition_num),
        ddl_broadcast=changefeed.ddl_to_all_partitions,
        resolved=losses.resolved,
        strict_seed=demands.strict_seed,
        raw_key_update=changefeed.output_raw_change_event,
        max_batch_size=changefeed.max_batch_size,
        max_message_bytes=changefeed.most_batch_bytes,
        old_value=losses.old_values != "none",
        commit_ts=losses.commit_ts,
        table_ids=losses.table_ids != "none",
        unique_columns=losses.unique_columns,
        hashed_types=losses.hashed_types,
        from_beginning=demands.from_beginning,
        old_columns="updated" if losses.old_values == "updated" else "all",
        # An old image of all columns is never empty, and tells the update even where no word does.
        names_operation=losses.names_operation or losses.old_values == "all",
        whole_deletes=losses.deletes == "all",
        handle_keys=bool(losses.told_flag(ColumnFlag.HANDLE_KEY)),
        flags=losses.unique_columns,
        force_replicate=changefeed.force_replicate,
        batched_by_key=changefeed.batch_by != "partition",
        default_topic=router.default_topic,
        resolved_gap_ms=demands.resolved_gap_ms,
        witnesses=demands.witnesses,
    )
