"""What every codec takes and gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from producer.errors import EncodeError
from producer.model.event import ClaimObject, DDLEvent, Event, Message, Value
from producer.model.losses import Losses
from producer.model.table import TableInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBatch:
    """Row changes of one table version, column by column.

    All sequences but the images have one entry per row. ``before`` and ``after`` hold one list per sent
    column, in table order, each with an entry only for the rows that have that image: updates and
    deletes have a ``before``, inserts and updates an ``after``.

    :param op: ``model.event.Op`` numbers.
    :param commit_ts: TSO.
    :param table_id: physical table ids.
    :param row_id: integer handles, 0 where there is none.
    """

    op: Sequence[int]
    commit_ts: Sequence[int]
    table_id: Sequence[int]
    row_id: Sequence[int]
    before: Sequence[Sequence[Value]]
    after: Sequence[Sequence[Value]]


@dataclass(slots=True)
class EncodedRow:
    """One encoded row change, not yet framed.

    :param group: rows that may share a message have equal groups (the dispatch key).
    :param refusal: why TiCDC would not send this row; ``messages`` raises it, a caller that goes on
        without such rows takes them out first.
    :param handle_key_only: it was too large, and shows its handle key alone.
    :param claim: likewise, and the whole row is to be stored as this object.
    """

    key: bytes
    value: bytes
    commit_ts: int
    group: object = None
    refusal: EncodeError | None = None
    handle_key_only: bool = False
    claim: ClaimObject | None = None


class Encoder(Protocol):
    """Rows, DDLs and resolved events to messages."""

    def rows(self, table: TableInfo, batch: RowBatch) -> list[EncodedRow]:
        """Encode many rows of one table version; a row that TiCDC refuses says so in ``refusal``."""
        ...

    def messages(self, rows: Iterable[EncodedRow]) -> Iterator[Message]:
        """Frame consecutive rows of one partition; nothing else may stand between them.

        :raises EncodeError: the ``refusal`` of a row that has one.
        """
        ...

    def ddl(
        self, event: DDLEvent, table: TableInfo | None = None, before: TableInfo | None = None
    ) -> Message | None:
        """The DDL event; None where the protocol has no message for it.

        :param table: the table as the DDL leaves it, None where there is none.
        :param before: the table as the DDL found it.
        """
        ...

    def resolved(self, ts: int) -> Message | None: ...

    @property
    def losses(self) -> Losses: ...


class Decoder(Protocol):
    """Messages to events."""

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """The events of one message, in order.

        :raises DecodeError: for anything that is not a message of the protocol.
        """
        ...
