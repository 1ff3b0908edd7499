"""Events as a consumer sees them, messages, and records of Kafka.

Events are msgspec structs, because there is one per row, and a struct is created ten times as fast as a
dataclass.

A column value is the canonical text (``docs/design.md#values``): the bytes that TiCDC hashes for dispatch, or
None for SQL NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Required, TypeAlias, TypedDict

import msgspec

Value: TypeAlias = bytes | None
Image: TypeAlias = Mapping[str, Value]
"""Column name to value, in the order of the message."""


class Op(IntEnum):
    """Operation of a row change; the numbers are used in the change log."""

    INSERT = 1
    UPDATE = 2
    DELETE = 3

    @cached_property
    def label(self) -> str:
        return self.name.lower()


REWRITE = 4
"""In a change log the operation of an update or delete of a row that is stored with other columns than its
table has now."""

OP_OF_LABEL = {
    **dict.fromkeys(("insert", "i", "c"), Op.INSERT),
    **dict.fromkeys(("update", "u"), Op.UPDATE),
    **dict.fromkeys(("delete", "d"), Op.DELETE),
}
"""The operations by their texts in the rows of users."""


TOMBSTONE = "tombstone"
"""The kind of a message without value from which no event follows, in addition to the kinds of events."""


class Kind(IntEnum):
    """Kind of an event; the numbers are Open Protocol's ``t``."""

    ROW = 1
    DDL = 2
    RESOLVED = 3

    @cached_property
    def label(self) -> str:
        return self.name.lower()


ROW_ELSEWHERE = 4
"""In the event stream of a partition: the place of a row that another partition of the topic has. No message
carries it (``pipeline.delivery.rows_elsewhere``)."""
DAMAGE = 5
"""In the event stream: a message of a recorded topic that does not decode. ``before`` has its key, and
``after`` its value, each as the only element."""
DAMAGE_LABEL = "recorded-damage"
"""The type of such a message; it contains no event."""


class EventColumn(msgspec.Struct, frozen=True):
    """The metadata of a column in a message.

    :param type: SQL type name, as exact as the protocol carries it.
    :param flag: TiCDC's column flag; 0 if the protocol has none.
    """

    name: str
    type: str
    flag: int = 0


WRONG_CHECKSUM = "CHECKSUM"
"""The code of the decode error of a row whose checksum does not fit its columns."""


class RowChecksum(msgspec.Struct, frozen=True, kw_only=True):
    """The checksums in the message of a row, and what it takes to verify them.

    :param corrupted: whether TiCDC marked the row as corrupted.
    :param current: checksum of the new image; 0 if there is none.
    :param previous: checksum of the old image; 0 if there is none.
    :param columns: names of the columns, in the order of the checksum; empty if the message does not carry
        the values exactly, so that nothing can be verified.
    :param time_zone: of TIMESTAMP values.
    """

    version: int
    corrupted: bool
    current: int
    previous: int
    columns: tuple[str, ...] = ()
    time_zone: str = "UTC"


class RowEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A row changed event.

    :param before: old image; None if the operation or the options omit it.
    :param after: new image; None for deletes.
    :param table_id: physical table id if the message contains it (partitioned tables), else 0.
    :param handle_key_only: whether the message was too large and contains only the handle key.
    :param claim_check: location of the claim-check object with the whole row; empty if there is none.
    :param checksum: None if the message has no checksum.
    """

    commit_ts: int
    schema: str
    table: str
    op: Op
    columns: tuple[EventColumn, ...]
    before: Image | None = None
    after: Image | None = None
    table_id: int = 0
    row_id: int = 0
    handle_key_only: bool = False
    claim_check: str = ""
    checksum: RowChecksum | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalDefinition:
    """The definition of a column of the type DATETIME, TIMESTAMP, TIME or YEAR in a DDL.

    :param length: the number in brackets after the type; -1 without.
    :param has_default: whether the DDL has a DEFAULT that is a literal or the call of a function.
    :param default: the text of the literal, or the name of the function; None for NULL.
    """

    length: int = -1
    has_default: bool = False
    default: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDefinition:
    """The part of a column's definition that TiCDC reads in the statement and not in the table's metadata.

    :param name: as the DDL writes it.
    :param temporal: None for other types, and for ALTER COLUMN, which has no type.
    """

    name: str
    temporal: TemporalDefinition | None = None


class DDLEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A DDL event.

    :param query: the text that is sent.
    :param ddl_type: TiDB's action code.
    :param definitions: the columns that the statement defines. Without them Debezium's messages describe
        the columns by the table alone. No message carries them, so decoded events have none.
    """

    commit_ts: int
    schema: str
    table: str
    query: str
    ddl_type: int
    definitions: tuple[ColumnDefinition, ...] = ()


class ResolvedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A resolved event: all events up to ``commit_ts`` were sent."""

    commit_ts: int


class MessageNote(TypedDict, total=False):
    """A note about the messages of a partition: a fault, or the ordinal of a message's first event.

    :ivar trap: of a fault.
    :ivar commit_ts: of a fault.
    """

    offset: Required[int]
    trap: str
    commit_ts: int
    event_ordinal: int


@dataclass(frozen=True, slots=True)
class ClaimObject:
    """The claim-check object of a row that was too large, stored outside of Kafka.

    :param name: file name, which is the last part of the location in the message.
    """

    name: str
    content: bytes


Event: TypeAlias = RowEvent | DDLEvent | ResolvedEvent


class Message(msgspec.Struct, frozen=True):
    """A Kafka record without topic, partition and offset.

    :param type: ``row``, ``ddl`` or ``resolved``; another name if it contains no event.
    :param commit_ts: commit-ts of its first event.
    :param events: number of events in the message.
    :param claims: claim-check objects to store before the message is sent.
    """

    key: bytes | None
    value: bytes | None
    type: str
    commit_ts: int
    events: int = 1
    headers: tuple[tuple[str, bytes], ...] = ()
    claims: tuple[ClaimObject, ...] = ()

    @property
    def size(self) -> int:
        """Size of key and value in bytes."""
        return len(self.key or b"") + len(self.value or b"")


MAX_OFFSET = (1 << 43) - 1
"""The largest offset that is read: a partition with a million messages per second reaches it in 278 years."""

MAX_EVENTS = 1 << 20
"""The largest number of events of a message that is read: TiCDC's batches have some hundred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One message of a topic.

    :param timestamp: Unix milliseconds.
    :param type: ``row``, ``ddl`` or ``resolved`` if the writer recorded it, else empty.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int = 0
    headers: tuple[tuple[str, bytes], ...] = ()
    type: str = ""
