"""How the bytes of messages are compared: by their schemas, and without ``ts_ms``, TiCDC's wall clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from functools import partial
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.avro.decoder import SchemaOf
from ticdc_producer.protocols.avro.field_reader import AvroCursor, BadSchema
from ticdc_producer.protocols.avro.names import head_size, schema_id_of
from ticdc_producer.protocols.debezium_avro.records import MessageReader, is_row, message_reader
from ticdc_producer.protocols.wire import json_form

RecordForm: TypeAlias = Callable[[bytes], dict[str, object]]
_CONTINUED = 0x80


def wire_form(schema_of: SchemaOf) -> Callable[[bytes], object]:
    """Return a function that returns the content of a key or value: its schema, and its record."""
    forms: dict[int, tuple[object, RecordForm]] = {}

    def form(part: bytes) -> object:
        number = schema_id_of(part)
        if number is None:
            return part.hex()
        if number not in forms:
            text = schema_of(number)
            if text is None:
                return part.hex()
            forms[number] = json_form(text.encode()), _record_form(text)
        schema, record = forms[number]
        return {"schema": schema, **record(part)}

    return form


def _record_form(schema: str) -> RecordForm:
    """Return what takes the record of a key or value: its bytes, or the members of a DDL or watermark."""
    if is_row(schema):
        return _without_clock
    try:
        return partial(_members, message_reader(schema, UTC, of_key=False))
    except BadSchema:
        return _whole


def _without_clock(part: bytes) -> dict[str, object]:
    """Return the bytes of a row without ``ts_ms``, which ends them."""
    start, end = head_size(part), len(part) - 1
    while end > start and part[end - 1] >= _CONTINUED:
        end -= 1
    return {"record": part[start:end].hex(), "ts_ms": 0}


def _members(read: MessageReader, part: bytes) -> dict[str, object]:
    try:
        members = read(AvroCursor(part, "value", head_size(part)))
    except (DecodeError, RecursionError):
        return _whole(part)
    return {"record": {**members, "ts_ms": 0}}


def _whole(part: bytes) -> dict[str, object]:
    return {"record": part[head_size(part) :].hex()}
