"""Runs the invariants over a stream: three jobs when all is well, and two more to name witnesses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as sf

from ticdc_producer.spark.background_jobs import aside
from ticdc_producer.spark.materialize import kept
from ticdc_producer.verifier.finding import EventRef, Finding, Witness
from ticdc_producer.verifier.identity import text
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.registry import INVARIANTS, Invariant
from ticdc_producer.verifier.row_history import broken_links, suspect
from ticdc_producer.verifier.stream import PARTITION, PLACE, Stream, Violation, classify
from ticdc_producer.verifier.stream_stats import Census, take_census, topics

_RANK = {"error": 0, "warning": 1, "info": 2, "not checked": 3}
_REF = ("kind", "commit_ts", "schema", "table", "op", "text")


def check(events: DataFrame, options: VerifyOptions) -> list[Finding]:
    """Checks decoded events against every invariant, the gravest findings first.

    An invariant that could not be checked is a finding of severity ``not checked``; one that holds
    gives none.

    :param events: columns as the decoding stage gives them; read once, or twice if
        ``options.rules`` is a function.
    """
    return examine(events, options)[0]


def examine(events: DataFrame, options: VerifyOptions) -> tuple[list[Finding], Census]:
    """As :func:`check`, with the census of the stream."""
    spark = events.sparkSession
    with kept(classify(events, options)) as classified, aside(spark) as begin:
        counted = begin(partial(take_census, classified))
        planned = broken_links(classified, options)
        census = counted()
        known = topics(spark, census, options)
        with kept(planned) as links:
            census = replace(census, links=suspect(links))
            stream = Stream(classified, events, options, known, links)
            findings = [*_findings(stream, census), *_not_checked(options, census)]
    return sorted(findings, key=lambda finding: _RANK[finding.severity]), census


def asked(options: VerifyOptions) -> list[Invariant]:
    """The invariants that are looked at."""
    return [one for one in INVARIANTS if one.asked(options)]


def _not_checked(options: VerifyOptions, census: Census) -> Iterator[Finding]:
    for invariant in asked(options):
        for gap in invariant.missing(options, census):
            yield Finding(
                id=invariant.id,
                severity="not checked",
                count=gap.rows,
                statement=invariant.statement,
                hint=gap.reason,
            )


def _runnable(options: VerifyOptions, census: Census) -> list[Invariant]:
    """Invariants that have something to check: a gap with rows leaves the others to be checked."""
    return [one for one in asked(options) if all(gap.rows for gap in one.missing(options, census))]


def _findings(stream: Stream, census: Census) -> list[Finding]:
    invariants = [
        one for one in _runnable(stream.options, census) if not one.suspects or one.suspects(census)
    ]
    counted = _violations(stream, invariants, ("severity",)).groupBy("id", "severity").count().collect()
    broken = [one for one in invariants if any(row["id"] == one.id for row in counted)]
    witnesses = _witnesses(stream, broken) if broken else {}
    return [_finding(one, row, witnesses) for one in broken for row in counted if row["id"] == one.id]


def _violations(stream: Stream, invariants: Sequence[Invariant], fields: Sequence[str]) -> DataFrame:
    """Violations of all invariants: ``id`` and some fields of ``Violation.found``."""
    by_event = {one.id: one.by_event(stream.options) for one in invariants if one.by_event}
    frames = [_by_event(stream, by_event, fields)] if by_event else []
    for one in invariants:
        if one.by_stream:
            frames.append(one.by_stream(stream).select(sf.lit(one.id).alias("id"), *fields))
    return reduce(DataFrame.union, frames)


def _by_event(stream: Stream, violations: dict[str, Violation], fields: Sequence[str]) -> DataFrame:
    """One scan for all: rendering is left to the few events that break something."""
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


def _finding(invariant: Invariant, counted: Row, witnesses: dict[tuple[str, str], list[Witness]]) -> Finding:
    return Finding(
        id=invariant.id,
        severity=counted["severity"],
        count=counted["count"],
        statement=invariant.statement,
        hint=invariant.hint,
        witnesses=tuple(witnesses[invariant.id, counted["severity"]]),
    )


def _witnesses(stream: Stream, broken: Sequence[Invariant]) -> dict[tuple[str, str], list[Witness]]:
    """The first violations of each invariant and severity."""
    violations = _violations(stream, broken, ("severity", "events", "detail"))
    in_order = Window.partitionBy("id", "severity").orderBy("events", "detail")
    ranked = violations.withColumn("rank", sf.row_number().over(in_order))
    shown = (
        ranked.filter(sf.col("rank") <= stream.options.witnesses).orderBy("id", "severity", "rank").collect()
    )
    events = _events_at({tuple(place) for row in shown for place in row["events"]}, stream)
    witnesses: dict[tuple[str, str], list[Witness]] = defaultdict(list)
    for row in shown:
        named = tuple(events[tuple(place)] for place in row["events"])
        witnesses[row["id"], row["severity"]].append(Witness(named, row["detail"]))
    return witnesses


def _events_at(
    places: set[tuple[str, int, int, int]], stream: Stream
) -> dict[tuple[str, int, int, int], EventRef]:
    """The events at a few places, as they were decoded."""
    wanted = stream.decoded.sparkSession.createDataFrame(
        sorted(places), "topic string, partition int, offset long, index int"
    )
    found = stream.decoded.join(sf.broadcast(wanted), [*PARTITION, *PLACE], "left_semi")
    texts = {name: sf.coalesce(sf.col(name), sf.lit("")) for name in ("schema", "table", "op")}
    shown = found.withColumns({**texts, "text": text()}).select(*PARTITION, *PLACE, *_REF)
    return {_place(row): EventRef(**row.asDict()) for row in shown.collect()}


def _place(row: Row) -> tuple[str, int, int, int]:
    return row["topic"], row["partition"], row["offset"], row["index"]
