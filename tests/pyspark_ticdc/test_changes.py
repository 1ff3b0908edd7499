"""``rows=changes``: typed changes of one table, in every protocol."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import CaseInsensitiveDict

import ticdc_producer
from pyspark_ticdc import DefaultSource
from ticdc_producer.errors import ArgumentError
from ticdc_producer.targets.golden import read as golden

SQL = """
CREATE TABLE test.a (
  id BIGINT UNSIGNED PRIMARY KEY, t TINYINT, b BIT(10), y YEAR, e ENUM('x','y'), s SET('p','q'), f FLOAT,
  d DOUBLE, de DECIMAL(12,2), dt DATETIME(3), ts TIMESTAMP(6) NULL, da DATE, ti TIME(2), c CHAR(3),
  v VARCHAR(10), vb VARBINARY(10), tx TEXT, bl BLOB, j JSON, ub BIGINT UNSIGNED
);
CREATE TABLE test.other (id INT PRIMARY KEY);
INSERT INTO test.a VALUES (1, -1, 5, 2020, 'y', 'p,q', 1.5, 2.5, 3.25, '2020-01-01 00:00:00.123',
  '2020-01-01 00:00:00.123456', '2020-01-01', '-12:00:00.5', 'abc', 'vv', '\\0x', 'tt', 'bb', '{"a": 1}',
  18446744073709551615);
INSERT INTO test.other VALUES (1);
INSERT INTO test.a (id, t) VALUES (2, NULL), (3, 3);
UPDATE test.a SET t = 2, id = id + 10 WHERE id = 2;
UPDATE test.a SET v = 'w' WHERE id = 1;
DELETE FROM test.a WHERE id = 3;
"""
PROTOCOLS = (
    "open-protocol", "canal-json&enable-tidb-extension=true", "canal-json", "debezium", "craft", "simple",
    "simple&encoding-format=avro", "avro&enable-tidb-extension=true&avro-enable-watermark=true", "maxwell",
    "canal", "debezium-avro&avro-enable-watermark=true&avro-bigint-unsigned-handling-mode=string",
)  # fmt: skip
"""Without the last option, TiCDC rejects the largest number of BIGINT UNSIGNED."""
FAST = ("open-protocol", "avro&enable-tidb-extension=true&avro-enable-watermark=true")
"""The fast tier reads deletes with all columns, and with neither columns nor commit-ts."""
some_protocols = pytest.mark.parametrize(
    "protocol", [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in PROTOCOLS]
)
SCD1 = """
SELECT * EXCEPT (newest, _change_type, _commit_version, _commit_timestamp) FROM (
  SELECT *, row_number() OVER (
    PARTITION BY id ORDER BY _commit_version DESC, _change_type IN ('insert', 'update_postimage') DESC
  ) AS newest
  FROM {changes}
)
WHERE newest = 1 AND _change_type IN ('insert', 'update_postimage')
"""
"""The newest state of each row, for protocols in which deletes have a commit-ts."""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("scenario") / "typed.sql"
    file.write_text(SQL)
    return file


@pytest.fixture(scope="module")
def folder(scenario: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("golden") / "typed"
    ticdc_producer.run(scenario, out=path)
    return path


def scenario_for(protocol: str, scenario: Path, folder: Path) -> Path:
    """Return the scenario, for Maxwell without bytes: TiCDC stops at an update of a row that has some."""
    if protocol != "maxwell":
        return scenario
    (folder / "typed.sql").write_text(SQL.replace(r"'\0x'", "NULL").replace("'bb'", "NULL"))
    return folder / "typed.sql"


def _changes(spark: SparkSession, folder: Path, **options: str) -> DataFrame:
    return spark.read.format("ticdc").options(rows="changes", table="test.a", **options).load(str(folder))


def test_values_have_the_types_of_the_folders_tables(spark: SparkSession, folder: Path) -> None:
    first = _changes(spark, folder).where("id = 1 AND _change_type = 'insert'").first()
    assert first.asDict() == {
        "id": Decimal(1), "t": -1, "b": Decimal(5), "y": 2020, "e": "y", "s": "p,q", "f": 1.5, "d": 2.5,
        "de": Decimal("3.25"), "dt": datetime(2020, 1, 1, 0, 0, 0, 123000),
        "ts": first.ts, "da": date(2020, 1, 1), "ti": "-12:00:00.50", "c": "abc", "v": "vv",
        "vb": b"\0x", "tx": "tt", "bl": b"bb", "j": '{"a": 1}', "ub": Decimal(18446744073709551615),
        "_change_type": "insert", "_commit_version": 429918008428724226,
        "_commit_timestamp": first["_commit_timestamp"],
    }  # fmt: skip
    seconds = _changes(spark, folder).selectExpr("unix_micros(ts)", "unix_millis(_commit_timestamp)").first()
    assert seconds[:] == (1577836800123456, 429918008428724226 >> 18)


def test_updates_have_both_images_and_key_updates_are_split(spark: SparkSession, folder: Path) -> None:
    changes = _changes(spark, folder).select("id", "v", "_change_type", "_commit_version").collect()
    by_version: dict[int, list[tuple[int, str | None, str]]] = {}
    for id_, v, kind, version in changes:
        by_version.setdefault(version, []).append((int(id_), v, kind))
    assert [sorted(by_version[version]) for version in sorted(by_version)][1:] == [
        [(2, None, "insert"), (3, None, "insert")],
        [(2, None, "delete"), (12, None, "insert")],
        [(1, "vv", "update_preimage"), (1, "w", "update_postimage")],
        [(3, None, "delete")],
    ]


@some_protocols
def test_changes_give_the_golden_state(
    spark: SparkSession, scenario: Path, tmp_path: Path, protocol: str
) -> None:
    out = tmp_path / "golden"
    ticdc_producer.run(
        scenario_for(protocol, scenario, tmp_path),
        sink_uri=f"kafka:///t?protocol={protocol}",
        out=out,
        overrides=['changefeed.sink.dispatchers=[{matcher: ["*.*"], partition: table}]'],
    )
    changes = _changes(spark, out)
    if protocol.startswith("avro"):
        assert {row[0] for row in changes.select("_change_type").collect()} == {
            "insert", "update_postimage", "delete",
        }  # fmt: skip
        return
    outcome = ticdc_producer.verify_state(
        out, {"test.a": spark.sql(SCD1, changes=changes)}, tables=["test.a"]
    )
    assert outcome.ok, outcome


def test_columns_of_the_user(spark: SparkSession, folder: Path) -> None:
    """ENUM and SET as numbers, and another order."""
    frame = (
        spark.read.format("ticdc")
        .options(rows="changes", table="test.a")
        .schema("e INT, s LONG, _change_type STRING, id LONG, later STRING, dt STRING")
        .load(str(folder))
    )
    assert frame.where("s IS NOT NULL").first()[:] == (2, 3, "insert", 1, None, "2020-01-01 00:00:00.123")


ZERO_DATE = """
CREATE TABLE test.a (id INT PRIMARY KEY, d DATE);
SET sql_mode = '';
INSERT INTO test.a VALUES (1, '0000-00-00'), (2, '2020-01-01');
"""


@pytest.fixture(scope="module")
def zero_date(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zero")
    (path / "zero.sql").write_text(ZERO_DATE)
    ticdc_producer.run(path / "zero.sql", out=path / "golden")
    return path / "golden"


def test_a_value_that_its_type_cannot_hold_fails_with_its_position(
    spark: SparkSession, zero_date: Path
) -> None:
    error = r"zero/[0-2]@[0-9]: column 'd': '0000-00-00' is not a value of date32\[day\]"
    with pytest.raises(PySparkException, match=error):
        _changes(spark, zero_date).collect()


def test_a_value_that_its_type_cannot_hold_as_a_row(spark: SparkSession, zero_date: Path) -> None:
    rows = (
        _changes(spark, zero_date, **{"on-error": "rows"}).orderBy("id").select("id", "d", "_error").collect()
    )
    assert rows[1][:] == (2, date(2020, 1, 1), None)
    assert rows[0][:2] == (1, None)
    assert "'0000-00-00' is not a value of date32" in rows[0][2]


@pytest.fixture(scope="module")
def damaged(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose last message of a row is cut off. It has no hashes of files."""
    path = tmp_path_factory.mktemp("damaged")
    lines = (folder / "messages.jsonl").read_text().splitlines()
    row = next(number for number, line in enumerate(lines) if '"row"' in line)
    lines[row] = lines[row].replace('"value":"', '"value":"AAAA').replace('"value": "', '"value": "AAAA')
    (path / "messages.jsonl").write_text("\n".join(lines) + "\n")
    manifest = golden.manifest(folder)
    (path / "manifest.json").write_text(json.dumps({**manifest, "files": {}}))
    return path


