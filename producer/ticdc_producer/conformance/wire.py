"""What runner and testee say to each other: one JSON object per line, each way.

The published schema is made of these types: ``python -m ticdc_producer.conformance.wire``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

VERSION: Final = 1
ProtocolName: TypeAlias = Literal["open-protocol", "canal-json", "debezium", "craft", "simple"]


class Hello(msgspec.Struct, frozen=True):
    """The first line that a testee gets, and its first answer."""

    hello: Annotated[Literal[1], Meta(description="Version of this exchange.")]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One case; the testee answers it with one line."""

    case: Annotated[str, Meta(description="To be repeated in the answer.")]
    level: Annotated[Literal["decode"], Meta(description="What is asked: the events of one message.")]
    protocol: ProtocolName
    options: Annotated[
        dict[str, Any],
        Meta(description="Options of the changefeed, as docs/options.md names them; others have defaults."),
    ]
    key: Annotated[str | None, Meta(description="Key of the Kafka record in Base64; null if it has none.")]
    value: Annotated[str | None, Meta(description="Value of the Kafka record, likewise.")]
    described: Annotated[
        list[str] | msgspec.UnsetType,
        Meta(
            description="Simple alone: values, in Base64, of the messages before it that describe its table. "
            "Their events are not asked."
        ),
    ] = msgspec.UNSET


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A Kafka record."""

    topic: str
    partition: int
    offset: int
    key: Annotated[str | None, Meta(description="In Base64; null if it has none.")]
    value: Annotated[str | None, Meta(description="Likewise.")]


class ApplyRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One case about a whole topic; the testee answers it with one line."""

    case: Annotated[str, Meta(description="To be repeated in the answer.")]
    level: Annotated[Literal["apply"], Meta(description="What is asked: the rows of tables.")]
    protocol: ProtocolName
    options: Annotated[dict[str, Any], Meta(description="As for the decode level.")]
    messages: Annotated[
        list[Record],
        Meta(description="All of the topic. Those of a partition are in its order; partitions take turns."),
    ]
    tables: Annotated[list[str], Meta(description="Which tables are asked, each as database.table.")]
    resolved_ts: Annotated[
        int | None, Meta(description="The rows as of this time stamp (TSO); null: at the end.")
    ] = None


class Base64(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value that is not UTF-8."""

    b64: str


EventValue: TypeAlias = str | Base64 | None
Image: TypeAlias = dict[str, EventValue]


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event, as a line of events.jsonl without its place in the topic. Null is as good as left out."""

    kind: Literal["row", "ddl", "resolved"]
    commit_ts: Annotated[
        int, Meta(description="Commit-ts as a TSO, of a resolved event its resolved-ts. It exceeds 2^53.")
    ]
    schema: Annotated[str | None, Meta(description="Name of the database; rows and DDLs.")] = None
    table: Annotated[str | None, Meta(description="Rows and DDLs; null in a DDL of a database.")] = None
    op: Annotated[Literal["insert", "update", "delete"] | None, Meta(description="Rows only.")] = None
    before: Annotated[
        Image | None,
        Meta(description="Old image by column: canonical text, null for NULL. Only the columns sent."),
    ] = None
    after: Annotated[Image | None, Meta(description="New image, likewise.")] = None
    query: Annotated[str | None, Meta(description="SQL of a DDL.")] = None
    handle_key_only: Annotated[
        bool, Meta(description="The row was too large: the message holds its handle key alone.")
    ] = False
    columns: Annotated[
        list[tuple[str, str, int]] | None,
        Meta(description="Name, SQL type and TiCDC's flag of each column. If left out, not compared."),
    ] = None
    table_id: Annotated[
        int | None,
        Meta(description="Physical table id, 0 where the message names none. If left out, not compared."),
    ] = None
    ddl_type: Annotated[
        int | None,
        Meta(description="TiDB's action code, 0 where the message tells none. If left out, not compared."),
    ] = None


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the testee makes of a case: one of events (decode), tables (apply), error and skipped."""

    case: str
    events: Annotated[list[Event] | None, Meta(description="The events of the message, in order.")] = None
    tables: Annotated[
        dict[str, list[Image]] | None,
        Meta(description="The rows of each table that was asked, in any order: column to canonical text."),
    ] = None
    error: Annotated[
        str | None, Meta(description="The message is none of the protocol; right for damaged ones.")
    ] = None
    skipped: Annotated[str | None, Meta(description="Why the testee does not try the case.")] = None


class BadAnswer(Exception):
    """A line that is no answer to the case."""


_ANSWER = msgspec.json.Decoder(Answer)
_HELLO = msgspec.json.Decoder(Hello)


def is_hello(line: bytes) -> bool:
    """Whether a line is the answer to ``Hello``."""
    try:
        _HELLO.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def answer_of(line: bytes, case: str, told: Literal["events", "tables"] = "events") -> Answer:
    """The answer on a line.

    :param told: what the level asks for.
    :raises BadAnswer: if it is not of the form, or of another case.
    """
    try:
        answer = _ANSWER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadAnswer(f"the answer is not of the published form: {error}") from None
    if answer.case != case:
        raise BadAnswer(f"the answer is of another case, {answer.case!r}")
    parts = {name: getattr(answer, name) for name in ("events", "tables", "error", "skipped")}
    given = {name for name, part in parts.items() if part is not None}
    if len(given) != 1 or not given <= {told, "error", "skipped"}:
        raise BadAnswer(f"an answer has one of {told}, error and skipped")
    return answer


def event_of(line: Mapping[str, Any]) -> Event:
    """An event that has the form of a line of ``events.jsonl``."""
    return msgspec.convert(line, Event)


def exchange_schema() -> dict[str, Any]:
    """The JSON Schema: a line is of one of the definitions."""
    shown, definitions = msgspec.json.schema_components(
        [Hello, Request, ApplyRequest, Answer], ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Conformance runner and testee",
        "description": "One JSON object per line: Hello and requests to the testee, Hello and answers back.",
        "anyOf": list(shown),
        "$defs": definitions,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(exchange_schema(), indent=2, ensure_ascii=False) + "\n")
