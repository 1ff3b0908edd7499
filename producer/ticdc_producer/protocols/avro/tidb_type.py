"""``tidb_type``, the type of a column in an Avro schema.

Source: tiflow ``pkg/sink/codec/avro/avro.go`` (``getTiDBTypeFromColumn``).
"""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, STRINGS, MySQLType

T = MySQLType

VECTOR = "TiDBVECTORFloat32"
_NAMES = {
    T.FLOAT: "FLOAT", T.DOUBLE: "DOUBLE", T.NEW_DECIMAL: "DECIMAL", T.BIT: "BIT", T.ENUM: "ENUM",
    T.SET: "SET", T.DATE: "DATE", T.NEW_DATE: "DATE", T.DATETIME: "DATETIME", T.TIMESTAMP: "TIMESTAMP",
    T.DURATION: "TIME", T.JSON: "JSON", T.YEAR: "YEAR", T.VECTOR_FLOAT32: VECTOR,
}  # fmt: skip


def tidb_type(column: ColumnInfo) -> str:
    """``tidb_type`` of a column; integers narrower than BIGINT are all ``INT``."""
    if column.type in INTEGERS:
        name = "BIGINT" if column.type == T.LONGLONG else "INT"
        return f"{name} UNSIGNED" if column.unsigned else name
    if column.type in STRINGS | LOBS:
        return "BLOB" if column.binary else "TEXT"
    return _NAMES.get(column.type, "TEXT")


def type_text(name: str) -> str:
    """The SQL type name for a ``tidb_type``."""
    return "vector" if name == VECTOR else name.lower()
