"""``df.write.format("ticdc")``: changes become the topics and folders that a run of them writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.types import DecimalType, IntegerType, LongType, StringType, StructField, StructType

import ticdc_producer
from pyspark_ticdc import DefaultSource
from tests.kafka_topic import read_topic
from ticdc_producer.config import resolve
from ticdc_producer.errors import ProducerError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.targets.kafka.topics import Topics

DDL = """CREATE DATABASE shop;
CREATE TABLE shop.items (id BIGINT PRIMARY KEY, price DECIMAL(8,2), name VARCHAR(9));"""
SQL = f"""{DDL}
BEGIN; INSERT INTO shop.items VALUES (1, 1.50, 'a'), (2, 2, NULL); COMMIT;
UPDATE shop.items SET price = 3.25 WHERE id = 1;
DELETE FROM shop.items WHERE id = 2;
"""
COLUMNS = StructType([
    StructField("txn", IntegerType()), StructField("op", StringType()), StructField("id", LongType()),
    StructField("price", DecimalType(8, 2)), StructField("name", StringType()),
])  # fmt: skip
ROWS = [
    (0, "insert", 1, "1.50", "a"),
    (0, "insert", 2, "2.00", None),
    (1, "update", 1, "3.25", "a"),
    (2, "delete", 2, None, None),
]
MESSAGE_PROTOCOLS = sorted({spec.name for spec in BUILT_IN.values() if spec.name != "csv"})
FAST = ("avro", "open-protocol")
"""One with a schema registry, and one without: the writer knows no other difference."""


@pytest.fixture(scope="module")
def changes(spark: SparkSession) -> DataFrame:
    frame = spark.createDataFrame(ROWS, "txn int, op string, id long, price string, name string")
    return frame.withColumn("price", F.col("price").cast("decimal(8,2)"))


def writer(frame: DataFrame, topic: str = "items", **options: str) -> DataFrameWriter:
    """A writer that appends; option names have underscores in place of hyphens."""
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return frame.write.format("ticdc").mode("append").options(**{"ddl": DDL, "topic": topic, **named})


def on(kafka: EmbeddedKafka, frame: DataFrame, topic: str, **options: str) -> DataFrameWriter:
    partitions = {"partition_num": "2", **options}
    return writer(frame, topic, **partitions).option("kafka.bootstrap.servers", kafka.bootstrap)


def ran(frame: DataFrame, sink_uri: str, out: Path | None = None) -> None:
    """Run the same changes with ``run_changes``."""
    tables = ticdc_producer.tables(DDL)
    log = ticdc_producer.changes(frame, tables["items"], op="op", order="txn")
    ticdc_producer.run_changes(log, tables, name="items", sink_uri=sink_uri, out=out)


def contents(folder: Path) -> dict[str, bytes]:
    """Messages, events and changefeed."""
    names = ("messages.jsonl", "events.jsonl", "changefeed.toml")
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.parametrize(
    "protocol",
    [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in MESSAGE_PROTOCOLS],
)
def test_a_folder_is_the_one_that_a_run_writes(changes: DataFrame, tmp_path: Path, protocol: str) -> None:
    writer(changes.repartition(3), protocol=protocol).save(str(tmp_path / "written"))
    ran(changes, f"kafka:///items?protocol={protocol}", tmp_path / "ran")
    assert contents(tmp_path / "written") == contents(tmp_path / "ran")


def test_a_topic_is_the_one_that_sql_fills(changes: DataFrame, kafka: EmbeddedKafka, tmp_path: Path) -> None:
    on(kafka, changes.repartition(4), "writes_of_a_frame").save()
    (tmp_path / "writes.sql").write_text(SQL)
    uri = f"kafka://{kafka.bootstrap}/writes_of_sql?partition-num=2"
    ticdc_producer.run(tmp_path / "writes.sql", sink_uri=uri)
    written = read_topic(kafka.bootstrap, "writes_of_a_frame")
    assert written == read_topic(kafka.bootstrap, "writes_of_sql")
    assert all(len(messages) > 5 for messages in written.values())


def test_a_topic_that_exists_keeps_its_partitions(changes: DataFrame, kafka: EmbeddedKafka) -> None:
    topic = "writes_of_four"
    changefeed = resolve(f"kafka://{kafka.bootstrap}/{topic}?partition-num=4")
    Topics(kafka.bootstrap).prepare(changefeed, [topic], append=False)
    writer(changes, topic).option("kafka.bootstrap.servers", kafka.bootstrap).save()
    written = read_topic(kafka.bootstrap, topic)
    assert len(written) == 4
    assert all(written.values())


def test_the_rows_of_updates_may_have_their_old_rows(changes: DataFrame, tmp_path: Path) -> None:
    """In a struct, and as Spark's change data capture has them."""
    old = F.struct("id", F.lit("1.50").cast("decimal(8,2)").alias("price"), "name")
    with_old = changes.withColumn("before", F.when(F.col("op") == "update", old))
    given = with_old.withColumn("price", F.when(F.col("op") == "delete", 2).otherwise(F.col("price")))
    writer(given).save(str(tmp_path / "given"))
    update = given.where("op = 'update'")
    pairs = given.where("op != 'update'").select(
        F.col("op").alias("_change_type"), "txn", "id", "price", "name"
    )
    for kind, row in (("update_preimage", "before"), ("update_postimage", "")):
        columns = [F.col(f"{row}.{name}" if row else name) for name in ("id", "price", "name")]
        pairs = pairs.union(update.select(F.lit(kind), "txn", *columns))
    writer(pairs.repartition(3)).save(str(tmp_path / "pairs"))
    writer(changes).save(str(tmp_path / "previous"))
    assert contents(tmp_path / "given") == contents(tmp_path / "previous")
    assert contents(tmp_path / "pairs") == contents(tmp_path / "previous")


