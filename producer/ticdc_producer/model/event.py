"""Events as a consumer sees them: what a decoder gives, and what a golden folder expects.

They are structs, since there is one for every row, and a struct is made ten times as fast as a data class.

A column value is the canonical text of DESIGN "Value": the bytes that TiCDC hashes for dispatch, or
None for SQL NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import TypeAlias

import msgspec

Value: TypeAlias = bytes | None
Image: TypeAlias = Mapping[str, Value]
"""Column name to value, in the order of the message."""


class Op(IntEnum):
    """Kind of a row change; the numbers stand in the change log."""

    INSERT = 1
    UPDATE = 2
    DELETE = 3

    @cached_property
    def word(self) -> str:
        return self.name.lower()


class Kind(IntEnum):
    """Kind of an event; the numbers are Open Protocol's ``t``."""

    ROW = 1
    DDL = 2
    RESOLVED = 3

    @cached_property
    def word(self) -> str:
        return self.name.lower()


class EventColumn(msgspec.Struct, frozen=True):
    """What a message says of a column beside its value.

    :param type: SQL type name, as exact as the protocol tells it.
    :param flag: TiCDC's column flag, 0 where the protocol has none.
    """

    name: str
    type: str
    flag: int = 0


class RowEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A row changed event.

    :param table_id: physical table id if the message names one (partitioned tables), else 0.
    :param before: old image; None where the operation or the options leave it out.
    :param handle_key_only: the message was too large and holds the handle key alone.
    :param claim_check: where the whole row is stored; empty if it is nowhere.
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


class DDLEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A DDL event; ``ddl_type`` is TiDB's action code."""

    commit_ts: int
    schema: str
    table: str
    query: str
    ddl_type: int


class ResolvedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """All events up to ``commit_ts`` were sent."""

    commit_ts: int


@dataclass(frozen=True, slots=True)
class ClaimObject:
    """A row that was too large, as it is kept outside of Kafka.

    :param name: of its file, the last part of the location that the message tells.
    """

    name: str
    content: bytes


Event: TypeAlias = RowEvent | DDLEvent | ResolvedEvent


class Message(msgspec.Struct, frozen=True):
    """A Kafka record before it has a place.

    :param type: ``row``, ``ddl`` or ``resolved``; another word where it holds no event.
    :param commit_ts: of its first event.
    :param events: how many events it carries.
    :param claims: what has to be stored before it is sent.
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
        """Bytes of key and value."""
        return len(self.key or b"") + len(self.value or b"")
