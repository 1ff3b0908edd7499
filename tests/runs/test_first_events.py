"""The first events of a run: merged by commit-ts, and what goes to every partition is one line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import ticdc_producer
from ticdc_producer.config import resolve
from ticdc_producer.model.event_line import event_text
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder
from ticdc_producer.runs.targets.first_messages import MAX_LINES, FirstMessages
from ticdc_producer.targets.decode import event_decoder

SQL = """CREATE TABLE test.t (id INT PRIMARY KEY, v VARCHAR(9));
INSERT INTO test.t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
UPDATE test.t SET v = 'x' WHERE id = 1;
"""
PROTOCOLS = [
    "open-protocol",
    "canal-json&enable-tidb-extension=true",
    "canal-json",
    "debezium",
    "craft",
    "simple",
    "maxwell",
    "canal",
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_they_are_lines_of_decode_for_every_protocol(tmp_path: Path, protocol: str) -> None:
    script = tmp_path / "t.sql"
    script.write_text(SQL)
    uri = f"kafka:///t?protocol={protocol}&partition-num=3"
    report = ticdc_producer.run(script, sink_uri=uri, out=tmp_path / "out")
    printed = {event_text(row) for row in ticdc_producer.decode(folder=tmp_path / "out")}
    first = report.first_events
    assert first.lines
    assert {line.partition(" (in ")[0] for line in first.lines if " (in " in line} <= printed
    assert {line for line in first.lines if " (in " not in line} <= printed
    assert first.events == sum(report.counts.events.values()), "a small run is printed as a whole"


def test_what_all_partitions_have_next_is_one_line_and_counts_for_all(tmp_path: Path) -> None:
    script = tmp_path / "t.sql"
    script.write_text(SQL)
    report = ticdc_producer.run(script, sink_uri="kafka:///t?partition-num=3", out=tmp_path / "out")
    create, resolved, *rows = report.first_events.lines
    assert create.endswith("`v` VARCHAR(9)) (in 3 partitions)")
    assert resolved.endswith("resolved (in 3 partitions)")
    assert [line.split()[4] for line in rows] == ["insert"] * 4 + ["resolved", "update", "resolved"]


def _first(sent: dict[int, list[tuple[bytes, bytes]]]) -> tuple[str, ...]:
    rows = [
        {"topic": "t", "partition": partition, "offset": offset, "key": key, "value": value}
        for partition, messages in sent.items()
        for offset, (key, value) in enumerate(messages)
    ]
    decode = event_decoder("open-protocol", resolve("kafka:///t").codec_options())
    return FirstMessages.of(pa.Table.from_pylist(rows, MESSAGES), decode).first_events().lines


def _resolved(ts: int) -> tuple[bytes, bytes]:
    message = OpenEncoder().resolved(ts)
    return message.key, message.value or b""


def test_an_event_that_another_partition_has_later_keeps_its_position() -> None:
    lines = _first({0: [_resolved(5 << 18)], 1: [_resolved(9 << 18), _resolved(5 << 18)]})
    assert [line.split()[0] for line in lines] == ["t/0@0[0]", "t/1@0[0]", "t/1@1[0]"]


def test_a_long_stream_is_cut_and_a_damaged_message_is_displayed() -> None:
    lines = _first({0: [(b"junk", b""), *(_resolved(ts << 18) for ts in range(1, 40))]})
    assert len(lines) == MAX_LINES
    assert "ERROR OPEN-KEY-SHORT" in lines[0]


def test_nothing_has_no_first_events() -> None:
    assert _first({}) == ()
