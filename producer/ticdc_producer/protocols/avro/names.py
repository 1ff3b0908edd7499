"""Names in messages and schemas: namespaces, subjects, ``tidb_type``, the head of a message.

Source: tiflow ``pkg/sink/codec/common/helper.go`` (``SanitizeName``), ``pkg/sink/codec/avro/avro.go``
(``getTiDBTypeFromColumn``).
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import MAX_SCHEMA_NUMBER

_MAGIC, DDL, WATERMARK, DELETE = 0, 1, 2, 3
"""First byte of a message part: a record, and what only TiCDC's own tests have: DDL and watermark messages,
and in TiCDC new architecture the commit-ts of a delete."""

_HEAD, _UUID_BYTES = 5, 16
_GLUE = b"\x03\x00"
"""The version of AWS Glue's header, and no compression. A delete that begins with ``DELETE`` is shorter."""
_GLUE_HEAD = len(_GLUE) + _UUID_BYTES


def head(schema_id: int) -> bytes:
    """Return the header before a record.

    That of Confluent has a byte 0 and the id. That of AWS Glue has the UUID of the schema's version. Source:
    ticdc ``pkg/sink/codec/avro/{confluent,glue}_schema_registry.go`` (``getMsgHeader``).

    >>> head(7).hex(), head(7 << 100).hex()
    ('0000000007', '030000000070000000000000000000000000')
    """
    if schema_id <= MAX_SCHEMA_NUMBER:
        return bytes((_MAGIC,)) + schema_id.to_bytes(_HEAD - 1, "big")
    return _GLUE + schema_id.to_bytes(_UUID_BYTES, "big")


def schema_id_of(data: bytes) -> int | None:
    """Return the schema id in the header of a message part; None if it does not have one."""
    if len(data) >= _HEAD and data[0] == _MAGIC:
        return int.from_bytes(data[1:_HEAD], "big")
    if len(data) >= _GLUE_HEAD and data.startswith(_GLUE):
        return int.from_bytes(data[len(_GLUE) : _GLUE_HEAD], "big")
    return None


def head_size(data: bytes) -> int:
    """Return the number of bytes before the record of a message part."""
    return _GLUE_HEAD if data.startswith(_GLUE) else _HEAD


OP, COMMIT_TS, PHYSICAL = "_tidb_op", "_tidb_commit_ts", "_tidb_commit_physical_time"
"""Fields of the TiDB extension: operation, commit-ts, and the milliseconds of the commit-ts."""
CHECKSUM, CORRUPTED = "_tidb_row_level_checksum", "_tidb_corrupted"
CHECKSUM_VERSION = "_tidb_checksum_version"
"""Fields of the row's checksum, which follow those of the extension."""
BEFORE, BEFORE_SUFFIX = "_ticdc_before", "_before"
"""The field of the old image, and the end of its record's name."""


Part: TypeAlias = Literal["key", "value"]

NAMESPACE = "default"
"""The changefeed namespace in classic TiCDC (tiflow), the keyspace in TiCDC new architecture."""
_OUTSIDE = re.compile(r"[^A-Za-z0-9_]")
_DIGIT = re.compile(r"\d")  # a digit of any script, as Go's unicode.IsDigit


def sanitized(name: str) -> str:
    """Replace each character that Avro does not allow with ``_``, and put ``_`` before a leading digit."""
    if _DIGIT.match(name):
        return f"_{name[0]}{_OUTSIDE.sub('_', name[1:])}"
    return _OUTSIDE.sub("_", name)


def namespace(table: TableInfo) -> str:
    """Return the Avro namespace of the records of a table."""
    return f"{NAMESPACE}.{sanitized(table.schema)}"


def subject(topic: str, part: Part) -> str:
    """Return the registry subject for the keys or values of a topic."""
    return f"{topic.replace('.', '_')}-{part}"


T = MySQLType

VECTOR = "TiDBVECTORFloat32"
_NAMES = {
    T.FLOAT: "FLOAT", T.DOUBLE: "DOUBLE", T.NEW_DECIMAL: "DECIMAL", T.BIT: "BIT", T.ENUM: "ENUM",
    T.SET: "SET", T.DATE: "DATE", T.NEW_DATE: "DATE", T.DATETIME: "DATETIME", T.TIMESTAMP: "TIMESTAMP",
    T.DURATION: "TIME", T.JSON: "JSON", T.YEAR: "YEAR", T.VECTOR_FLOAT32: VECTOR,
}  # fmt: skip


def tidb_type(column: ColumnInfo) -> str:
    """Return the ``tidb_type`` of a column; integers narrower than BIGINT are all ``INT``."""
    if column.type in INTEGERS:
        name = "BIGINT" if column.type == T.LONGLONG else "INT"
        return f"{name} UNSIGNED" if column.unsigned else name
    if column.type in STRINGS | LOBS:
        return "BLOB" if column.binary else "TEXT"
    return _NAMES.get(column.type, "TEXT")


def type_text(name: str) -> str:
    """Return the SQL type name for a ``tidb_type``."""
    return "vector" if name == VECTOR else name.lower()
