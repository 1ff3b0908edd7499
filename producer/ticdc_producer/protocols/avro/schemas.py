"""The schemas of the tables of a changefeed, and their ids.

An encoder takes the option ``schema_ids`` (part and schema to id). A decoder takes ``schemas`` (id to schema)
or ``schema_of`` (a function from id to schema).
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
from ticdc_producer.protocols.avro.table_schema import key_indexes, name_clash, schema_of


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema to register.

    :param part: whether it is the schema of message keys or values.
    """

    subject: str
    part: Part
    schema: str


SchemaIDs: TypeAlias = Mapping[tuple[Part, str], int]
"""Part and schema to id."""


def schemas(
    tables: Iterable[TableInfo], topic: Callable[[TableInfo], str], options: AvroOptions
) -> list[Schema]:
    """All schemas of the table versions, without duplicates, in the order of the tables.

    A schema with column names that are not possible in Avro does not exist: rows that need it are refused.

    :param topic: table to the topic of its rows.
    """
    found: dict[Schema, None] = {}
    for table in tables:
        parts: tuple[Part, ...] = ("key", "value") if key_indexes(table, options) else ("value",)
        for part in parts:
            if name_clash(part, table, options):
                continue
            found[Schema(subject(topic(table), part), part, schema_of(part, table, options))] = None
    return list(found)


def assign_ids(found: Sequence[Schema]) -> SchemaIDs:
    """Assign ids from 1 for a run without registry. Equal schemas have the same id in all subjects."""
    ids = {schema: number for number, schema in enumerate(dict.fromkeys(one.schema for one in found), 1)}
    return {(one.part, one.schema): ids[one.schema] for one in found}


def schema_id_lookup(ids: SchemaIDs) -> SchemaID:
    """The function by which an encoder looks up schema ids."""

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
