"""The reference consumers as testees in this process: our own decoders at both levels."""

from __future__ import annotations

from collections import defaultdict

from tests.conformance.fuzz.in_process import Respond
from tests.conformance.own_consumer import Consumer, is_unordered
from tests.conformance.own_decoder import decoded
from ticdc_producer.conformance.wire import Answer, ApplyRequest, Image, Request
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import DDLEvent, Event, ResolvedEvent


def consumer(make: type[Consumer] = Consumer) -> Respond:
    """A testee that decodes rightly, and applies events as a consumer of this class does."""

    def respond(request: Request | ApplyRequest) -> Answer:
        if isinstance(request, ApplyRequest):
            delivered = is_unordered(request) and issubclass(make, Streaming)
            return Answer(case=request.case, tables=(Consumer if delivered else make)().answer(request))
        try:
            return Answer(case=request.case, events=decoded(request))
        except DecodeError as error:
            return Answer(case=request.case, error=str(error))

    return respond


class Streaming(Consumer):
    """Applies rows while messages arrive: up to the smallest resolved-ts of all partitions, by commit-ts.

    The rule is that of TiCDC's kafka-consumer (``cmd/kafka-consumer/writer.go``): rows below the resolved-ts
    that was reached are repetitions, and a DDL is executed once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.partitions: set[int] = set()
        self.partitions_with_rows: set[int] = set()
        self.resolved: defaultdict[int, int] = defaultdict(int)
        self.buffered: defaultdict[int, list[Event]] = defaultdict(list)
        self.released = 0
        self.known_ddls: set[tuple[int, str, str, str]] = set()

    def answer(self, request: ApplyRequest) -> dict[str, list[Image]]:
        self.tables, until = {name: {} for name in request.tables}, request.resolved_ts
        self.until = until
        self.partitions = {message.partition for message in request.messages}
        for _ in self.events(request):
            pass
        for partition in self.partitions:
            self.resolved[partition] = 1 << 63
        for partition in sorted(self.partitions):
            self.release(partition)
        return self.answered(request)

    def on_event(self, partition: int, event: Event) -> None:
        if isinstance(event, ResolvedEvent):
            self.resolved[partition] = max(event.commit_ts, self.resolved[partition])
            self.release(partition)
        elif isinstance(event, DDLEvent):
            self.on_ddl(partition, event)
        elif event.commit_ts > self.released:
            self.partitions_with_rows.add(partition)
            self.buffered[partition] += self.steps(event)

    def on_ddl(self, partition: int, event: DDLEvent) -> None:
        if self.is_known(event) or self.is_late(event):
            return
        self.known_ddls.add((event.commit_ts, event.schema, event.table, event.query))
        if event.commit_ts <= self.released:
            self.apply_until(event)
        else:
            self.buffered[partition].append(event)

    def is_known(self, event: DDLEvent) -> bool:
        """Whether a DDL was received before."""
        return (event.commit_ts, event.schema, event.table, event.query) in self.known_ddls

    def is_late(self, event: DDLEvent) -> bool:
        """Whether a DDL is dropped because of its commit-ts."""
        return False

    def watermark(self, partition: int) -> int:
        """The time stamp up to which the events of a partition can be applied."""
        return min(self.resolved[number] for number in self.partitions)

    def release(self, partition: int) -> None:
        ready: list[Event] = []
        for number in sorted(self.partitions):
            limit = self.watermark(number)
            ready += [event for event in self.buffered[number] if event.commit_ts <= limit]
            self.buffered[number] = [event for event in self.buffered[number] if event.commit_ts > limit]
            self.released = max(self.released, limit)
        for event in sorted(ready, key=self.order):
            self.apply_until(event)

    def apply_until(self, event: Event) -> None:
        if self.until is None or event.commit_ts <= self.until:
            self.apply(event)
