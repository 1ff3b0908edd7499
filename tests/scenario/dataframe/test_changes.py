"""The change log of a typed DataFrame equals that of the SQL session for the same statements."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.table import PartitionInfo
from ticdc_producer.scenario.dataframe import changes, tables
from ticdc_producer.scenario.history import Change
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.spark.storage import CHANGE_LOG

_TYPES = """
CREATE TABLE every (
  id BIGINT UNSIGNED PRIMARY KEY, ti TINYINT(1), de DECIMAL(10,3), fl FLOAT, dd DOUBLE NOT NULL, ye YEAR,
  bi BIT(9), da DATE, dt DATETIME(3), ts TIMESTAMP NULL, tm TIME(1), ch CHAR(5), vc VARCHAR(9) DEFAULT 'none',
  bn BINARY(3), bl BLOB, en ENUM('x','y'), se SET('p','q'), js JSON
);
"""
_TYPES_SCHEMA = """
op string, txn int, ID decimal(20,0), ti boolean, de decimal(12,4), fl float, dd double, ye int, bi int,
da date, dt timestamp, ts timestamp, tm string, ch string, bn binary, bl binary, en string, se string,
js string
"""
_PEOPLE = "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(9) NOT NULL, note VARCHAR(9) DEFAULT 'new');"
_STEPS = "op string, txn int, place int, id int, name string, note string"


def as_rows(history: list[Change], offset: int) -> list[tuple[Any, ...]]:
    """The changes of a session as rows of the change log."""
    return [
        (
            change.commit_seq - offset, change.row_seq, change.table_version, change.table_id, change.row_key,
            change.row_id, int(change.op), *(None if image is None else list(image) for image in
            (change.before, change.after)), change.old_table_id, change.old_row_key, change.old_row_id,
        )
        for change in history
    ]  # fmt: skip


def collected(log: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in log.orderBy("commit_seq", "row_seq", "row_key").collect()]


def session_rows(ddl: str, dml: str) -> list[tuple[Any, ...]]:
    session = Session()
    session.run(ddl)
    offset = session.commits
    session.run(dml)
    return as_rows(session.history().changes, offset)


def test_every_type(spark: SparkSession) -> None:
    noon = datetime(2021, 12, 20, 12, 0, 0, 123_600, tzinfo=UTC)
    rows = [
        ("INSERT", 0, Decimal(2**63), True, Decimal("1.0005"), 0.1, 1e21, 2021, 257,
         date(2021, 2, 3), noon, noon, "-1:02:03.45", "ab  ", b"\xff", b"\0\1", "y", "q,p",
         '{"b":1,"a":[1.0]}'),
        ("U", 1, Decimal(2**63), False, Decimal("-1.0004"), None, -0.0, 0, 0,
         None, None, None, None, "", b"", b"", "x", "", "null"),
        ("d", 2, Decimal(2**63), *[None] * 16),
    ]  # fmt: skip
    dml = """
    INSERT INTO every (id,ti,de,fl,dd,ye,bi,da,dt,ts,tm,ch,bn,bl,en,se,js) VALUES
      (9223372036854775808, 1, 1.0005, 0.1, 1e21, 2021, 257, '2021-02-03', '2021-12-20 12:00:00.1236',
      '2021-12-20 12:00:00.1236', '-1:02:03.45', 'ab  ', x'ff', x'0001', 'y', 'q,p', '{"b":1,"a":[1.0]}');
    UPDATE every SET ti=0, de=-1.0004, fl=NULL, dd=0, ye=0, bi=0, da=NULL, dt=NULL, ts=NULL, tm=NULL,
      ch='', bn='', bl='', en='x', se='', js='null';
    DELETE FROM every;
    """
    log = changes(spark.createDataFrame(rows, _TYPES_SCHEMA), tables(_TYPES)["every"], op="op", order="txn")
    assert collected(log) == session_rows(_TYPES, dml)


@pytest.fixture
def steps(spark: SparkSession) -> DataFrame:
    rows = [
        ("insert", 0, 0, 1, "ann", "a"),
        ("c", 0, 1, 2, "bob", None),
        ("update", 1, 0, 1, "ann", "b"),
        ("u", 1, 1, 1, "anna", "b"),
        ("delete", 2, 0, 1, None, None),
        ("insert", 2, 1, 1, "new", "c"),
    ]
    return spark.createDataFrame(rows, _STEPS)


_STEPS_SQL = """
BEGIN; INSERT INTO people VALUES (1,'ann','a'); INSERT INTO people VALUES (2,'bob',NULL); COMMIT;
BEGIN; UPDATE people SET note='b' WHERE id=1; UPDATE people SET name='anna' WHERE id=1; COMMIT;
BEGIN; DELETE FROM people WHERE id=1; INSERT INTO people VALUES (1,'new','c'); COMMIT;
"""


def test_old_rows_are_the_result_of_the_previous_change(steps: DataFrame) -> None:
    log = changes(steps, tables(_PEOPLE)["people"], op="op", order=["txn", "place"])
    assert collected(log) == session_rows(_PEOPLE, _STEPS_SQL)
    assert [(field.name, field.dataType) for field in log.schema] == [
        (field.name, field.dataType) for field in CHANGE_LOG
    ]


def test_the_log_does_not_depend_on_the_partitions_of_the_input(steps: DataFrame) -> None:
    people = tables(_PEOPLE)["people"]
    logs = [
        collected(changes(spread, people, op="op", order=["txn", "place"]))
        for spread in (steps.coalesce(1), steps.repartition(7, "note"), steps.orderBy(F.desc("txn")))
    ]
    assert logs[0] == logs[1] == logs[2]


_WITH_OLD = _STEPS + ", old struct<NAME:string, id:int, note:string>"


def test_given_old_rows_and_a_key_that_changes(spark: SparkSession) -> None:
    rows = [
        ("insert", 0, 0, 1, "ann", "a", None),
        ("update", 1, 0, 5, "ann", "b", ("ann", 1, "a")),
        ("update", 2, 0, 5, "bob", "b", ("ann", 5, "b")),
        ("delete", 3, 0, 5, "bob", "b", None),
    ]
    dml = """
    INSERT INTO people VALUES (1,'ann','a'); UPDATE people SET id=5, note='b'; UPDATE people SET name='bob';
    DELETE FROM people;
    """
    df = spark.createDataFrame(rows, _WITH_OLD)
    log = changes(df, tables(_PEOPLE)["people"], op="op", order=["txn", "place"], before="old")
    expected = session_rows(_PEOPLE, dml)
    assert collected(log) == expected
    assert expected[1][-1] == 1  # the session also records the previous location of the row


def test_a_table_without_clustered_key_uses_its_handle_key(spark: SparkSession) -> None:
    table = tables("CREATE TABLE t (a INT, b VARCHAR(9) NOT NULL UNIQUE)")["t"]
    df = spark.createDataFrame([("i", 0, 1, "x"), ("u", 1, 2, "x ")], "op string, n int, a int, b string")
    first, second = collected(changes(df, table, op="op", order="n"))
    assert first[4] == second[4] == b"\x01x\0\0\0\0\0\0\0\xf8"
    assert first[5] == 0
    assert second[7] == [b"1", b"x"]


def test_missing_columns_get_their_default_and_order_may_be_a_column_of_the_table(
    spark: SparkSession,
) -> None:
    people = tables(_PEOPLE)["people"]
    df = spark.createDataFrame([(0, "a"), (1, "b")], "id int, name string")
    log = collected(changes(df, people, op=F.lit("insert"), order="id"))
    assert [row[8] for row in log] == [[b"0", b"a", b"new"], [b"1", b"b", b"new"]]


def test_the_operation_may_be_computed_from_a_column_that_is_not_the_tables(spark: SparkSession) -> None:
    df = spark.createDataFrame([(0, 0, "a", False)], "n int, id int, name string, gone boolean")
    people = tables(_PEOPLE)["people"]
    log = changes(df, people, op=F.when(F.col("gone"), "delete").otherwise("insert"), order="n")
    assert [row[6] for row in collected(log)] == [1]
    with pytest.raises(ScenarioError, match="no column 'gone'"):
        changes(df, people, op=F.lit("insert"), order="n")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("upsert", 0, 0, 1, "a", "")], "column 'op' must be insert, .* not 'upsert'"),
        pytest.param(
            [(None, 0, 0, 1, "a", "")], "column 'op' must be insert, .* not 'NULL'", marks=pytest.mark.slow
        ),
        ([("i", -1, 0, 1, "a", "")], "column 'txn' must be 0 or greater, not -1"),
        pytest.param(
            [("i", 0, None, 1, "a", "")],
            "column 'place' must be 0 or greater, not NULL",
            marks=pytest.mark.slow,
        ),
        ([("i", 0, 0, 1, None, "")], "Column 'name' cannot be null"),
        pytest.param([("i", 0, 0, None, "a", "")], "Column 'id' cannot be null", marks=pytest.mark.slow),
        pytest.param(
            [("u", 0, 0, 1, "a", "")], "no earlier change inserted, row '1'", marks=pytest.mark.slow
        ),
        (
            [("i", 0, 0, 1, "a", ""), ("d", 1, 0, 1, "a", ""), ("d", 2, 0, 1, "a", "")],
            "no earlier change inserted, row '1' .txn 2",
        ),
        ([("i", 0, 0, 1, "a", ""), ("i", 1, 0, 1, "a", "")], "insert of a row that exists, row '1'"),
        ([("i", 0, 0, 1, "a", ""), ("u", 0, 0, 1, "b", "")], "same position, those of row '1' .txn 0"),
        ([("i", 0, 0, 1, "0123456789", "")], "Data too long .* for column 'name': '0123456789'"),
    ],
)
def test_rows_that_stop_the_job(spark: SparkSession, rows: list[Any], message: str) -> None:
    df = spark.createDataFrame(rows, _STEPS)
    with pytest.raises(Exception, match=message):
        changes(df, tables(_PEOPLE)["people"], op="op", order=["txn", "place"]).collect()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("u", 0, 0, 1, "a", "", None), "'old' is NULL for the update of row '1'"),
        (("i", 0, 0, 1, "a", "", ("a", 1, "")), "'old' must be NULL for inserts and deletes.*row '1'"),
        (("u", 0, 0, 1, "a", "", (None, 1, "")), "Column 'name' cannot be null"),
    ],
)
def test_old_rows_that_stop_the_job(spark: SparkSession, row: Any, message: str) -> None:
    df = spark.createDataFrame([row], _WITH_OLD)
    with pytest.raises(Exception, match=message):
        changes(df, tables(_PEOPLE)["people"], op="op", order=["txn", "place"], before="old").collect()


_ORDERED = "op string, n int"


@pytest.mark.parametrize(
    ("ddl", "schema", "message"),
    [
        (_PEOPLE, f"{_ORDERED}, id int, nam string", r"no column 'nam'.*did you mean 'name'"),
        (_PEOPLE, f"{_ORDERED}, id int", "Field 'name' doesn't have a default value"),
        (_PEOPLE, f"{_ORDERED}, id string, name string", "column 'id' is int and cannot be made from string"),
        (_PEOPLE, "n int, id int, name string", "the DataFrame has no column 'op'"),
        (_PEOPLE, "op int, n int, id int, name string", "column 'op' must be text, not int"),
        (_PEOPLE, "op string, n string, id int, name string", "column 'n' must be an integer, not string"),
        (_PEOPLE, f"{_ORDERED}, id int, ID int, name string", "two columns for one: 'id' and 'ID'"),
        (
            "CREATE TABLE people (id INT AUTO_INCREMENT PRIMARY KEY)",
            _ORDERED,
            "'id' is AUTO_INCREMENT and missing",
        ),
        ("CREATE TABLE people (id INT)", f"{_ORDERED}, id int", "has no primary key"),
    ],
)
def test_frames_that_do_not_fit_are_refused_at_once(
    spark: SparkSession, ddl: str, schema: str, message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        changes(spark.createDataFrame([], schema), tables(ddl)["people"], op="op", order="n")


def test_generated_columns(spark: SparkSession) -> None:
    """A virtual column is in no image; a stored one must be a column of the DataFrame: it is not computed."""
    plain = tables("CREATE TABLE g (id INT PRIMARY KEY, v INT)")["g"]
    key, other = plain.columns
    virtual = replace(plain, columns=(key, replace(other, generated="virtual")))
    stored = replace(plain, columns=(key, replace(other, generated="stored")))
    narrow = spark.createDataFrame([("i", 0, 1)], f"{_ORDERED}, id int")
    wide = narrow.withColumn("v", F.lit(7))
    assert collected(changes(narrow, virtual, op="op", order="n"))[0][8] == [b"1"]
    assert collected(changes(wide, stored, op="op", order="n"))[0][8] == [b"1", b"7"]
    with pytest.raises(ScenarioError, match="'v' is virtual"):
        changes(wide, virtual, op="op", order="n")
    with pytest.raises(ScenarioError, match="'v' is generated and missing"):
        changes(narrow, stored, op="op", order="n")


def test_partitioned_tables_are_refused_by_name(spark: SparkSession) -> None:
    plain = tables("CREATE TABLE p (id INT PRIMARY KEY)")["p"]
    table = replace(plain, partitions=(PartitionInfo(id=1, name="p0"),))
    with pytest.raises(UnsupportedSQL, match=r"test\.p is partitioned"):
        changes(spark.createDataFrame([], f"{_ORDERED}, id int"), table, op="op", order="n")


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("old", "is not a column"),
        ("name", "is string and not a struct"),
        ("was", "only the rows have it: 'name'"),
    ],
)
def test_invalid_old_row_columns(spark: SparkSession, before: str, message: str) -> None:
    df = spark.createDataFrame([], f"{_ORDERED}, id int, name string, was struct<id:int>")
    frame = df if before == "was" else df.drop("was")
    with pytest.raises(ScenarioError, match=message):
        changes(frame, tables(_PEOPLE)["people"], op="op", order="n", before=before)


def test_the_previous_change_of_a_row_may_be_in_another_batch(spark: SparkSession) -> None:
    (table,) = tables(_PEOPLE).values()
    updates = [("U", txn, 0, 1, f"v{txn}", "x") for txn in range(1, 5)]
    rows = [("I", 0, 0, 1, "v0", "x"), *updates, ("D", 5, 0, 1, None, None)]
    df = spark.createDataFrame(rows, _STEPS).coalesce(1)
    batch_rows = "spark.sql.execution.arrow.maxRecordsPerBatch"
    usual = spark.conf.get(batch_rows)
    spark.conf.set(batch_rows, 1)
    try:
        log = collected(changes(df, table, op="op", order=("txn", "place")))
    finally:
        spark.conf.set(batch_rows, usual)
    dml = "; ".join(f"UPDATE people SET name='v{txn}' WHERE id=1" for txn in range(1, 5))
    expected = session_rows(
        _PEOPLE, f"INSERT INTO people VALUES (1,'v0','x'); {dml}; DELETE FROM people WHERE id=1"
    )
    assert log == expected
