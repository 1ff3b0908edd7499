"""The apply level on whole topics: one topic here, all topics in the slow tier."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.conformance.fuzz.follows_ddl import follow_ddls
from tests.conformance.own_consumer import (
    AsDelivered,
    ComparesOldRow,
    Consumer,
    IgnoresDDL,
    IgnoresTopics,
    InsertsFirst,
    InsertsOnce,
    KeepsOldKey,
    ResolvedOnlyGrows,
    StartsEmpty,
    Stopped,
    WaitsForEveryPartition,
)
from ticdc_producer.cli import main
from ticdc_producer.conformance.case import ApplyCase, build_apply_case
from ticdc_producer.conformance.case_spec import ApplyCaseSpec, apply_case_specs
from ticdc_producer.conformance.compare import table_differences
from ticdc_producer.conformance.corpus import write_case
from ticdc_producer.runs import topic_cache
from ticdc_producer.runs.topic_cache import Topic
from ticdc_producer.targets.golden import read as source

ROOT = Path(__file__).parents[2]
SAMPLE = shlex.join([sys.executable, str(ROOT / "examples" / "testee_python_apply.py")])
_FLOATS = frozenset({"float", "double", "decimal"})
FIRST_COMMIT = 415508878783938562


def test_a_topic_and_its_rows_at_the_end_and_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(tmp_path))
    topic = Topic(
        scenario="seed_t1",
        sink_uri="kafka:///seed_t1?protocol=canal-json&enable-tidb-extension=true&partition-num=3",
        inject=("duplicate-message:rate=0.5",),
        moments=(FIRST_COMMIT,),
    )
    statuses: list[str] = []
    cached = topic_cache.cached_topic(topic, statuses.append)
    assert source.manifest(cached.golden)["faults"]
    (table,) = cached.tables()
    assert (table["key"], table["types"]) == (["id"], {"id": "int", "val": "varchar"})
    assert table["rows"] == [{"id": "3", "val": "dd"}, {"id": "4", "val": "ee"}]
    (before,) = cached.tables(FIRST_COMMIT)
    assert [row["val"] for row in before["rows"]] == ["aa", "bb", "cc"]
    assert topic_cache.cached_topic(topic, statuses.append) == cached
    assert len(statuses) == 1, "the topic was written once"


def build_case(spec: ApplyCaseSpec) -> ApplyCase:
    return build_apply_case(spec, lambda _: None)


FROM_DUMP = [spec for spec in apply_case_specs() if spec.topic_spec.from_snapshot]


@pytest.mark.parametrize("spec", FROM_DUMP, ids=lambda spec: spec.id)
def test_a_consumer_starts_with_the_tables_of_a_dump(
    spec: ApplyCaseSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(tmp_path))
    case = build_case(spec)
    assert case.request.snapshot
    assert all(table.create.startswith("CREATE TABLE `shop`.") for table in case.request.snapshot)
    assert table_differences(case.expected, Consumer().answer(case.request), _FLOATS) == []
    assert table_differences(case.expected, StartsEmpty().answer(case.request), _FLOATS)
    (tmp_path / "case").mkdir()
    write_case(tmp_path / "case", case)
    assert (tmp_path / "case" / "snapshot" / "shop.stock.sql").exists()


@pytest.mark.slow
@pytest.mark.parametrize("spec", apply_case_specs(), ids=lambda spec: spec.id)
def test_our_decoders_yield_the_expected_rows(spark: SparkSession, spec: ApplyCaseSpec) -> None:
    case = build_case(spec)
    assert case.expected
    assert bool(source.manifest(case.golden)["faults"]) == bool(spec.topic_spec.inject)
    if case.request.follows_ddl is True:
        answer = follow_ddls(case.request).tables
    else:
        # Avro's deletes have no commit-ts by which they could be sorted.
        answer = Consumer().answer(case.request)
    assert table_differences(case.expected, answer or {}, _FLOATS) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("all-traps.key-update-across-partitions", InsertsFirst),
        ("sysbench.replay-one-table", ComparesOldRow),
        ("all-traps.replay-suffix", InsertsOnce),
        ("all-traps.resolved-fallback", ResolvedOnlyGrows),
        ("bank.changed-dispatch-column", AsDelivered),
        ("orders.several-topics", IgnoresTopics),
        ("bank.partition-without-messages", WaitsForEveryPartition),
        ("bank.duplicate-event", InsertsOnce),
        ("bank.duplicate-message", InsertsOnce),
        ("seed_t1.duplicate-ddl", AsDelivered),
        ("seed_t1.raw-key-update", KeepsOldKey),
        ("seed_t1.truncate", IgnoresDDL),
        ("sysbench.replay-partial", ComparesOldRow),
    ],
)
def test_a_topic_reveals_the_bug_that_it_is_for(
    spark: SparkSession, name: str, wrong: type[Consumer]
) -> None:
    assert fails(wrong(), open_protocol(name))
    if wrong in (
        ComparesOldRow,
        IgnoresTopics,
        InsertsOnce,
        ResolvedOnlyGrows,
    ):  # the trap reveals it, not the scenario
        assert not fails(wrong(), open_protocol(name.partition(".")[0]))


def open_protocol(name: str) -> ApplyCase:
    return build_case(
        next(spec for spec in apply_case_specs() if spec.id == f"required.open-protocol.apply.{name}")
    )


def fails(consumer: Consumer, case: ApplyCase) -> bool:
    try:
        return table_differences(case.expected, consumer.answer(case.request), _FLOATS) != []
    except Stopped:
        return True


@pytest.mark.slow
def test_requested_time_stamps_are_resolved_in_every_partition(spark: SparkSession) -> None:
    for spec in apply_case_specs():
        if spec.topic_spec.resolved_ts is not None:
            path = build_case(spec).golden / "events.jsonl"
            events = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            resolved = {
                event["partition"]
                for event in events
                if event["kind"] == "resolved" and event["commit_ts"] == spec.topic_spec.resolved_ts
            }
            assert resolved == {event["partition"] for event in events}


@pytest.mark.slow
def test_the_sample_has_the_rows_of_every_topic(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conformance", "--testee", SAMPLE, "--level", "apply", "--timeout", "60s", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["cases"]
    assert {result["outcome"] for result in results} == {"passed", "skipped"}
    skipped = [result["case"].split(".") for result in results if result["outcome"] == "skipped"]
    assert {protocol for strength, protocol, *_ in skipped if strength == "required"} == {
        "canal", "debezium", "craft", "simple", "avro", "debezium-avro"
    }  # fmt: skip
