"""A vector: messages, or files, and what a consumer must read in them, as a line of JSON.

Large integers are decimal text, because some JSON readers have only float64 numbers.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ticdc_producer.conformance.wire import DECIMAL_TEXT, Image, KafkaRecord, LoadedTable
from ticdc_producer.model.parameter import FileProtocol, Profile, Protocol

_Decimal: TypeAlias = Annotated[str, Meta(pattern=DECIMAL_TEXT)]


class VectorEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event of a message. What does not apply is left out."""

    topic: str
    partition: int
    offset: Annotated[int, Meta(description="Offset of the message.")]
    index: Annotated[int, Meta(description="Position of the event in its message.")]
    kind: Literal["row", "ddl", "resolved"]
    commit_ts: Annotated[_Decimal, Meta(description="Commit-ts as a TSO; resolved-ts of a resolved event.")]
    schema: Annotated[str | None, Meta(description="Name of the database; rows and DDLs.")] = None
    table: str | None = None
    table_id: Annotated[
        _Decimal | None, Meta(description="Physical table id, 0 if the message has none.")
    ] = None
    op: Literal["insert", "update", "delete"] | None = None
    columns: Annotated[
        list[tuple[str, str, int]] | None, Meta(description="Name, SQL type and TiCDC's flag of each column.")
    ] = None
    before: Annotated[
        Image | None, Meta(description="Old image by column: canonical text, null for NULL.")
    ] = None
    after: Annotated[Image | None, Meta(description="New image.")] = None
    handle_key_only: Annotated[bool, Meta(description="The message has the row's handle key only.")] = False
    query: Annotated[str | None, Meta(description="SQL of a DDL.")] = None
    ddl_type: Annotated[int | None, Meta(description="TiDB's action code, 0 if the message has none.")] = None


class VectorTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table that a consumer has at the end."""

    key: Annotated[list[str], Meta(description="Columns of its handle key.")]
    types: Annotated[dict[str, str], Meta(description="SQL type of each column.")]
    rows: Annotated[list[Image], Meta(description="Canonical text by column, in no order of rows.")]


class Vector(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Messages, or files, and what a consumer reads in them."""

    id: Annotated[str, Meta(description="The case of conformance; @new if profile new has other messages.")]
    description: Annotated[str, Meta(description="What a consumer must do.")] = msgspec.field(name="says")
    profiles: Annotated[
        list[Profile], Meta(description="classic: TiCDC to v8.5; new: its new architecture.", min_length=1)
    ]
    level: Annotated[
        Literal["decode", "apply", "storage"],
        Meta(
            description="decode: `events` of the last message, or `damaged`; apply: `tables` after the "
            "messages of a topic; storage: `tables` after the files of a folder.",
        ),
    ]
    protocol: Protocol | FileProtocol
    options: Annotated[
        dict[str, bool | int | str | None],
        Meta(description="Options of the changefeed that differ from their defaults."),
    ]
    messages: Annotated[
        list[KafkaRecord],
        Meta(description="Each partition in its order, interleaved as a consumer may receive them."),
    ] = msgspec.field(default_factory=list)
    schemas: Annotated[
        dict[str, str], Meta(description="Schemas of the registry, as JSON texts, by decimal id; Avro.")
    ] = msgspec.field(default_factory=dict)
    damaged: Annotated[bool, Meta(description="The last message must be rejected.")] = False
    events: Annotated[
        list[VectorEvent], Meta(description="Events of the messages, by topic, partition, offset and index.")
    ] = msgspec.field(default_factory=list)
    files: Annotated[dict[str, str], Meta(description="Content in Base64 by path; storage level.")] = (
        msgspec.field(default_factory=dict)
    )
    snapshot: Annotated[
        list[LoadedTable], Meta(description="Tables that the consumer has before the first message.")
    ] = msgspec.field(default_factory=list)
    partitions: Annotated[
        dict[str, int], Meta(description="Partitions of each topic, if one has no messages.")
    ] = msgspec.field(default_factory=dict)
    resolved_ts: Annotated[
        _Decimal | None, Meta(description="`tables` are as of this TSO; left out: at the end.")
    ] = None
    follows_ddl: Annotated[bool, Meta(description="`tables` are right only if DDLs are parsed.")] = False
    tables: Annotated[dict[str, VectorTable], Meta(description="By database.table.")] = msgspec.field(
        default_factory=dict
    )


def vector_schema() -> dict[str, object]:
    """Return the JSON Schema of a line."""
    (reference,), definitions = msgspec.json.schema_components([Vector], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Vector of ticdc-producer",
        **reference,
        "$defs": definitions,
    }
