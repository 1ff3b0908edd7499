"""Counts the messages of each kind that are delivered to a partition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Kind
from ticdc_producer.protocols.arrow_text import Numbers, as_int64
from ticdc_producer.protocols.message_batch import MessageBatch


@dataclass
class KindCount:
    """Counts of one kind of message; ``size`` in bytes of keys and values."""

    messages: int = 0
    events: int = 0
    size: int = 0


@dataclass(frozen=True)
class DeliveryStats:
    """Counts of the messages of one partition.

    :param kinds: by label of ``model.event.Kind``.
    """

    kinds: defaultdict[str, KindCount] = field(default_factory=lambda: defaultdict(KindCount))

    @property
    def messages(self) -> int:
        """Number of messages of all kinds."""
        return sum(count.messages for count in self.kinds.values())

    def counted(self, batches: Iterable[MessageBatch]) -> Iterator[MessageBatch]:
        """Pass the batches through and count them."""
        for batch in batches:
            self._count(batch)
            yield batch

    def _count(self, batch: MessageBatch) -> None:
        events, sizes = as_int64(batch.events), _lengths(batch.key) + _lengths(batch.value)
        if batch.types is None:
            self._add(Kind.ROW.label, events, sizes)
            return
        types = batch.types.dictionary_encode()
        kinds = as_int64(types.indices)
        for number, kind in enumerate(types.dictionary.to_pylist()):
            self._add(kind, events[kinds == number], sizes[kinds == number])

    def _add(self, kind: str, events: Numbers, sizes: Numbers) -> None:
        count = self.kinds[kind]
        count.messages += len(events)
        count.events += int(events.sum())
        count.size += int(sizes.sum())


def _lengths(texts: pa.Array) -> Numbers:
    return as_int64(pc.fill_null(pc.binary_length(texts), 0)).astype(np.int64)
