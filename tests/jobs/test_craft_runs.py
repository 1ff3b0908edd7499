"""A scenario as Craft: the same events, TiCDC's bytes, verified on the way back."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

import producer
from producer.errors import ChangefeedError
from tests.codec.golden_messages import load_messages
from tests.golden_events import GOLDEN

URI = "kafka:///golden?protocol=craft&partition-num=1&batch-by=partition"


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", ["seed_t1", "keys", "floats", "binaries"])
def test_a_golden_file_as_craft(tmp_path: Path, name: str) -> None:
    report = producer.run(GOLDEN / "visible" / f"{name}.sql", sink_uri=URI, out=tmp_path / "golden")
    assert report.ok, report.to_json()
    lines = [json.loads(line) for line in (tmp_path / "golden" / "messages.jsonl").read_text().splitlines()]
    ours = [base64.b64decode(line["value"]) for line in lines if line["type"] != "ddl"]
    golden = load_messages(GOLDEN / "visible" / f"{name}.craft.floatfix.jsonl")
    kinds = [line["type"] for line in lines]
    assert [m.value for m, kind in zip(golden, kinds, strict=True) if kind != "ddl"] == ours


def test_an_option_that_craft_lacks_is_refused() -> None:
    with pytest.raises(ChangefeedError) as refused:
        producer.run("seed_t1", sink_uri=f"{URI}&only-output-updated-columns=true", dry_run=True)
    assert refused.value.parameter == "only-output-updated-columns"
    assert "open-protocol, canal-json" in refused.value.hint
