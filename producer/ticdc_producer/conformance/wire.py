"""The wire format between runner and testee: one JSON object per line in each direction.

The published JSON Schema is generated from these types (``conformance/wire_schema.py``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ticdc_producer.model.parameter import FileProtocol, Protocol

VERSION: Final = 1
ProtocolName: TypeAlias = Protocol


class Hello(msgspec.Struct, frozen=True):
    """The first line that a testee receives, and its first answer."""

    hello: Annotated[Literal[1], Meta(description="Version of the wire format.")]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One case; the testee answers it with one line."""

    case: Annotated[str, Meta(description="Id of the case; the answer repeats it.")]
    level: Annotated[Literal["decode"], Meta(description="The events of one message are requested.")]
    protocol: ProtocolName
    options: Annotated[
        dict[str, object],
        Meta(description="Options of the changefeed, as docs/options.md names them; others have defaults."),
    ]
    key: Annotated[str | None, Meta(description="Key of the Kafka record in Base64; null if it has none.")]
    value: Annotated[
        str | None, Meta(description="Value of the Kafka record in Base64; null if it has none.")
    ]
    described: Annotated[
        list[str] | msgspec.UnsetType,
        Meta(
            description="Only with Simple: values, in Base64, of the preceding messages with the table's "
            "schema. Their events are not part of the answer."
        ),
    ] = msgspec.UNSET
    schemas: Annotated[
        dict[str, str] | msgspec.UnsetType,
        Meta(
            description="Only with Avro and Debezium in Avro: the registry's schemas, as JSON texts, by the "
            "decimal id that the bytes of key and value name."
        ),
    ] = msgspec.UNSET
    claims: Annotated[
        dict[str, str] | msgspec.UnsetType,
        Meta(
            description="Only with claim-check: the objects of the storage, in Base64, by the file name that "
            "ends their location."
        ),
    ] = msgspec.UNSET


class KafkaRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A Kafka record."""

    topic: str
    partition: int
    offset: int
    key: Annotated[str | None, Meta(description="In Base64; null if it has none.")]
    value: Annotated[str | None, Meta(description="In Base64; null if it has none.")]


class Base64(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value that is not UTF-8."""

    b64: str


EventValue: TypeAlias = str | Base64 | None


class LoadedTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table that a consumer has from a dump before the first message."""

    name: Annotated[str, Meta(description="As database.table.")]
    key: Annotated[list[str], Meta(description="Columns of its handle key.")]
    create: Annotated[str, Meta(description="The CREATE TABLE statement of the dump.")]
    rows: Annotated[
        list[dict[str, EventValue]], Meta(description="Its rows, in the form of the rows of an answer.")
    ]


def set_resolved_text(message: msgspec.Struct, resolved_ts: int | None) -> None:
    """Set ``resolved_ts_text``, for programs whose numbers are not exact."""
    text = msgspec.UNSET if resolved_ts is None else str(resolved_ts)
    msgspec.structs.force_setattr(message, "resolved_ts_text", text)


class ApplyRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One case about a whole topic; the testee answers it with one line."""

    case: Annotated[str, Meta(description="Id of the case; the answer repeats it.")]
    level: Annotated[Literal["apply"], Meta(description="The rows of tables are requested.")]
    protocol: ProtocolName
    options: Annotated[dict[str, object], Meta(description="As for the decode level.")]
    messages: Annotated[
        list[KafkaRecord],
        Meta(
            description="All messages of the topic, each partition in its order, interleaved. After a "
            "rebalance a partition is read from an earlier offset again."
        ),
    ]
    tables: Annotated[list[str], Meta(description="The requested tables, each as database.table.")]
    schemas: Annotated[dict[str, str] | msgspec.UnsetType, Meta(description="As for the decode level.")] = (
        msgspec.UNSET
    )
    claims: Annotated[dict[str, str] | msgspec.UnsetType, Meta(description="As for the decode level.")] = (
        msgspec.UNSET
    )
    resolved_ts: Annotated[
        int | None, Meta(description="The rows as of this time stamp (TSO) are requested; null: at the end.")
    ] = None
    resolved_ts_text: Annotated[
        str | msgspec.UnsetType,
        Meta(
            description="Only if resolved_ts is a number: its digits, for JSON readers that have only "
            "float64 numbers. It exceeds 2^53."
        ),
    ] = msgspec.UNSET
    follows_ddl: Annotated[
        bool | msgspec.UnsetType,
        Meta(description="Only if true: requests tables that a DDL altered, for consumers that parse DDLs."),
    ] = msgspec.UNSET
    partitions: Annotated[
        dict[str, int] | msgspec.UnsetType,
        Meta(description="Only if a partition has no messages: the number of partitions of each topic."),
    ] = msgspec.UNSET
    snapshot: Annotated[
        list[LoadedTable] | msgspec.UnsetType,
        Meta(
            description="Only if the changefeed has a start-ts: the tables with their rows at that time. The "
            "messages have the changes after it."
        ),
    ] = msgspec.UNSET

    def __post_init__(self) -> None:
        set_resolved_text(self, self.resolved_ts)


class StorageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One case about a folder of the storage sink; the testee answers it with one line."""

    case: Annotated[str, Meta(description="Id of the case; the answer repeats it.")]
    level: Annotated[Literal["storage"], Meta(description="The rows of tables in files are requested.")]
    protocol: FileProtocol
    options: Annotated[
        dict[str, object],
        Meta(description="Options that differ from their defaults; of CSV those of the section sink.csv."),
    ]
    folder: Annotated[str, Meta(description="Path of the folder. The testee reads it and changes nothing.")]
    tables: Annotated[list[str], Meta(description="The requested tables, each as database.table.")]
    follows_ddl: Annotated[bool | msgspec.UnsetType, Meta(description="As for the apply level.")] = (
        msgspec.UNSET
    )


AnyRequest: TypeAlias = Request | ApplyRequest | StorageRequest


LARGE = ("commit_ts", "table_id")
"""Integers that may be text: many JSON writers, such as JavaScript's, have only float64 numbers."""
DECIMAL_TEXT = "^[0-9]{1,20}$"
Image: TypeAlias = dict[str, EventValue]


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event, as a line of events.jsonl without its position in the topic. Null means left out."""

    kind: Literal["row", "ddl", "resolved"]
    commit_ts: Annotated[
        int,
        Meta(
            description="Commit-ts as a TSO; resolved-ts of a resolved event. It exceeds 2^53; it may be "
            "decimal text."
        ),
    ]
    schema: Annotated[str | None, Meta(description="Name of the database; rows and DDLs.")] = None
    table: Annotated[str | None, Meta(description="Rows and DDLs; null in a DDL of a database.")] = None
    op: Annotated[Literal["insert", "update", "delete"] | None, Meta(description="Rows only.")] = None
    before: Annotated[
        Image | None,
        Meta(description="Old image by column: canonical text, null for NULL. Only the columns sent."),
    ] = None
    after: Annotated[Image | None, Meta(description="New image, in the same form.")] = None
    query: Annotated[str | None, Meta(description="SQL of a DDL.")] = None
    handle_key_only: Annotated[
        bool, Meta(description="The row was too large, so the message holds only its handle key.")
    ] = False
    columns: Annotated[
        list[tuple[str, str, int]] | None,
        Meta(description="Name, SQL type and TiCDC's flag of each column. If left out, not compared."),
    ] = None
    table_id: Annotated[
        int | None,
        Meta(
            description="Physical table id, 0 if the message has none. If left out, not compared. It may be "
            "decimal text."
        ),
    ] = None
    ddl_type: Annotated[
        int | None,
        Meta(description="TiDB's action code, 0 if the message has none. If left out, not compared."),
    ] = None


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The testee's answer to a case: one of events (decode), tables (apply), error and skipped."""

    case: str
    events: Annotated[list[Event] | None, Meta(description="The events of the message, in order.")] = None
    tables: Annotated[
        dict[str, list[Image]] | None,
        Meta(description="The rows of each requested table, in any order: column to canonical text."),
    ] = None
    error: Annotated[
        str | None,
        Meta(description="Why the message cannot be decoded; the right answer for damaged messages."),
    ] = None
    skipped: Annotated[str | None, Meta(description="Why the testee does not try the case.")] = None


class InvalidResponse(Exception):
    """A line that is not a valid answer to the case."""


_ANSWER = msgspec.json.Decoder(Answer)
_HELLO = msgspec.json.Decoder(Hello)


def is_hello(line: bytes) -> bool:
    """Return whether a line is the answer to ``Hello``."""
    try:
        _HELLO.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


_AS_TEXT = " (a float64 holds integers up to 2^53: write a 64-bit integer, or its digits as text)"


def answer_of(line: bytes, case: str, part: Literal["events", "tables"] = "events") -> Answer:
    """Parse the line of an answer.

    :param part: the part of the answer that the level requests.
    :raises InvalidResponse: if it does not have the published format, or belongs to another case.
    """
    try:
        answer = _decoded(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = _AS_TEXT if "`int`, got `float`" in str(error) else ""
        raise InvalidResponse(f"the answer does not have the published format: {error}{hint}") from None
    if answer.case != case:
        raise InvalidResponse(f"the answer belongs to another case, {answer.case!r}")
    parts = {name: getattr(answer, name) for name in ("events", "tables", "error", "skipped")}
    present = {name for name, content in parts.items() if content is not None}
    if len(present) != 1 or not present <= {part, "error", "skipped"}:
        raise InvalidResponse(f"an answer has one of {part}, error and skipped")
    return answer


def _decoded(line: bytes) -> Answer:
    """Decode an answer; large integers in its events may be decimal text.

    :raises msgspec.DecodeError: if it does not have the published format.
    """
    try:
        return _ANSWER.decode(line)
    except msgspec.ValidationError as error:
        content = msgspec.json.decode(line)
        events = content.get("events") if isinstance(content, dict) else None
        read = [_read_large(event) for event in events] if isinstance(events, list) else []
        if not any(read):
            raise error from None
    return msgspec.convert(content, Answer)


def _read_large(event: object) -> bool:
    """Replace the decimal texts of large integers; return whether there were some."""
    if not isinstance(event, dict):
        return False
    values = {name: event.get(name) for name in LARGE}
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    numbers = {name: int(text) for name, text in texts.items() if re.fullmatch(DECIMAL_TEXT, text)}
    event.update(numbers)
    return bool(numbers)


def event_of(line: Mapping[str, object]) -> Event:
    """Return the event of a parsed line of ``events.jsonl``."""
    return msgspec.convert(line, Event)