def test_rows_may_have_their_commit_ts(spark: SparkSession, tmp_path: Path) -> None:
    start = 429918007904436226
    rows = [("insert", start + 9, 2), ("insert", start + 70_000_000_000, 1), ("insert", start + 5, 3)]
    frame = spark.createDataFrame(rows, "op string, commit_ts long, id long")
    writer(frame, partition_num="1", start=str(start)).save(str(tmp_path / "out"))
    events = [*ticdc_producer.decode(folder=tmp_path / "out")]
    rows = [(event["commit_ts"] - start, event["after"]["id"]) for event in events if event["kind"] == "row"]
    assert rows == [(5, b"3"), (9, b"2"), (70_000_000_000, b"1")]
    assert events[-1]["kind"] == "resolved"
    assert events[-1]["commit_ts"] == start + 70_000_000_000
    with pytest.raises(
        PySparkException, match=f"commit-ts {start + 1} is not above {start + 1}, the commit-ts of the"
    ):
        writer(frame.withColumn("commit_ts", F.lit(start + 1)), start=str(start)).save(
            str(tmp_path / "early")
        )


def test_what_is_written_is_appended_once(
    spark: SparkSession, changes: DataFrame, kafka: EmbeddedKafka
) -> None:
    topic, uri = "writes_appended", f"kafka://{kafka.bootstrap}/writes_appended?protocol=open-protocol"
    on(kafka, changes, topic).save()
    before = read_topic(kafka.bootstrap, topic)
    with pytest.raises(
        PySparkException, match=r"commit-ts .* is not above .*, up to which the topic is resolved"
    ):
        on(kafka, changes, topic).save()
    with pytest.raises(PySparkException, match="the topic already holds messages"):
        on(kafka, changes, topic, protocol="canal-json").save()
    assert read_topic(kafka.bootstrap, topic) == before
    later = spark.createDataFrame([(3, "insert", 3)], "txn int, op string, id long")
    on(kafka, later, topic).save()
    after = read_topic(kafka.bootstrap, topic)
    assert {partition: messages[: len(before[partition])] for partition, messages in after.items()} == before
    assert ticdc_producer.verify(sink_uri=uri).ok
    on(kafka, changes, topic).mode("overwrite").save()
    assert read_topic(kafka.bootstrap, topic) == before


def test_a_folder_is_replaced_on_request_only(changes: DataFrame, tmp_path: Path) -> None:
    writer(changes).save(str(tmp_path / "out"))
    written = contents(tmp_path / "out")
    with pytest.raises(PySparkException, match="the folder already exists"):
        writer(changes.limit(0)).save(str(tmp_path / "out"))
    assert contents(tmp_path / "out") == written
    writer(changes.limit(0)).mode("overwrite").save(str(tmp_path / "out"))
    assert {event["kind"] for event in ticdc_producer.decode(folder=tmp_path / "out")} == {"ddl", "resolved"}


def test_a_value_that_does_not_fit_leaves_nothing(changes: DataFrame, tmp_path: Path) -> None:
    wrong = changes.withColumn("name", F.lit("0123456789"))
    with pytest.raises(PySparkException, match=r"Data too long .* for column 'name': '0123456789'"):
        writer(wrong, staging=str(tmp_path / "staging")).save(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert not [*(tmp_path / "staging").rglob("*.arrow")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ddl": "USE test;"}, "the option 'ddl' has 0 tables"),
        ({"table": "shop.itmes"}, "Unknown table 'shop.itmes'.*shop.items"),
        ({"op": "operation"}, "table shop.items has no column 'op'"),
        ({"position": "nr"}, "the rows have no column 'nr'"),
        ({"rows": "events"}, "the format ticdc has no option 'rows'"),
        ({"sink_uri": "kafka://h:1/t"}, "give exactly one target"),
        ({"ddl_file": "tables.sql"}, "give the table's definition"),
        ({"partition_num": "no"}, "partition-num"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, options: dict[str, str], message: str) -> None:
    """Spark calls the source in a process of its own, which the next test shows, and passes the error on."""
    named = {name.replace("_", "-"): value for name, value in options.items()}
    given = {"ddl": DDL, "topic": "items", "path": str(tmp_path / "out"), **named}
    with pytest.raises(ProducerError, match=message):
        DefaultSource(CaseInsensitiveDict(given)).writer(COLUMNS, overwrite=False)


def test_a_password_is_no_part_of_a_uri(changes: DataFrame) -> None:
    uri = "kafka://localhost:1/t?sasl-mechanism=PLAIN&sasl-user=me&sasl-password=secret-word"
    plain = changes.write.format("ticdc").mode("append").options(ddl=DDL, **{"sink-uri": uri})
    with pytest.raises(PySparkException, match=r"use the option kafka.sasl.password") as caught:
        plain.save()
    assert "secret-word" not in str(caught.value)
