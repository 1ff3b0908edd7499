"""Messages that were read, and their stream in slices: each part has a piece of some partitions, in order."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from ticdc_producer.engine.dataset import Part, Tagged
from ticdc_producer.model.shapes import DecodedBatch
from ticdc_producer.verifier.events import Events
from ticdc_producer.verifier.invariants.registry import enabled_invariants
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.observe import Observer, with_old_keys
from ticdc_producer.verifier.passes.partition_marks import PartitionMarks, PartitionState
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.violations import ViolationCounts

EVENT = "event"
KINDS = {EVENT: Events.arrow_schema()}
SliceStates: TypeAlias = Mapping[tuple[int, str, int], PartitionState]
"""By slice, topic and partition the state at the start of the slice."""


@dataclass
class Slices:
    """The results of one part of the stream.

    :param number: of the part, which is the number of its slices.
    :param states: by topic and partition the newest events of the slice.
    """

    number: int
    stats: StreamStats
    violations: ViolationCounts
    states: dict[tuple[str, int], PartitionState]


def observed_slices(
    options: VerifyOptions, part: Part, batches: Iterator[DecodedBatch]
) -> Generator[Tagged, None, Slices]:
    """Observe the events of a part, and check what a single event shows.

    :param batches: shape ``DECODED``, in the order of the offsets.
    :return: yields ``Events``, and returns the results of the slices.
    """
    slices = Slices(part.index, StreamStats(options), ViolationCounts(options.examples), {})
    observer, marks = Observer(options), PartitionMarks()
    for batch in batches:
        decoded = slices.stats.without_tombstones(batch)
        if not decoded.num_rows:
            continue
        marked = marks.mark(observer.observe(decoded))
        slices.stats.add(marked)
        for invariant in enabled_invariants(options):
            if invariant.by_event:
                slices.violations.add(invariant.id, invariant.by_event(marked))
        observed = with_old_keys(marked.events, marked.observation)
        yield EVENT, replace(observed, slice=np.full(len(observed), part.index)).to_batch()
    slices.states = marks.states
    return slices


States: TypeAlias = Mapping[tuple[str, int], PartitionState]
"""By topic and partition the newest events before some event."""


def states_before(
    slices: Iterable[Slices], earlier: States = MappingProxyType({})
) -> tuple[SliceStates, States]:
    """Return the state at the start of each slice, and the states after all slices.

    :param earlier: the states before all slices; a slice without one before it has no state at its start.
    """
    before_slice: dict[tuple[int, str, int], PartitionState] = {}
    after = dict(earlier)
    states = [(state, part.number, name) for part in slices for name, state in part.states.items()]
    for state, number, name in sorted(states, key=lambda of_slice: of_slice[0].first):
        before = after.get(name)
        if before is not None:
            before_slice[number, *name] = before
        after[name] = state if before is None else before.followed_by(state)
    return before_slice, after
