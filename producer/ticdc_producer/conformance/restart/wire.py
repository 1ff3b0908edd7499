"""The lines of the restart level, which is a conversation: each line to the testee is a step of a life.

A life of the consumer begins with a start. Whatever it needs of earlier lives is in its directory, or in the
offsets that it committed.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ticdc_producer.conformance.wire import (
    Image,
    InvalidResponse,
    KafkaRecord,
    ProtocolName,
    set_resolved_text,
)

_Case = Annotated[str, Meta(description="Id of the case; the answer repeats it.")]
_Step = Annotated[int, Meta(description="Number of the line within its life; the answer repeats it.")]
_Level = Annotated[Literal["restart"], Meta(description="The consumer is stopped and started again.")]
Offsets: TypeAlias = Annotated[
    dict[str, int], Meta(description="The next offset to read, by partition, such as orders/0.")
]
_Stop = Annotated[
    int | msgspec.UnsetType,
    Meta(
        description="At the point with this number, counted from 1 within the step, the testee answers "
        "with stopped and does nothing more. If there are fewer points, it answers as usual."
    ),
]


class KafkaGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The consumer group to which the consumer commits its offsets."""

    bootstrap: Annotated[str, Meta(description="Address of the brokers.")]
    group: Annotated[str, Meta(description="Name of the group; the same in all lives of a directory.")]


class RestartStart(msgspec.Struct, frozen=True, kw_only=True, tag="start", tag_field="do"):
    """The consumer starts. It knows nothing but what it stored in earlier lives of the same directory."""

    case: _Case
    level: _Level = "restart"
    step: _Step = 0
    protocol: ProtocolName
    options: Annotated[dict[str, object], Meta(description="As for the decode level.")]
    directory: Annotated[
        str, Meta(description="Directory of the case: empty at the first start, and the testee's own.")
    ]
    partitions: Annotated[dict[str, int], Meta(description="The number of partitions of each topic.")]
    assigned: Annotated[list[str], Meta(description="The partitions of this life, such as orders/0.")]
    committed: Annotated[Offsets, Meta(description="What the testee committed in earlier lives.")]
    schemas: Annotated[dict[str, str] | msgspec.UnsetType, Meta(description="As for the decode level.")] = (
        msgspec.UNSET
    )
    claims: Annotated[dict[str, str] | msgspec.UnsetType, Meta(description="As for the decode level.")] = (
        msgspec.UNSET
    )
    follows_ddl: Annotated[bool | msgspec.UnsetType, Meta(description="As for the apply level.")] = (
        msgspec.UNSET
    )
    kafka: Annotated[
        KafkaGroup | msgspec.UnsetType,
        Meta(description="Only with --kafka: committed has the offsets of this group."),
    ] = msgspec.UNSET


class RestartDeliver(msgspec.Struct, frozen=True, kw_only=True, tag="deliver", tag_field="do"):
    """Messages arrive, as one poll of a Kafka consumer returns them."""

    case: _Case
    level: _Level = "restart"
    step: _Step
    messages: list[KafkaRecord]
    stop: _Stop = msgspec.UNSET


class RestartRows(msgspec.Struct, frozen=True, kw_only=True, tag="rows", tag_field="do"):
    """The rows of tables are requested."""

    case: _Case
    level: _Level = "restart"
    step: _Step
    tables: Annotated[list[str], Meta(description="The requested tables, each as database.table.")]
    resolved_ts: Annotated[
        int | None,
        Meta(
            description="Every partition has delivered this resolved-ts (TSO), and the rows as of it are "
            "requested; null: the topic has ended."
        ),
    ] = None
    resolved_ts_text: Annotated[str | msgspec.UnsetType, Meta(description="As for the apply level.")] = (
        msgspec.UNSET
    )
    stop: _Stop = msgspec.UNSET

    def __post_init__(self) -> None:
        set_resolved_text(self, self.resolved_ts)


RestartStep: TypeAlias = RestartDeliver | RestartRows


class RestartAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The testee's answer to a step of the restart level."""

    case: str
    step: int
    offsets: Annotated[
        Offsets | None,
        Meta(description="Answer to start: where to read from; else the committed offset, or 0."),
    ] = None
    points: Annotated[
        list[str],
        Meta(
            description="What the step made durable, in order: effect for a change of the result, commit "
            "for a stored or committed position. The testee can be stopped right after each."
        ),
    ] = msgspec.field(default_factory=list)
    committed: Annotated[
        Offsets | None, Meta(description="Offsets that the step committed to Kafka; the next start has them.")
    ] = None
    stopped: Annotated[bool, Meta(description="Whether the point of stop was reached.")] = False
    tables: Annotated[dict[str, list[Image]] | None, Meta(description="Answer to rows.")] = None
    error: Annotated[str | None, Meta(description="Why the testee cannot continue: a failure.")] = None
    skipped: Annotated[
        str | None,
        Meta(
            description="Answer to start: why the testee does not try the case. Answer to rows with a "
            "resolved_ts: why it has no rows of one time stamp; it is not requested again."
        ),
    ] = None


_ANSWER = msgspec.json.Decoder(RestartAnswer)


def restart_answer(line: bytes, request: RestartStart | RestartStep) -> RestartAnswer:
    """Parse the line of an answer.

    :raises InvalidResponse: if it does not have the published format, or belongs to another step.
    """
    try:
        answer = _ANSWER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidResponse(f"the answer does not have the published format: {error}") from None
    if (answer.case, answer.step) != (request.case, request.step):
        raise InvalidResponse(
            f"the answer belongs to step {answer.step} of {answer.case!r}, expected step {request.step} "
            f"of {request.case!r}"
        )
    ended = answer.error is not None or answer.skipped is not None or answer.stopped
    if isinstance(request, RestartRows) and not ended and answer.tables is None:
        raise InvalidResponse("an answer to rows has tables, error or skipped")
    return answer
