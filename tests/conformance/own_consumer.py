"""Consumers of a whole topic that use our own decoders: a correct one, and some with a bug."""

from __future__ import annotations

from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from tests.conformance.own_decoder import with_claims
from ticdc_producer.conformance.wire import ApplyRequest, Image
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import DDLEvent, Event, Op, ResolvedEvent, RowEvent
from ticdc_producer.model.event_line import from_json, to_json
from ticdc_producer.protocols import registry

_CLEARS = (4, 11)
_Image: TypeAlias = dict[str, bytes | None]
_Key: TypeAlias = tuple[bytes | None, ...]
_Rows: TypeAlias = dict[_Key, _Image]


def is_unordered(request: ApplyRequest) -> bool:
    """Return whether deletes have no commit-ts, so that events are applied in order of delivery.

    The rows of a key are in one partition then. A DDL may arrive before or after older rows of others.
    """
    given = {name.replace("-", "_"): value for name, value in request.options.items()}
    options = registry.protocol_spec(request.protocol).select(given)
    return registry.fidelity(request.protocol, options).commit_ts in ("none", "not deletes")


class Stopped(Exception):
    """The consumer stops with an error."""


class Consumer:
    """Sorts the events and applies them."""

    def __init__(self) -> None:
        self.tables: dict[str, _Rows] = {}
        self.cleared: defaultdict[str, int] = defaultdict(lambda: -1)
        self.written: dict[tuple[str, _Key], int] = {}
        self.unordered = False

    def answer(self, request: ApplyRequest) -> dict[str, list[Image]]:
        self.tables, until = {name: {} for name in request.tables}, request.resolved_ts
        self.unordered = is_unordered(request)
        self.load(request)
        events = (step for event in self.events(request) for step in self.steps(event))
        for event in events if self.unordered else sorted(events, key=self.order):
            if until is None or event.commit_ts <= until:
                self.apply(event)
        return self.answered(request)

    def load(self, request: ApplyRequest) -> None:
        """Start with the tables of a dump."""
        for table in request.snapshot or []:
            for row in table.rows:
                image = {name: from_json(msgspec.to_builtins(value)) for name, value in row.items()}
                key = tuple(image[name] for name in sorted(table.key))
                self.tables[table.name][key] = image
                self.written[table.name, key] = 0

    def answered(self, request: ApplyRequest) -> dict[str, list[Image]]:
        """The rows of the requested tables."""
        return {name: [_answer_row(row) for row in self.tables[name].values()] for name in request.tables}

    def events(self, request: ApplyRequest) -> Iterator[Event]:
        given = {name.replace("-", "_"): value for name, value in request.options.items()}
        options = registry.protocol_spec(request.protocol).select(given)
        schemas = {int(number): schema for number, schema in (request.schemas or {}).items()}
        decoder = with_claims(registry.decoder(request.protocol, {**options, "schemas": schemas}), request)
        for message in request.messages:
            key, value = (None if part is None else b64decode(part) for part in (message.key, message.value))
            for event in decoder.events(key, value):
                self.on_event(message.partition, event)
                yield event

    def steps(self, event: Event) -> list[Event]:
        """A raw update that changes the key is a delete and an insert: other rows may get its old key."""
        if not isinstance(event, RowEvent) or event.op != Op.UPDATE or event.before is None:
            return [event]
        after = dict(event.after or {})
        before = {**after, **event.before}
        if _key(event, before) == _key(event, after):
            return [event]
        return [
            msgspec.structs.replace(event, op=Op.DELETE, before=before, after=None),
            msgspec.structs.replace(event, op=Op.INSERT, before=None),
        ]

    def on_event(self, partition: int, event: Event) -> None:
        """Called with each event in order of delivery."""

    def order(self, event: Event) -> tuple[int, ...]:
        return event.commit_ts, isinstance(event, DDLEvent), getattr(event, "op", Op.INSERT) != Op.DELETE

    def apply(self, event: Event) -> None:
        if isinstance(event, ResolvedEvent):
            return
        rows = self.tables.get(f"{event.schema}.{event.table}")
        if rows is None:  # not requested
            return
        if isinstance(event, RowEvent):
            self.row(rows, event)
        else:
            self.ddl(rows, event)

    def ddl(self, rows: _Rows, event: DDLEvent) -> None:
        if event.ddl_type not in _CLEARS:
            return
        name = f"{event.schema}.{event.table}"
        self.cleared[name] = max(event.commit_ts, self.cleared[name])
        for key in [*rows]:
            if not self.unordered or self.written[name, key] <= event.commit_ts:
                del rows[key]

    def row(self, rows: _Rows, event: RowEvent) -> None:
        after, name = dict(event.after or {}), f"{event.schema}.{event.table}"
        if self.unordered and event.after is not None and event.commit_ts <= self.cleared[name]:
            return
        if event.before is not None:
            rows.pop(_key(event, {**after, **event.before}), None)
        if event.after is not None:
            rows[_key(event, after)] = after
            self.written[name, _key(event, after)] = event.commit_ts


