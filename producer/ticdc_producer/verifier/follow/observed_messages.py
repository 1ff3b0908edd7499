"""The next messages of a followed stream, observed by the parts of an engine."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from ticdc_producer.engine.dataset import Batches, Dataset, Part, Tagged
from ticdc_producer.engine.spool import empty
from ticdc_producer.model.column_functions import of_partitions
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.model.shapes import DECODED, BatchFunction
from ticdc_producer.verifier.events import EventID, Events, offset_and_index
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.partition_marks import marks_across_slices
from ticdc_producer.verifier.passes.slices import EVENT, KINDS, Slices, States, observed_slices, states_before

Offsets: TypeAlias = Mapping[tuple[str, int], int]
"""By topic and partition the offset after the last message."""


@dataclass(frozen=True, kw_only=True)
class ObservedMessages:
    """The next messages of a stream.

    :param messages: shape ``MESSAGES``.
    :param slices: the results of the parts.
    :param events: those of all messages, with the marks of the whole stream before them.
    :param states: after these messages.
    :param offsets: by topic and partition the offset after these messages.
    """

    messages: Dataset
    decode: BatchFunction
    slices: Sequence[Slices]
    events: Events
    states: States
    offsets: Offsets

    def decoded_at(self, events: Iterable[EventID]) -> dict[EventID, DecodedRow]:
        """Return the decoded events at some positions; those of earlier messages are left out."""
        own = filter(self._has, events)
        return Messages(self.messages).decoded_at(own, self.decode, DECODED)

    def _has(self, event: EventID) -> bool:
        firsts = [part.states[event[:2]].first for part in self.slices if event[:2] in part.states]
        return bool(firsts) and event[2:] >= offset_and_index(min(firsts))


def observed_messages(
    messages: Dataset, decode: BatchFunction, options: VerifyOptions, states: States
) -> ObservedMessages:
    """Observe the next messages where the engine reads them.

    Only keys, fingerprints and marks reach this process, of as many events as the messages have.

    :param messages: shape ``MESSAGES``. A part has the messages of a partition in the order of their offsets,
        and those of two parts do not overlap.
    :param decode: decodes messages to events (shape ``DECODED``).
    :param states: before these messages.
    """
    with messages.stored(partial(_observed, options, decode), KINDS) as observed:
        slices = [part for part, _ in observed.results]
        before, after = states_before(slices, states)
        batches = [*map(Events.of, observed[EVENT].batches())] or [Events.of(_NO_EVENTS)]
        offsets: dict[tuple[str, int], int] = {}
        for _, of_part in observed.results:
            for name, offset in of_part.items():
                offsets[name] = max(offset, offsets.get(name, 0))
    return ObservedMessages(
        messages=messages,
        decode=decode,
        slices=slices,
        events=marks_across_slices(Events.joined(batches), before),
        states=after,
        offsets=offsets,
    )


_NO_EVENTS = empty(Events.arrow_schema())


def _observed(
    options: VerifyOptions, decode: BatchFunction, part: Part, messages: Batches
) -> Generator[Tagged, None, tuple[Slices, Offsets]]:
    offsets: dict[tuple[str, int], int] = {}

    def read() -> Batches:
        for batch in messages:
            of_batch = batch.column("offset").to_numpy()
            for name, rows in of_partitions(batch):
                offsets[name] = int(of_batch[rows[-1]]) + 1
            yield batch

    slices = yield from observed_slices(options, part, decode(read()))
    return slices, offsets
