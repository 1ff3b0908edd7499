"""Kafka records of row changes before they have a place, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import pyarrow as pa

from producer.codec.encoded_rows import EncodedRows
from producer.model.event import ClaimObject, Kind, Message

_ROW = Kind.ROW.word
_AT_ONCE = 256
"""Messages made Python objects in one go: memory of large ones is used again before it leaves the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageBatch:
    """Row messages in delivery order.

    :param key: null where the protocol has none.
    :param commit_ts: of the first event of each.
    :param events: how many each carries.
    :param claims: what has to be stored before a message is sent, by its place.
    """

    key: pa.Array
    value: pa.Array
    commit_ts: pa.Array
    events: pa.Array
    claims: Mapping[int, tuple[ClaimObject, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.value)

    def messages(self) -> Iterator[Message]:
        """One by one."""
        for start in range(0, len(self), _AT_ONCE):
            yield from self._messages(start)

    def _messages(self, start: int) -> Iterator[Message]:
        def part(column: pa.Array) -> Any:
            return column.slice(start, _AT_ONCE).to_pylist()

        keys = repeat(None) if self.key.null_count else part(self.key)
        events = repeat(1) if self.events is None else part(self.events)
        columns = (keys, part(self.value), repeat(_ROW), part(self.commit_ts), events)
        if not self.claims:
            return map(Message, *columns)
        claims = (self.claims.get(place, ()) for place in range(start, len(self)))
        return map(Message, *columns, repeat(()), claims)


def row_by_row(rows: EncodedRows, *, keyed: bool) -> MessageBatch:
    """Each row in a message of its own.

    :param keyed: whether messages have keys.
    :raises EncodeError: the refusal of a row that has one.
    """
    rows.check()
    claims = {place: (note.claim,) for place, note in rows.notes.items() if note.claim is not None}
    key = rows.column("key") if keyed else pa.nulls(len(rows), pa.binary())
    return MessageBatch(
        key=key,
        value=rows.column("value"),
        commit_ts=rows.column("commit_ts"),
        events=pa.repeat(1, len(rows)),
        claims=claims,
    )
