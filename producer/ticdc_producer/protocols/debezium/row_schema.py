"""The schemas of rows in messages: envelope, images, columns and key. A key must agree with the value."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from ticdc_producer.protocols.base import BadValue


class FieldSchema(msgspec.Struct, frozen=True):
    """The schema of one column: Kafka Connect's type, and Debezium's name of the logical type."""

    field: str
    type: str
    name: str = ""
    optional: bool = False
    tidb_type: str = ""
    parameters: dict[str, str] = {}


class _EnvelopeFieldJSON(msgspec.Struct):
    field: str
    type: str = ""
    name: str = ""
    fields: msgspec.Raw = msgspec.Raw(b"[]")


class _EnvelopeJSON(msgspec.Struct):
    fields: list[_EnvelopeFieldJSON]
    type: str = ""
    name: str = ""


class _KeySchemaJSON(msgspec.Struct):
    fields: list[FieldSchema]
    type: str = ""
    name: str = ""


_ENVELOPE = msgspec.json.Decoder(_EnvelopeJSON)
_KEY_SCHEMA = msgspec.json.Decoder(_KeySchemaJSON)


_ENVELOPE_SUFFIX, _VALUE_SUFFIX, _KEY_SUFFIX = ".Envelope", ".Value", ".Key"
_MEMBERS = {
    "source": ("struct", "io.debezium.connector.mysql.Source"), "op": ("string", ""), "ts_ms": ("int64", "")
}  # fmt: skip
"""Type and name of each member of a row's envelope besides the images."""


_FIELDS = msgspec.json.Decoder(list[FieldSchema])


def image_columns(schema: bytes) -> list[FieldSchema]:
    """Return the schemas of the columns, those of both images.

    :raises BadValue: for an envelope that is not the envelope of a row.
    """
    envelope = _ENVELOPE.decode(schema)
    if envelope.type != "struct" or not envelope.name.endswith(_ENVELOPE_SUFFIX):
        raise BadValue(f"a struct with a name that ends with {_ENVELOPE_SUFFIX}")
    members = {entry.field: (entry.type, entry.name) for entry in envelope.fields}
    image = ("struct", envelope.name.removesuffix(_ENVELOPE_SUFFIX) + _VALUE_SUFFIX)
    for name, expected in {"before": image, "after": image, **_MEMBERS}.items():
        if members.get(name) != expected:
            raise BadValue(f"a field {name} of type {' '.join(expected).strip()}")
    schemas = {bytes(entry.fields) for entry in envelope.fields if entry.field in ("after", "before")}
    if len(schemas) != 1:
        raise BadValue("one row schema, that of before and after")
    return _FIELDS.decode(schemas.pop())


@lru_cache(maxsize=256)
def check_key_schema(key_schema: bytes, schema: bytes) -> tuple[str, ...]:
    """Return the columns of a key's schema, which describes them as the schema of the value does.

    :raises BadValue: if it does not.
    :raises msgspec.DecodeError: for a schema that does not parse.
    """
    key, envelope = _KEY_SCHEMA.decode(key_schema), _ENVELOPE.decode(schema)
    name = envelope.name.removesuffix(_ENVELOPE_SUFFIX) + _KEY_SUFFIX
    if (key.type, key.name) != ("struct", name):
        raise BadValue(f"a struct with the name {name}")
    columns = {column.field: column for column in image_columns(schema)}
    for column in key.fields:
        if columns.get(column.field) != column:
            raise BadValue(f"the value's schema of {column.field!r}")
    return tuple(column.field for column in key.fields)
