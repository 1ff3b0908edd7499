"""The schemas of a changefeed's tables, and their ids.

An encoder takes the option ``schema_ids`` (part and schema to id), a decoder ``schemas`` (id to schema), or
``schema_of`` (a function that does the same).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.encoder import SchemaID
from ticdc_producer.protocols.avro.names import Part, subject
from ticdc_producer.protocols.avro.options import AvroOptions
from ticdc_producer.protocols.avro.table_schema import key_places, name_clash, schema_of


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema as a registry is given it.

    :param part: of messages: their key or their value.
    """

    subject: str
    part: Part
    schema: str


SchemaIDs: TypeAlias = Mapping[tuple[Part, str], int]
"""Part and schema to id."""


def schemas(
    tables: Iterable[TableInfo], topic: Callable[[TableInfo], str], options: AvroOptions
) -> list[Schema]:
    """Every schema of some table versions, each once, in their order.

    A version whose columns cannot have their names in Avro has none: its rows are refused.

    :param topic: where the rows of a table go.
    """
    found: dict[Schema, None] = {}
    for table in tables:
        if name_clash(table, options):
            continue
        parts: tuple[Part, ...] = ("key", "value") if key_places(table, options) else ("value",)
        for part in parts:
            found[Schema(subject(topic(table), part), part, schema_of(part, table, options))] = None
    return list(found)


def numbered(found: Sequence[Schema]) -> SchemaIDs:
    """Ids from 1 up for schemas that no registry keeps; a schema has one, whatever its subjects."""
    ids = {schema: number for number, schema in enumerate(dict.fromkeys(one.schema for one in found), 1)}
    return {(one.part, one.schema): ids[one.schema] for one in found}


def number_of(ids: SchemaIDs) -> SchemaID:
    """What an encoder asks for ids."""

    def number(table: TableInfo, part: Part, schema: str) -> int:
        if (part, schema) not in ids:
            raise EncodeError(
                f"the {part} schema has no id",
                code="CDC:ErrAvroSchemaAPIError",
                table=table.qualified_name,
                hint="the option schema_ids has an id for each schema",
            )
        return ids[part, schema]

    return number
