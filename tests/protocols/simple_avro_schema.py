"""The schema with which readers read Simple's Avro encoding."""

from __future__ import annotations

NS = "com.pingcap.simple.avro"


def _record(name: str, *fields: tuple[str, object]) -> dict[str, object]:
    listed = [{"name": field, "type": kind} for field, kind in fields]
    return {"type": "record", "name": name, "namespace": NS, "fields": listed}


def _enum(name: str, *symbols: str) -> dict[str, object]:
    return {"type": "enum", "name": name, "namespace": NS, "symbols": list(symbols)}


def _maybe(kind: object) -> list[object]:
    return ["null", kind]


def _list(kind: object) -> dict[str, object]:
    return {"type": "array", "items": kind}


_ROW = {"type": "map", "values": [
    "null", "long", "float", "double", "string", "bytes",
    _record("Timestamp", ("location", "string"), ("value", "string")),
    _record("UnsignedBigint", ("value", "long")),
]}  # fmt: skip
_TYPE = _record(
    "DataType", ("mysqlType", "string"), ("charset", "string"), ("collate", "string"), ("length", "long"),
    ("decimal", _maybe("int")), ("elements", _maybe(_list("string"))), ("unsigned", _maybe("boolean")),
    ("zerofill", _maybe("boolean")),
)  # fmt: skip
_COLUMN = _record(
    "Column", ("name", "string"), ("dataType", _TYPE), ("nullable", "boolean"), ("default", _maybe("string"))
)
_INDEX = _record(
    "Index", ("name", "string"), ("unique", "boolean"), ("primary", "boolean"), ("nullable", "boolean"),
    ("columns", _list("string")),
)  # fmt: skip
_TABLE = _record(
    "TableSchema", ("database", "string"), ("table", "string"), ("tableID", "long"), ("version", "long"),
    ("columns", _list(_COLUMN)), ("indexes", _list(_INDEX)),
)  # fmt: skip
_CHECKSUM = _record(
    "Checksum", ("version", "int"), ("corrupted", "boolean"), ("current", "long"), ("previous", "long")
)
MESSAGE = _record(
    "Message",
    ("type", _enum("MessageType", "WATERMARK", "BOOTSTRAP", "DDL", "DML")),
    ("payload", [
        _record("Watermark", ("version", "int"), ("commitTs", "long"), ("buildTs", "long")),
        _record("Bootstrap", ("version", "int"), ("buildTs", "long"), ("tableSchema", _TABLE)),
        _record(
            "DDL", ("version", "int"),
            ("type", _enum("DDLType", "CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX",
                           "QUERY")),
            ("sql", "string"), ("commitTs", "long"), ("buildTs", "long"),
            ("tableSchema", _maybe(f"{NS}.TableSchema")), ("preTableSchema", _maybe(f"{NS}.TableSchema")),
        ),
        _record(
            "DML", ("version", "int"), ("database", "string"), ("table", "string"), ("tableID", "long"),
            ("type", _enum("DMLType", "INSERT", "UPDATE", "DELETE")), ("commitTs", "long"),
            ("buildTs", "long"), ("schemaVersion", "long"), ("claimCheckLocation", _maybe("string")),
            ("handleKeyOnly", _maybe("boolean")), ("checksum", _maybe(_CHECKSUM)),
            ("data", _maybe(_ROW)), ("old", _maybe({"type": "map", "values": _ROW["values"]})),
        ),
    ]),
)  # fmt: skip
