"""Compares two corpora."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

from ticdc_producer.errors import FolderError
from ticdc_producer.model.event import Record
from ticdc_producer.targets.golden import read as source

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

    def to_json(self) -> dict[str, Any]:
        """The fields as keys."""
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
    """The files of each case with their sha256."""
    content = source.manifest(folder)
    if "cases" not in content:
        hint = "ticdc-producer golden --out writes one"
        raise FolderError("this is not a corpus", path=str(folder), hint=hint)
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
    """Changes of a manifest, except for the digests of the other files."""
    one, other = (json.loads((folder / "manifest.json").read_text("utf-8")) for folder in (old, new))
    yield from (f"manifest.json: {key} changed" for key in ("case", "changefeed") if one[key] != other[key])


def _messages_changed(old: Path, new: Path) -> Iterator[str]:
    pairs = zip_longest(source.records(old / "messages.jsonl"), source.records(new / "messages.jsonl"))
    for one, other in pairs:
        if one is None or other is None:
            existing, change = (other, "added") if one is None else (one, "removed")
            yield f"Wire bytes changed: a message is {change}: {_position(existing)}"
            return
        for part in ("key", "value"):
            if getattr(one, part) != getattr(other, part):
                yield f"Wire bytes changed: the {part} of {_position(one)}"
                yield from _bytes_differ(getattr(one, part), getattr(other, part))
                return
        if one != other:
            yield f"messages.jsonl: position, type, time or headers of {_position(one)} changed"
            return


def _position(record: Record | None) -> str:
    return "" if record is None else f"{record.topic}/{record.partition}@{record.offset}"


def _bytes_differ(one: bytes | None, other: bytes | None) -> Iterator[str]:
    pairs = enumerate(zip_longest(one or b"", other or b""))
    first = next((index for index, (left, right) in pairs if left != right), 0)
    start = max(0, first - _DISPLAYED_BYTES // 2)
    for sign, part in (("-", one), ("+", other)):
        excerpt = "null" if part is None else repr(part[start : start + _DISPLAYED_BYTES])[1:]
        yield f"  {sign} from byte {start}: {excerpt}"
