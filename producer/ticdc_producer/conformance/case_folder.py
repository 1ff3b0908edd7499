"""Writes cases as golden folders, and the corpus: all cases as files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ticdc_producer.conformance.case import Case, changefeed_of
from ticdc_producer.conformance.catalog import AnyCase, CaseSpec, build_case
from ticdc_producer.conformance.compare import ExpectedRows
from ticdc_producer.conformance.wire import Event
from ticdc_producer.model import tso
from ticdc_producer.model.event_line import event_line
from ticdc_producer.targets.golden import write as sink
from ticdc_producer.targets.golden.json_lines import schema_lines

if TYPE_CHECKING:
    from ticdc_producer.conformance.apply_case import ApplyCase


_TOPIC = "conformance"
_COPIED = ("messages.jsonl", "events.jsonl", "faults.jsonl", sink.SCHEMAS, sink.CHANGEFEED)


def write_case(folder: Path, case: AnyCase) -> None:
    """Write a case into a folder. The same case gives the same bytes.

    :param folder: an existing, empty folder.
    """
    changefeed = _write_message(folder, case) if isinstance(case, Case) else _write_topic(folder, case)
    sink.write_manifest(folder, {"case": _request_summary(case), "changefeed": changefeed})


def _request_summary(case: AnyCase) -> dict[str, Any]:
    """The description and the request without its messages."""
    request = msgspec.to_builtins(case.request)
    messages = ("key", "value", "described", "messages", "schemas")
    summary = {name: part for name, part in request.items() if name not in messages}
    return {"says": case.description, **summary}


def _write_message(folder: Path, case: Case) -> Mapping[str, Any]:
    events, described = case.expected or (), case.request.described or ()
    message = {
        "type": events[0].kind if events else "",
        "key": case.request.key,
        "value": case.request.value,
        "timestamp": tso.physical(events[0].commit_ts) if events else 0,
    }
    before = ({**message, "type": "bootstrap", "key": None, "value": value} for value in described)
    messages = enumerate((*before, message))
    sink.write_lines(folder / "messages.jsonl", (_message_line(one, offset) for offset, one in messages))
    if case.request.schemas:
        schemas = {int(number): schema for number, schema in case.request.schemas.items()}
        (folder / sink.SCHEMAS).write_bytes(schema_lines(schemas))
    if case.expected is not None:
        lines = (_event_line(event, len(described), index) for index, event in enumerate(case.expected))
        sink.write_lines(folder / "events.jsonl", lines)
    return changefeed_of(case.request.protocol, case.request.options).as_manifest()


def _message_line(message: Mapping[str, Any], offset: int) -> dict[str, Any]:
    return {"topic": _TOPIC, "partition": 0, "offset": offset, **message, "headers": []}


def _event_line(event: Event, offset: int, index: int) -> dict[str, Any]:
    position = {"topic": _TOPIC, "partition": 0, "offset": offset, "index": index}
    return {**event_line({"kind": event.kind}), **position, **msgspec.to_builtins(event)}


def _write_topic(folder: Path, case: ApplyCase) -> Mapping[str, Any]:
    for name in _COPIED:
        if (case.golden / name).exists():
            shutil.copyfile(case.golden / name, folder / name)
    ts = case.request.resolved_ts
    state = folder / "state" if ts is None else folder / "state.at" / str(ts)
    state.mkdir(parents=True)
    for table in case.expected:
        _write_table(state, table)
    manifest = json.loads((case.golden / sink.MANIFEST).read_text("utf-8"))
    changefeed: Mapping[str, Any] = manifest["changefeed"]
    return changefeed


def _write_table(folder: Path, table: ExpectedRows) -> None:
    path = folder / f"{sink.table_file(table.schema, table.table)}.jsonl"
    sink.write_lines(path, (msgspec.to_builtins(row) for row in table.rows))


def write_corpus(folder: Path, cases: Sequence[CaseSpec], on_status: Callable[[str], None]) -> None:
    """Write a folder per case, named by its id, and a manifest with the sha256 of every file.

    :param on_status: called before a case that takes long.
    :raises FolderError: if the folder exists already.
    :raises ProducerError: if Spark does not start, which the apply level needs once per topic.
    """
    with sink.golden_folder(folder) as unfinished:
        for one in cases:
            case_folder = unfinished / one.id
            case_folder.mkdir()
            write_case(case_folder, build_case(one, on_status))
        tool = f"ticdc-producer {version('ticdc-producer')}"
        sink.write_manifest(unfinished, {"tool": tool, "cases": [one.id for one in cases]})
