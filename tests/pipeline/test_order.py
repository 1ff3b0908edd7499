"""The delivery order is that of the columns of the delivery key, one after the other."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.shapes import DELIVERY_KEY, EVENT_STREAM
from ticdc_producer.model.tso import MAX_TS, compose
from ticdc_producer.pipeline.delivery import in_delivery_order

_KEY = ("partition_index", *DELIVERY_KEY)
_TIMES = [0, *(compose(1_640_095_200_000, logical) for logical in range(3)), MAX_TS]
KEYS = st.tuples(
    st.integers(0, 2),
    st.integers(0, 3),
    st.sampled_from(_TIMES),
    st.integers(-1, 2),
    st.binary(max_size=2),
    st.integers(0, 3),
)


@given(st.lists(KEYS, unique=True, max_size=30))
def test_events_are_sorted_by_partition_and_delivery_key(keys: list[tuple[int | bytes, ...]]) -> None:
    rows = [{"commit_ts": number, **dict(zip(_KEY, key, strict=True))} for number, key in enumerate(keys)]
    events = pa.RecordBatch.from_pylist(rows, EVENT_STREAM)
    in_order = [(name, "ascending") for name in _KEY]
    assert in_delivery_order(events) == events.take(pc.sort_indices(events, in_order))
