"""Runs the invariants over a stream: two Spark jobs when all is well, and two more to name witnesses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as sf

from producer.verify.census import Census, take_census, topics
from producer.verify.finding import WITNESSES, EventRef, Finding, Witness
from producer.verify.options import VerifyOptions
from producer.verify.registry import INVARIANTS, Invariant, marks
from producer.verify.stream import PARTITION, PLACE, Stream, classify

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
    with _kept(classify(events, options, marks())) as classified:
        census = take_census(classified)
        stream = Stream(classified, options, topics(events.sparkSession, census, options))
        findings = [*_findings(stream, census), *_not_checked(options, census)]
    return sorted(findings, key=lambda finding: _RANK[finding.severity]), census


@contextmanager
def _kept(frame: DataFrame) -> Iterator[DataFrame]:
    """The frame, computed once for all jobs inside."""
    kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept
    finally:
        kept.unpersist()


def _not_checked(options: VerifyOptions, census: Census) -> Iterator[Finding]:
    for invariant in INVARIANTS:
        for gap in invariant.gaps(options, census):
            yield Finding(
                id=invariant.id,
                severity="not checked",
                count=gap.rows,
                statement=invariant.statement,
                hint=gap.reason,
            )


def _runnable(options: VerifyOptions, census: Census) -> list[Invariant]:
    """Invariants that have something to check: a gap with rows leaves the others to be checked."""
    return [one for one in INVARIANTS if all(gap.rows for gap in one.gaps(options, census))]


def _findings(stream: Stream, census: Census) -> list[Finding]:
    invariants = _runnable(stream.options, census)
    violations = _violations(stream, invariants)
    counts = violations.groupBy("id", "severity").count().collect()
    witnesses = _witnesses(violations, stream) if counts else {}
    return [_finding(one, row, witnesses) for one in invariants for row in counts if row["id"] == one.id]


def _violations(stream: Stream, invariants: list[Invariant]) -> DataFrame:
    """Violations of all invariants: ``id`` and the fields of :func:`stream.violation`."""
    by_event = [_named(one.id, one.by_event(stream.options)) for one in invariants if one.by_event]
    found = sf.filter(sf.array(*by_event), lambda named: named.violation.isNotNull())
    frames = [stream.events.select(sf.explode(found))]
    for one in invariants:
        if one.by_stream:
            frames.append(one.by_stream(stream).toDF("violation").select(_named(one.id, sf.col("violation"))))
    return reduce(DataFrame.union, frames).toDF("named").select("named.id", "named.violation.*")


def _named(invariant: str, violation: Column) -> Column:
    return sf.struct(sf.lit(invariant).alias("id"), violation.alias("violation"))


def _finding(invariant: Invariant, counted: Row, witnesses: dict[tuple[str, str], list[Witness]]) -> Finding:
    return Finding(
        id=invariant.id,
        severity=counted["severity"],
        count=counted["count"],
        statement=invariant.statement,
        hint=invariant.hint,
        witnesses=tuple(witnesses[invariant.id, counted["severity"]]),
    )


def _witnesses(violations: DataFrame, stream: Stream) -> dict[tuple[str, str], list[Witness]]:
    """The first violations of each invariant and severity."""
    in_order = Window.partitionBy("id", "severity").orderBy("events", "detail")
    ranked = violations.withColumn("rank", sf.row_number().over(in_order))
    shown = ranked.filter(sf.col("rank") <= WITNESSES).orderBy("id", "severity", "rank").collect()
    events = _events_at({tuple(place) for row in shown for place in row["events"]}, stream)
    witnesses: dict[tuple[str, str], list[Witness]] = defaultdict(list)
    for row in shown:
        named = tuple(events[tuple(place)] for place in row["events"])
        witnesses[row["id"], row["severity"]].append(Witness(named, row["detail"]))
    return witnesses


def _events_at(
    places: set[tuple[str, int, int, int]], stream: Stream
) -> dict[tuple[str, int, int, int], EventRef]:
    """The events at a few places."""
    wanted = stream.events.sparkSession.createDataFrame(
        sorted(places), "topic string, partition int, offset long, index int"
    )
    found = stream.events.join(sf.broadcast(wanted), [*PARTITION, *PLACE], "left_semi")
    return {_place(row): _reference(row) for row in found.select(*PARTITION, *PLACE, *_REF).collect()}


def _place(row: Row) -> tuple[str, int, int, int]:
    return row["topic"], row["partition"], row["offset"], row["index"]


def _reference(row: Row) -> EventRef:
    return EventRef(**row.asDict())
