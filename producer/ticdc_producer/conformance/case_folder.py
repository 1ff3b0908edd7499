"""A case as a golden folder: message or topic, what it must become, and a manifest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ticdc_producer.conformance.case import Case, changefeed_of
from ticdc_producer.conformance.catalog import AnyCase
from ticdc_producer.conformance.compare_tables import ExpectedTable
from ticdc_producer.conformance.wire import Event
from ticdc_producer.model import tso
from ticdc_producer.model.event_line import event_line
from ticdc_producer.targets.golden import write as sink

if TYPE_CHECKING:
    from ticdc_producer.conformance.apply_case import ApplyCase

_TOPIC = "conformance"
_COPIED = ("messages.jsonl", "events.jsonl", "faults.jsonl")


def write_case(place: Path, case: AnyCase) -> None:
    """Fill a folder with a case. The same case gives the same bytes.

    :param place: exists and is empty.
    """
    feed = _write_message(place, case) if isinstance(case, Case) else _write_topic(place, case)
    sink.write_manifest(place, {"case": _asked(case), "changefeed": feed})


def _asked(case: AnyCase) -> dict[str, Any]:
    """The request without messages, and what it is about."""
    request = msgspec.to_builtins(case.request)
    messages = ("key", "value", "described", "messages")
    asked = {name: part for name, part in request.items() if name not in messages}
    return {"says": case.says, **asked}


def _write_message(place: Path, case: Case) -> Mapping[str, Any]:
    events, described = case.expected or (), case.request.described or ()
    message = {
        "type": events[0].kind if events else "",
        "key": case.request.key,
        "value": case.request.value,
        "timestamp": tso.physical(events[0].commit_ts) if events else 0,
    }
    before = ({**message, "type": "bootstrap", "key": None, "value": value} for value in described)
    messages = enumerate((*before, message))
    sink.write_lines(place / "messages.jsonl", (_message_line(one, offset) for offset, one in messages))
    if case.expected is not None:
        lines = (_event_line(event, len(described), index) for index, event in enumerate(case.expected))
        sink.write_lines(place / "events.jsonl", lines)
    return changefeed_of(case.request.protocol, case.request.options).as_manifest()


def _message_line(message: Mapping[str, Any], offset: int) -> dict[str, Any]:
    return {"topic": _TOPIC, "partition": 0, "offset": offset, **message, "headers": []}


def _event_line(event: Event, offset: int, index: int) -> dict[str, Any]:
    place = {"topic": _TOPIC, "partition": 0, "offset": offset, "index": index}
    return {**event_line({"kind": event.kind}), **place, **msgspec.to_builtins(event)}


def _write_topic(place: Path, case: ApplyCase) -> Mapping[str, Any]:
    for name in _COPIED:
        if (case.golden / name).exists():
            shutil.copyfile(case.golden / name, place / name)
    ts = case.request.resolved_ts
    state = place / "state" if ts is None else place / "state.at" / str(ts)
    state.mkdir(parents=True)
    for table in case.expected:
        _write_table(state, table)
    manifest = json.loads((case.golden / sink.MANIFEST).read_text("utf-8"))
    feed: Mapping[str, Any] = manifest["changefeed"]
    return feed


def _write_table(place: Path, table: ExpectedTable) -> None:
    path = place / f"{sink.table_file(table.schema, table.table)}.jsonl"
    sink.write_lines(path, (msgspec.to_builtins(row) for row in table.rows))
