"""The order of the events in a partition."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.shapes import DELIVERY_KEY


def in_delivery_order(events: pa.RecordBatch) -> pa.RecordBatch:
    """Sort events by partition and delivery key.

    The key is unique in a partition, so the order is the same on every run.
    """
    keys = [(name, "ascending") for name in ("partition_index", *DELIVERY_KEY)]
    return events.take(pc.sort_indices(events, keys))
