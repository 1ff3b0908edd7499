"""Findings from the violations of a stream, and the events that are their examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.model.event import TOMBSTONE
from ticdc_producer.model.event_line import DecodedRow, StateRow
from ticdc_producer.verifier.events import EventKind
from ticdc_producer.verifier.finding import EventRef, Example, Finding, event_summary
from ticdc_producer.verifier.fingerprint import Numbers
from ticdc_producer.verifier.invariants import row_state
from ticdc_producer.verifier.invariants.registry import invariants
from ticdc_producer.verifier.invariants.resolved import COMPLETE
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.key_pass import KeyFindings
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.table_state import MAX_EXAMPLES, expected_state
from ticdc_producer.verifier.violations import EventID, Invariant, ViolationCounts

_RANK = {"error": 0, "warning": 1, "info": 2, "not checked": 3}


def enabled_invariants(options: VerifyOptions) -> list[Invariant]:
    """Return the invariants that the options enable."""
    return [invariant for invariant in invariants() if invariant.enabled(options)]


def add_stream_violations(key_findings: KeyFindings, options: VerifyOptions) -> None:
    """Add the violations that show only when the groups of the whole stream are together."""
    key_findings.violations.add(row_state.SCHEMA.id, key_findings.shapes.violations(options))
    key_findings.violations.add(COMPLETE.id, key_findings.uncovered.violations())


def kinds(stats: StreamStats, key_findings: KeyFindings) -> dict[str, int]:
    """Return the number of events by kind; ``duplicate`` counts the duplicates among them."""
    return event_counts(stats) | {"duplicate": key_findings.duplicates}


def event_counts(stats: StreamStats) -> dict[str, int]:
    """Return the number of events by kind.

    ``tombstone`` is present if there are messages without value and event.
    """
    by_kind = (EventKind.ROW, EventKind.DDL, EventKind.RESOLVED, EventKind.ERROR)
    counts = {kind.name.lower(): stats.count(kind) for kind in by_kind}
    return counts | ({TOMBSTONE: stats.tombstones} if stats.tombstones else {})


def example_events(violations: ViolationCounts) -> set[EventID]:
    """Return the events that the examples name."""
    return {
        event for described in violations.examples.values() for events, _ in described for event in events
    }


def findings(
    violations: ViolationCounts, stats: StreamStats, rows: dict[EventID, DecodedRow]
) -> list[Finding]:
    """Return the findings of a stream, the most severe first.

    :param rows: the decoded events that the examples name.
    """
    all_findings = [
        *_violated(violations, stats, rows),
        *_not_checked(stats),
    ]
    return sorted(all_findings, key=lambda finding: _RANK[finding.severity])


def _violated(
    violations: ViolationCounts, stats: StreamStats, rows: dict[EventID, DecodedRow]
) -> Iterator[Finding]:
    for invariant in invariants():
        for severity in ("error", "warning", "info"):
            count = violations.counts[invariant.id, severity]
            if count and invariant.is_checked(stats):
                yield Finding(
                    id=invariant.id,
                    severity=severity,
                    count=count,
                    statement=invariant.statement,
                    hint=invariant.hint,
                    examples=tuple(
                        Example(_refs(events, rows), detail)
                        for events, detail in violations.examples[invariant.id, severity]
                    ),
                )


def _refs(events: Iterable[EventID], rows: dict[EventID, DecodedRow]) -> tuple[EventRef, ...]:
    return tuple(event_ref(event, rows[event]) for event in events if event in rows)


def _not_checked(stats: StreamStats) -> Iterator[Finding]:
    for invariant in enabled_invariants(stats.options):
        for unmet in invariant.unmet(stats):
            yield Finding(
                id=invariant.id,
                severity="not checked",
                count=unmet.rows,
                statement=invariant.statement,
                hint=unmet.reason,
            )


def event_ref(event: EventID, row: DecodedRow) -> EventRef:
    """Return an event with what identifies it to a reader.

    :param row: the decoded event.
    """
    topic, partition, offset, index = event
    return EventRef(
        topic=topic,
        partition=partition,
        offset=offset,
        index=index,
        kind=row["kind"],
        commit_ts=row["commit_ts"],
        schema=row["schema"] or "",
        table=row["table"] or "",
        op=row["op"] or "",
        text=event_summary(row),
    )


LOCATION = ("topic", "partition", "offset", "index")
_MOST_EVENTS = 100_000
"""Events that are looked up at once."""


def events_at(
    events: Dataset, positions: Iterable[EventID], *, in_order: bool = False
) -> dict[EventID, DecodedRow]:
    """Return the decoded or expected events at some positions.

    :param events: shape ``DECODED`` or ``EXPECTED_EVENTS``.
    :param in_order: whether each part has one partition, in the order of its offsets: it is read up to the
        last of the positions.
    """
    in_sequence = sorted(set(positions))
    if not in_sequence:
        return {}
    rows = rows_at(events, in_sequence, in_order=in_order).small(_MOST_EVENTS)
    return {tuple(row[name] for name in LOCATION): row for row in rows.to_pylist()}


def rows_at(
    rows: Dataset, keys: Sequence[EventID | tuple[str, int, int]], *, in_order: bool = False
) -> Dataset:
    """Return the rows at some positions.

    :param rows: with the columns of ``LOCATION``, or the first three of them.
    :param keys: their values.
    :param in_order: as for :func:`events_at`.
    """
    offsets: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for topic, partition, offset, *_ in keys:
        offsets[topic, partition].add(offset)
    select = partial(_rows_at, frozenset(keys), dict(offsets), in_order)
    return rows.map(select, rows.schema)


def _rows_at(
    keys: Collection[EventID | tuple[str, int, int]],
    offsets: Mapping[tuple[str, int], Collection[int]],
    in_order: bool,
    batches: Batches,
) -> Iterator[pa.RecordBatch]:
    every = np.array(sorted({offset for of_partition in offsets.values() for offset in of_partition}))
    names = LOCATION[: len(next(iter(keys)))]
    for batch in batches:
        if not batch.num_rows:
            continue
        own: Numbers = batch.column("offset").to_numpy()
        candidates = np.flatnonzero(np.isin(own, every))
        if len(candidates):
            few = batch.select([*names]).take(pa.array(candidates)).to_pylist()
            selected = [tuple(row.values()) in keys for row in few]
            yield batch.take(pa.array(candidates[selected]))
        if in_order:
            partition = batch.column("topic")[0].as_py(), batch.column("partition")[0].as_py()
            if int(own[-1]) > max(offsets.get(partition, ()), default=-1):
                return


def rows_with(state: Dataset, contents: Collection[int]) -> list[StateRow]:
    """Return rows of a state (shape ``STATE``) with some contents, at most as many as are listed.

    :param state: all its rows.
    """
    if not contents:
        return []
    hashes = np.array(sorted(contents))

    def matching(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = expected_state(batch, 0)
            yield batch.take(pa.array(rows.position[np.isin(rows.content, hashes)])).slice(0, MAX_EXAMPLES)

    matches = state.map(matching, state.schema).small(_MOST_EVENTS).slice(0, MAX_EXAMPLES)
    return [*matches.to_pylist()]
