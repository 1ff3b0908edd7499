"""Faults end to end: requested faults are in the messages, in the reports, and detected by the verifier."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ticdc_producer import api
from ticdc_producer.config import resolve
from ticdc_producer.errors import FaultError
from ticdc_producer.faults.catalogue import catalogue, trap
from ticdc_producer.model.event_line import event_line, json_line
from ticdc_producer.model.parameter import PROTOCOLS
from ticdc_producer.runs.run_report import RunReport, reporting_invariants
from ticdc_producer.simulate.prepare import prepare

FAULTY = Path(__file__).parent / "faulty.yaml"
URI = "kafka:///faulty?protocol={}&partition-num=3&enable-tidb-extension=true&output-ddl=true"
WATERMARKS = {
    "avro": "avro&avro-enable-watermark=true",
    "debezium-avro": "debezium-avro&avro-enable-watermark=true",
}
"""Options without which a protocol has no resolved events."""
AS_TEXT = "&avro-decimal-handling-mode=string&avro-bigint-unsigned-handling-mode=string"
"""The options of Avro without which rows have no checksums."""
LEGAL = (
    "replay-suffix:times=2", "replay-partial", "replay-one-table", "resolved-fallback", "resolved-lag",
    "duplicate-event:rate=0.1", "duplicate-message:rate=0.1", "batch-boundaries:rate=0.1",
    "duplicate-ddl:rate=1", "ddl-at-resolved-ts:rate=1",
)  # fmt: skip
ILLEGAL = tuple(
    name
    for name, trap in catalogue().items()
    if not trap.legal and name not in ("unsplit", "oversized", "wrong-checksum")
)
ONLY_WARNED = ("mixed-kinds",)  # what it breaks, INV-BATCH-KIND, is a warning in the catalogue of invariants
WITHOUT_RESOLVED = ("maxwell", "canal")
UNDOES = {("maxwell", "duplicate-message")}
"""A message that is repeated after a newer change of its row and second: by their commit-ts, in seconds, they
have no order, and the rows are those of the older one."""
UNNAMED = {("maxwell", "ddl-before-its-rows")}
"""By their commit-ts, in seconds, the DDL and the row have no order: the events differ from the expected
ones, and no invariant says why."""
SOME_ILLEGAL = ("lost-row", "early-resolved", "missing-ddl", "stale-before-image", "poison")


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_legal_faults_are_no_errors_and_all_occur(spark: SparkSession, tmp_path: Path) -> None:
    report = api.run(FAULTY, out=tmp_path / "out", inject=LEGAL)
    assert report.ok
    assert report.verdict is not None
    assert not report.verdict.of_severity("error")
    assert {fault["trap"]: fault["places"] > 0 for fault in report.faults.counts} == {
        setting.partition(":")[0]: True for setting in LEGAL
    }
    listed = Counter(line["trap"] for line in read_lines(tmp_path / "out" / "faults.jsonl"))
    assert listed == {fault["trap"]: fault["places"] for fault in report.faults.counts}
    _check_event_offsets(tmp_path / "out")
    # The folder knows how it was made.
    assert api.verify(folder=tmp_path / "out", scenario=FAULTY).ok


def _check_event_offsets(folder: Path) -> None:
    """The expected events of a folder are those of its messages, at their offsets."""
    decoded = [json.loads(json_line(event_line(row))) for row in api.decode(folder=folder)]
    assert read_lines(folder / "events.jsonl") == [event for event in decoded if event["kind"] != "error"]


@pytest.mark.parametrize("names", [SOME_ILLEGAL, pytest.param(ILLEGAL, marks=pytest.mark.slow)])
def test_each_illegal_fault_is_named_beside_the_others(
    spark: SparkSession, tmp_path: Path, names: tuple[str, ...]
) -> None:
    report = api.run(FAULTY, out=tmp_path / "out", inject=names)
    assert report.verdict is not None
    assert {fault["trap"]: fault["places"] for fault in report.faults.counts} == dict.fromkeys(names, 1)
    unnamed = [name for name in names if not reporting_invariants(name, report.verdict)]
    assert not unnamed
    assert report.ok
    assert not report.verdict.ok
    _check_event_offsets(tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_fault_alone_is_named_by_what_it_breaks(
    spark: SparkSession, tmp_path: Path, protocol: str
) -> None:
    """The matrix of faults and invariants: illegal ones are named, legal ones are no error."""
    names = [name for name, trap in catalogue().items() if trap.mechanism in ("event", "message")]
    wrong = []
    for name in names:
        lacks = "protocol" if protocol not in trap(name).protocols else ""
        if not lacks and resolve(URI.format(protocol)).profile not in trap(name).profiles:
            lacks = "profile"
        if lacks:
            with pytest.raises(FaultError, match=f"{name} does not exist in {lacks}"):
                prepare(FAULTY, sink_uri=URI.format(protocol), inject=[name])
            continue
        report = _alone(name, protocol, tmp_path / name)
        assert report.verdict is not None
        if protocol in WITHOUT_RESOLVED and name in report.not_injected:
            assert "resolved event" in report.not_injected[name]
            continue
        reported = sorted({finding.id for finding in report.verdict.of_severity("error", "warning")})
        print(f"{protocol:14} {name:22} {report.faults.counts[0]['places']:4} {' '.join(reported)}")
        undoes = (protocol, name) in UNDOES
        without_error = (trap(name).legal and not undoes) or name in ONLY_WARNED
        named = not undoes and (protocol, name) not in UNNAMED
        right = report.verdict.ok == without_error and report.ok == named
        if not (report.faults.counts[0]["places"] and right):
            wrong.append(name)
    assert not wrong


def _alone(name: str, protocol: str, out: Path) -> RunReport:
    # Rows of one table share messages, so that too many of them can be in one.
    rule = "table" if name == "oversized" else "index-value"
    dispatchers = f"changefeed.sink.dispatchers=[{{matcher: ['*.*'], partition: {rule}}}]"
    resolved = "resolved.every=5s" if name == "oversized" else "resolved.every=500ms"
    uri, overrides = URI.format(WATERMARKS.get(protocol, protocol)), [dispatchers, resolved]
    if name == "wrong-checksum":
        overrides.append("changefeed.integrity.integrity-check-level=correctness")
        uri += AS_TEXT if protocol == "avro" else ""
    return api.run(FAULTY, sink_uri=uri, out=out, inject=[name], overrides=overrides)


@pytest.mark.parametrize(
    ("inject", "message"),
    [
        ("lost-rows", "unknown trap 'lost-rows'.*lost-row"),
        ("lost-row:often=1", "not a rate, times or window"),
        ("lost-row:times=x", "'x' is not a number"),
        ("lost-row:rate=2", "less than or equal to 1"),
        ("duplicate-event:times=3", "by rate"),
        ("zero-dates", "is produced by SQL"),
    ],
)
def test_a_trap_that_cannot_be_set_is_refused_with_the_way_out(inject: str, message: str) -> None:
    with pytest.raises(FaultError, match=message):
        prepare(FAULTY, inject=[inject])
