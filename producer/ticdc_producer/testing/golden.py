"""A golden folder for tests: messages, expected events, expected rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ArgumentError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import Record
from ticdc_producer.model.event_line import from_json
from ticdc_producer.targets.golden import read as source
from ticdc_producer.testing.cell import Cell, Rows, cell


@dataclass(frozen=True)
class Golden:
    """The golden folder of a run.

    :param folder: path of the golden folder.
    :raises FolderError: if the folder is damaged.
    """

    folder: Path

    @cached_property
    def changefeed(self) -> Changefeed:
        """The changefeed of the run."""
        return source.changefeed(self.folder, source.manifest(self.folder))

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The messages in the order of topic, partition and offset.

        :raises ArgumentError: if the folder stores its messages as Parquet, which is too much for a test.
        """
        path = self.folder / "messages.jsonl"
        if not path.exists():
            what = "the scenario has too many messages for a test"
            hint = "make it smaller by overrides=[…], or use ticdc-producer run for volume"
            raise ArgumentError(what, argument="scenario", hint=hint)
        return tuple(source.records(path))

    @cached_property
    def events(self) -> tuple[Mapping[str, Any], ...]:
        """The lines of ``events.jsonl``."""
        return tuple(_lines(self.folder / "events.jsonl"))

    @cached_property
    def state(self) -> Mapping[str, Rows]:
        """``SCHEMA.TABLE`` → the rows that a consumer must have at the end."""
        files = sorted((self.folder / "state").glob("*.jsonl"))
        return {unquote(path.stem): [_row(line) for line in _lines(path)] for path in files}

    @cached_property
    def keys(self) -> Mapping[str, tuple[str, ...]]:
        """``SCHEMA.TABLE`` → the columns of its handle key, if they are visible in the protocol."""
        keys: dict[str, tuple[str, ...]] = {}
        for event in self.events:
            if event["kind"] == "row":
                columns = event["columns"] or ()
                key = tuple(name for name, _, flag in columns if flag & ColumnFlag.HANDLE_KEY)
                keys[f"{event['schema']}.{event['table']}"] = key
        return keys


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield json.loads(line)


def _row(line: Mapping[str, Any]) -> dict[str, Cell]:
    return {name: cell(from_json(value)) for name, value in line.items()}
