"""Preconditions of invariants: what cannot be checked is reported with a reason, never counted as passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.model.fidelity import COARSE
from ticdc_producer.verifier.events import EventKind
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream_stats import StreamStats


@dataclass(frozen=True, slots=True)
class Unmet:
    """A precondition that this stream does not meet.

    :param rows: number of rows that are not checked; 0: the whole invariant, which then is not run.
    """

    reason: str
    rows: int = 0


Preconditions: TypeAlias = Callable[[StreamStats], Iterator[Unmet]]


def nothing(_stats: StreamStats) -> Iterator[Unmet]:
    """Require nothing: every stream can be checked."""
    yield from ()


def events_of_kind(*kinds: EventKind) -> Preconditions:
    """Require events of these kinds: a stream without them proves nothing."""

    def unmet(stats: StreamStats) -> Iterator[Unmet]:
        for kind in kinds:
            if kind == EventKind.RESOLVED and not stats.options.fidelity.resolved:
                yield Unmet("the protocol has no resolved events")
            elif not stats.count(kind):
                yield Unmet(f"the stream has no {kind.name.lower()} events")

    return unmet


def message_limits(stats: StreamStats) -> Iterator[Unmet]:
    """Require ``max_batch_size`` or ``max_message_bytes``."""
    if stats.options.max_batch_size is None and stats.options.max_message_bytes is None:
        yield Unmet("max-batch-size and max-message-bytes are unknown")


def handle_key_rows(stats: StreamStats) -> Iterator[Unmet]:
    """Require rows; those without a handle key are not checked."""
    yield from events_of_kind(EventKind.ROW)(stats)
    if rows := stats.rows("without_key"):
        yield Unmet("rows of tables without handle key cannot be distinguished", rows)


def exact_commit_ts(preconditions: Preconditions) -> Preconditions:
    """Require exact commit-ts, which distinguish transactions, in addition to other preconditions."""

    def both(stats: StreamStats) -> Iterator[Unmet]:
        fidelity = stats.options.fidelity
        precision, option = fidelity.commit_ts, fidelity.exact_commit_ts_with
        if precision in COARSE:
            remedy = f"; {option} sends it exactly" if option else ""
            yield Unmet(f"the protocol sends commit-ts in {precision} only{remedy}")
        elif precision != "exact":
            yield Unmet("not all messages carry a commit-ts")
        yield from preconditions(stats)

    return both


def partition_counts(kind: EventKind) -> Preconditions:
    """Require events of a kind, and the number of partitions of each topic."""

    def unmet(stats: StreamStats) -> Iterator[Unmet]:
        yield from events_of_kind(kind)(stats)
        yield from _uncounted(stats)

    return unmet


def _uncounted(stats: StreamStats) -> Iterator[Unmet]:
    for topic in stats.topics:
        if topic not in stats.options.partitions:
            rows = sum(counted.count for (name, *_), counted in stats.counts.items() if name == topic)
            yield Unmet(f"the number of partitions of topic {topic} is unknown", rows)


def dispatch_rules(stats: StreamStats) -> Iterator[Unmet]:
    """Require dispatch rules and numbers of partitions; covers rows whose dispatch key is known."""
    if stats.options.rules is None:
        yield Unmet("the dispatch rules are unknown; give the changefeed's configuration")
        return
    yield from events_of_kind(EventKind.ROW)(stats)
    yield from _uncounted(stats)
    if rows := stats.rows("without_rule"):
        yield Unmet("no dispatch rule is known for the rows' table", rows)
    if rows := stats.rows("without_hash"):
        what = (
            "the message lacks a column that the rule hashes, or the exact commit-ts that it takes, "
            "or has its value in another form"
        )
        yield Unmet(what, rows)


def key_update_split(stats: StreamStats) -> Iterator[Unmet]:
    """Require old images, and a changefeed that splits key updates."""
    if stats.options.raw_key_update:
        yield Unmet("output-raw-change-event sends key-changing updates as they are")
    elif not stats.options.fidelity.has_old_values:
        yield Unmet("updates carry no old image")
    else:
        yield from events_of_kind(EventKind.ROW)(stats)
        if not stats.options.fidelity.unique_columns:
            yield Unmet(
                "the protocol does not mark unique columns other than its key", stats.count(EventKind.ROW)
            )


def any_events(stats: StreamStats) -> Iterator[Unmet]:
    """Require at least one event."""
    if not any(stats.count(kind) for kind in (EventKind.ROW, EventKind.DDL, EventKind.RESOLVED)):
        yield Unmet("the stream has no events")


def requires_option(
    missing: Callable[[VerifyOptions], bool], reason: str, preconditions: Preconditions
) -> Preconditions:
    """Require an option, in addition to other preconditions.

    :param missing: whether the option is missing.
    :param reason: the reason to report in that case.
    """

    def both(stats: StreamStats) -> Iterator[Unmet]:
        if missing(stats.options):
            yield Unmet(reason)
        else:
            yield from preconditions(stats)

    return both


def tracked_tables(preconditions: Preconditions) -> Preconditions:
    """Require tables that can be tracked from DDL to DDL, in addition to other preconditions."""

    def both(stats: StreamStats) -> Iterator[Unmet]:
        if stats.options.uncomparable is None:
            yield Unmet(
                "the protocol sends no DDL events, so changes of rows and columns by a DDL are not visible"
            )
            return
        yield from preconditions(stats)
        if rows := stats.rows("uncomparable"):
            yield Unmet("rows of the table were left out, or a DDL of it is not visible", rows)

    return both


def row_histories(stats: StreamStats) -> Iterator[Unmet]:
    """Require rows that can be tracked from event to event."""
    yield from tracked_tables(handle_key_rows)(stats)
    rows = stats.rows("partition_varies") + stats.rows("without_rule")
    if stats.options.fidelity.commit_ts != "exact" and rows:
        yield Unmet("events of one commit-ts in two partitions have no known order", rows)


def row_states(stats: StreamStats) -> Iterator[Unmet]:
    """Require rows that can be tracked; inserts that may be updates are not checked."""
    yield from row_histories(stats)
    if not stats.options.fidelity.distinguishes_updates and (rows := stats.count(EventKind.ROW)):
        yield Unmet("updates read as inserts, so inserts of existing rows are not checked", rows)


def old_images(stats: StreamStats) -> Iterator[Unmet]:
    """Require old images; those with the handle key only are not checked."""
    if not stats.options.fidelity.has_old_values:
        yield Unmet("updates carry no old image")
        return
    yield from row_histories(stats)
    if rows := stats.rows("without_old"):
        yield Unmet("the event has the handle key columns only", rows)


def fixed_partition(stats: StreamStats) -> Iterator[Unmet]:
    """Require a dispatch rule that sends all events of a row to one partition."""
    yield from handle_key_rows(stats)
    if rows := stats.rows("partition_varies"):
        yield Unmet("the dispatch rule sends events of one row to several partitions", rows)


def batch_keys(stats: StreamStats) -> Iterator[Unmet]:
    """Require a batcher that separates dispatch keys; covers rows whose dispatch key is known."""
    if not stats.options.batched_by_key:
        yield Unmet("batch-by=partition puts rows of any dispatch key into one message")
        return
    yield from events_of_kind(EventKind.ROW)(stats)
    if rows := stats.rows("without_rule") + stats.rows("without_hash"):
        yield Unmet("the dispatch key is unknown, so only the table is compared", rows)


def topic_rules(stats: StreamStats) -> Iterator[Unmet]:
    """Require topic rules."""
    if stats.options.rules is None or stats.options.default_topic is None:
        yield Unmet("the topic rules are unknown; give the changefeed's configuration")
        return
    yield from events_of_kind(EventKind.ROW)(stats)
    if rows := stats.rows("without_rule"):
        yield Unmet("no dispatch rule is known for the rows' table", rows)


def handle_keys(stats: StreamStats) -> Iterator[Unmet]:
    """Require a protocol that marks the handle key."""
    if not stats.options.fidelity.marks_handle_keys:
        yield Unmet("the protocol marks primary keys only, not which other key is the handle key")
        return
    yield from events_of_kind(EventKind.ROW)(stats)
    if stats.options.force_replicate and (rows := stats.rows("without_key")):
        yield Unmet("force-replicate sends tables without handle key", rows)


def resolved_coverage(stats: StreamStats) -> Iterator[Unmet]:
    """Require rows, and resolved events of topics whose partitions are known."""
    yield from events_of_kind(EventKind.ROW)(stats)
    yield from partition_counts(EventKind.RESOLVED)(stats)
