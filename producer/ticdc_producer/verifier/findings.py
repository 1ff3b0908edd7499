"""Findings from the violations of a stream, and the events that are their examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.verifier.events import EventKind
from ticdc_producer.verifier.finding import EventRef, Example, Finding, event_summary
from ticdc_producer.verifier.fingerprint import Numbers
from ticdc_producer.verifier.invariants import row_state
from ticdc_producer.verifier.invariants.invariant import Invariant
from ticdc_producer.verifier.invariants.registry import invariants
from ticdc_producer.verifier.invariants.resolved import COMPLETE
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.key_pass import KeyFindings
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.table_state import MAX_EXAMPLES, expected_state
from ticdc_producer.verifier.violations import EventID, ViolationCounts

_RANK = {"error": 0, "warning": 1, "info": 2, "not checked": 3}


def enabled_invariants(options: VerifyOptions) -> list[Invariant]:
    """The invariants that the options enable."""
    return [one for one in invariants() if one.enabled(options)]


def add_stream_violations(found: KeyFindings, options: VerifyOptions) -> None:
    """Add what shows only when the groups of the whole stream are together."""
    found.violations.add(row_state.SCHEMA.id, found.shapes.violations(options))
    found.violations.add(COMPLETE.id, found.uncovered.violations())


def kinds(facts: StreamFacts, found: KeyFindings) -> dict[str, int]:
    """Events by kind; ``duplicate`` counts the duplicates among them."""
    by_kind = (EventKind.ROW, EventKind.DDL, EventKind.RESOLVED, EventKind.ERROR)
    return {kind.name.lower(): facts.count(kind) for kind in by_kind} | {"duplicate": found.duplicates}


def example_events(violations: ViolationCounts) -> set[EventID]:
    """The events that the examples name."""
    return {
        event for described in violations.examples.values() for events, _ in described for event in events
    }


def findings(
    violations: ViolationCounts, facts: StreamFacts, rows: dict[EventID, dict[str, Any]]
) -> list[Finding]:
    """The findings of a stream, the most severe first.

    :param rows: the decoded events that the examples name.
    """
    found = [
        *_violated(violations, facts, rows),
        *_not_checked(facts),
    ]
    return sorted(found, key=lambda finding: _RANK[finding.severity])


def _violated(
    violations: ViolationCounts, facts: StreamFacts, rows: dict[EventID, dict[str, Any]]
) -> Iterator[Finding]:
    for invariant in invariants():
        for severity in ("error", "warning", "info"):
            count = violations.counts[invariant.id, severity]
            if count and invariant.is_checked(facts):
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


def _refs(events: Iterable[EventID], rows: dict[EventID, dict[str, Any]]) -> tuple[EventRef, ...]:
    return tuple(event_ref(event, rows[event]) for event in events if event in rows)


def _not_checked(facts: StreamFacts) -> Iterator[Finding]:
    for invariant in enabled_invariants(facts.options):
        for unmet in invariant.unmet(facts):
            yield Finding(
                id=invariant.id,
                severity="not checked",
                count=unmet.rows,
                statement=invariant.statement,
                hint=unmet.reason,
            )


def event_ref(event: EventID, row: dict[str, Any]) -> EventRef:
    """An event with what identifies it to a reader.

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
    events: Dataset, wanted: Iterable[EventID], *, in_order: bool = False
) -> dict[EventID, dict[str, Any]]:
    """Return the decoded or expected events at some positions.

    :param events: shape ``DECODED`` or ``EXPECTED_EVENTS``.
    :param in_order: whether each part has one partition, in the order of its offsets: it is read up to the
        last event that is wanted.
    """
    positions = sorted(set(wanted))
    if not positions:
        return {}
    rows = rows_at(events, positions, in_order=in_order).small(_MOST_EVENTS)
    return {tuple(row[name] for name in LOCATION): row for row in rows.to_pylist()}


def rows_at(rows: Dataset, keys: Sequence[tuple[Any, ...]], *, in_order: bool = False) -> Dataset:
    """Return the rows at some positions.

    :param rows: with the columns of ``LOCATION``, or the first three of them.
    :param keys: their values.
    :param in_order: as for :func:`events_at`.
    """
    offsets: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for topic, partition, offset, *_ in keys:
        offsets[topic, partition].add(offset)
    chosen = partial(_rows_at, frozenset(keys), dict(offsets), in_order)
    return rows.map(chosen, rows.schema)


def _rows_at(
    keys: Collection[tuple[Any, ...]],
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
            wanted = [tuple(row.values()) in keys for row in few]
            yield batch.take(pa.array(candidates[wanted]))
        if in_order:
            partition = batch.column("topic")[0].as_py(), batch.column("partition")[0].as_py()
            if int(own[-1]) > max(offsets.get(partition, ()), default=-1):
                return


def rows_with(state: Dataset, contents: Collection[int]) -> list[dict[str, Any]]:
    """Return rows of a state (shape ``STATE``) with some contents, at most as many as are listed.

    :param state: all its rows.
    """
    if not contents:
        return []
    hashes = np.array(sorted(contents))

    def chosen(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = expected_state(batch, 0)
            yield batch.take(pa.array(rows.position[np.isin(rows.content, hashes)])).slice(0, MAX_EXAMPLES)

    found = state.map(chosen, state.schema).small(_MOST_EVENTS).slice(0, MAX_EXAMPLES)
    return [*found.to_pylist()]
