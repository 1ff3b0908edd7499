"""Reads a stream in slices: each Spark task has a part of some partitions, in the order of their offsets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.spark.task_results import with_results
from ticdc_producer.verifier.event_blocks import gathered
from ticdc_producer.verifier.event_columns import BLOCKS
from ticdc_producer.verifier.events import Events
from ticdc_producer.verifier.invariants.registry import INVARIANTS
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.observe import Observer, with_left_keys
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.partition_marks import PartitionMarks, PartitionState
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.violations import ViolationCounts

SliceStates: TypeAlias = Mapping[tuple[int, str, int], PartitionState]
"""By slice, topic and partition the state at the start of the slice."""


@dataclass
class Slices:
    """What one task found in its part of the stream.

    :param number: of the task, which is the number of its slices.
    :param states: by topic and partition the newest events of the slice.
    """

    number: int
    facts: StreamFacts
    violations: ViolationCounts
    states: dict[tuple[str, int], PartitionState]


def observed_events(messages: Messages, decode: BatchFunction, options: VerifyOptions) -> DataFrame:
    """The events of messages, with a result of type ``Slices`` per task.

    :return: ``event_columns.BLOCKS`` of ``Events``.
    """

    def observe(batches: Iterator[pa.RecordBatch]) -> Generator[pa.RecordBatch, None, Slices]:
        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        found = Slices(number, StreamFacts(options), ViolationCounts(options.examples), {})
        observer, marks = Observer(options), PartitionMarks()

        def events() -> Iterator[Events]:
            for decoded in decode(batches):
                if not decoded.num_rows:
                    continue
                marked = marks.mark(observer.observe(decoded))
                found.facts.add(marked)
                for invariant in INVARIANTS:
                    if invariant.by_event:
                        found.violations.add(invariant.id, invariant.by_event(marked))
                observed = with_left_keys(marked.events, marked.observation)
                yield replace(observed, slice=np.full(len(observed), number))

        for part in gathered(events()):
            yield part.by_key()
        found.states = marks.states
        return found

    return with_results(messages.mapped, observe, BLOCKS)


def states_before(slices: Iterable[Slices]) -> SliceStates:
    """The state of each partition at the start of each slice but its first."""
    by_partition: dict[tuple[str, int], list[tuple[PartitionState, int]]] = defaultdict(list)
    for one in slices:
        for name, state in one.states.items():
            by_partition[name].append((state, one.number))
    found = {}
    for (topic, partition), states in by_partition.items():
        in_order = sorted(states, key=lambda state: state[0].first)
        before = in_order[0][0]
        for state, number in in_order[1:]:
            found[number, topic, partition] = before
            before = before.followed_by(state)
    return found