def test_a_damaged_message_fails_with_its_position(spark: SparkSession, damaged: Path) -> None:
    for rows in ({"rows": "changes", "table": "test.a"}, {"rows": "events"}):
        with pytest.raises(PySparkException, match=r"typed/[0-2]@[0-9]+: OPEN-VALUE-[A-Z]+ at value byte"):
            spark.read.format("ticdc").options(**rows).load(str(damaged)).collect()


def test_a_damaged_message_as_a_row(spark: SparkSession, damaged: Path) -> None:
    damage = _changes(spark, damaged, **{"on-error": "rows"}).where("_error IS NOT NULL").collect()
    assert len(damage) == 1
    assert "OPEN-VALUE" in damage[0]["_error"]
    events = spark.read.format("ticdc").option("on-error", "rows").load(str(damaged))
    assert events.where("kind = 'error'").count() == 1


def test_a_table_that_no_message_has(spark: SparkSession, folder: Path) -> None:
    with pytest.raises(PySparkException, match=r"no message has a row of the table test.b \(did you mean"):
        spark.read.format("ticdc").options(rows="changes", table="test.b").load(str(folder))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"rows": "changes"}, "the option 'rows' requires the option 'table'"),
        ({"rows": "events", "table": "test.a"}, "the option 'table' has no effect with rows=events"),
        ({"rows": "messages", "duplicates": "drop"}, "the option 'duplicates' has no effect"),
        ({"rows": "ranges", "duplicates": "drop"}, "the option 'duplicates' has no effect"),
        ({"rows": "changes", "table": "a"}, "'a' is not a table"),
    ],
    ids=["no table", "a table for events", "duplicates of messages", "duplicates of ranges", "no schema"],
)
def test_options_without_effect(folder: Path, options: dict[str, str], error: str) -> None:
    with pytest.raises(ArgumentError) as refusal:
        DefaultSource(CaseInsensitiveDict({**options, "path": str(folder)})).schema()
    assert error in str(refusal.value)


def test_a_batch_query_has_no_ranges(folder: Path) -> None:
    source = DefaultSource(CaseInsensitiveDict({"path": str(folder), "rows": "ranges"}))
    with pytest.raises(ArgumentError, match="only a stream has rows=ranges"):
        source.reader(source.schema())
