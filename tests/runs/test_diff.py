"""``diff`` on folders, storage, dumps and topics: what a user sees, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from ticdc_producer import Scenario
from ticdc_producer.cli import main
from ticdc_producer.errors import ProducerError
from ticdc_producer.kafka.embedded import EmbeddedKafka

SQL = """
CREATE TABLE test.items (id INT PRIMARY KEY, color ENUM('red', 'blue'), price DECIMAL(6,2),
  note VARBINARY(9));
INSERT INTO test.items VALUES (1, 'red', 1.50, x'FF00'), (2, 'blue', 2.00, NULL);
UPDATE test.items SET price = 1.75 WHERE id = 1;
DELETE FROM test.items WHERE id = 2;
"""
OTHER = SQL.replace("1.75", "1.85")
CSV = "protocol=csv&include-commit-ts=true"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Golden folders of the history and of one with another price, and storage folders."""
    root = tmp_path_factory.mktemp("diff")
    for name, sql, protocol in (
        ("open", SQL, "open-protocol"),
        ("canal", SQL, "canal-json"),
        ("debezium", SQL, "debezium"),
        ("other", OTHER, "simple"),
    ):
        uri = f"kafka:///items?protocol={protocol}&partition-num=2&output-ddl=true"
        ticdc_producer.run(Scenario("items").sql(sql), sink_uri=uri, out=root / name, verify_output=False)
    config = {"sink": {"csv": {"include-commit-ts": True}}}
    for name, sql in (("csv", SQL), ("csv-other", OTHER)):
        uri = f"file://{root / name}?protocol=csv"
        ticdc_producer.run(Scenario("items").sql(sql), sink_uri=uri, config=config, verify_output=False)
    uri = f"file://{root / 'files'}?protocol=canal-json&enable-tidb-extension=true"
    ticdc_producer.run(Scenario("items").sql(SQL), sink_uri=uri, verify_output=False)
    (root / "csv.toml").write_text("[sink.csv]\ninclude-commit-ts = true\n")
    return root


