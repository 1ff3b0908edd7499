"""Kafka Connect's schemas as Avro schemas, and single values by them: what TiCDC converts for each message.

A schema is an object of Connect's JSON. Source: ticdc ``pkg/sink/codec/debezium/avro.go``
(``toAvroSchema``, ``toNative``).
"""

from __future__ import annotations

import json
import struct
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from ticdc_producer.protocols.avro.names import sanitized
from ticdc_producer.protocols.craft.wire import varint

ConnectSchema: TypeAlias = Mapping[str, object]
JSON: TypeAlias = object
DECIMAL = "org.apache.kafka.connect.data.Decimal"
PRIMITIVES = {
    "boolean": "boolean", "string": "string", "bytes": "bytes", "int8": "int", "int16": "int", "int32": "int",
    "int64": "long", "float": "float", "double": "double",
}  # fmt: skip
"""Connect's types, and Avro's."""
_NARROW = ("int8", "int16")
NULL, OTHER = b"\x00", b"\x02"
"""Indexes of the branches of an optional field, as encoded."""


def avro_schema(schema: ConnectSchema) -> str:
    """Return the Avro schema as Go prints it: members by name, ``<``, ``>`` and ``&`` escaped."""
    text = json.dumps(_avro(schema, "", set()), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def full_name(name: str) -> str:
    """Return the name of a record: each part between points as Avro allows it."""
    return ".".join(map(sanitized, name.split(".")))


def _avro(schema: ConnectSchema, fallback: str, defined: set[str]) -> JSON:
    kind = str(schema["type"])
    if kind == "struct":
        return _record(schema, fallback, defined)
    if kind == "array":
        items = _avro(_items(schema), f"{fallback}Item", defined)
        return {"type": "array", "items": items, **_metadata(schema)}
    metadata = _metadata(schema)
    if schema.get("name") == DECIMAL:
        digits = {name: int(text) for name, text in parameters_of(schema).items()}
        return {"type": "bytes", "logicalType": "decimal", **digits, **metadata}
    if not metadata and kind not in _NARROW:
        return PRIMITIVES[kind]
    narrow = {"connect.type": kind} if kind in _NARROW else {}
    return {"type": PRIMITIVES[kind], **narrow, **metadata}


def _record(schema: ConnectSchema, fallback: str, defined: set[str]) -> JSON:
    """Return a record, or its name if it is defined already."""
    full = full_name(str(schema.get("name") or fallback or "ConnectDefault"))
    if full in defined:
        return full
    defined.add(full)
    namespace, _, name = full.rpartition(".")
    record: dict[str, JSON] = {"type": "record", "name": name, **_metadata(schema)}
    if namespace:
        record["namespace"] = namespace
    return record | {"fields": [_field(field, defined) for field in fields_of(schema)]}


def _field(schema: ConnectSchema, defined: set[str]) -> JSON:
    own = str(schema.get("field", ""))
    name = sanitized(own)
    field: dict[str, JSON] = {"name": name, "type": _avro(schema, name, defined)}
    if own:
        field["connect.field"] = own
    if schema.get("tidb_type"):
        field["tidb_type"] = schema["tidb_type"]
    if schema.get("optional"):
        field |= {"type": ["null", field["type"]], "default": None}
    return field


def _metadata(schema: ConnectSchema) -> dict[str, JSON]:
    members = {name: schema.get(name) for name in ("name", "version", "parameters")}
    return {f"connect.{name}": value for name, value in members.items() if value}


def parameters_of(schema: ConnectSchema) -> Mapping[str, str]:
    """Return the parameters of a schema."""
    return cast("Mapping[str, str]", schema.get("parameters") or {})


def fields_of(schema: ConnectSchema) -> Sequence[ConnectSchema]:
    """Return the schemas of the fields of a struct."""
    return cast("Sequence[ConnectSchema]", schema["fields"])


def _items(schema: ConnectSchema) -> ConnectSchema:
    return cast("ConnectSchema", schema["items"])


def length_prefixed(data: bytes) -> bytes:
    """Encode one text or byte string."""
    return varint(len(data)) + data


def encoded(schema: ConnectSchema, value: JSON) -> bytes:
    """Encode one value of Connect's JSON in Avro's binary encoding; NULL only of an optional field."""
    return b"".join(_optional(schema, value) if schema.get("optional") else _value(schema, value))


def _optional(schema: ConnectSchema, value: JSON) -> Iterator[bytes]:
    if value is None:
        yield NULL
        return
    yield OTHER
    yield from _value(schema, value)


def _value(schema: ConnectSchema, value: JSON) -> Iterator[bytes]:
    match schema["type"]:
        case "struct":
            members = cast("Mapping[str, JSON]", value)
            for field in fields_of(schema):
                yield encoded(field, members.get(str(field["field"])))
        case "array":
            items = cast("Sequence[JSON]", value)
            if items:
                yield varint(len(items))
                yield from (encoded(_items(schema), item) for item in items)
            yield varint(0)
        case "boolean":
            yield b"\x01" if value else b"\x00"
        case "string":
            yield length_prefixed(str(value).encode("utf-8", "surrogateescape"))
        case "bytes":
            yield length_prefixed(b64decode(str(value)))
        case "float":
            yield struct.pack("<f", float(cast("float", value)))
        case "double":
            yield struct.pack("<d", float(cast("float", value)))
        case _:
            yield varint(int(cast("int", value)))
