"""``bench``: a row takes as many bytes as in TiCDC, on the same path as in a worker."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden_events import GOLDEN
from tests.pipeline import test_golden_streams
from ticdc_producer.bench import speed
from ticdc_producer.bench.batches import LINES, MIN_ROWS, event_batches
from ticdc_producer.bench.speed import measure_decoders, measure_encoders
from ticdc_producer.cli.app import main
from ticdc_producer.errors import FolderError
from ticdc_producer.protocols import registry
from ticdc_producer.targets import encode_partition
from ticdc_producer.targets.encode import EncodePlan, PartitionEncoder

ROWS = GOLDEN / "bench" / "t1.events.jsonl"
# What TiCDC's encoders wrote per row when they were measured on these rows.
MEASURED = ("open-protocol", "canal-json", "craft", "debezium", "debezium-disable-schema", "simple")
NAMES = (*MEASURED, "maxwell", "canal")
TICDC_BYTES = {"t1": (156, 246, 24, 2354, 396, 194), "mixed": (1346, 1683, 539, 6154, 1112, 979)}


def test_the_measured_encoder_is_that_of_workers_and_golden_tests() -> None:
    assert speed.PartitionEncoder is encode_partition.PartitionEncoder is test_golden_streams.PartitionEncoder


@pytest.mark.parametrize("name", TICDC_BYTES)
def test_a_row_takes_as_many_bytes_as_in_ticdc(name: str) -> None:
    report = measure_encoders(GOLDEN / "bench" / f"{name}.events.jsonl", passes=1)
    sizes = [round(report.encoders[encoder].bytes_per_row) for encoder in MEASURED]
    assert sizes == [*TICDC_BYTES[name]]
    assert report.rows == MIN_ROWS
    assert all(speed.us_per_row > 0 for speed in report.encoders.values())


def test_rows_are_repeated_up_to_the_minimum() -> None:
    catalog, batches = event_batches(ROWS, 700)
    assert [batch.num_rows for batch in batches] == [700]
    images = batches[0].column("after").to_pylist()
    assert images[:256] == images[256:512] != images[1:257]
    assert len(catalog.tables) == 1


def test_the_report_of_the_encoders_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "encode", "--rows", str(ROWS), "--min-rows", "500", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["rows"] == 500
    assert set(report["encoders"]) == set(NAMES)
    assert all(set(speed) == {"us_per_row", "bytes_per_row"} for speed in report["encoders"].values())


def test_the_report_of_the_decoders_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "decode", "--rows", str(ROWS), "--min-rows", "500", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["rows"] == 500
    assert set(report["decoders"]) == set(NAMES)
    plain = {name for name, speed in report["decoders"].items() if speed["plain_us_per_row"] is not None}
    assert plain == {*NAMES} - {"craft", "canal"}
    assert all(speed["us_per_row"] > 0 for speed in report["decoders"].values())


def test_every_decoder_reads_every_row() -> None:
    catalog, batches = event_batches(ROWS, 700)
    for protocol, line in LINES.values():
        plan = EncodePlan(protocol=protocol, options=line.options, catalog=catalog)
        encoded = PartitionEncoder(plan).messages(batches)
        decoder = registry.decoder(protocol, line.options)
        assert (
            sum(1 for message in encoded for _ in decoder.events(message.key or b"", message.value or b""))
            == 700
        )


@pytest.mark.parametrize("measure", [measure_encoders, measure_decoders])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no row events"),
        ("{}\n", ":1: this line is not a recorded event"),
        ("nonsense", ":1: this line is not a recorded event"),
        ("\udcff", ":1: this line is not a recorded event"),
    ],
)
def test_a_file_without_rows_is_refused(
    tmp_path: Path, measure: Callable[[Path], object], content: str, message: str
) -> None:
    path = tmp_path / "x.events.jsonl"
    path.write_text(content, errors="surrogateescape")
    with pytest.raises(FolderError, match=message):
        measure(path)
    with pytest.raises(FolderError, match="cannot be read"):
        measure(tmp_path / "missing")
