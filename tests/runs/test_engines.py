"""Both engines write the same folders and give the same verdicts; ``auto`` takes the faster one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from pyspark.sql import SparkSession

from tests.golden_events import GOLDEN
from ticdc_producer import api
from ticdc_producer.engine.choose import choose_engine
from ticdc_producer.errors import ArgumentError, TopicError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import estimate_of

slow = pytest.mark.slow
_WITHOUT_SPARK = """
import sys
from ticdc_producer import api
{code}
assert not {{"pyspark", "py4j"}} & {{name.partition(".")[0] for name in sys.modules}}
"""


def without_spark(code: str) -> None:
    """Run code in a new process that must not import PySpark."""
    subprocess.run([sys.executable, "-c", _WITHOUT_SPARK.format(code=code)], check=True)


@pytest.mark.parametrize("scenario", ["seed_t1", pytest.param("bank", marks=slow)])
def test_a_small_scenario_needs_no_spark(kafka: EmbeddedKafka, tmp_path: Path, scenario: str) -> None:
    uri = f"kafka://{kafka.bootstrap}/{scenario}-without-spark?protocol=open-protocol&partition-num=2"
    out = tmp_path / "golden"
    without_spark(
        f"assert api.run({scenario!r}, sink_uri={uri!r}, out={str(out)!r}).ok\n"
        f"assert api.run({scenario!r}, dry_run=True).ok\n"
        f"assert api.verify(sink_uri={uri!r}, scenario={scenario!r}).ok\n"
        f"assert api.verify(folder={str(out)!r}, scenario={scenario!r}).ok\n"
        f"assert api.verify(folder={str(out)!r}).ok"
    )


def test_the_report_names_the_engine_ran_and_why(spark: SparkSession, tmp_path: Path) -> None:
    auto = api.run("seed_t1", dry_run=True).engine
    assert auto is not None
    assert (auto.name, auto.reason) == ("local", "up to 100,000 events run in one process")
    requested = api.run("seed_t1", out=tmp_path / "golden", engine="spark", verify_output=False)
    assert requested.to_json()["engine"] == {"name": "spark", "reason": "it was requested"}
    assert requested.ok


def test_an_engine_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ArgumentError, match="`engine` has no value 'flink'"):
        api.run("seed_t1", dry_run=True, engine="flink")  # type: ignore[arg-type] # the mistake under test


def test_what_needs_spark_is_refused_by_name_without_it(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id\n1\n")
    scenario = tmp_path / "data.yaml"
    scenario.write_text("""\
version: 1
steps:
  - sql: CREATE TABLE test.t (id INT PRIMARY KEY);
  - data: {table: test.t, format: csv, path: rows.csv, options: {header: 'true'}, schema: id INT, order:
  [id], transactions: 1}
""")
    with pytest.raises(ArgumentError, match="`data` step requires Spark"):
        api.run(scenario, dry_run=True, engine="local")


@pytest.mark.parametrize(("longest", "small"), [(10_000, True), (20_000, False)])
def test_the_bytes_of_generated_rows_decide_whether_a_run_is_small(
    tmp_path: Path, longest: int, small: bool
) -> None:
    scenario = tmp_path / "long.yaml"
    scenario.write_text(f"""\
version: 1
changefeed: {{sink-uri: 'kafka:///t?protocol=open-protocol'}}
steps:
  - sql: CREATE TABLE test.t (id INT PRIMARY KEY, v LONGTEXT NOT NULL);
  - generate: {{table: test.t, rows: 2000, transactions: 1, columns: {{v: {{length: [1, {longest}]}}}}}}
