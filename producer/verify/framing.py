"""Messages: do they decode, and are they as large as they may be?"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from producer.verify.stream import Stream, place, violations


def undecodable(stream: Stream) -> DataFrame:
    """INV-FRAME: messages that break the protocol's strict rules."""
    return violations(
        stream.events.filter("kind = 'error'"),
        sf.lit("error"),
        (place(),),
        sf.concat_ws(
            "", sf.col("error"), sf.lit(" at byte "), sf.col("error_byte").cast("string"),
            sf.lit(": expected "), sf.col("error_expected"),
        ),
    )  # fmt: skip


def oversized(stream: Stream) -> DataFrame:
    """INV-BATCH-SIZE: messages with more events or bytes than configured; one event alone may be large."""
    events, size = stream.options.max_batch_size, stream.options.max_message_bytes
    crowded = sf.lit(False) if events is None else sf.col("events") > events
    large = sf.lit(False) if size is None else (sf.col("size") > size) & (sf.col("events") > 1)
    return violations(
        stream.events.filter((sf.col("index") == 0) & (sf.col("kind") != "error") & (crowded | large)),
        sf.lit("error"),
        (place(),),
        sf.format_string(
            f"%d events in %d bytes; allowed: {events or 'any number'} and {size or 'any number'}",
            "events", "size",
        ),
    )  # fmt: skip
