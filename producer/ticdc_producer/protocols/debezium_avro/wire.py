"""How the bytes of messages are compared: by their schemas, and without ``ts_ms``, TiCDC's wall clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.avro.decoder import SchemaOf, schema_id_of
from ticdc_producer.protocols.avro.field_reader import AvroCursor, BadSchema
from ticdc_producer.protocols.avro.names import HEAD
from ticdc_producer.protocols.debezium_avro.records import is_row, json_record
from ticdc_producer.protocols.wire import json_form

_CONTINUED = 0x80


def wire_form(schema_of: SchemaOf) -> Callable[[bytes], object]:
    """Return a function that returns the content of a key or value: its schema, and its record."""
    schemas: dict[int, object] = {}

    def form(part: bytes) -> object:
        number = schema_id_of(part)
        text = None if number is None else schema_of(number)
        if number is None or text is None:
            return part.hex()
        if number not in schemas:
            schemas[number] = json_form(text.encode())
        return {"schema": schemas[number], **_record(text, part)}

    return form


def _record(schema: str, part: bytes) -> dict[str, object]:
    """Return the bytes of a row without ``ts_ms``, which ends them; the members of another record."""
    if is_row(schema):
        end = len(part) - 1
        while end > HEAD and part[end - 1] >= _CONTINUED:
            end -= 1
        return {"record": part[HEAD:end].hex(), "ts_ms": 0}
    try:
        members = json_record(schema, AvroCursor(part, "value", HEAD), UTC)
    except (BadSchema, DecodeError, RecursionError):
        return {"record": part[HEAD:].hex()}
    return {"record": members | {"ts_ms": 0} if "ts_ms" in members else members}
