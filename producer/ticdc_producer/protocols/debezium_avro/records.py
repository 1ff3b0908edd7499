"""Reads the records of keys and values by their schemas, which are strictly those that TiCDC writes.

Source: ticdc ``pkg/sink/codec/debezium/avro_decoder.go`` (``avroSchemaToConnectSchema``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TypeAlias

import msgspec

from ticdc_producer.model.event import Value
from ticdc_producer.protocols.avro.field_reader import AvroCursor, BadSchema
from ticdc_producer.protocols.debezium.message_parts import FieldSchema
from ticdc_producer.protocols.debezium_avro.columns import Reader, column, scalar_reader

JSON: TypeAlias = object
ReadJSON: TypeAlias = Callable[[AvroCursor], JSON]
Node: TypeAlias = Mapping[str, object]
MessageReader: TypeAlias = Callable[[AvroCursor], Mapping[str, JSON]]
_ROW = ("before", "after", "source", "op", "ts_ms")
_WATERMARK = ("source", "op", "ts_ms", "transaction")
_DDL = ("source", "ts_ms", "databaseName", "schemaName", "ddl", "tableChanges")
_SOURCE = (
    "version", "connector", "name", "ts_ms", "snapshot", "db", "table", "server_id", "gtid", "file", "pos",
    "row", "thread", "query", "commit_ts", "cluster_id",
)  # fmt: skip
_INTEGERS = {"int": "int32", "long": "int64"}


@dataclass(frozen=True, slots=True)
class Image:
    """An image of a row.

    :param types: column name to SQL type name.
    """

    types: Mapping[str, str]
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class _ImageReader:
    """A reader of images of one schema; every column is optional."""

    types: Mapping[str, str]
    readers: Sequence[tuple[str, Reader]]

    def __call__(self, cursor: AvroCursor) -> Image:
        values = {name: read(cursor) if cursor.branch() else None for name, read in self.readers}
        return Image(self.types, values)


def message_reader(schema: str, zone: tzinfo, *, of_key: bool) -> MessageReader:
    """Make the reader of keys or values of a schema.

    :param zone: time zone of the changefeed.
    :raises BadSchema: for a schema that TiCDC does not write.
    """
    try:
        record = msgspec.json.decode(schema)
        if of_key:
            return _key_reader(record, zone)
        return _value_reader(record, zone)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        raise BadSchema("a record") from None


def is_row(schema: str) -> bool:
    """Return whether a schema is that of a row's value, whose column names may be those of an envelope."""
    try:
        return tuple(map(_name, _fields(msgspec.json.decode(schema)))) == _ROW
    except (BadSchema, msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False


def _key_reader(record: object, zone: tzinfo) -> MessageReader:
    """Return the reader of a key: of a row, with its columns, or of a DDL, with its database."""
    fields = _fields(record)
    if [_name(field) for field in fields] == ["databaseName"] and fields[0].get("type") == "string":
        return lambda cursor: {"databaseName": cursor.length_prefixed()}
    read = _image_reader(fields, zone)
    return lambda cursor: read(cursor).values


def _value_reader(record: object, zone: tzinfo) -> MessageReader:
    fields = _fields(record)
    names = tuple(_name(field) for field in fields)
    if names not in (_ROW, _WATERMARK, _DDL):
        raise BadSchema("the envelope of a row, DDL or watermark")
    named: dict[str, ReadJSON] = {}
    readers: list[ReadJSON] = []
    for name, field in zip(names, fields, strict=True):
        if names == _ROW and name in ("before", "after"):
            readers.append(_optional_image(name, field, named, zone))
        elif name == "source":
            if tuple(_name(part) for part in _fields(field.get("type"))) != _SOURCE:
                raise BadSchema("the fields of TiCDC's source")
            readers.append(_json_reader(field.get("type"), named))
        else:
            readers.append(_json_reader(field.get("type"), named))
    return lambda cursor: {name: read(cursor) for name, read in zip(names, readers, strict=True)}


def _optional_image(name: str, field: Node, named: dict[str, ReadJSON], zone: tzinfo) -> ReadJSON:
    """Return the reader of an image, which is a record in ``before`` and the name of it in ``after``."""
    other = _other_than_null(field.get("type"))
    if isinstance(other, str):
        if name != "after" or other not in named:
            raise BadSchema("the record of before also as after")
        read = named[other]
    else:
        read = _image_reader(_fields(other), zone)
        named[_full_name(other)] = read
    return lambda cursor: read(cursor) if cursor.branch() else None


def _image_reader(fields: Sequence[Node], zone: tzinfo) -> _ImageReader:
    types: dict[str, str] = {}
    readers: list[tuple[str, Reader]] = []
    for field in fields:
        avro = _other_than_null(field.get("type"))
        node = {"type": avro} if isinstance(avro, str) else _node(avro)
        schema = _field_schema(field, node)
        kind, read = column(schema, node, zone)
        if schema.field in types:
            raise BadSchema("columns of different names")
        types[schema.field] = kind
        readers.append((schema.field, read))
    return _ImageReader(types, readers)


def _field_schema(field: Node, avro: Node) -> FieldSchema:
    """Return the Connect schema of a column."""
    kind, parameters = _text(avro, "type"), avro.get("connect.parameters", {})
    if not isinstance(parameters, Mapping) or not all(isinstance(part, str) for part in parameters.values()):
        raise BadSchema("parameters that are texts")
    return FieldSchema(
        field=_name(field),
        type=_connect_type(avro, kind),
        name=_text(avro, "connect.name", ""),
        optional=True,
        tidb_type=_text(field, "tidb_type", ""),
        parameters=dict(parameters),
    )


def _connect_type(avro: Node, kind: str) -> str:
    """Return the Connect type of a field, which may be narrower than Avro's ``int``."""
    narrow = _text(avro, "connect.type", "")
    if not narrow:
        return _INTEGERS.get(kind, kind)
    if kind != "int" or narrow not in ("int8", "int16"):
        raise BadSchema("the connect.type int8 or int16 of an int")
    return narrow


def _json_reader(schema: object, named: dict[str, ReadJSON]) -> ReadJSON:
    """Return the reader of what is not a column: JSON of Connect."""
    if isinstance(schema, list):
        read = _json_reader(_other_than_null(schema), named)
        return lambda cursor: read(cursor) if cursor.branch() else None
    if isinstance(schema, str):
        return named[schema] if schema in named else scalar_reader(_INTEGERS.get(schema, schema))
    node = _node(schema)
    match node.get("type"):
        case "record":
            members = [(_name(field), _json_reader(field.get("type"), named)) for field in _fields(node)]
            return lambda cursor: {name: read(cursor) for name, read in members}
        case "array":
            return _array_reader(_json_reader(node.get("items"), named))
    kind = _text(node, "type")
    return scalar_reader(_INTEGERS.get(kind, kind))


def _array_reader(read: ReadJSON) -> ReadJSON:
    def items(cursor: AvroCursor) -> JSON:
        values: list[JSON] = []
        while count := cursor.long():
            if not 0 < count <= len(cursor.data) - cursor.position:
                raise cursor.error("ARRAY", "as many items as there are bytes, or fewer")
            for _ in range(count):
                start = cursor.position
                values.append(read(cursor))
                if cursor.position == start:
                    raise cursor.error("ARRAY", "items of at least one byte")
        return values

    return items


def _fields(record: object) -> Sequence[Node]:
    node = _node(record)
    fields = node.get("fields")
    if node.get("type") != "record" or not isinstance(fields, list):
        raise BadSchema("a record")
    return [_node(field) for field in fields]


def _full_name(record: object) -> str:
    """Return the name of a record of images; a namespace keeps it apart from the names of Avro's types."""
    node = _node(record)
    namespace, name = _text(node, "namespace"), _text(node, "name")
    if not namespace:
        raise BadSchema("a record in a namespace")
    return f"{namespace}.{name}"


def _other_than_null(schema: object) -> object:
    if not isinstance(schema, list) or len(schema) != 2 or schema[0] != "null":
        raise BadSchema("a union of null and one type")
    return schema[1]


def _name(field: Node) -> str:
    """Return the name of a column or member: Connect's, if it differs from Avro's."""
    return _text(field, "connect.field", _text(field, "name"))


def _node(schema: object) -> Node:
    if not isinstance(schema, Mapping):
        raise BadSchema("an object")
    return schema


def _text(node: Node, name: str, default: str | None = None) -> str:
    text = node.get(name, default)
    if not isinstance(text, str):
        raise BadSchema(f"a text as {name}")
    return text