""")
    assert choose_engine("auto", estimate_of(prepare(scenario))).name == ("local" if small else "spark")


def test_a_topic_that_holds_messages_is_refused_before_spark_starts(kafka: EmbeddedKafka) -> None:
    uri = f"kafka://{kafka.bootstrap}/holds-messages?protocol=open-protocol&partition-num=2"
    api.run("seed_t1", sink_uri=uri, verify_output=False)
    statuses: list[str] = []
    with pytest.raises(TopicError, match="already holds messages"):
        api.run("seed_t1", sink_uri=uri, engine="spark", on_status=statuses.append)
    assert statuses == [f"looking for topics at {kafka.bootstrap}"]


def test_the_verdict_is_on_what_was_read(tmp_path: Path) -> None:
    """A byte that changes on the disk is found, although the run knows what it wrote."""

    def damage(status: str) -> None:
        if status.startswith("reading the files again"):
            (rows,) = (tmp_path / "damaged").rglob("*.csv")
            rows.write_bytes(rows.read_bytes().replace(b'"written"', b'"damaged"'))

    script = tmp_path / "one.sql"
    script.write_text(
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9)); INSERT INTO t VALUES (1, 'written');"
    )
    uri = f"file://{tmp_path}/{{}}?protocol=csv"
    assert api.run(script, sink_uri=uri.format("whole")).ok
    report = api.run(script, sink_uri=uri.format("damaged"), on_status=damage)
    assert report.verdict is not None
    assert not report.verdict.ok


PARTITIONS = "&partition-num=3"
ENGINES: tuple[Literal["local", "spark"], ...] = ("local", "spark")
BOTH_ENGINES = [
    pytest.param(GOLDEN / "visible" / "keys.sql", "open-protocol", [], [], marks=slow),
    pytest.param(
        GOLDEN / "visible" / "partition.sql", "canal-json&time-zone=Asia/Shanghai", [], [], marks=slow
    ),
    pytest.param(GOLDEN / "visible" / "temporal.sql", "debezium&profile=new", [], [], marks=slow),
    pytest.param(
        "bank", "simple", ["steps[1].generate.transactions=40"], ["lost-row", "duplicate-event"], marks=slow
    ),
    ("ddl-mix", "open-protocol&max-batch-size=3", ["steps[1].generate.transactions=100"],
     ["replay-one-table:rate=0.3", "regrouped-batches:rate=0.5", "unsplit", "duplicate-message"]),
]  # fmt: skip


@pytest.mark.parametrize(("scenario", "protocol", "overrides", "inject"), BOTH_ENGINES)
def test_both_engines_write_the_same_files(
    spark: SparkSession,
    tmp_path: Path,
    scenario: str | Path,
    protocol: str,
    overrides: Sequence[str],
    inject: Sequence[str],
) -> None:
    files = []
    for engine in ENGINES:
        out = tmp_path / engine
        uri = f"kafka:///both?protocol={protocol}{PARTITIONS}"
        options = {"overrides": overrides, "inject": inject, "engine": engine}
        api.run(scenario, sink_uri=uri, out=out, verify_output=False, **options)
        files.append({path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()})
    assert files[0] == files[1]


CANAL_JSON = "canal-json&enable-tidb-extension=true"
ILLEGAL = ["lost-row", "duplicate-event", "wrong-partition"]


@pytest.mark.parametrize(
    ("scenario", "protocol", "overrides", "inject"),
    [
        pytest.param(GOLDEN / "visible" / "keys.sql", "open-protocol", [], [], marks=slow),
        ("bank", CANAL_JSON, ["steps[1].generate.transactions=100"], ILLEGAL),
        pytest.param("bank", CANAL_JSON, [], ILLEGAL, marks=slow),
        pytest.param(GOLDEN / "visible" / "partition.sql", "simple", [], ["changed-duplicate"], marks=slow),
        pytest.param("migrations", CANAL_JSON, [], [], marks=slow),
    ],
)
def test_both_engines_give_the_same_verdict(
    spark: SparkSession,
    tmp_path: Path,
    scenario: str | Path,
    protocol: str,
    overrides: Sequence[str],
    inject: Sequence[str],
) -> None:
    outcomes = []
    for engine in ENGINES:
        uri = f"kafka:///verdict?protocol={protocol}{PARTITIONS}"
        options = {"overrides": overrides, "inject": inject, "engine": engine}
        report = api.run(scenario, sink_uri=uri, out=tmp_path / engine, **options)
        outcomes.append((report.verdict, report.preview))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] is not None
    assert outcomes[0][0].ok == (not inject)
