"""The members of a message: its JSON object, the values of ``type``, and the members of table schemas.

The Avro encoding has symbols and branches for them. All its messages have the same schema, which readers must
have: a union of named types, of which the message is the last. A message therefore starts with the index of
that branch. Source: tiflow ``pkg/sink/codec/simple/message.go`` (``getDDLType``) with the action codes of
tidb ``pkg/meta/model/job.go``; ``message.json``, ``avro.go``; the indexes were found from its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import DDLEvent, Op
from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.protocols.base import first_bad_byte
from ticdc_producer.protocols.craft.wire import varint
from ticdc_producer.protocols.ddl_keywords import DDLKeywords

_EXCHANGE_PARTITION = 42
_DROP_TABLE, _DROP_VIEW = 4, 24
WATERMARK, BOOTSTRAP = "WATERMARK", "BOOTSTRAP"
OPS = {op.name: op for op in Op}

_DDLS = DDLKeywords()
DDL_TYPE_NAMES = _DDLS.all
action_of = _DDLS.action_code


def ddl_type_name(action: int, profile: Profile) -> str:
    """Return ``type`` of a DDL with TiDB's action code; for EXCHANGE PARTITION it depends on the profile."""
    if action == _EXCHANGE_PARTITION and profile == "new":
        return "ALTER"
    return _DDLS.of(action)


def is_message_type(name: str) -> bool:
    """Return whether messages of the protocol can have this type."""
    return name in OPS or name in DDL_TYPE_NAMES or name in (WATERMARK, BOOTSTRAP)


def ddl_schema_table(event: DDLEvent, table: TableInfo | None, before: TableInfo | None) -> TableInfo | None:
    """Return the table in ``tableSchema``: after the DDL, or before it for DROP TABLE and DROP VIEW."""
    return before if table is None and event.ddl_type in (_DROP_TABLE, _DROP_VIEW) else table


def ddl_pre_table(event: DDLEvent, before: TableInfo | None, profile: Profile) -> TableInfo | None:
    """Return the table in ``preTableSchema``, which new architecture sends only for EXCHANGE PARTITION."""
    return before if profile == "classic" or event.ddl_type == _EXCHANGE_PARTITION else None


def listed_columns(table: TableInfo, profile: Profile) -> Sequence[ColumnInfo]:
    """Return the columns of ``tableSchema``: by column id in classic TiCDC (tiflow), else in table order."""
    return table.columns if profile == "new" else sorted(table.columns, key=lambda column: column.id)


def listed_indexes(table: TableInfo) -> Iterator[tuple[IndexInfo, str, bool]]:
    """Yield the indexes of ``tableSchema``, each with its name and whether it is primary.

    These are the indexes that TiDB stores. If none of them is the primary key, TiCDC adds an index
    ``primary``: the primary key if it is the integer handle of the rows, which TiDB does not store as an
    index, else the first unique index without NULLs, which may not be the handle key.
    """
    stored = [index for index in table.indexes if not _is_handle(table, index)]
    for index in stored:
        yield index, index.name, index.primary
    if not any(index.primary for index in stored):
        key = table.primary_key or next((index for index in stored if _never_null(table, index)), None)
        if key is not None:
            yield key, "primary", True


def _never_null(table: TableInfo, index: IndexInfo) -> bool:
    return index.unique and not any(table.columns[offset].nullable for offset in index.offsets)


def _is_handle(table: TableInfo, index: IndexInfo) -> bool:
    return index.clustered and len(index.offsets) == 1 and table.columns[index.offsets[0]].type in INTEGERS


MESSAGE = varint(11)
"""The first byte of every message: the union branch of the message type."""
AVRO_WATERMARK, AVRO_BOOTSTRAP, DDL, DML = range(4)
"""Symbols of the message type, which are also the branches of the payload."""
AVRO_WITHOUT_SCHEMA = tuple(MESSAGE + varint(kind) for kind in (AVRO_WATERMARK, DML))
"""The starts of Avro values without the schema of a table."""
DDL_TYPES = ("CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY")
OP_NAMES = ("INSERT", "UPDATE", "DELETE")
NULL, PRESENT = varint(0), varint(1)
"""Union branches of an optional value."""
LONG, FLOAT, DOUBLE, STRING, BYTES, TIMESTAMP, UNSIGNED_BIGINT = range(1, 8)
"""Union branches of a column value; 0 is NULL."""


TSO: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_TS)]
TableID: TypeAlias = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


UInt32: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]


class TimestampJSON(msgspec.Struct):
    """A TIMESTAMP: the wall time ``value`` in the time zone ``location``."""

    location: str
    value: str


RowJSON: TypeAlias = dict[str, str | TimestampJSON | None]


class DataType(msgspec.Struct, rename="camel"):
    """The type of a column. Go omits zero values."""

    mysql_type: str
    charset: str
    collate: str = ""
    length: int = 0
    decimal: int = 0
    elements: list[str] | None = None
    unsigned: bool = False
    zerofill: bool = False


class SchemaColumnJSON(msgspec.Struct, rename="camel"):
    """A column in a table schema; the DEFAULT of a BIT is a number in JSON, and bytes in Avro."""

    name: str
    data_type: DataType
    nullable: bool
    default: object = None


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


class ChecksumJSON(msgspec.Struct):
    """The checksums of a row."""

    version: int
    corrupted: bool
    current: UInt32
    previous: UInt32


class SimpleEnvelope(msgspec.Struct, rename="camel"):
    """One message, without ``buildTs``, which is not part of the event."""

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
    checksum: ChecksumJSON | None = None
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
        return DecodeError("SIMPLE-JSON", "UTF-8", part="value", byte=first_bad_byte(value))
    reason = _BYTE_POSITION.sub("", str(error)).strip().rstrip(":")
    if isinstance(error, msgspec.ValidationError):
        return DecodeError("SIMPLE-MEMBER", reason, part="value", byte=0)
    position = _BYTE_POSITION.search(str(error))
    byte = min(int(position[1]), len(value)) if position else len(value)
    return DecodeError("SIMPLE-JSON", f"valid JSON ({reason})", part="value", byte=byte)
