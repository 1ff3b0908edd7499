"""Rows too large for a message: sent, stored and verified completely."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ticdc_producer
from tests.golden_events import GOLDEN
from ticdc_producer.errors import ChangefeedError, DeliveryError, EncodeError, FolderError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.model.event import RowEvent
from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.targets.golden import read as source

SCENARIO = GOLDEN / "visible" / "strings.sql"
LARGE = "sink.kafka-config.large-message-handle"


def _config(folder: Path, **options: object) -> Path:
    """A changefeed file with these large message options."""
    lines = [f"[{LARGE}]", *(f"{name.replace('_', '-')} = {json.dumps(v)}" for name, v in options.items())]
    path = folder / "changefeed.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _rows(folder: Path) -> list[RowEvent]:
    """The rows of a folder's messages, as they are without their objects."""
    records = source.records(folder / "messages.jsonl")
    events = [event for record in records for event in CanalJSONDecoder().events(record.key, record.value)]
    return [event for event in events if isinstance(event, RowEvent)]


@pytest.fixture
def claimed(tmp_path: Path, spark: object) -> tuple[Path, ticdc_producer.RunReport]:
    config = _config(
        tmp_path,
        large_message_handle_option="claim-check",
        claim_check_storage_uri="s3://bucket/claims",
        large_message_handle_compression="lz4",
    )
    uri = "kafka:///t?protocol=canal-json&enable-tidb-extension=true&max-message-bytes=512&partition-num=2"
    report = ticdc_producer.run(SCENARIO, sink_uri=uri, config=config, out=tmp_path / "golden")
    return tmp_path / "golden", report


def test_a_folder_keeps_its_claims_and_verifies(claimed: tuple[Path, ticdc_producer.RunReport]) -> None:
    folder, report = claimed
    assert report.ok, report.to_json()
    stored = {f"claims/{path.name}" for path in (folder / "claims").iterdir()}
    assert stored
    assert stored <= json.loads((folder / "manifest.json").read_text())["files"].keys()
    claimed_names = {row.claim_check for row in _rows(folder) if row.claim_check}
    assert claimed_names == {f"s3://bucket/{name}" for name in stored}
    # The complete row is expected.
    assert not any(event.get("handle_key_only") for event in _lines(folder / "events.jsonl"))
    assert ticdc_producer.verify(folder=folder, scenario=SCENARIO).ok
    decoded = list(ticdc_producer.decode(folder=folder))
    assert any(row["kind"] == "row" for row in decoded)
    assert not any(row.get("handle_key_only") or row["kind"] == "error" for row in decoded)


def test_objects_of_simple_in_avro_have_checksums_and_are_compared(tmp_path: Path) -> None:
    config: dict[str, object] = {
        "integrity": {"integrity-check-level": "correctness"},
        "sink": {
            "kafka-config": {
                "large-message-handle": {
                    "large-message-handle-option": "claim-check",
                    "large-message-handle-compression": "snappy",
                    "claim-check-storage-uri": "file:///claims",
                }
            }
        },
    }
    folder, uri = tmp_path / "golden", "kafka:///t?protocol=simple&encoding-format=avro&max-message-bytes=300"
    report = ticdc_producer.run("large-rows", sink_uri=uri, config=config, out=folder, engine="local")
    assert report.ok, report.to_json()
    assert any((folder / "claims").iterdir())
    assert ticdc_producer.verify(folder=folder, scenario="large-rows", engine="local").ok
    decoded = list(ticdc_producer.decode(folder=folder))
    assert any(row["kind"] == "row" for row in decoded)
    assert not any(row["error"] for row in decoded)


def test_an_object_that_is_lost_or_changed_is_noticed(claimed: tuple[Path, ticdc_producer.RunReport]) -> None:
    folder, _ = claimed
    first = min((folder / "claims").iterdir())
    first.write_bytes(first.read_bytes()[:-1])
    with pytest.raises(FolderError, match=first.name):
        ticdc_producer.verify(folder=folder)


