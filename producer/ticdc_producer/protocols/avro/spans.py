"""The ranges of bytes in an Avro message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.avro.decoder import SchemaOf
from ticdc_producer.protocols.avro.field_reader import AvroCursor, BadSchema
from ticdc_producer.protocols.avro.names import BEFORE, head_size, schema_id_of
from ticdc_producer.protocols.avro.records import RecordReader, record_reader
from ticdc_producer.protocols.base import schema_id_text
from ticdc_producer.protocols.spans import ByteSpan, ImageName

_Part = Literal["key", "value"]


def avro_spans(key: bytes | None, value: bytes | None, schema_of: SchemaOf) -> Iterator[ByteSpan]:
    """Yield the id of the schema and the fields of the columns, in key and value."""
    deletes = value is None or (key is not None and schema_id_of(value) is None)
    parts: tuple[tuple[_Part, bytes | None, ImageName], ...] = (
        ("key", key, "before" if deletes else "after"),
        ("value", value, "after"),
    )
    for part, data, image in parts:
        schema_id = None if data is None else schema_id_of(data)
        if data is not None and schema_id is not None:
            name = f"schema {schema_id_text(schema_id)}"
            yield ByteSpan(part=part, start=1, end=head_size(data), name=name, event=-1)
            yield from _record(part, data, image, schema_of(schema_id))


def _record(part: _Part, data: bytes, image: ImageName, schema: str | None) -> Iterator[ByteSpan]:
    if schema is None:
        return
    try:
        reader, cursor = record_reader(schema), AvroCursor(data, part, head_size(data))
        yield from _image(part, cursor, reader, image)
        if BEFORE in reader.own and cursor.branch():
            yield from _image(part, cursor, reader, "before")
    except (BadSchema, DecodeError):
        return


def _image(part: _Part, cursor: AvroCursor, reader: RecordReader, image: ImageName) -> Iterator[ByteSpan]:
    for column, read in zip(reader.types, reader.readers, strict=True):
        start = cursor.position
        read(cursor)
        yield ByteSpan(
            part=part,
            start=start,
            end=cursor.position,
            name=f"{image}.{column}",
            image=image,
            column=column,
        )
