"""Messages that were read, of any number, and a few of them by their offsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.verifier.event_lookup import rows_at

Offset: TypeAlias = tuple[str, int, int]
"""Topic, partition and offset of a message."""


@dataclass(frozen=True)
class Messages:
    """Messages that were read.

    :param rows: shape ``MESSAGES``. A part has the messages of a partition in the order of their offsets,
        and those of two parts do not overlap.
    :param read_at: reads the messages at some offsets, in ascending order; None: they are searched in
        ``rows``.
    """

    rows: Dataset
    read_at: Callable[[Sequence[Offset]], Dataset] | None = None

    def at(self, offsets: Sequence[Offset]) -> Dataset:
        """Return a few of the messages.

        :param offsets: in ascending order.
        """
        return rows_at(self.rows, offsets) if self.read_at is None else self.read_at(offsets)
