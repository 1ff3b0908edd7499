"""The events and rows of a golden folder as lines of text, to compare two runs of an edited scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from ticdc_producer.model.event_line import event_content, event_text
from ticdc_producer.runs.decode import decode

FolderText: TypeAlias = dict[str, list[str]]
"""``events of TOPIC/PARTITION`` and ``rows of SCHEMA.TABLE``, each with its lines."""


def folder_text(folder: Path) -> FolderText:
    """The lines of a golden folder.

    Offsets and commit-ts are left out, because an inserted statement moves those of all later events.
    Resolved events are left out, because they carry nothing else.

    :raises FolderError: for a damaged folder.
    """
    text: FolderText = {}
    for row in decode(folder=folder):
        lines = text.setdefault(f"events of {row['topic']}/{row['partition']}", [])
        if row["kind"] != "resolved":
            lines.append(event_text(row) if row["kind"] == "error" else event_content(row))
    for path in sorted((folder / "state").glob("*.jsonl")):
        text[f"rows of {unquote(path.stem)}"] = path.read_text("utf-8").split("\n")[:-1]
    return text
