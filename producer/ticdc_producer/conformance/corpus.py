"""The corpus: all cases as golden folders, and the differences between two of them."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from ticdc_producer.conformance.case import ApplyCase, Case, changefeed_of
from ticdc_producer.conformance.catalog import AnyCase, CaseSpec, build_case
from ticdc_producer.conformance.compare import ExpectedRows
from ticdc_producer.conformance.restart.case import RestartCase
from ticdc_producer.conformance.wire import Event
from ticdc_producer.errors import FolderError
from ticdc_producer.installation import own_version
from ticdc_producer.model import tso
from ticdc_producer.model.event import Record
from ticdc_producer.model.event_line import event_line
from ticdc_producer.targets.golden import read as source
from ticdc_producer.targets.golden import write as sink
from ticdc_producer.targets.golden.folder import MANIFEST, new_folder
from ticdc_producer.targets.golden.json_lines import schema_lines

if TYPE_CHECKING:
    from ticdc_producer.conformance.storage_case import StorageCase


_TOPIC, _FILES = "conformance", "files"
_SNAPSHOT = "snapshot"
_COPIED = ("messages.jsonl", "events.jsonl", "faults.jsonl", sink.SCHEMAS, sink.CHANGEFEED)


def write_case(folder: Path, case: AnyCase) -> None:
    """Write a case into a folder. The same case gives the same bytes.

    :param folder: an existing, empty folder.
    :raises ValueError: for a case of the restart level, which is a conversation.
    """
    if isinstance(case, RestartCase):
        raise ValueError(f"{case.id} has no files")
    if isinstance(case, Case):
        changefeed = _write_message(folder, case)
    elif isinstance(case, ApplyCase):
        changefeed = _write_topic(folder, case)
    else:
        changefeed = _write_files(folder, case)
    sink.write_manifest(folder, {"case": _request_summary(case), "changefeed": changefeed})


def _request_summary(case: Case | ApplyCase | StorageCase) -> dict[str, object]:
    """Return the description and the request without its messages."""
    request = msgspec.to_builtins(case.request)
    messages = ("key", "value", "described", "messages", "schemas", "folder")
    summary = {name: part for name, part in request.items() if name not in messages}
    return {"says": case.description, **summary}


def _write_message(folder: Path, case: Case) -> Mapping[str, object]:
    events, described = case.expected or (), case.request.described or ()
    message = {
        "type": events[0].kind if events else "",
        "key": case.request.key,
        "value": case.request.value,
        "timestamp": tso.physical(events[0].commit_ts) if events else 0,
    }
    before = ({**message, "type": "bootstrap", "key": None, "value": value} for value in described)
    messages = enumerate((*before, message))
    sink.write_lines(
        folder / "messages.jsonl", (_message_line(content, offset) for offset, content in messages)
    )
    if case.request.schemas:
        schemas = {int(number): schema for number, schema in case.request.schemas.items()}
        (folder / sink.SCHEMAS).write_bytes(schema_lines(schemas))
    if case.expected is not None:
        lines = (_event_line(event, len(described), index) for index, event in enumerate(case.expected))
        sink.write_lines(folder / "events.jsonl", lines)
    return changefeed_of(case.request.protocol, case.request.options).as_manifest()


def _message_line(message: Mapping[str, object], offset: int) -> dict[str, object]:
    return {"topic": _TOPIC, "partition": 0, "offset": offset, **message, "headers": []}


def _event_line(event: Event, offset: int, index: int) -> dict[str, object]:
    position = {"topic": _TOPIC, "partition": 0, "offset": offset, "index": index}
    return {**event_line({"kind": event.kind}), **position, **msgspec.to_builtins(event)}


def _write_topic(folder: Path, case: ApplyCase) -> Mapping[str, object]:
    for name in _COPIED:
        if (case.golden / name).exists():
            shutil.copyfile(case.golden / name, folder / name)
    if (case.golden / _SNAPSHOT).exists():
        shutil.copytree(case.golden / _SNAPSHOT, folder / _SNAPSHOT)
    ts = case.request.resolved_ts
    state = folder / "state" if ts is None else folder / "state.at" / str(ts)
    state.mkdir(parents=True)
    for table in case.expected:
        _write_table(state, table)
    manifest = json.loads((case.golden / MANIFEST).read_text("utf-8"))
    changefeed: Mapping[str, object] = manifest["changefeed"]
    return changefeed


def _write_files(folder: Path, case: StorageCase) -> Mapping[str, object]:
    """Write the files of a storage folder below ``files``; such a folder has no messages."""
    shutil.copytree(case.request.folder, folder / _FILES)
    state = folder / "state"
    state.mkdir()
    for table in case.expected:
        _write_table(state, table)
    return {"protocol": case.request.protocol, **case.request.options}


def _write_table(folder: Path, table: ExpectedRows) -> None:
    path = folder / f"{sink.table_file(table.schema, table.table)}.jsonl"
    sink.write_lines(path, (msgspec.to_builtins(row) for row in table.rows))


def write_corpus(folder: Path, cases: Sequence[CaseSpec], on_status: Callable[[str], None]) -> None:
    """Write a folder per case, named by its id, and a manifest with the sha256 of every file.

    :param on_status: called before a case that takes long.
    :raises FolderError: if the folder exists already.
    :raises ProducerError: if Spark does not start, which the apply level needs once per topic.
    """
    with new_folder(folder) as unfinished:
        for spec in cases:
            case_folder = unfinished / spec.id
            case_folder.mkdir()
            write_case(case_folder, build_case(spec, on_status))
        tool = f"ticdc-producer {own_version()}"
        sink.write_manifest(unfinished, {"tool": tool, "cases": [spec.id for spec in cases]})


_DISPLAYED_BYTES = 40
_Files: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class CorpusDiff:
    """The differences between two corpora.

    :param added: cases that only the new corpus has.
    :param removed: cases that only the old corpus has.
    :param changed: case → its changes, a line each.
    :param same: number of equal cases.
    """

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: dict[str, list[str]] = field(default_factory=dict)
    same: int = 0

    @property
    def any(self) -> bool:
        """Whether there is a difference."""
        return bool(self.added or self.removed or self.changed)

    def to_json(self) -> dict[str, object]:
        """Return the fields as keys."""
        return {"added": self.added, "removed": self.removed, "changed": self.changed, "same": self.same}


def corpus_diff(old: Path, new: Path) -> CorpusDiff:
    """Compare two folders that ``write_corpus`` wrote.

    :raises FolderError: if a folder is not a corpus, or is damaged.
    """
    before, after = _cases(old), _cases(new)
    both = [case for case in before if case in after]
    changed = {
        case: list(_changes(old / case, new / case, before[case], after[case]))
        for case in both
        if before[case] != after[case]
    }
    return CorpusDiff(
        added=[case for case in after if case not in before],
        removed=[case for case in before if case not in after],
        changed=changed,
        same=len(both) - len(changed),
    )


def _cases(folder: Path) -> dict[str, _Files]:
    """Return the files of each case with their sha256."""
    content: Mapping[str, Any] = source.manifest(folder)
    if "cases" not in content:
        hint = "`write_corpus` writes one; `verify` with `folder` and `scenario` compares a folder of `run`"
        names = "write_corpus", "run", "verify", "folder", "scenario"
        raise FolderError("this is not a corpus", path=str(folder), hint=hint).about(*names)
    files: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name, digest in content["files"].items():
        case, _, file = name.partition("/")
        files[case][file] = digest
    return {case: files[case] for case in content["cases"]}


def _changes(old: Path, new: Path, before: _Files, after: _Files) -> Iterator[str]:
    names = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    if "messages.jsonl" in names:
        yield from _messages_changed(old, new)
    for name in names:
        if name == "manifest.json":
            yield from _manifest_changed(old, new)
        elif name != "messages.jsonl":
            change = "is new" if name not in before else "is gone" if name not in after else "changed"
            yield f"{name} {change}"


def _manifest_changed(old: Path, new: Path) -> Iterator[str]:
    """Yield the changes of a manifest, except for the digests of the other files."""
    before, after = (json.loads((folder / "manifest.json").read_text("utf-8")) for folder in (old, new))
    yield from (
        f"manifest.json: {key} changed" for key in ("case", "changefeed") if before[key] != after[key]
    )


def _messages_changed(old: Path, new: Path) -> Iterator[str]:
    pairs = zip_longest(source.records(old / "messages.jsonl"), source.records(new / "messages.jsonl"))
    for before, after in pairs:
        if before is None or after is None:
            existing, change = (after, "added") if before is None else (before, "removed")
            yield f"Wire bytes changed: a message is {change}: {_position(existing)}"
            return
        for part in ("key", "value"):
            if getattr(before, part) != getattr(after, part):
                yield f"Wire bytes changed: the {part} of {_position(before)}"
                yield from _bytes_differ(getattr(before, part), getattr(after, part))
                return
        if before != after:
            yield f"messages.jsonl: position, type, time or headers of {_position(before)} changed"
            return


def _position(record: Record | None) -> str:
    return "" if record is None else f"{record.topic}/{record.partition}@{record.offset}"


def _bytes_differ(before: bytes | None, after: bytes | None) -> Iterator[str]:
    pairs = enumerate(zip_longest(before or b"", after or b""))
    first = next((index for index, (old, new) in pairs if old != new), 0)
    start = max(0, first - _DISPLAYED_BYTES // 2)
    for sign, part in (("-", before), ("+", after)):
        excerpt = "null" if part is None else repr(part[start : start + _DISPLAYED_BYTES])[1:]
        yield f"  {sign} from byte {start}: {excerpt}"
