"""Compiles the schema of a row message to readers of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from functools import lru_cache

import msgspec

from ticdc_producer.protocols.debezium.bad_value import BadValue
from ticdc_producer.protocols.debezium.column_reader import ColumnReader, FieldSchema, column_reader

_IMAGES = ("after", "before")
_MAX_CACHED_SCHEMA_SIZE = 1 << 20  # in bytes; larger schemas are not cached


class _EnvelopeFieldJSON(msgspec.Struct):
    field: str
    fields: msgspec.Raw = msgspec.Raw(b"[]")


class _EnvelopeJSON(msgspec.Struct):
    fields: list[_EnvelopeFieldJSON]


_ENVELOPE = msgspec.json.Decoder(_EnvelopeJSON)
_FIELDS = msgspec.json.Decoder(list[FieldSchema])


@dataclass(frozen=True, slots=True, eq=False)
class RowReaders:
    """Readers of the columns by name, virtual columns included."""

    by_name: Mapping[str, ColumnReader]


def row_readers(schema: bytes, zone: tzinfo) -> RowReaders:
    """Readers of the columns that a schema describes.

    :raises BadValue: for a schema that is not the schema of a row.
    :raises msgspec.DecodeError: for a schema that does not parse.
    """
    return _cached_readers(schema, zone) if len(schema) <= _MAX_CACHED_SCHEMA_SIZE else _compile(schema, zone)


def _compile(schema: bytes, zone: tzinfo) -> RowReaders:
    found = {bytes(entry.fields) for entry in _ENVELOPE.decode(schema).fields if entry.field in _IMAGES}
    if len(found) != 1:
        raise BadValue("one row schema, that of before and after")
    entries: dict[str, FieldSchema] = {}  # TiCDC new architecture lists virtual columns twice
    for entry in _FIELDS.decode(found.pop()):
        if entries.setdefault(entry.field, entry) != entry:
            raise BadValue(f"column {entry.field!r} once")
    return RowReaders({name: column_reader(entry, zone) for name, entry in entries.items()})


_cached_readers = lru_cache(maxsize=256)(_compile)
