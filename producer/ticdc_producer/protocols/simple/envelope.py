"""The JSON object of a message; msgspec validates every member."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.tso import MAX_TS

TSO: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_TS)]
TableID: TypeAlias = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class TimestampJSON(msgspec.Struct):
    """A TIMESTAMP: the wall time ``value`` in the time zone ``location``."""

    location: str
    value: str


RowJSON: TypeAlias = dict[str, str | TimestampJSON | None]


class DataType(msgspec.Struct, rename="camel"):
    """The type of a column, without the length, which is not needed to read values."""

    mysql_type: str
    charset: str
    unsigned: bool = False


class SchemaColumnJSON(msgspec.Struct, rename="camel"):
    """A column in a table schema."""

    name: str
    data_type: DataType
    nullable: bool


class IndexJSON(msgspec.Struct):
    """An index. Two may be ``primary``: the primary key, and one that TiCDC adds in place of it."""

    name: str
    unique: bool
    primary: bool
    nullable: bool
    columns: list[str]


class TableSchema(msgspec.Struct):
    """The schema of a table version."""

    schema: str
    table: str
    version: TSO
    columns: list[SchemaColumnJSON]
    indexes: list[IndexJSON]


class SimpleEnvelope(msgspec.Struct, rename="camel"):
    """One message, without ``buildTs`` and ``checksum``, which are not part of the event."""

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


_DECODER = msgspec.json.Decoder(SimpleEnvelope)
_BYTE_POSITION = re.compile(r"\(byte (\d+)\)")
VERSION = 1


def parse_envelope(value: bytes) -> SimpleEnvelope:
    """Parse a message value.

    :raises DecodeError: if it is not a message of this protocol.
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
    reason = _BYTE_POSITION.sub("", str(error)).strip().rstrip(":")
    if isinstance(error, msgspec.ValidationError):
        return DecodeError("SIMPLE-MEMBER", reason, part="value", byte=0)
    position = _BYTE_POSITION.search(str(error))
    byte = min(int(position[1]), len(value)) if position else len(value)
    return DecodeError("SIMPLE-JSON", f"valid JSON ({reason})", part="value", byte=byte)


def _first_bad_byte(value: bytes) -> int:
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0
