"""Invariants of messages: decoding, size, and the events that share a message."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from ticdc_producer.verifier.events import INDEX_BITS, EventKind
from ticdc_producer.verifier.invariants import preconditions
from ticdc_producer.verifier.invariants.invariant import Invariant
from ticdc_producer.verifier.passes.partition_marks import MarkedEvents
from ticdc_producer.verifier.violations import Violations


def _check_frame(marked: MarkedEvents) -> Violations:
    decoded = marked.observation.decoded

    def detail(number: int) -> str:
        error, byte, expected = (
            decoded.column(name)[number].as_py() for name in ("error", "error_byte", "error_expected")
        )
        return f"{error} at byte {byte}: expected {expected}"

    return Violations.of_events(marked.events, marked.events.kind == EventKind.ERROR, "error", detail)


FRAME = Invariant(
    id="INV-FRAME",
    without_row_commit_ts=True,
    severity="error",
    statement="Every message decodes under the strict rules of the protocol.",
    hint="the protocol or its version is not the configured one, or the encoder has a bug",
    by_event=_check_frame,
    preconditions=preconditions.nothing,
)


def _check_batch_size(marked: MarkedEvents) -> Violations:
    """A message with a single event may have any size."""
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
