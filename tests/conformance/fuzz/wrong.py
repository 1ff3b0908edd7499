"""Wrong consumers, each with one bug. ``SOURCES`` names the users' threads that report most of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from tests.conformance.fuzz.in_process import Respond
from tests.conformance.fuzz.reference import Streaming, consumer
from tests.conformance.own_consumer import (
    AsDelivered,
    Consumer,
    IgnoresDDL,
    InsertsFirst,
    InsertsOnce,
    KeepsOldKey,
    ResolvedOnlyGrows,
    Stopped,
)
from ticdc_producer.conformance.wire import Answer, ApplyRequest, Base64, Event, EventValue, Image, Request
from ticdc_producer.model.event import DDLEvent, ResolvedEvent, RowEvent
from ticdc_producer.model.event import Event as DecodedEvent

Change = Callable[[Request, str, EventValue], EventValue]
"""A wrong value for a request, an SQL type and the right value."""


@dataclass(frozen=True)
class WrongConsumer:
    """:param source: the users' thread with a bug of this kind; empty for one of our own."""

    name: str
    respond: Respond
    source: str = ""


# Wrong values


def with_values(change: Change) -> Respond:
    """A consumer whose decoder reads some values wrongly."""
    right = consumer()

    def respond(request: Request | ApplyRequest) -> Answer:
        answer = right(request)
        if not isinstance(request, Request) or answer.events is None:
            return answer
        return msgspec.structs.replace(
            answer, events=[_changed(request, event, change) for event in answer.events]
        )

    return respond


def _changed(request: Request, event: Event, change: Change) -> Event:
    types = {name: kind for name, kind, _ in event.columns or ()}

    def image(right: Image | None) -> Image | None:
        if right is None:
            return None
        return {name: change(request, types.get(name, ""), value) for name, value in right.items()}

    return msgspec.structs.replace(event, before=image(event.before), after=image(event.after))


def signed(_: Request, kind: str, value: EventValue) -> EventValue:
    number = int(value) if kind == "bigint unsigned" and isinstance(value, str) else 0
    return str(number - (1 << 64)) if number >= 1 << 63 else value


def as_float(_: Request, kind: str, value: EventValue) -> EventValue:
    return f"{float(value):.0f}" if kind == "bigint" and isinstance(value, str) else value


def from_zero(_: Request, kind: str, value: EventValue) -> EventValue:
    return str(int(value) - 1) if kind == "enum" and isinstance(value, str) and value.isdigit() else value


def as_utf8(_: Request, kind: str, value: EventValue) -> EventValue:
    return "\ufffd" if isinstance(value, Base64) else value


def in_utc(request: Request, kind: str, value: EventValue) -> EventValue:
    shifted = request.options.get("time-zone") and kind == "timestamp" and isinstance(value, str)
    return f"{value} UTC" if shifted else value


def zero_date_is_null(_: Request, kind: str, value: EventValue) -> EventValue:
    is_zero = kind in ("date", "datetime", "timestamp") and isinstance(value, str) and value[:4] == "0000"
    return None if is_zero else value


def word_is_null(_: Request, kind: str, value: EventValue) -> EventValue:
    return None if value == "null" and kind != "json" else value


def time_of_day(_: Request, kind: str, value: EventValue) -> EventValue:
    return value.lstrip("-") if kind == "time" and isinstance(value, str) else value


def trimmed(_: Request, kind: str, value: EventValue) -> EventValue:
    return value.rstrip(" ") if kind in ("varchar", "char") and isinstance(value, str) else value


def signed_bits(_: Request, kind: str, value: EventValue) -> EventValue:
    return signed(_, "bigint unsigned", value) if kind == "bit" else value


def first_event(request: Request | ApplyRequest) -> Answer:
    answer = consumer()(request)
    return answer if answer.events is None else msgspec.structs.replace(answer, events=answer.events[:1])


# Wrong order, wrong rows


