"""Invariants of single messages and events: decoding, size, topic, partition, time stamp, keys and flags."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.event import WRONG_CHECKSUM
from ticdc_producer.verifier.events import INDEX_BITS, NOTHING, Effect, EventKind
from ticdc_producer.verifier.invariants import preconditions
from ticdc_producer.verifier.passes.partition_marks import MarkedEvents
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.violations import Invariant, Violations


def _check_frame(marked: MarkedEvents) -> Violations:
    return _decode_errors(marked, (marked.events.kind == EventKind.ERROR) & ~_has_wrong_checksum(marked))


def _has_wrong_checksum(marked: MarkedEvents) -> Flags:
    """Return the events that only ``INV-CHECKSUM`` reports; none if rows are to carry no checksums."""
    error = marked.observation.decoded.column("error")
    if not marked.options.fidelity.row_checksums:
        return np.zeros(len(error), bool)
    wrong: Flags = pc.fill_null(pc.equal(error, WRONG_CHECKSUM), False).to_numpy(zero_copy_only=False)
    return wrong


def _decode_errors(marked: MarkedEvents, wrong: Flags) -> Violations:
    decoded = marked.observation.decoded

    def detail(number: int) -> str:
        error, byte, expected = (
            decoded.column(name)[number].as_py() for name in ("error", "error_byte", "error_expected")
        )
        return f"{error} at byte {byte}: expected {expected}"

    return Violations.of_events(marked.events, wrong, "error", detail)


FRAME = Invariant(
    id="INV-FRAME",
    without_row_commit_ts=True,
    severity="error",
    statement="Every message decodes under the strict rules of the protocol.",
    hint="the protocol or its version is not the configured one, or the encoder has a bug",
    by_event=_check_frame,
    preconditions=preconditions.nothing,
)


def _check_checksum(marked: MarkedEvents) -> Violations:
    return _decode_errors(marked, _has_wrong_checksum(marked))


CHECKSUM = Invariant(
    id="INV-CHECKSUM",
    without_row_commit_ts=True,
    severity="error",
    statement="The checksum in a row's message is that of its columns, and no row is marked as corrupted.",
    hint="the row changed after TiCDC read it, or the time zone of TIMESTAMP values is not the changefeed's",
    by_event=_check_checksum,
    preconditions=preconditions.events_of_kind(EventKind.ROW),
    enabled=lambda options: options.fidelity.row_checksums,
)


def _check_batch_size(marked: MarkedEvents) -> Violations:
    """Check the limits of messages; a message with a single event may have any size."""
    decoded, options = marked.observation.decoded, marked.options
    most_events, most_bytes = options.max_batch_size, options.max_message_bytes
    events, size = (
        pc.fill_null(decoded.column(name), 0).to_numpy(zero_copy_only=False) for name in ("events", "size")
    )
    starts = marked.events.position & ((1 << INDEX_BITS) - 1) == 0
    wrong = np.zeros(len(starts), bool)
    if most_events is not None:
        wrong |= events > most_events
    if most_bytes is not None:
        wrong |= (size > most_bytes) & (events > 1)
    limits = " and ".join("any number" if most is None else str(most) for most in (most_events, most_bytes))
    return Violations.of_events(
        marked.events,
        wrong & starts & (marked.events.kind != EventKind.ERROR),
        "error",
        lambda number: f"{events[number]} events in {size[number]} bytes; allowed: {limits}",
    )


BATCH_SIZE = Invariant(
    id="INV-BATCH-SIZE",
    without_row_commit_ts=True,
    severity="error",
    statement="No message has more events than max-batch-size; no message with several events has more "
    "bytes than max-message-bytes.",
    hint="the batcher counts differently from TiCDC, or the limits given here are not the changefeed's",
    by_event=_check_batch_size,
    preconditions=preconditions.message_limits,
)


def _check_batch_kind(marked: MarkedEvents) -> Violations:
    decoded = marked.observation.decoded

    def detail(number: int) -> str:
        events, kind = (decoded.column(name)[number].as_py() for name in ("events", "kind"))
        return f"a message of {events} events has a {kind} event after others"

    return Violations.of_events(marked.events, marked.mixed_kind, "warning", detail)


BATCH_KIND = Invariant(
    id="INV-BATCH-KIND",
    without_row_commit_ts=True,
    severity="warning",
    statement="A message holds events of one kind; a DDL or resolved event is alone in its message.",
    hint="rows and DDLs share a batcher; consumers that read only the first event miss the others",
    by_event=_check_batch_kind,
    preconditions=preconditions.events_of_kind(EventKind.ROW),
)


def _check_batch_key(marked: MarkedEvents) -> Violations:
    return Violations.of_events(
        marked.events,
        marked.mixed_key,
        "warning",
        lambda _: "the two rows of one message have different dispatch keys",
        after=marked.events.position - 1,
    )


BATCH_KEY = Invariant(
    id="INV-BATCH-KEY",
    without_row_commit_ts=True,
    severity="warning",
    statement="All rows of a message share the dispatch key.",
    hint="batched by partition, as early versions did (batch-by=partition), or the dispatch rules differ",
    by_event=_check_batch_key,
    preconditions=preconditions.batch_keys,
)


def _check_ts_sane(marked: MarkedEvents) -> Violations:
    events = marked.events
    milliseconds = events.commit_ts >> 18
    first, last = marked.options.ts_range
    wrong = (milliseconds < first) | (milliseconds > last)

    def detail(number: int) -> str:
        time = str(np.datetime64(int(milliseconds[number]), "ms")).replace("T", " ")
        return f"ts {events.commit_ts[number]} is {time}"

    return Violations.of_events(events, wrong & (events.kind != EventKind.ERROR), "warning", detail)


TS_SANE = Invariant(
    id="INV-TS-SANE",
    severity="warning",
    statement="Every commit-ts and resolved-ts decodes to a plausible time.",
    hint="seconds, milliseconds or 0 were sent instead of a TSO (milliseconds << 18)",
    by_event=_check_ts_sane,
    preconditions=preconditions.any_events,
)


def _check_row_partition(marked: MarkedEvents) -> Violations:
    """Report a warning instead of an error where TiCDC's dispatch key is uncertain.

    >>> from types import SimpleNamespace
    >>> from ticdc_producer.verifier.events import Events, Rule
    >>> from ticdc_producer.verifier.options import VerifyOptions
    >>> columns = {"topic": "t", "partition": 1, "rule": Rule.TABLE, "dispatch_key": [4, 5, NOTHING]}
    >>> events = Events.with_columns(3, kind=EventKind.ROW, **columns)
    >>> options, certain = VerifyOptions(partitions={"t": 3}), np.ones(3, bool)
    >>> observation, no = SimpleNamespace(options=options, certain=certain), np.zeros(3, bool)
    >>> violations = _check_row_partition(MarkedEvents(events, observation, no, no))
    >>> [violations.detail(number) for number in range(len(violations))]
    ['rule table: dispatch key 5 belongs in partition 2, found in 1']
    """
    events = marked.events
    codes, topics = events.topics
    counts = np.array([marked.options.partitions.get(topic, 0) for topic in topics], np.int64)[codes]
    known = (events.kind == EventKind.ROW) & (events.dispatch_key != NOTHING) & (counts > 0)
    expected = np.where(known, events.dispatch_key % np.maximum(counts, 1), events.partition)
    rules = {1: "table", 2: "index-value", 3: "columns", 4: "ts"}
    return Violations.of_events(
        events,
        expected != events.partition,
        np.where(marked.observation.certain, "error", "warning"),
        lambda number: (
            f"rule {rules[int(events.rule[number])]}: dispatch key {events.dispatch_key[number]} "
            f"belongs in partition {expected[number]}, found in {events.partition[number]}"
        ),
    )


ROW_PARTITION = Invariant(
    id="INV-ROW-PARTITION",
    without_row_commit_ts=True,
    severity="error",
    statement="Every row is in the partition that its table's dispatch rule gives.",
    hint="the rule, name case or number of partitions differs from the configuration, or the old image "
    "was hashed",
    by_event=_check_row_partition,
    preconditions=preconditions.dispatch_rules,
)


def _check_topic(marked: MarkedEvents) -> Violations:
    """Check the topics of rows and of DDLs that do not rename a table.

    A DDL that renames a table goes to the topic of the old name, which its event lacks.
    Resolved events go to every topic.
    """
    events, topics = marked.events, marked.observation.topic_rule
    of_database = (events.kind == EventKind.DDL) & pc.equal(events.table, "").to_numpy(zero_copy_only=False)
    expected = pc.if_else(of_database, marked.options.default_topic, topics)
    checked = (events.kind == EventKind.ROW) | (
        (events.kind == EventKind.DDL) & (events.effect != Effect.MOVES)
    )
    differs = pc.fill_null(pc.not_equal(expected, events.topic), False).to_numpy(zero_copy_only=False)
    return Violations.of_events(
        events, checked & differs, "error", lambda number: f"belongs in topic {expected[number]}"
    )


TOPIC = Invariant(
    id="INV-TOPIC",
    without_row_commit_ts=True,
    severity="error",
    statement="Rows and DDLs are in the topic that their table's dispatch rule gives.",
    hint="the topic expression differs from the configuration, or characters of the name were replaced "
    "differently",
    by_event=_check_topic,
    preconditions=preconditions.topic_rules,
)


def _check_handle(marked: MarkedEvents) -> Violations:
    events = marked.events
    keyless = np.zeros(len(events), bool) if marked.options.force_replicate else ~events.keyed
    return Violations.of_events(
        events,
        (events.kind == EventKind.ROW) & (keyless | marked.observation.null_handle),
        "warning",
        lambda number: (
            "a column of the handle key is NULL"
            if events.keyed[number]
            else "no column belongs to a handle key"
        ),
    )


HANDLE = Invariant(
    id="INV-HANDLE",
    without_row_commit_ts=True,
    severity="warning",
    statement="Every row has a handle key without NULL.",
    hint="force-replicate sends tables without handle key; otherwise the flags or the h field are wrong",
    by_event=_check_handle,
    preconditions=preconditions.handle_keys,
)


def _check_key_update_split(checks: KeyChecks) -> Violations:
    events = checks.groups.events
    changes = pc.not_equal(events.key_change, "").to_numpy(zero_copy_only=False)
    return Violations.of_events(
        events,
        checks.groups.first_rows & changes,
        "error",
        lambda number: f"changes {events.key_change[number]}",
    )


KEY_UPDATE_SPLIT = Invariant(
    id="INV-KEY-UPDATE-SPLIT",
    without_row_commit_ts=True,
    severity="error",
    statement="No update changes a handle or unique column; such an update is sent as a delete and an "
    "insert.",
    hint="output-raw-change-event is on, or the producer is older than v6.5.3, v7.1.1",
    by_key=_check_key_update_split,
    preconditions=preconditions.key_update_split,
)


def _check_flags(marked: MarkedEvents) -> Violations:
    illegal = marked.observation.illegal_flags
    return Violations.of_events(
        marked.events,
        illegal.is_valid().to_numpy(zero_copy_only=False),
        # Its encoder sends flags of an earlier version of a table (``scenario.cached_flags``).
        "warning" if marked.options.profile == "new" else "error",
        lambda number: f"flags of {illegal[number]}",
    )


FLAGS = Invariant(
    id="INV-FLAGS",
    without_row_commit_ts=True,
    severity="error",
    statement="The flags of a column are a combination that TiDB produces, and fit its type and its values.",
    hint="TiCDC did not write it; or profile=new, or legacy-no-flag for messages without flags",
    by_event=_check_flags,
    preconditions=preconditions.requires_option(
        lambda options: not options.fidelity.unique_columns,
        "the protocol has no column flags",
        preconditions.events_of_kind(EventKind.ROW),
    ),
)
