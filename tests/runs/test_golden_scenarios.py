"""SQL in, TiCDC's own bytes out: whole golden files through the public API."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from tests.golden_events import GOLDEN, NOW_OF_GOLDEN, GoldenDDL, GoldenResolved, GoldenRow, load_events
from tests.protocols.golden_messages import load_messages

FAST = ("binaries", "keys")
SCENARIOS = ("seed_t1", "canal_tp_int", "ints", "decimals", "floats")
# One partition, batched like the encoder that made the golden files: whatever a transaction holds.
SINK_URI = "kafka:///golden?protocol=open-protocol&partition-num=1&batch-by=partition"


@pytest.fixture(
    scope="module", params=[*FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in SCENARIOS)]
)
def golden_run(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: Any
) -> tuple[str, Path]:
    """Name of a golden file, and the folder that a run of its SQL made."""
    name: str = request.param
    folder = tmp_path_factory.mktemp("golden") / name
    report = ticdc_producer.run(
        GOLDEN / "visible" / f"{name}.sql", sink_uri=SINK_URI, out=folder, overrides=[NOW_OF_GOLDEN]
    )
    assert report.ok, report.to_json()
    return name, folder


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_messages_are_ticdcs_bytes(golden_run: tuple[str, Path]) -> None:
    """Row and resolved messages whole; of a DDL everything but its text, which TiDB re-prints."""
    name, folder = golden_run
    golden = load_messages(GOLDEN / "visible" / f"{name}.open.jsonl")
    ours = _lines(folder / "messages.jsonl")
    assert len(ours) == len(golden)
    for line, message in zip(ours, golden, strict=True):
        key, value = base64.b64decode(line["key"]), base64.b64decode(line["value"])
        assert key == message.key
        if line["type"] == "ddl":
            assert message.value is not None
            code = re.compile(rb'"t":(\d+)}$')
            assert code.search(value)[1] == code.search(message.value)[1]  # type: ignore[index]
        else:
            assert value == message.value


def test_expected_events_are_ticdcs(golden_run: tuple[str, Path]) -> None:
    """Same events in the same order, before any encoding: kinds, tables, images, types, flags."""
    name, folder = golden_run
    golden = [e for e in load_events(GOLDEN / "visible" / f"{name}.events.jsonl") if hasattr(e, "seq")]
    ours = _lines(folder / "events.jsonl")
    assert [(line["kind"], line["commit_ts"]) for line in ours] == [_kind(event) for event in golden]
    for line, event in zip(ours, golden, strict=True):
        if isinstance(event, GoldenRow):
            names = sorted((c.name for c in event.table.sent_columns), key=str.encode)
            assert [column[0] for column in line["columns"]] == names
            assert (line["schema"], line["table"]) == (event.table.schema, event.table.name)
            assert line["op"] == event.op.label
            for image, values in ((line["before"], event.before), (line["after"], event.after)):
                assert _plain(image) == _named(event, values)
        if isinstance(event, GoldenDDL):
            assert line["query"] == event.query
            assert line["ddl_type"] == event.ddl_type


def _kind(event: object) -> tuple[str, int]:
    kinds = {GoldenRow: "row", GoldenDDL: "ddl", GoldenResolved: "resolved"}
    return kinds[type(event)], event.commit_ts  # type: ignore[index,attr-defined]


def _plain(image: dict[str, Any] | None) -> dict[str, bytes | None] | None:
    def value(text: Any) -> bytes | None:
        return base64.b64decode(text["b64"]) if isinstance(text, dict) else text and text.encode()

    return None if image is None else {name: b"" if v == "" else value(v) for name, v in image.items()}


def _named(event: GoldenRow, values: tuple[bytes | None, ...] | None) -> dict[str, bytes | None] | None:
    if values is None:
        return None
    return dict(zip((column.name for column in event.table.sent_columns), values, strict=True))


def test_what_ticdc_discards_is_named(golden_run: tuple[str, Path]) -> None:
    name, folder = golden_run
    golden = [e for e in load_events(GOLDEN / "visible" / f"{name}.events.jsonl") if not hasattr(e, "seq")]
    manifest = json.loads((folder / "manifest.json").read_text())
    ddls = [(entry["schema"], entry["table"]) for entry in manifest["discarded"] if entry["kind"] == "ddl"]
    assert ddls == [(e.schema, e.table) for e in golden if e.kind == "ddl_discarded"]
    tables = {entry["table"] for entry in manifest["discarded"] if entry["kind"] == "row"}
    assert tables == {f"{e.schema}.{e.table}" for e in golden if e.kind == "skipped"}