def test_two_folders_of_different_protocols(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", str(folders / "open"), str(folders / "canal")]) == 0
    out = capsys.readouterr().out
    assert "test.items: 2 keys compared: 2 equal, 0 different; 0 only in A, 0 only in B" in out
    assert "DDLs: 1 equal, 0 different" in out
    assert "commit-ts within milliseconds: B (canal-json)" in out
    assert out.endswith("\nequal\n")


def test_a_difference_has_its_key_column_values_and_positions(
    folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", str(folders / "debezium"), str(folders / "other")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "  id=1: after 1 equal change: values, column price" in lines
    number = lines.index("  id=1: after 1 equal change: values, column price")
    assert [line.split()[:2] for line in lines[number + 1 : number + 3]] == [["A:", "1.75"], ["B:", "1.85"]]
    assert lines[number + 1].split()[2].startswith("items/")
    assert lines[-1] == "different"


def test_json_and_html(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", str(folders / "open"), str(folders / "other"), "--json"]) == 1
    parsed = json.loads(capsys.readouterr().out)
    assert not parsed["equal"]
    (table,) = parsed["tables"]
    assert (table["name"], table["equal"], table["different"], table["ddls"]) == ("test.items", 1, 1, 1)
    assert table["examples"][0]["column"] == "price"
    assert parsed["a"]["resolved_ts"] > 0
    result = ticdc_producer.diff(folders / "open", folders / "other")
    assert "Histories: different" in result._repr_html_()
    assert result.to_json() == parsed


@pytest.mark.parametrize("other", ["open", "canal", "debezium", "files", "csv"])
def test_csv_equals_every_other_form(folders: Path, other: str) -> None:
    config = folders / "csv.toml"
    of_b = config if other == "csv" else None
    result = ticdc_producer.diff(folders / "csv", folders / other, config_a=config, config_b=of_b)
    assert [table.examples for table in result.tables if not table.ok] == []
    assert result.tables[0].ddls == 1
    different = ticdc_producer.diff(folders / other, folders / "csv-other", config_a=of_b, config_b=config)
    (difference,) = different.tables[0].examples
    assert (difference.key, difference.column, difference.a, difference.b) == (
        "id=1",
        "price",
        "1.75",
        "1.85",
    )


def test_a_dump_is_read_and_no_broker_is_used(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uri = "kafka://nowhere:9/items?protocol=open-protocol"
    dump = str(folders / "open" / "messages.jsonl")
    assert main(["diff", uri, str(folders / "canal"), "--messages-a", dump, "--quiet"]) == 0
    assert capsys.readouterr().out.endswith("\nequal\n")


def test_a_cut_folder_is_different(folders: Path, tmp_path: Path) -> None:
    uri = "kafka://nowhere:9/items?protocol=open-protocol"
    lines = (folders / "open" / "messages.jsonl").read_text().splitlines()
    rows = [line for line in lines if '"type": "resolved"' not in line]
    dump = tmp_path / "cut.jsonl"
    dump.write_text("\n".join(line for line in rows if '"type": "ddl"' not in line) + "\n")
    result = ticdc_producer.diff(uri, folders / "open", messages_a=dump)
    (table,) = result.tables
    assert (table.ddls, table.other_ddls) == (0, 1)
    assert table.examples[0].kind == "DDL, only in B"


BAD = [
    (["missing", "open"], "missing: there is no such folder"),
    (["open/messages.jsonl", "open"], "--messages-a with the sink URI"),
    (["open", "open", "--config-a", "csv.toml"], "--config-a cannot be combined with a golden folder"),
    (["open", "csv", "--messages-b", "x"], "--messages-b cannot be combined with a storage sink"),
    (["open", "kafka:///t?protocol=open-protocol"], "the sink URI names no broker to read from"),
    (["open", "kafka://h:9/t?protocol=nosuch"], "nosuch"),
    (["open", "canal", "--examples", "0"], "Invalid value for '--examples'"),
    (["open"], "Missing argument 'B'"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input(
    folders: Path,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folders)
    assert main(["diff", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err.splitlines()[-1]


def test_a_table_that_is_in_neither_history_is_refused(folders: Path) -> None:
    with pytest.raises(ProducerError, match=r"no table 'shop\.itms' is in either history"):
        ticdc_producer.diff(folders / "open", folders / "debezium", tables=["*.items", "shop.itms"])


def test_a_damaged_folder_is_refused(folders: Path, tmp_path: Path) -> None:
    shutil.copytree(folders / "open", tmp_path / "cut")
    file = tmp_path / "cut" / "messages.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ProducerError, match=r"messages\.jsonl"):
        ticdc_producer.diff(tmp_path / "cut", folders / "open")


def test_a_topic_against_a_folder(folders: Path, kafka: EmbeddedKafka) -> None:
    uri = f"kafka://{kafka.bootstrap}/diff-items?protocol=canal-json&partition-num=3"
    ticdc_producer.run(Scenario("items").sql(SQL), sink_uri=uri, verify_output=False)
    assert ticdc_producer.diff(uri, folders / "debezium").equal
    different = ticdc_producer.diff(folders / "other", uri)
    (difference,) = different.tables[0].examples
    assert (difference.column, difference.a, difference.b) == ("price", "1.85", "1.75")
    assert difference.position_b.startswith("diff-items/")


@pytest.mark.slow
def test_spark_compares_alike(folders: Path, kafka: EmbeddedKafka, spark: SparkSession) -> None:
    uri = f"kafka://{kafka.bootstrap}/diff-spark?protocol=debezium&partition-num=3"
    ticdc_producer.run("bank", sink_uri=uri, verify_output=False)
    for a, b in ((folders / "open", folders / "other"), (uri, uri)):
        in_spark, here = (ticdc_producer.diff(a, b, engine=engine) for engine in ("spark", "local"))
        assert in_spark.to_json() | {"engine": None} == here.to_json() | {"engine": None}


def test_a_scenario_against_a_folder(folders: Path, tmp_path: Path) -> None:
    file = tmp_path / "items.sql"
    file.write_text(SQL)
    assert ticdc_producer.diff(file, folders / "open", engine="local").equal
    different = ticdc_producer.diff(folders / "other", file, engine="local")
    (difference,) = different.tables[0].examples
    assert (difference.column, difference.a, difference.b) == ("price", "1.85", "1.75")
    ticdc_producer.record(folder=folders / "other", out=tmp_path / "recording")
    assert ticdc_producer.diff(tmp_path / "recording", folders / "other", engine="local").equal
    with pytest.raises(ProducerError, match="`config_a` cannot be combined with a scenario"):
        ticdc_producer.diff(file, folders / "open", config_a=folders / "csv.toml")


def test_a_scenario_that_writes_a_storage_is_refused(folders: Path, tmp_path: Path) -> None:
    file = Scenario("items", changefeed={"sink-uri": f"file://{tmp_path}?protocol=csv"}).sql(SQL)
    file.write(tmp_path / "items.yaml")
    with pytest.raises(ProducerError, match="the scenario writes a storage"):
        ticdc_producer.diff(tmp_path / "items.yaml", folders / "open")