class DropsBelowReceived(Consumer):
    """Drops rows that are not above the largest resolved-ts received in any partition."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0
        self.dropped: list[DecodedEvent] = []

    def on_event(self, partition: int, event: DecodedEvent) -> None:
        if isinstance(event, ResolvedEvent):
            self.largest = max(self.largest, event.commit_ts)
        elif isinstance(event, RowEvent) and event.commit_ts <= self.largest:
            self.dropped.append(event)

    def apply(self, event: DecodedEvent) -> None:
        if not any(event is dropped for dropped in self.dropped):
            super().apply(event)


class DropsOlderOfTable(Consumer):
    """Drops rows below the largest commit-ts that it received of their table."""

    def __init__(self) -> None:
        super().__init__()
        self.largest: dict[tuple[str, str], int] = {}
        self.dropped: list[DecodedEvent] = []

    def on_event(self, partition: int, event: DecodedEvent) -> None:
        if isinstance(event, RowEvent):
            table = event.schema, event.table
            if event.commit_ts < self.largest.get(table, 0):
                self.dropped.append(event)
            self.largest[table] = max(event.commit_ts, self.largest.get(table, 0))

    def apply(self, event: DecodedEvent) -> None:
        if not any(event is dropped for dropped in self.dropped):
            super().apply(event)


class RunsDDLAgain(Streaming):
    """Executes each delivery of a DDL, because it compares events by identity."""

    def is_known(self, event: DDLEvent) -> bool:
        return False


class DropsDDLAtResolved(Streaming):
    """Drops a DDL whose commit-ts is that of a resolved-ts before it."""

    def is_late(self, event: DDLEvent) -> bool:
        return event.commit_ts <= self.released


class WaitsForOwnPartition(Streaming):
    """Applies the rows of a partition up to the resolved-ts of this partition alone."""

    def watermark(self, partition: int) -> int:
        return self.resolved[partition]


class IgnoresIdlePartitions(Streaming):
    """Waits only for the partitions that have had rows so far."""

    def watermark(self, partition: int) -> int:
        return min((self.resolved[partition] for partition in self.partitions_with_rows), default=0)


class PlainNames(Consumer):
    """Takes names of tables for words: letters, digits and underscores."""

    def apply(self, event: DecodedEvent) -> None:
        if isinstance(event, RowEvent) and not re.fullmatch(r"[a-z0-9_]+", event.table):
            raise Stopped(event.table)
        super().apply(event)


SOURCES: Mapping[str, str] = {
    "drops rows below a received resolved-ts": "pingcap/ticdc#4051",
    "runs a DDL again": "pingcap/tiflow#12595",
    "stops at a lower resolved-ts": "pingcap/tiflow#4730",
    "drops a DDL at its resolved-ts": "pingcap/tiflow#4845",
    "drops older rows of a table": "pingcap/ticdc#5508",
    "waits for its own partition only": "pingcap/tiflow#11297",
    "keeps the old key": "alibaba/canal#3152",
    "BIGINT UNSIGNED is signed": "apache/flink-cdc#798",
    "integers are floats": "pingcap/ticdc#6253",
    "ENUM counts from zero": "pingcap/tiflow#8491",
    "bytes are UTF-8": "pingcap/tiflow#7058",
    "TIMESTAMP is UTC": "pingcap/tiflow#1639",
    "zero dates are NULL": "apache/flink-cdc#1774",
    "'null' is NULL": "pingcap/tiflow#4736",
    "first row of a message": "pingcap/tiflow#1055",
}
_RESPONDS: Mapping[str, Respond] = {
    "drops rows below a received resolved-ts": consumer(DropsBelowReceived),
    "runs a DDL again": consumer(RunsDDLAgain),
    "stops at a lower resolved-ts": consumer(ResolvedOnlyGrows),
    "drops a DDL at its resolved-ts": consumer(DropsDDLAtResolved),
    "drops older rows of a table": consumer(DropsOlderOfTable),
    "waits for its own partition only": consumer(WaitsForOwnPartition),
    "keeps the old key": consumer(KeepsOldKey),
    "BIGINT UNSIGNED is signed": with_values(signed),
    "integers are floats": with_values(as_float),
    "ENUM counts from zero": with_values(from_zero),
    "bytes are UTF-8": with_values(as_utf8),
    "TIMESTAMP is UTC": with_values(in_utc),
    "zero dates are NULL": with_values(zero_date_is_null),
    "'null' is NULL": with_values(word_is_null),
    "first row of a message": first_event,
    "order of delivery": consumer(AsDelivered),
    "inserts before deletes": consumer(InsertsFirst),
    "inserts once": consumer(InsertsOnce),
    "ignores DDLs": consumer(IgnoresDDL),
    "ignores idle partitions": consumer(IgnoresIdlePartitions),
    "TIME is a time of day": with_values(time_of_day),
    "trims texts": with_values(trimmed),
    "BIT is signed": with_values(signed_bits),
    "names are words": consumer(PlainNames),
}
WRONG = [WrongConsumer(name, respond, SOURCES.get(name, "")) for name, respond in _RESPONDS.items()]
