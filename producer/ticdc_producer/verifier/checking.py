"""Runs the invariants over a stream: three Spark jobs, and two more to collect examples of violations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as sf

from ticdc_producer.spark.background_jobs import background_jobs
from ticdc_producer.spark.materialize import materialized
from ticdc_producer.verifier.finding import EventRef, Example, Finding
from ticdc_producer.verifier.identity import text
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.registry import INVARIANTS, Invariant
from ticdc_producer.verifier.row_history import count_invalid, invalid_transitions
from ticdc_producer.verifier.stream import OFFSET_INDEX, PARTITION, Stream, Violation, classify
from ticdc_producer.verifier.stream_stats import StreamStats, collect_stats, topics

_RANK = {"error": 0, "warning": 1, "info": 2, "not checked": 3}
_REF = ("kind", "commit_ts", "schema", "table", "op", "text")


def check(events: DataFrame, options: VerifyOptions) -> list[Finding]:
    """Checks decoded events against every enabled invariant; the most severe findings come first.

    An invariant that could not be checked gives a finding of severity ``not checked``; one that holds
    gives none.

    :param events: decoded events (``DECODED``); read once, or twice if ``options.rules`` is a function.
    """
    return check_with_stats(events, options)[0]


def check_with_stats(events: DataFrame, options: VerifyOptions) -> tuple[list[Finding], StreamStats]:
    """Like :func:`check`, with the statistics of the stream."""
    spark = events.sparkSession
    with materialized(classify(events, options)) as classified, background_jobs(spark) as begin:
        counted = begin(partial(collect_stats, classified))
        invalid = invalid_transitions(classified, options)
        stats = counted()
        known = topics(spark, stats, options)
        with materialized(invalid) as transitions:
            stats = replace(stats, transitions=count_invalid(transitions))
            stream = Stream(classified, events, options, known, transitions)
            findings = [*_findings(stream, stats), *_not_checked(options, stats)]
    return sorted(findings, key=lambda finding: _RANK[finding.severity]), stats


def enabled_invariants(options: VerifyOptions) -> list[Invariant]:
    """The invariants that the options enable."""
    return [one for one in INVARIANTS if one.enabled(options)]


def _not_checked(options: VerifyOptions, stats: StreamStats) -> Iterator[Finding]:
    for invariant in enabled_invariants(options):
        for unmet in invariant.unmet(options, stats):
            yield Finding(
                id=invariant.id,
                severity="not checked",
                count=unmet.rows,
                statement=invariant.statement,
                hint=unmet.reason,
            )


def _runnable(options: VerifyOptions, stats: StreamStats) -> list[Invariant]:
    """Invariants that can be checked: an unmet precondition with a number of rows leaves the other rows."""
    return [
        one for one in enabled_invariants(options) if all(unmet.rows for unmet in one.unmet(options, stats))
    ]


def _findings(stream: Stream, stats: StreamStats) -> list[Finding]:
    invariants = [
        one for one in _runnable(stream.options, stats) if not one.candidates or one.candidates(stats)
    ]
    counted = _violations(stream, invariants, ("severity",)).groupBy("id", "severity").count().collect()
    broken = [one for one in invariants if any(row["id"] == one.id for row in counted)]
    examples = _examples(stream, broken) if broken else {}
    return [_finding(one, row, examples) for one in broken for row in counted if row["id"] == one.id]


def _violations(stream: Stream, invariants: Sequence[Invariant], fields: Sequence[str]) -> DataFrame:
    """Violations of all invariants: ``id`` and the given columns of ``Violation.found``."""
    by_event = {one.id: one.by_event(stream.options) for one in invariants if one.by_event}
    frames = [_by_event(stream, by_event, fields)] if by_event else []
    for one in invariants:
        if one.by_stream:
            frames.append(one.by_stream(stream).select(sf.lit(one.id).alias("id"), *fields))
    return reduce(DataFrame.union, frames)


def _by_event(stream: Stream, violations: dict[str, Violation], fields: Sequence[str]) -> DataFrame:
    """All checks of single events in one scan; details are rendered for violating events only."""
    wrong = {
        name: sf.coalesce(one.wrong, sf.lit(False))
        for name, one in violations.items()
        if one.wrong is not None
    }
    found = [sf.when(wrong[name], _named(name, one, fields)) for name, one in violations.items()]
    return stream.events.filter(reduce(or_, wrong.values())).select(
        sf.inline(sf.array_compact(sf.array(*found)))
    )


def _named(invariant: str, violation: Violation, fields: Sequence[str]) -> Column:
    found = dict(zip(("severity", "events", "detail"), violation.found(), strict=True))
    return sf.struct(sf.lit(invariant).alias("id"), *(found[name].alias(name) for name in fields))


def _finding(invariant: Invariant, counted: Row, examples: dict[tuple[str, str], list[Example]]) -> Finding:
    return Finding(
        id=invariant.id,
        severity=counted["severity"],
        count=counted["count"],
        statement=invariant.statement,
        hint=invariant.hint,
        examples=tuple(examples[invariant.id, counted["severity"]]),
    )


def _examples(stream: Stream, broken: Sequence[Invariant]) -> dict[tuple[str, str], list[Example]]:
    """The first violations of each invariant and severity."""
    violations = _violations(stream, broken, ("severity", "events", "detail"))
    in_order = Window.partitionBy("id", "severity").orderBy("events", "detail")
    ranked = violations.withColumn("rank", sf.row_number().over(in_order))
    selected = (
        ranked.filter(sf.col("rank") <= stream.options.examples).orderBy("id", "severity", "rank").collect()
    )
    events = _decoded_events({tuple(ref) for row in selected for ref in row["events"]}, stream)
    examples: dict[tuple[str, str], list[Example]] = defaultdict(list)
    for row in selected:
        named = tuple(events[tuple(ref)] for ref in row["events"])
        examples[row["id"], row["severity"]].append(Example(named, row["detail"]))
    return examples


def _decoded_events(
    refs: set[tuple[str, int, int, int]], stream: Stream
) -> dict[tuple[str, int, int, int], EventRef]:
    """The decoded events at some topics, partitions, offsets and indexes."""
    wanted = stream.decoded.sparkSession.createDataFrame(
        sorted(refs), "topic string, partition int, offset long, index int"
    )
    found = stream.decoded.join(sf.broadcast(wanted), [*PARTITION, *OFFSET_INDEX], "left_semi")
    texts = {name: sf.coalesce(sf.col(name), sf.lit("")) for name in ("schema", "table", "op")}
    described = found.withColumns({**texts, "text": text()}).select(*PARTITION, *OFFSET_INDEX, *_REF)
    return {_ref(row): EventRef(**row.asDict()) for row in described.collect()}


def _ref(row: Row) -> tuple[str, int, int, int]:
    return row["topic"], row["partition"], row["offset"], row["index"]
