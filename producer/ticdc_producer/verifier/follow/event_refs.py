"""The events that the violations of a batch name, with what identifies them to a reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ticdc_producer.model.event import Op
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.verifier.events import NOTHING, EventKind, Events, positions
from ticdc_producer.verifier.finding import EventRef
from ticdc_producer.verifier.findings import event_ref
from ticdc_producer.verifier.fingerprint import Flags
from ticdc_producer.verifier.violations import EventID


@dataclass(frozen=True)
class EventRefs:
    """The events of the window and of a batch, by their positions.

    :param events: both.
    """

    events: Events

    def commit_ts(self, event: EventID) -> int | None:
        """Return the commit-ts of an event; None: it has left the window."""
        row = self._row(event)
        return int(self.events.commit_ts[row]) if row >= 0 else None

    def ref(self, event: EventID, decoded: Mapping[EventID, DecodedRow]) -> EventRef:
        """Return an event as it is reported. One of an earlier batch has no keys: their hashes are left.

        :param decoded: events of the batch.
        """
        if event in decoded:
            return event_ref(event, decoded[event])
        topic, partition, offset, index = event
        row, events = self._row(event), self.events
        op = int(events.op[row]) if row >= 0 else 0
        return EventRef(
            topic=topic,
            partition=partition,
            offset=offset,
            index=index,
            kind=(EventKind(int(events.kind[row])) if row >= 0 else EventKind.RESOLVED).name.lower(),
            commit_ts=int(events.commit_ts[row]) if row >= 0 else None,
            schema=str(events.schema[row].as_py()) if row >= 0 else "",
            table=str(events.table[row].as_py()) if row >= 0 else "",
            op=Op(op).label if op else "",
            text="",
        )

    def _row(self, event: EventID) -> int:
        topic, partition, offset, index = event
        codes, topics = self.events.topics
        (position,) = positions(np.array([offset]), np.array([index]))
        if topic not in topics:
            return NOTHING
        own = (codes == topics.index(topic)) & (self.events.partition == partition)
        return _first(own & (self.events.position == position))


def _first(flags: Flags) -> int:
    at = np.flatnonzero(flags)
    return int(at[0]) if len(at) else NOTHING
