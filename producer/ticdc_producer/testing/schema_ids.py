"""The schema registry of drawn messages of Avro. Ids are hashes of schemas: all encoders assign the same."""

from __future__ import annotations

from zlib import crc32

from ticdc_producer.errors import ArgumentError
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.names import Part

_IDS = 2**31 - 1
"""Ids are 32-bit integers that registries count from 1."""
_schemas: dict[int, str] = {}


def schema_id(table: TableInfo, part: Part, schema: str) -> int:  # noqa: ARG001  # the registry's signature
    """Register a schema.

    :raises ArgumentError: if another schema of this process has the id.
    """
    number = crc32(schema.encode()) % _IDS + 1
    if _schemas.setdefault(number, schema) != schema:
        raise ArgumentError(f"two schemas have the id {number}; draw another example", argument="protocol")
    return number


def avro_schema(number: int) -> str | None:
    """The schema of an id in a message that was encoded in this process; None for an unknown id."""
    return _schemas.get(number)
