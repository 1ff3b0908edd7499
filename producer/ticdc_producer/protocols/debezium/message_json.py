"""The JSON of a Debezium message, taken apart as far as it is the same for every table."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.debezium.bad_value import JSONValue
from ticdc_producer.protocols.invalid_utf8 import Marks, readable


class SourceJSON(msgspec.Struct, gc=False):
    commit_ts: int
    db: str = ""
    table: str = ""


class PayloadJSON(msgspec.Struct, gc=False):
    source: SourceJSON
    op: str | None = None
    before: dict[str, JSONValue] | None = None
    after: dict[str, JSONValue] | None = None
    ddl: str | None = None
    database_name: str | None = msgspec.field(default=None, name="databaseName")


_NO_SCHEMA = msgspec.Raw(b"null")


class _ValueJSON(msgspec.Struct, gc=False):
    payload: PayloadJSON | msgspec.UnsetType = msgspec.UNSET
    schema: msgspec.Raw = _NO_SCHEMA


class _KeyJSON(msgspec.Struct, gc=False):
    payload: dict[str, JSONValue] | msgspec.UnsetType = msgspec.UNSET


_VALUE = msgspec.json.Decoder(_ValueJSON)
_BARE_VALUE = msgspec.json.Decoder(PayloadJSON)
_KEY = msgspec.json.Decoder(_KeyJSON)
_BARE_KEY = msgspec.json.Decoder(dict[str, JSONValue])
_BAD_JSON = "DEBEZIUM-JSON"
_PLACE = re.compile(r"\(byte (\d+)\)")


class ValueParts(msgspec.Struct, frozen=True, gc=False):
    """A message's value.

    :param json: its text, in which ``marks`` stand for bytes that are not UTF-8.
    :param schema: JSON of the schema, None where it has none.
    """

    json: bytes
    marks: Marks | None
    payload: PayloadJSON
    schema: bytes | None


def parse_value(value: bytes) -> ValueParts:
    """A value, with its wrapper or without.

    :raises DecodeError: if it is not of the protocol's form.
    """
    wrapped, json, marks = _parse_any(_VALUE, "value", value)
    if wrapped.schema is _NO_SCHEMA and wrapped.payload is not msgspec.UNSET:
        return ValueParts(json, marks, wrapped.payload, None)
    if wrapped.payload is msgspec.UNSET:
        payload, json, marks = _parse_any(_BARE_VALUE, "value", value)
        return ValueParts(json, marks, payload, None)
    schema = bytes(wrapped.schema)
    if not schema.isascii():  # nobody has looked yet whether it is UTF-8
        wrapped, json, marks = _parse_marked(_VALUE, "value", value)
        schema = bytes(wrapped.schema)
    return ValueParts(json, marks, wrapped.payload, None if schema == b"null" else schema)


def parse_key(key: bytes) -> tuple[dict[str, JSONValue], Marks | None]:
    """The members of a key, with its wrapper or without.

    :raises DecodeError: likewise.
    """
    wrapped, _, marks = _parse_any(_KEY, "key", key)
    if wrapped.payload is not msgspec.UNSET:
        return wrapped.payload, marks
    payload, _, marks = _parse_any(_BARE_KEY, "key", key)
    return payload, marks


def _parse_any(decoder: Any, part: str, json: bytes) -> tuple[Any, bytes, Marks | None]:
    """What a text says, the text, and the marks in it; there are none where no byte has to be replaced."""
    try:
        return decoder.decode(json), json, None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _parse_marked(decoder, part, json)


def _parse_marked(decoder: Any, part: str, text: bytes) -> tuple[Any, bytes, Marks | None]:
    json, marks = readable(part, text, _BAD_JSON)
    return parse(decoder, part, json), json, marks


def parse(decoder: Any, part: str, json: bytes, start: int = 0) -> Any:
    """What a msgspec decoder makes of a text, its errors placed.

    :param start: where the text stands in its part.
    :raises DecodeError: for anything that the decoder refuses.
    """
    try:
        return decoder.decode(json)
    except msgspec.ValidationError as error:
        raise DecodeError("DEBEZIUM-FORM", str(error), part=part, byte=start) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        found = _PLACE.search(str(error))
        byte = start + int(found[1]) if found else start
        sentence = _PLACE.sub("", str(error)).strip().rstrip(":")
        raise DecodeError(_BAD_JSON, f"valid JSON ({sentence})", part=part, byte=byte) from None
    except RecursionError:
        raise DecodeError(_BAD_JSON, "JSON of a few levels", part=part, byte=start) from None
