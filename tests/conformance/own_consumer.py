"""A consumer on the project's own decoders: it sorts a whole topic and applies it."""

from __future__ import annotations

from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from producer.codec import registry
from producer.conformance.exchange import ApplyRequest, Image
from producer.model.event import DDLEvent, Event, Op, ResolvedEvent, RowEvent
from producer.model.flags import ColumnFlag
from producer.model.json_value import to_json

_CLEARS = (4, 11)
_Image: TypeAlias = dict[str, bytes | None]
_Key: TypeAlias = tuple[bytes | None, ...]
_Rows: TypeAlias = dict[_Key, _Image]


def tables_of(request: ApplyRequest) -> dict[str, list[Image]]:
    """The answer to a request."""
    tables: defaultdict[str, _Rows] = defaultdict(dict)
    until = request.resolved_ts
    for event in sorted(_events(request), key=_order):
        if until is None or event.commit_ts <= until:
            _apply(tables, event)
    return {name: [_told(row) for row in tables[name].values()] for name in request.tables}


def _events(request: ApplyRequest) -> Iterator[Event]:
    options = {name.replace("-", "_"): value for name, value in request.options.items()}
    decoder = registry.decoder(request.protocol, options)
    for message in request.messages:
        key, value = (None if part is None else b64decode(part) for part in (message.key, message.value))
        yield from decoder.events(key, value)


def _order(event: Event) -> tuple[int, ...]:
    return event.commit_ts, isinstance(event, DDLEvent), getattr(event, "op", Op.INSERT) != Op.DELETE


def _apply(tables: dict[str, _Rows], event: Event) -> None:
    if isinstance(event, ResolvedEvent):
        return
    rows = tables[f"{event.schema}.{event.table}"]
    if isinstance(event, DDLEvent):
        if event.ddl_type in _CLEARS:
            rows.clear()
        return
    after = dict(event.after or {})
    if event.before is not None:
        rows.pop(_key(event, {**after, **event.before}), None)
    if event.after is not None:
        rows[_key(event, after)] = after


def _key(row: RowEvent, image: _Image) -> _Key:
    return tuple(image[column.name] for column in row.columns if column.flag & ColumnFlag.HANDLE_KEY)


def _told(row: _Image) -> Image:
    told: dict[str, Any] = {name: to_json(value) for name, value in row.items()}
    return msgspec.convert(told, Image)
