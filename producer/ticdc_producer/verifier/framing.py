"""Checks of messages: decoding, size, and the events that share a message."""

from __future__ import annotations

from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import Violation, event_ref


def check_frame(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-FRAME: messages that violate the strict rules of the protocol."""
    detail = sf.format_string("%s at byte %d: expected %s", "error", "error_byte", "error_expected")
    return Violation(sf.lit("error"), (event_ref(),), detail, sf.col("kind") == "error")


def check_batch_size(options: VerifyOptions) -> Violation:
    """INV-BATCH-SIZE: messages over the limits; a message with a single event may have any size."""
    events, size = options.max_batch_size, options.max_message_bytes
    too_many = sf.lit(False) if events is None else sf.col("events") > events
    too_large = sf.lit(False) if size is None else (sf.col("size") > size) & (sf.col("events") > 1)
    starts = (event_ref()["index"] == 0) & (sf.col("kind") != "error")
    limits = f"{'any number' if events is None else events} and {'any number' if size is None else size}"
    detail = sf.format_string(f"%d events in %d bytes; allowed: {limits}", "events", "size")
    return Violation(sf.lit("error"), (event_ref(),), detail, starts & (too_many | too_large))


def check_batch_kind(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-BATCH-KIND: messages with events of several kinds, or with several DDL or resolved events."""
    detail = sf.format_string("a message of %d events has a %s event after others", "events", "kind")
    return Violation(sf.lit("warning"), (event_ref(),), detail, sf.col("mixed_kind"))


def check_batch_key(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-BATCH-KEY: messages with rows of several dispatch keys."""
    before = event_ref(sf.col("position") - 1)
    detail = sf.lit("the two rows of one message have different dispatch keys")
    return Violation(sf.lit("warning"), (before, event_ref()), detail, sf.col("mixed_key"))
