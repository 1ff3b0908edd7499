"""The time zones of time stamps in the columns of frames, at every depth."""

from __future__ import annotations

import pyarrow as pa

SESSION_ZONE = "spark.sql.session.timeZone"


def in_zone(schema: pa.Schema, zone: str) -> pa.Schema:
    """Return columns whose time stamps with a time zone have another one."""
    return pa.schema([field.with_type(_type_in_zone(field.type, zone)) for field in schema])


def _type_in_zone(kind: pa.DataType, zone: str) -> pa.DataType:
    if pa.types.is_timestamp(kind) and kind.tz:
        return pa.timestamp(kind.unit, zone)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_type_in_zone(field.type, zone)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_field, kind.item_field.with_type(_type_in_zone(kind.item_type, zone)))
    return kind


def has_zones(schema: pa.Schema) -> bool:
    """Return whether a column has time stamps with a time zone."""
    return bool(in_zone(schema, "UTC") != in_zone(schema, "Z"))


def with_zones(read: pa.DataType, own: pa.DataType) -> pa.DataType:
    """Return a type with the time zones of another one.

    >>> with_zones(pa.timestamp("us", "UTC"), pa.timestamp("ns", "Asia/Tokyo"))
    TimestampType(timestamp[us, tz=Asia/Tokyo])
    """
    if pa.types.is_timestamp(read) and pa.types.is_timestamp(own) and read.tz and own.tz:
        return pa.timestamp(read.unit, own.tz)
    if pa.types.is_struct(read) and pa.types.is_struct(own):
        return pa.struct(
            [field.with_type(with_zones(field.type, own.field(field.name).type)) for field in read]
        )
    if pa.types.is_map(read) and pa.types.is_map(own):
        return pa.map_(read.key_field, read.item_field.with_type(with_zones(read.item_type, own.item_type)))
    return read
