"""Large ranges of offsets are cut for several tasks, without a gap or an overlap."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.targets.kafka.read import OffsetRange, slices


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3_000_000)), max_size=4), st.integers(1, 64))
def test_slices_are_the_ranges_in_order(bounds: list[tuple[int, int]], tasks: int) -> None:
    ranges = [
        OffsetRange(topic="t", partition=number, start=start, end=start + size)
        for number, (start, size) in enumerate(bounds)
    ]
    parts = slices(ranges, tasks)
    for part in ranges:
        own = [other for other in parts if other.partition == part.partition]
        assert (own[0].start, own[-1].end) == (part.start, part.end)
        assert all(before.end == after.start for before, after in pairwise(own))
    assert len(parts) <= len(ranges) + 2 * tasks


def test_small_ranges_are_not_cut() -> None:
    part = OffsetRange(topic="t", partition=0, start=5, end=100_005)
    assert slices([part], 8) == [part]
