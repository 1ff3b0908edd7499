"""Messages: do they decode, and are they as large as they may be?"""

from __future__ import annotations

from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import Violation, place


def undecodable(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-FRAME: messages that break the protocol's strict rules."""
    detail = sf.format_string("%s at byte %d: expected %s", "error", "error_byte", "error_expected")
    return Violation(sf.lit("error"), (place(),), detail, sf.col("kind") == "error")


def oversized(options: VerifyOptions) -> Violation:
    """INV-BATCH-SIZE: messages with more events or bytes than configured; one event alone may be large."""
    events, size = options.max_batch_size, options.max_message_bytes
    crowded = sf.lit(False) if events is None else sf.col("events") > events
    large = sf.lit(False) if size is None else (sf.col("size") > size) & (sf.col("events") > 1)
    starts = (place()["index"] == 0) & (sf.col("kind") != "error")
    limits = f"{'any number' if events is None else events} and {'any number' if size is None else size}"
    detail = sf.format_string(f"%d events in %d bytes; allowed: {limits}", "events", "size")
    return Violation(sf.lit("error"), (place(),), detail, starts & (crowded | large))


def mixed_kinds(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-BATCH-KIND: messages with events of several kinds, or with several DDL or resolved events."""
    detail = sf.format_string("a message of %d events has a %s event behind others", "events", "kind")
    return Violation(sf.lit("warning"), (place(),), detail, sf.col("mixed_kind"))


def mixed_keys(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-BATCH-KEY: messages with rows of several dispatch keys."""
    before = place(sf.col("position") - 1)
    detail = sf.lit("the two rows of one message have different dispatch keys")
    return Violation(sf.lit("warning"), (before, place()), detail, sf.col("mixed_key"))