@pytest.mark.parametrize(
    "protocol",
    ["open-protocol", pytest.param("canal-json&enable-tidb-extension=true", marks=pytest.mark.slow)],
)
@pytest.mark.usefixtures("spark")
def test_rows_as_their_handle_key_are_what_is_expected(tmp_path: Path, protocol: str) -> None:
    config = _config(tmp_path, large_message_handle_option="handle-key-only")
    uri = f"kafka:///t?protocol={protocol}&max-message-bytes=512&partition-num=2"
    report = ticdc_producer.run(SCENARIO, sink_uri=uri, config=config, out=tmp_path / "golden")
    assert report.ok, report.to_json()
    assert report.verdict is not None
    assert report.verdict.state is not None
    reduced = [
        event for event in _lines(tmp_path / "golden" / "events.jsonl") if event.get("handle_key_only")
    ]
    assert reduced
    assert all(len(event["columns"]) == 1 for event in reduced)
    assert {f"{event['schema']}.{event['table']}" for event in reduced} <= set(
        report.verdict.state.not_compared
    )
    assert ticdc_producer.verify(folder=tmp_path / "golden", scenario=SCENARIO).ok


def _to_storage(tmp_path: Path, uri: str) -> Path:
    return _config(tmp_path, large_message_handle_option="claim-check", claim_check_storage_uri=uri)


OPEN = "t?protocol=open-protocol&max-message-bytes=512&partition-num=2"


@pytest.mark.usefixtures("spark")
def test_a_topic_refers_to_existing_objects(tmp_path: Path, kafka: EmbeddedKafka) -> None:
    config, uri = (
        _to_storage(tmp_path, f"file://{tmp_path}/claims"),
        f"kafka://{kafka.bootstrap}/claimed-{OPEN}",
    )
    report = ticdc_producer.run(SCENARIO, sink_uri=uri, config=config)
    assert report.ok, report.to_json()
    objects = sorted((tmp_path / "claims").iterdir())
    assert objects
    rows = [row for row in ticdc_producer.decode(sink_uri=uri, config=config) if row["kind"] == "row"]
    assert report.verdict is not None
    assert len(rows) == report.verdict.kinds["row"] > 0
    assert not any(row["handle_key_only"] for row in rows)
    objects[0].unlink()
    verdict = ticdc_producer.verify(sink_uri=uri, config=config)
    assert not verdict.ok
    assert any(objects[0].name in str(finding.to_json()) for finding in verdict.findings)


@pytest.mark.usefixtures("spark")
def test_a_storage_that_takes_nothing_stops_the_run(tmp_path: Path, kafka: EmbeddedKafka) -> None:
    (tmp_path / "file").touch()
    config = _to_storage(tmp_path, f"file://{tmp_path}/file/claims")
    with pytest.raises(DeliveryError, match="claim-check objects cannot be written to file://"):
        ticdc_producer.run(SCENARIO, sink_uri=f"kafka://{kafka.bootstrap}/unstored-{OPEN}", config=config)


def test_an_unknown_storage_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ChangefeedError, match="no file system for 'nowhere://claims'"):
        ticdc_producer.run(
            SCENARIO, sink_uri=f"kafka:///{OPEN}", config=_to_storage(tmp_path, "nowhere://claims")
        )


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_ddl_that_no_message_of_simple_can_hold_is_refused_at_once(on_error: str) -> None:
    """Without it nobody could read the rows of its table."""
    uri = "kafka:///t?protocol=simple&max-message-bytes=600"
    with pytest.raises(EncodeError, match=r"strings\.sql:1 ") as error:
        prepare(SCENARIO, sink_uri=uri, overrides=[f"on-error={on_error}"])
    assert (error.value.code, error.value.table) == ("CDC:ErrMessageTooLarge", "test.strings")
