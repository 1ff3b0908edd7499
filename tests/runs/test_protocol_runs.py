"""One scenario, six topics, one expected state: golden SQL runs in every protocol and is verified."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

import ticdc_producer
from tests.golden_events import GOLDEN, NOW_OF_GOLDEN
from tests.protocols.canal_json_messages import in_column_order
from tests.protocols.golden_messages import load_messages
from ticdc_producer.runs.run_report import RunReport

ONE_PARTITION = "partition-num=1&ddl-text=tidb"
BUILT = "clock.build-time=2000-01-01T00:00:00Z"
BYTES = [
    pytest.param("keys", "protocol=craft&batch-by=partition", "craft.floatfix", marks=pytest.mark.slow),
    ("seed_t1", "protocol=canal-json&enable-tidb-extension=true", "canal-json.tidb-extension"),
    ("seed_t1", "protocol=debezium&output-ddl=true", "debezium"),
]
QUERIES = [
    "protocol=craft",
    "protocol=canal-json",
    "protocol=canal-json&enable-tidb-extension=true&content-compatible=true",
    "protocol=debezium",
    "protocol=simple",
    "protocol=debezium&output-ddl=true&debezium-disable-schema=true&enable-tidb-extension=true",
    "protocol=avro",
    "protocol=avro&enable-tidb-extension=true&avro-enable-watermark=true",
    "protocol=simple&encoding-format=avro",
]
EVERY_FILE = QUERIES[2], QUERIES[5], QUERIES[7]
SOME_FILES = ("keys", "partition", "generated_defaults", "temporal")
VISIBLE = sorted(path.stem for path in (GOLDEN / "visible").glob("*.sql"))
FEW = [
    ("seed_t1", QUERIES[0]),
    ("temporal", QUERIES[3]),  # every date that Debezium changes, and no DDL
    ("seed_t1", QUERIES[4]),
    ("generated_defaults", QUERIES[6]),
]


def _run(name: str, query: str, out: Path) -> RunReport:
    path = next(GOLDEN.glob(f"*/{name}.sql"))
    return ticdc_producer.run(
        path, sink_uri=f"kafka:///golden?{query}", out=out, overrides=["on-error=skip", BUILT, NOW_OF_GOLDEN]
    )


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("name", "query", "variant"), BYTES)
def test_the_topic_holds_ticdcs_bytes(tmp_path: Path, name: str, query: str, variant: str) -> None:
    report = _run(name, f"{query}&{ONE_PARTITION}", tmp_path / "golden")
    assert report.ok, report.to_json()
    lines = [json.loads(line) for line in (tmp_path / "golden" / "messages.jsonl").read_text().splitlines()]
    golden = load_messages(GOLDEN / "visible" / f"{name}.{variant}.jsonl")
    assert [(_bytes(line["key"]), _bytes(line["value"])) for line in lines] == [
        (message.key, in_column_order(message.value or b"")) for message in golden
    ]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("name", "query"),
    [
        pytest.param(name, query, marks=() if (name, query) in FEW else pytest.mark.slow)
        for name in VISIBLE
        for query in QUERIES
        if query in EVERY_FILE or name in SOME_FILES or (name, query) in FEW
    ],
)
def test_every_protocol_verifies(tmp_path: Path, name: str, query: str) -> None:
    verdict = _run(name, f"{query}&partition-num=2", tmp_path / "golden").verdict
    assert verdict is not None
    assert verdict.ok, json.dumps(verdict.to_json(), indent=1)
    assert verdict.of_severity("error", "warning") == []
    assert verdict.state is not None
    assert verdict.comparison is not None
    assert verdict.comparison.expected == sum(verdict.kinds.values()) - verdict.kinds["duplicate"]


def _not_checked(report: RunReport) -> dict[str, list[str]]:
    assert report.verdict is not None
    reasons: dict[str, list[str]] = {}
    for finding in report.verdict.of_severity("not checked"):
        reasons.setdefault(finding.id, []).append(finding.hint)
    return reasons


@pytest.mark.usefixtures("spark")
def test_what_canal_json_does_not_carry_is_reported_as_not_checked(tmp_path: Path) -> None:
    report = _run("seed_t1", "protocol=canal-json&partition-num=2", tmp_path / "golden")
    reasons = _not_checked(report)
    assert reasons["INV-RESOLVED"] == ["the protocol has no resolved events"]
    assert "milliseconds" in reasons["INV-COLLAPSE"][0]
    assert reasons["INV-KEY-UPDATE-SPLIT"] == ["the protocol does not mark unique columns other than its key"]
    assert "INV-DDL-BROADCAST" not in reasons
    lines = map(json.loads, (tmp_path / "golden" / "messages.jsonl").read_text().splitlines())
    assert [line["partition"] for line in lines if line["type"] == "ddl"] == [0]


@pytest.mark.usefixtures("spark")
def test_ddls_that_debezium_has_no_message_for_are_named() -> None:
    uri = "kafka:///golden?protocol=debezium&output-ddl=true"
    report = ticdc_producer.run(GOLDEN / "visible" / "ddl_many.sql", sink_uri=uri, dry_run=True)
    named = [
        discarded["query"] for discarded in report.discarded if "Debezium" in discarded.get("reason", "")
    ]
    assert len(named) == 4
    assert all("FOREIGN KEY" in query.upper() or "TTL" in query.upper() for query in named)
