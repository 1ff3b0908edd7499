"""The JSON object of a message, checked member by member before anything is read from it."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.tso import MAX_TS

TSO: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_TS)]
TableID: TypeAlias = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class TimestampJSON(msgspec.Struct):
    """A TIMESTAMP, as a clock of its location shows it."""

    location: str
    value: str


RowJSON: TypeAlias = dict[str, str | TimestampJSON | None]


class DataType(msgspec.Struct, rename="camel"):
    """A column's type; how long it is plays no part in reading values."""

    mysql_type: str
    charset: str
    unsigned: bool = False


class ColumnJSON(msgspec.Struct, rename="camel"):
    """A column as the description of a table has it."""

    name: str
    data_type: DataType
    nullable: bool


class IndexJSON(msgspec.Struct):
    """An index; of ``primary`` there may be two, the table's own and one that stands for it."""

    name: str
    unique: bool
    primary: bool
    nullable: bool
    columns: list[str]


class TableSchema(msgspec.Struct):
    """The description of a table version."""

    schema: str
    table: str
    version: TSO
    columns: list[ColumnJSON]
    indexes: list[IndexJSON]


class Envelope(msgspec.Struct, rename="camel"):
    """One message; ``buildTs`` and ``checksum`` say nothing of the event."""

    version: int
    type: str
    commit_ts: TSO
    database: str = ""
    table: str = ""
    table_id: TableID = msgspec.field(default=0, name="tableID")
    sql: str = ""
    schema_version: TSO = 0
    claim_check_location: str = ""
    handle_key_only: bool = False
    data: RowJSON | None = None
    old: RowJSON | None = None
    table_schema: TableSchema | None = None
    pre_table_schema: TableSchema | None = None


_DECODER = msgspec.json.Decoder(Envelope)
_PLACE = re.compile(r"\(byte (\d+)\)")
VERSION = 1


def opened(value: bytes) -> Envelope:
    """The object that a message value is.

    :raises DecodeError: for anything else.
    """
    try:
        message = _DECODER.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _error(error, value) from None
    if message.version != VERSION:
        raise DecodeError("SIMPLE-VERSION", f"version {VERSION}", part="value", byte=0)
    return message


def _error(error: Exception, value: bytes) -> DecodeError:
    if isinstance(error, RecursionError):
        return DecodeError("SIMPLE-JSON", "JSON of a few levels", part="value", byte=0)
    if isinstance(error, UnicodeDecodeError):
        return DecodeError("SIMPLE-JSON", "UTF-8", part="value", byte=_first_bad_byte(value))
    sentence = _PLACE.sub("", str(error)).strip().rstrip(":")
    if isinstance(error, msgspec.ValidationError):
        return DecodeError("SIMPLE-MEMBER", sentence, part="value", byte=0)
    place = _PLACE.search(str(error))
    byte = min(int(place[1]), len(value)) if place else len(value)
    return DecodeError("SIMPLE-JSON", f"valid JSON ({sentence})", part="value", byte=byte)


def _first_bad_byte(value: bytes) -> int:
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0
