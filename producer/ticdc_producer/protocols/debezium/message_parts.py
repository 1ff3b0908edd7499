"""The parts of a message: key and value, and the schemas that they may have.

A schema describes envelope, images and columns; that of the key must agree with that of the value. Messages
may contain bytes that are not UTF-8.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.bytes_in_json import Escapes, escape
from ticdc_producer.protocols.debezium.schemas import is_envelope

JSONValue: TypeAlias = bool | int | float | str | None


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
    for name in ("before", "after"):
        if members.get(name) != image:
            raise BadValue(f"a field {name} of type {' '.join(image)}")
    check_common_members(schema)
    schemas = {bytes(entry.fields) for entry in envelope.fields if entry.field in ("after", "before")}
    if len(schemas) != 1:
        raise BadValue("one row schema, that of before and after")
    return _FIELDS.decode(schemas.pop())


@lru_cache(maxsize=256)
def check_common_members(schema: bytes) -> None:
    """Check the members of the envelope of a row or watermark besides the images.

    :raises BadValue: for others than TiCDC's.
    """
    try:
        parsed = json.loads(schema)
    except ValueError:
        raise BadValue("a schema with numbers of a few digits") from None
    if not isinstance(parsed, dict) or not is_envelope(parsed):
        raise BadValue("the fields source, op, ts_ms and transaction with the types of TiCDC's envelope")


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


class _SourceJSON(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The member ``source``. TiCDC writes all members, ``start_ts`` with ``debezium-include-start-ts``."""

    version: str
    connector: str
    name: str
    ts_ms: int
    snapshot: str
    db: str
    table: str
    server_id: int
    gtid: None
    file: str
    pos: int
    row: int
    thread: int
    query: None
    commit_ts: int
    cluster_id: str
    start_ts: int = 0


class _TableJSON(msgspec.Struct, rename="camel", gc=False):
    default_charset_name: str
    primary_key_column_names: list[str]
    columns: list[dict[str, Any]]
    comment: str | None


class _TableChangeJSON(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    type: str
    id: str
    table: _TableJSON | None


class _PayloadJSON(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The members of rows, watermarks and DDLs."""

    source: _SourceJSON
    ts_ms: int
    op: str | None = None
    before: dict[str, JSONValue] | None = None
    after: dict[str, JSONValue] | None = None
    transaction: None = None
    ddl: str | None = None
    database_name: str | None = msgspec.field(default=None, name="databaseName")
    schema_name: None = msgspec.field(default=None, name="schemaName")
    table_changes: list[_TableChangeJSON] | None = msgspec.field(default=None, name="tableChanges")


_NO_SCHEMA = msgspec.Raw(b"null")


class _ValueJSON(msgspec.Struct, gc=False):
    payload: _PayloadJSON | msgspec.UnsetType = msgspec.UNSET
    schema: msgspec.Raw = _NO_SCHEMA


class _KeyJSON(msgspec.Struct, gc=False):
    payload: dict[str, JSONValue] | msgspec.UnsetType = msgspec.UNSET
    schema: msgspec.Raw = _NO_SCHEMA


_VALUE = msgspec.json.Decoder(_ValueJSON)
_BARE_VALUE = msgspec.json.Decoder(_PayloadJSON)


_KEY = msgspec.json.Decoder(_KeyJSON)
_BARE_KEY = msgspec.json.Decoder(dict[str, JSONValue])


_BAD_JSON = "DEBEZIUM-JSON"
_BYTE_POSITION = re.compile(r"\(byte (\d+)\)")


class ValueParts(msgspec.Struct, frozen=True, gc=False):
    """A parsed message value.

    :param json: the text; bytes that are not UTF-8 are replaced by ``escapes``.
    :param schema: JSON of the schema; None if the value has none.
    """

    json: bytes
    escapes: Escapes | None
    payload: _PayloadJSON
    schema: bytes | None


def parse_value(value: bytes) -> ValueParts:
    """Parse a value, with or without the ``payload`` wrapper.

    :raises DecodeError: if it is not a value of this protocol.
    """
    wrapped, json, escapes = _parse_any(_VALUE, "value", value)
    if wrapped.schema is _NO_SCHEMA and wrapped.payload is not msgspec.UNSET:
        return ValueParts(json, escapes, wrapped.payload, None)
    if wrapped.payload is msgspec.UNSET:
        payload, json, escapes = _parse_any(_BARE_VALUE, "value", value)
        return ValueParts(json, escapes, payload, None)
    schema = bytes(wrapped.schema)
    if not schema.isascii():  # msgspec.Raw is not checked for valid UTF-8
        wrapped, json, escapes = _parse_escaped(_VALUE, "value", value)
        schema = bytes(wrapped.schema)
    return ValueParts(json, escapes, wrapped.payload, None if schema == b"null" else schema)


class KeyParts(NamedTuple):
    """A parsed key.

    :param schema: JSON of the schema; None if the key has none.
    """

    members: Mapping[str, JSONValue]
    escapes: Escapes | None = None
    schema: bytes | None = None


def parse_key(key: bytes) -> KeyParts:
    """Parse the members of a key, with or without the ``payload`` wrapper.

    :raises DecodeError: if it is not a key of this protocol.
    """
    wrapped, _, escapes = _parse_any(_KEY, "key", key)
    if wrapped.payload is not msgspec.UNSET:
        schema = bytes(wrapped.schema)
        return KeyParts(wrapped.payload, escapes, None if schema == b"null" else schema)
    payload, _, escapes = _parse_any(_BARE_KEY, "key", key)
    return KeyParts(payload, escapes)


def _parse_any(decoder: Any, part: str, json: bytes) -> tuple[Any, bytes, Escapes | None]:
    """Return the parsed object, the text, and its escapes, or None if all bytes are UTF-8."""
    try:
        return decoder.decode(json), json, None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _parse_escaped(decoder, part, json)


def _parse_escaped(decoder: Any, part: str, text: bytes) -> tuple[Any, bytes, Escapes | None]:
    json, escapes = escape(part, text, _BAD_JSON)
    return _parse(decoder, part, json), json, escapes


def _parse(decoder: Any, part: str, json: bytes) -> Any:
    """Decode a text with msgspec.

    :raises DecodeError: for anything that the decoder refuses.
    """
    try:
        return decoder.decode(json)
    except msgspec.ValidationError as error:
        raise DecodeError("DEBEZIUM-FORM", str(error), part=part, byte=0) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        match = _BYTE_POSITION.search(str(error))
        byte = int(match[1]) if match else 0
        reason = _BYTE_POSITION.sub("", str(error)).strip().rstrip(":")
        raise DecodeError(_BAD_JSON, f"valid JSON ({reason})", part=part, byte=byte) from None
    except RecursionError:
        raise DecodeError(_BAD_JSON, "JSON of a few levels", part=part, byte=0) from None


NO_KEY = KeyParts({})
