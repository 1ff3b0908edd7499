"""The order of the events in a partition."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.shapes import DELIVERY_KEY


def in_delivery_order(events: pa.RecordBatch) -> pa.RecordBatch:
    """Sort events by partition and delivery key.

    The key is unique in a partition, so the order is the same on every run.
    """
    keys = [(name, "ascending") for name in ("partition_index", *DELIVERY_KEY)]
    order = pc.sort_indices(events, keys)
    in_order = np.array_equal(order.to_numpy(), np.arange(events.num_rows))
    return events if in_order else events.take(order)
