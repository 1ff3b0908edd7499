"""Preconditions of invariants: what cannot be checked is reported with a reason, never counted as passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.verifier.events import EventKind
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream_facts import StreamFacts


@dataclass(frozen=True, slots=True)
class Unmet:
    """A precondition that this stream does not meet.

    :param rows: number of rows that are not checked; 0: the whole invariant, which then is not run.
    """

    reason: str
    rows: int = 0


Preconditions: TypeAlias = Callable[[StreamFacts], Iterator[Unmet]]


def nothing(_facts: StreamFacts) -> Iterator[Unmet]:
    """No precondition: every stream can be checked."""
    yield from ()


def events_of_kind(*kinds: EventKind) -> Preconditions:
    """Requires events of these kinds: a stream without them proves nothing."""

    def unmet(facts: StreamFacts) -> Iterator[Unmet]:
        for kind in kinds:
            if kind == EventKind.RESOLVED and not facts.options.fidelity.resolved:
                yield Unmet("the protocol has no resolved events")
            elif not facts.count(kind):
                yield Unmet(f"the stream has no {kind.name.lower()} events")

    return unmet


def message_limits(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires ``max_batch_size`` or ``max_message_bytes``."""
    if facts.options.max_batch_size is None and facts.options.max_message_bytes is None:
        yield Unmet("max-batch-size and max-message-bytes are unknown")


def handle_key_rows(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires rows; those without a handle key are not checked."""
    yield from events_of_kind(EventKind.ROW)(facts)
    if unkeyed := facts.rows("unkeyed"):
        yield Unmet("rows of tables without handle key cannot be distinguished", unkeyed)


def exact_commit_ts(preconditions: Preconditions) -> Preconditions:
    """Requires exact commit-ts, which distinguish transactions, in addition to other preconditions."""

    def both(facts: StreamFacts) -> Iterator[Unmet]:
        if facts.options.fidelity.commit_ts != "exact":
            yield Unmet(
                "the protocol sends commit-ts in milliseconds only; enable-tidb-extension sends it exactly"
            )
        yield from preconditions(facts)

    return both


def partition_counts(kind: EventKind) -> Preconditions:
    """Requires events of a kind, and the number of partitions of each topic."""

    def unmet(facts: StreamFacts) -> Iterator[Unmet]:
        yield from events_of_kind(kind)(facts)
        yield from _uncounted(facts)

    return unmet


def _uncounted(facts: StreamFacts) -> Iterator[Unmet]:
    for topic in facts.topics:
        if topic not in facts.options.partitions:
            rows = sum(counted.count for (name, *_), counted in facts.counts.items() if name == topic)
            yield Unmet(f"the number of partitions of topic {topic} is unknown", rows)


def dispatch_rules(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires dispatch rules and numbers of partitions; covers rows whose dispatch key is known."""
    if facts.options.rules is None:
        yield Unmet("the dispatch rules are unknown; give the changefeed's configuration")
        return
    yield from events_of_kind(EventKind.ROW)(facts)
    yield from _uncounted(facts)
    if unruled := facts.rows("unruled"):
        yield Unmet("no dispatch rule is known for the rows' table", unruled)
    if unhashed := facts.rows("unhashed"):
        what = "the message lacks a column that the rule hashes, or has its value in another form"
        yield Unmet(what, unhashed)


def key_update_split(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires old images, and a changefeed that splits key updates."""
    if facts.options.raw_key_update:
        yield Unmet("output-raw-change-event sends key-changing updates as they are")
    elif not facts.options.fidelity.has_old_values:
        yield Unmet("updates carry no old image")
    else:
        yield from events_of_kind(EventKind.ROW)(facts)
        if not facts.options.fidelity.unique_columns:
            yield Unmet(
                "the protocol does not mark unique columns other than its key", facts.count(EventKind.ROW)
            )


def any_events(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires at least one event."""
    if not any(facts.count(kind) for kind in (EventKind.ROW, EventKind.DDL, EventKind.RESOLVED)):
        yield Unmet("the stream has no events")


def requires_option(
    missing: Callable[[VerifyOptions], bool], reason: str, preconditions: Preconditions
) -> Preconditions:
    """Requires an option, in addition to other preconditions.

    :param missing: whether the option is missing.
    :param reason: the reason to report in that case.
    """

    def both(facts: StreamFacts) -> Iterator[Unmet]:
        if missing(facts.options):
            yield Unmet(reason)
        else:
            yield from preconditions(facts)

    return both


def tracked_tables(preconditions: Preconditions) -> Preconditions:
    """Requires tables that can be tracked from DDL to DDL, in addition to other preconditions."""

    def both(facts: StreamFacts) -> Iterator[Unmet]:
        if facts.options.untracked is None:
            yield Unmet(
                "the protocol sends no DDL events, so changes of rows and columns by a DDL are not visible"
            )
            return
        yield from preconditions(facts)
        if rows := facts.rows("untracked"):
            yield Unmet("rows of the table were left out, or a DDL of it is not visible", rows)

    return both


def row_histories(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires rows that can be tracked from event to event."""
    yield from tracked_tables(handle_key_rows)(facts)
    rows = facts.rows("partition_varies") + facts.rows("unruled")
    if facts.options.fidelity.commit_ts != "exact" and rows:
        yield Unmet("events of one millisecond in two partitions have no known order", rows)


def row_states(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires rows that can be tracked; inserts that may be updates are not checked."""
    yield from row_histories(facts)
    if not facts.options.fidelity.distinguishes_updates and (rows := facts.count(EventKind.ROW)):
        yield Unmet("updates read as inserts, so inserts of existing rows are not checked", rows)


def old_images(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires old images; those with the handle key only are not checked."""
    if not facts.options.fidelity.has_old_values:
        yield Unmet("updates carry no old image")
        return
    yield from row_histories(facts)
    if rows := facts.rows("without_old"):
        yield Unmet("the event has the handle key columns only", rows)


def fixed_partition(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires a dispatch rule that sends all events of a row to one partition."""
    yield from handle_key_rows(facts)
    if rows := facts.rows("partition_varies"):
        yield Unmet("the dispatch rule sends events of one row to several partitions", rows)


def batch_keys(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires a batcher that separates dispatch keys; covers rows whose dispatch key is known."""
    if not facts.options.batched_by_key:
        yield Unmet("batch-by=partition puts rows of any dispatch key into one message")
        return
    yield from events_of_kind(EventKind.ROW)(facts)
    if rows := facts.rows("unruled") + facts.rows("unhashed"):
        yield Unmet("the dispatch key is unknown, so only the table is compared", rows)


def topic_rules(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires topic rules."""
    if facts.options.rules is None or facts.options.default_topic is None:
        yield Unmet("the topic rules are unknown; give the changefeed's configuration")
        return
    yield from events_of_kind(EventKind.ROW)(facts)
    if unruled := facts.rows("unruled"):
        yield Unmet("no dispatch rule is known for the rows' table", unruled)


def handle_keys(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires a protocol that marks the handle key."""
    if not facts.options.fidelity.marks_handle_keys:
        yield Unmet("the protocol marks primary keys only, not which other key is the handle key")
        return
    yield from events_of_kind(EventKind.ROW)(facts)
    if facts.options.force_replicate and (rows := facts.rows("unkeyed")):
        yield Unmet("force-replicate sends tables without handle key", rows)


def resolved_coverage(facts: StreamFacts) -> Iterator[Unmet]:
    """Requires rows, and resolved events of topics whose partitions are known."""
    yield from events_of_kind(EventKind.ROW)(facts)
    yield from partition_counts(EventKind.RESOLVED)(facts)
