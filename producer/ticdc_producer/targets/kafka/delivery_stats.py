"""How many messages of each kind a partition got, and what they carry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Kind
from ticdc_producer.protocols.arrow_text import Numbers, numbers
from ticdc_producer.protocols.message_batch import MessageBatch


@dataclass
class Tally:
    """Of one kind of message; ``size`` in bytes of keys and values."""

    messages: int = 0
    events: int = 0
    size: int = 0


@dataclass(frozen=True)
class Account:
    """:param kinds: by the word of ``model.event.Kind`` that the messages have."""

    kinds: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))

    @property
    def messages(self) -> int:
        """Messages of all kinds."""
        return sum(tally.messages for tally in self.kinds.values())

    def counted(self, batches: Iterable[MessageBatch]) -> Iterator[MessageBatch]:
        """The same batches, counted as they pass."""
        for batch in batches:
            self._count(batch)
            yield batch

    def _count(self, batch: MessageBatch) -> None:
        events, sizes = numbers(batch.events), _lengths(batch.key) + _lengths(batch.value)
        if batch.types is None:
            self._add(Kind.ROW.word, events, sizes)
            return
        types = batch.types.dictionary_encode()
        kinds = numbers(types.indices)
        for number, kind in enumerate(types.dictionary.to_pylist()):
            self._add(kind, events[kinds == number], sizes[kinds == number])

    def _add(self, kind: str, events: Numbers, sizes: Numbers) -> None:
        tally = self.kinds[kind]
        tally.messages += len(events)
        tally.events += int(events.sum())
        tally.size += int(sizes.sum())


def _lengths(texts: pa.Array) -> Numbers:
    return numbers(pc.fill_null(pc.binary_length(texts), 0)).astype(np.int64)
