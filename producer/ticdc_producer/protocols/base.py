"""What every codec takes and gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ticdc_producer.model.event import DDLEvent, Event, Message, Op
from ticdc_producer.model.fidelity import Losses
from ticdc_producer.model.table import TableInfo

if TYPE_CHECKING:  # decoders need no Arrow, and are quick to load without it
    import pyarrow as pa

    from ticdc_producer.protocols.encoded_rows import EncodedRows
    from ticdc_producer.protocols.message_batch import MessageBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBatch:
    """Row changes of one table version and one operation, column by column.

    :param commit_ts: TSO (int64).
    :param table_id: physical table ids (int64).
    :param row_id: integer handles, 0 where there is none (int64).
    :param before: old images, one array of canonical texts (binary) per sent column in table order; none
        for inserts.
    :param after: new images; none for deletes.
    """

    op: Op
    commit_ts: pa.Array
    table_id: pa.Array
    row_id: pa.Array
    before: Sequence[pa.Array] = ()
    after: Sequence[pa.Array] = ()

    def __len__(self) -> int:
        return len(self.commit_ts)

    @property
    def shown(self) -> Sequence[pa.Array]:
        """The new images, of deletes the old ones."""
        return self.before if self.op == Op.DELETE else self.after

    def take(self, places: pa.Array) -> RowBatch:
        """The rows at some places."""
        return RowBatch(
            op=self.op,
            commit_ts=self.commit_ts.take(places),
            table_id=self.table_id.take(places),
            row_id=self.row_id.take(places),
            before=[column.take(places) for column in self.before],
            after=[column.take(places) for column in self.after],
        )


class Encoder(Protocol):
    """Rows, DDLs and resolved events to messages."""

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode many rows of one table version; a row that TiCDC refuses has a note of it."""
        ...

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Frame consecutive rows of one partition; nothing else may stand between them.

        The messages are the same however the rows are divided.

        :raises EncodeError: the refusal of a row that has one.
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