class StartsEmpty(Consumer):
    """Ignores the tables of a dump."""

    def load(self, request: ApplyRequest) -> None:
        pass


class AsDelivered(Consumer):
    """Applies events in order of delivery."""

    def order(self, event: Event) -> tuple[int, ...]:
        return ()


class InsertsFirst(Consumer):
    """Applies the inserts of a commit-ts before its deletes."""

    def order(self, event: Event) -> tuple[int, ...]:
        ts, ddl, kind = super().order(event)
        return ts, ddl, -kind


class InsertsOnce(Consumer):
    """Stops at an insert of an existing row, or a delete of an absent one."""

    def row(self, rows: _Rows, event: RowEvent) -> None:
        if event.op == Op.INSERT and _key(event, dict(event.after or {})) in rows:
            raise Stopped("duplicate key")
        if event.op == Op.DELETE and _key(event, dict(event.before or {})) not in rows:
            raise Stopped("no such row")
        super().row(rows, event)


class ComparesOldRow(Consumer):
    """Stops at an update whose old image differs from the stored row."""

    def row(self, rows: _Rows, event: RowEvent) -> None:
        if event.op == Op.UPDATE and rows.get(_key(event, dict(event.before or {}))) != event.before:
            raise Stopped("another row")
        super().row(rows, event)


class KeepsOldKey(Consumer):
    """Writes an update under its new key, without removing the row of the old key."""

    def steps(self, event: Event) -> list[Event]:
        return [event]

    def row(self, rows: _Rows, event: RowEvent) -> None:
        super().row(rows, msgspec.structs.replace(event, before=None) if event.after else event)


class IgnoresDDL(Consumer):
    """Ignores DDLs."""

    def ddl(self, rows: _Rows, event: DDLEvent) -> None:
        pass


class IgnoresTopics(Consumer):
    """Takes a message with the partition and offset of an earlier one for a duplicate, whatever its topic."""

    def events(self, request: ApplyRequest) -> Iterator[Event]:
        first = {(message.partition, message.offset): message for message in reversed(request.messages)}
        messages = [
            message for message in request.messages if first[message.partition, message.offset] is message
        ]
        yield from super().events(msgspec.structs.replace(request, messages=messages))


class ResolvedOnlyGrows(Consumer):
    """Stops at a resolved-ts that is lower than the previous one."""

    def __init__(self) -> None:
        super().__init__()
        self.resolved: defaultdict[int, int] = defaultdict(int)

    def on_event(self, partition: int, event: Event) -> None:
        if isinstance(event, ResolvedEvent):
            if event.commit_ts < self.resolved[partition]:
                raise Stopped("resolved-ts decreased")
            self.resolved[partition] = event.commit_ts


class WaitsForEveryPartition(Consumer):
    """Waits until every partition has the requested resolved-ts, also one that never has a message."""

    def __init__(self) -> None:
        super().__init__()
        self.resolved: defaultdict[int, int] = defaultdict(int)

    def on_event(self, partition: int, event: Event) -> None:
        if isinstance(event, ResolvedEvent):
            self.resolved[partition] = max(event.commit_ts, self.resolved[partition])

    def answer(self, request: ApplyRequest) -> dict[str, list[Image]]:
        answer, until = super().answer(request), request.resolved_ts or 0
        count = max((request.partitions or {"": 0}).values())
        if any(self.resolved[partition] < until for partition in range(count)):
            raise Stopped("it waits for a resolved event")
        return answer


def _key(row: RowEvent, image: _Image) -> _Key:
    names = (column.name for column in row.columns if column.flag & ColumnFlag.HANDLE_KEY)
    return tuple(image[name] for name in sorted(names))


def _answer_row(row: _Image) -> Image:
    values: dict[str, Any] = {name: to_json(value) for name, value in row.items()}
    return msgspec.convert(values, Image)
