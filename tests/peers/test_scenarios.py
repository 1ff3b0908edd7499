"""Runs of scenarios, read by Flink: the events of the folder, and its rows at the end."""

from __future__ import annotations

import json
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import ticdc_producer
from tests.golden_events import GOLDEN
from tests.peers.limits import FLINK_CANAL, FLINK_DEBEZIUM
from tests.peers.software import Accepted, Software

pytestmark = pytest.mark.slow
PROTOCOLS = {"canal-json": FLINK_CANAL, "debezium": FLINK_DEBEZIUM}
INTEGERS_AND_TEXT = ("seed_t1", "sysbench", str(GOLDEN / "visible" / "keys.sql"))
"""Scenarios of columns that both protocols write as our events do, and without DDL that removes rows."""

CASES = [
    *product(INTEGERS_AND_TEXT, PROTOCOLS),
    # Canal-JSON writes decimals and times as text, Debezium as numbers.
    *product(("bank", "orders"), ["canal-json"]),
]
KINDS = {"insert": ["+I"], "update": ["-U", "+U"], "delete": ["-D"]}
Row = tuple[tuple[str, str | None], ...]


@pytest.mark.parametrize(("scenario", "protocol"), CASES, ids=lambda name: Path(name).stem)
def test_flink_ends_with_the_rows_of_the_run(
    software: Software, scenario: str, protocol: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    uri = f"kafka:///peers?protocol={protocol}&partition-num=2"
    assert ticdc_producer.run(scenario, sink_uri=uri, out=str(folder)).ok
    tables: dict[str, Counter[Row]] = {}
    for event, message in _rows(folder):
        # Declared as text, columns come as they are written.
        columns = ", ".join(f"`{name}` STRING" for name, *_ in event["columns"])
        answer = software.ask(PROTOCOLS[protocol], key=None, value=message, columns=columns)
        assert isinstance(answer, Accepted)
        changes = [(change["kind"], change["row"]) for change in answer.content]
        images = [image for image in (event["before"], event["after"]) if image is not None]
        assert changes == list(zip(KINDS[event["op"]], images, strict=True))
        rows = tables.setdefault(f"{event['schema']}.{event['table']}", Counter())
        for kind, row in changes:
            rows[tuple(row.items())] += 1 if kind in ("+I", "+U") else -1
    assert tables
    assert {name: +rows for name, rows in tables.items()} == dict(_state(folder))
    assert all(count >= 0 for rows in tables.values() for count in rows.values())


def _rows(folder: Path) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Row events with their messages, table by table in the order of commits."""
    messages = {_position(line): line for line in _lines(folder / "messages.jsonl")}
    events = [line for line in _lines(folder / "events.jsonl") if line["kind"] == "row"]
    # Rows of one table may be in several partitions, so they are applied ordered by commit-ts.
    for event in sorted(events, key=lambda event: int(event["commit_ts"])):
        yield event, b64decode(messages[_position(event)]["value"])


def _position(line: dict[str, Any]) -> tuple[str, int, int]:
    return line["topic"], line["partition"], line["offset"]


def _state(folder: Path) -> Iterator[tuple[str, Counter[Row]]]:
    for path in (folder / "state").glob("*.jsonl"):
        yield path.stem, Counter(tuple(row.items()) for row in _lines(path))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
