"""The interfaces of encoders and decoders, the rows that encoders take, and the schemas of a registry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable
from uuid import UUID

from ticdc_producer.model.event import DDLEvent, Event, EventColumn, Message, Op
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.table import TableInfo

if TYPE_CHECKING:  # decoders need no Arrow, and are quick to load without it
    import pyarrow as pa

    from ticdc_producer.model.column_functions import Numbers
    from ticdc_producer.protocols.encoded_rows import EncodedRows
    from ticdc_producer.protocols.message_batch import MessageBatch


Part: TypeAlias = Literal["key", "value"]
SchemaIDs: TypeAlias = Mapping[tuple[Part, str], int]
"""Part and schema to id."""
MAX_SCHEMA_NUMBER = (1 << 32) - 1
"""The highest id of Confluent's registry. Higher ids are UUIDs of AWS Glue, as numbers."""


def schema_id_text(schema_id: int) -> str:
    """Return a schema id as its registry writes it.

    >>> schema_id_text(7), schema_id_text(7 << 100)
    ('7', '00000070-0000-0000-0000-000000000000')
    """
    return str(schema_id) if schema_id <= MAX_SCHEMA_NUMBER else str(UUID(int=schema_id))


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema to register.

    :param part: whether it is the schema of message keys or values.
    """

    subject: str
    part: Part
    schema: str


class BadValue(Exception):
    """A value in a message that does not fit its column, or a type that is unknown.

    :param expected: a description of a valid value.
    :param code: the code of the decode error, where a protocol has several for values.
    """

    def __init__(self, expected: str, code: str = "") -> None:
        super().__init__(expected)
        self.expected, self.code = expected, code


def first_bad_byte(value: bytes) -> int:
    """Return the position of the first byte that is not UTF-8; 0 if there is none.

    >>> first_bad_byte(b"ab\\xff")
    2
    """
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBatch:
    """Row changes of one table version and one operation, as columns.

    :param commit_ts: TSO (int64).
    :param table_id: physical table ids (int64).
    :param row_id: integer handles; 0 for rows without one (int64).
    :param before: old images: per sent column, in table order, an array of canonical texts (binary); empty
        for inserts.
    :param after: new images, in the same form; empty for deletes.
    :param split: whether each row is a half of a split update (bool); None: no row is. NULL is false.
    """

    op: Op
    commit_ts: pa.Array
    table_id: pa.Array
    row_id: pa.Array
    before: Sequence[pa.Array] = ()
    after: Sequence[pa.Array] = ()
    split: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.commit_ts)

    @property
    def primary_images(self) -> Sequence[pa.Array]:
        """The new images; for deletes the old ones."""
        return self.before if self.op == Op.DELETE else self.after

    def value_name(self, table: TableInfo, index: int, column: str) -> str:
        """Return column, table and key of a value, for an error that TiCDC gives without them.

        :param index: of the row.
        """
        offsets = table.handle_index.offsets if table.handle_index else ()
        values = [
            (table.columns[offset].name, self.primary_images[table.sent.index(offset)][index].as_py())
            for offset in offsets
            if offset in table.sent
        ]
        keys = [f"{name}='{(value or b'').decode(errors='backslashreplace')}'" for name, value in values]
        return ", ".join([f"in column {column!r} of {table.qualified_name}", *keys])

    def take(self, indices: pa.Array) -> RowBatch:
        """Return the rows at these indices."""
        return RowBatch(
            op=self.op,
            commit_ts=self.commit_ts.take(indices),
            table_id=self.table_id.take(indices),
            row_id=self.row_id.take(indices),
            before=[column.take(indices) for column in self.before],
            after=[column.take(indices) for column in self.after],
            split=None if self.split is None else self.split.take(indices),
        )


class Encoder(Protocol):
    """Rows, DDLs and resolved events to messages."""

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version. A row that TiCDC rejects gets a ``RowStatus`` with the error."""
        ...

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Put consecutive rows of one partition into messages.

        The division of the rows into ``EncodedRows`` does not change the messages.

        :raises EncodeError: for the first row that TiCDC rejects.
        """
        ...

    def ddl(
        self, event: DDLEvent, table: TableInfo | None = None, before: TableInfo | None = None
    ) -> Message | None:
        """Return the message of a DDL; None if the protocol has none for it.

        :param table: the table after the DDL; None if there is none.
        :param before: the table before the DDL.
        """
        ...

    def resolved(self, ts: int) -> Message | None: ...

    @property
    def fidelity(self) -> Fidelity: ...


@dataclass(frozen=True, slots=True)
class LastDescription:
    """The last message of a partition that describes a table.

    :param ms: commit time of the row it was sent for, in Unix milliseconds.
    :param rows: number of rows of the table since.
    """

    ms: int
    rows: int = 0


@runtime_checkable
class DescribingEncoder(Encoder, Protocol):
    """An encoder with messages that describe tables, which follow from the rows that it encoded before.

    They may follow from the rows of other partitions, too.
    """

    @property
    def described(self) -> dict[int, LastDescription]:
        """The last description of each table, by table id; the encoder of later rows begins with them."""
        ...

    def descriptions(
        self, tables: Sequence[TableInfo], numbers: Numbers, commit_ts: Numbers
    ) -> Mapping[int, Message]:
        """Return the messages that describe tables by the index of the row that each precedes, in row order.

        :param tables: the tables by number.
        :param numbers: table number of each of the next rows of the topic.
        :param commit_ts: TSO of each row.
        """
        ...


class Decoder(Protocol):
    """Messages to events."""

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """Yield the events of one message, in order.

        :raises DecodeError: if this is not a message of the protocol.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedRows:
    """Row events, each the only event of its message, as columns.

    They have the same table, operation and columns, and their images have the same names.

    :param columns: in the order of the messages.
    :param handle_key_only: whether the rows were too large, and the messages contain only their handle key.
    :param messages: numbers of the messages, ascending (int64).
    :param commit_ts: TSO (int64).
    :param table_id: physical table ids if the messages contain them, else 0 (int64).
    :param before: old images: by name, in the order of the messages, an array of canonical texts (binary);
        None without old images.
    :param after: new images, in the same form.
    :param row_ids: ids of the rows, 0 where the message has none (int64); None: no message has one.
    """

    schema: str
    table: str
    op: Op
    columns: tuple[EventColumn, ...]
    handle_key_only: bool
    messages: pa.Array
    commit_ts: pa.Array
    table_id: pa.Array
    before: Mapping[str, pa.Array] | None
    after: Mapping[str, pa.Array] | None
    row_ids: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.messages)


class BatchDecoder(Protocol):
    """Row events of many messages at once, for protocols whose messages have one row."""

    def rows(self, messages: Sequence[tuple[bytes | None, bytes | None]]) -> Sequence[DecodedRows]:
        """Decode the messages that are rows.

        A message in none of the results is decoded by the protocol's ``Decoder``: other events, damaged
        messages, and messages that refer to a claim-check object.

        :param messages: keys and values.
        """
        ...
