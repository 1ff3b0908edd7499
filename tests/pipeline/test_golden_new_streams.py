"""SQL in, the newer TiCDC's own bytes out: its golden files through engine, stages and encoders."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from tests.golden_events import GOLDEN
from tests.new_events import raw_events
from tests.pipeline.golden_variants import NEW_VARIANTS
from tests.pipeline.test_golden_streams import Stream, stream_of, without_panics
from tests.pipeline.test_large_golden_streams import check_file
from tests.protocols.golden_messages import Compared, load_messages
from tests.protocols.large_messages import files
from tests.protocols.test_open_golden import nameless
from ticdc_producer.model.event import Kind, Op

SQL = sorted((GOLDEN / "visible").glob("*.sql"))


@pytest.fixture(scope="module", params=SQL, ids=lambda path: path.stem)
def stream(request: pytest.FixtureRequest) -> Stream:
    return stream_of(request.param, "new")


def _golden(stream: Stream, variant: str) -> Path:
    return GOLDEN / "new" / f"{stream.path.stem}.{variant}.jsonl"


@pytest.mark.parametrize("variant", NEW_VARIANTS)
def test_messages_are_the_newer_ticdcs_bytes(stream: Stream, variant: str, compared: Compared) -> None:
    golden, kind = _golden(stream, variant), NEW_VARIANTS[variant]
    theirs = [message for message in load_messages(golden) if not message.error]
    ours = without_panics(list(stream.messages(variant, kind)), golden)
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if not nameless(golden, b)]
    assert [(m.key, m.value) for m, _ in pairs] == [(m.key, kind.comparable(m.value)) for _, m in pairs]
    compared(f"{kind.protocol} of the newer TiCDC, from SQL", len(pairs))


@pytest.mark.parametrize(("protocol", "count"), [("open", 6), ("canal-json", 8)])
def test_large_and_compressed_messages_are_the_newer_ticdcs(
    stream: Stream, protocol: str, count: int, monkeypatch: pytest.MonkeyPatch, compared: Compared
) -> None:
    named = [file for file in files(protocol) if file.path.name.startswith(f"{stream.path.stem}.new-")]
    assert len(named) == count
    for file in named:
        messages = check_file(file, stream.job, stream.events, monkeypatch)
        compared(f"{protocol} of the newer TiCDC, large, from SQL", messages)


def test_rows_are_in_the_newer_ticdcs_order(stream: Stream) -> None:
    golden = [raw for raw in raw_events(_golden(stream, "new-open")) if raw["kind"] == "row"]
    rows = stream.events.filter(pa.compute.equal(stream.events["kind"], int(Kind.ROW)))
    ours = zip(*(rows[name].to_pylist() for name in ("commit_ts", "table_id", "op")), strict=True)
    assert [(ts, table, Op(op).label) for ts, table, op in ours] == [
        (raw["commit_ts"], raw["table_id"], raw["row_type"]) for raw in golden
    ]


def test_every_option_file_is_compared() -> None:
    counts = Counter(
        kind.protocol
        for path in SQL
        for variant, kind in NEW_VARIANTS.items()
        if (GOLDEN / "new" / f"{path.stem}.{variant}.jsonl").exists()
    )
    assert counts == {"open-protocol": 16 * 7, "canal-json": 16 * 6, "debezium": 16 * 4, "simple": 16}
