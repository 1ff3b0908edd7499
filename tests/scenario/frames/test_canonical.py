"""Frames with canonical values: rows, texts of DDLs and resolved events that an upstream has sent already."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from ticdc_producer import ProducerError, Scenario
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.frames.frame_rows import FrameColumnNames
from ticdc_producer.scenario.frames.image_values import canonical_values, image_values
from ticdc_producer.scenario.history import History
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulated_topic
from ticdc_producer.targets.decode import event_decoder

IMAGE = pa.map_(pa.string(), pa.binary())
TYPES = {
    "commit_ts": pa.int64(), "seq": pa.int64(), "statement": pa.string(), "op": pa.string(),
    "schema": pa.string(), "table": pa.string(), "before": IMAGE, "after": IMAGE, "row_id": pa.int64(),
    "resolved": pa.int64(), "origin": pa.string(),
}  # fmt: skip
TS = 429918007904436226
CREATE = {"statement": "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))", "schema": "test"}


def frame(*rows: dict[str, Any]) -> pa.Table:
    """Rows with the given columns; each has a commit-ts of its own unless it names one."""
    numbered = [{"commit_ts": TS + number, "seq": number, **row} for number, row in enumerate(rows)]
    names = [name for name in TYPES if any(name in row for row in numbered)]
    return pa.table({name: pa.array([row.get(name) for row in numbered], TYPES[name]) for name in names})


def scenario(*rows: dict[str, Any], **settings: Any) -> Scenario:
    return Scenario("s", **settings).changes(frame(*rows), canonical=True)


def history(*rows: dict[str, Any]) -> History:
    return execute(scenario(*rows).load())


def insert(after: dict[str, bytes | None], table: str = "t", **others: Any) -> dict[str, Any]:
    return {"table": table, "after": [*after.items()], **others}


def update(before: dict[str, bytes | None], after: dict[str, bytes | None], **others: Any) -> dict[str, Any]:
    return {"table": "t", "before": [*before.items()], "after": [*after.items()], **others}


VALUES = [
    ("ENUM('1','2')", b"2"), ("SET('a','b')", b"3"), ("BIT(9)", b"257"), ("YEAR", b"1999"),
    ("BIGINT UNSIGNED", b"18446744073709551615"), ("DOUBLE", b"0.1"), ("DECIMAL(8,2)", b"-1.50"),
    ("DATE", b"0000-00-00"), ("DATETIME(3)", b"0000-00-00 00:00:00.000"), ("TIME(1)", b"-838:59:59.0"),
    ("JSON", b'{"a": [1.0], "b": "x"}'), ("VARBINARY(4)", b"\xff\x00"), ("VARCHAR(9)", b"\xff"),
    ("CHAR(3)", b"a "), ("VECTOR", b"[1,2]"), ("TIMESTAMP", b"0000-00-00 00:00:00"), ("INT", None),
]  # fmt: skip


@pytest.mark.parametrize(("column", "value"), VALUES)
def test_values_are_stored_as_they_are(column: str, value: bytes | None) -> None:
    create = {"statement": f"CREATE TABLE t (id INT PRIMARY KEY, v {column})", "schema": "test"}
    executed = execute(
        Scenario("s")
        .sql("SET sql_mode = ''")
        .changes(frame(create, insert({"id": b"1", "v": value})), canonical=True)
        .load()
    )
    assert [change.after for change in executed.changes] == [(b"1", value)]


def test_a_timestamp_is_in_the_time_zone_of_the_session() -> None:
    create = {"statement": "CREATE TABLE t (id INT PRIMARY KEY, v TIMESTAMP)", "schema": "test"}
    row = insert({"id": b"1", "v": b"2024-01-01 08:00:00"})
    executed = execute(scenario(create, row, session={"time-zone": "Asia/Shanghai"}).load())
    assert executed.changes[0].after == (b"1", b"2024-01-01 00:00:00")


@pytest.mark.parametrize(
    ("column", "value", "what"),
    [
        ("INT", b"x", "This is not a value of type int for column 'v': 'x'"),
        ("TINYINT", b"300", "not a value of type tinyint"),
        ("ENUM('a')", b"2", "not a value of type enum"),
        ("DATE", b"2024-13-01", "not a value of type date"),
        ("INT NOT NULL", None, "Column 'v' cannot be null"),
    ],
)
def test_a_value_that_contradicts_its_column_is_refused(column: str, value: bytes | None, what: str) -> None:
    create = {"statement": f"CREATE TABLE t (id INT PRIMARY KEY, v {column})", "schema": "test"}
    with pytest.raises(ProducerError) as caught:
        history(create, insert({"id": b"1", "v": value}, origin="topic/0@7"))
    assert what in str(caught.value)
    assert "in row 1 (topic/0@7)" in str(caught.value)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (insert({"id": b"1"}), "the row has no value of column 'v'"),
        (insert({"id": b"1", "v": b"a", "w": b"b"}), "table test.t has no column 'w'"),
        (update({"id": b"1", "v": b"a"}, {"id": b"1", "v": b"b"}), "the update of a row that does not exist"),
        (insert({"id": b"1", "v": b"a"}, table="u"), "Table 'test.u' doesn't exist"),
    ],
)
def test_rows_that_contradict_the_history_are_refused(row: dict[str, Any], what: str) -> None:
    with pytest.raises(ProducerError, match=what):
        history(CREATE, row)


def test_virtual_columns_are_computed_and_stored_ones_are_given() -> None:
    create = {
        "statement": "CREATE TABLE t (id INT PRIMARY KEY, g INT AS (id * 2) STORED, w INT AS (id + 1))",
        "schema": "test",
    }
    executed = history(create, insert({"id": b"1", "g": b"9"}))
    assert executed.state["test", "t"].rows == ((b"1", b"9"),)


def test_an_old_image_counts_where_the_row_differs() -> None:
    before, after = {"id": b"1", "v": b"unseen"}, {"id": b"1", "v": b"b"}
    executed = history(CREATE, insert({"id": b"1", "v": b"a"}), update(before, after))
    assert executed.changes[1].before == (b"1", b"unseen")
    assert executed.state["test", "t"].rows == ((b"1", b"b"),)


def test_an_old_image_may_have_the_changed_columns_alone() -> None:
    executed = history(CREATE, insert({"id": b"1", "v": b"a"}), update({"v": b"a"}, {"id": b"1", "v": b"b"}))
    assert (executed.changes[1].before, executed.changes[1].after) == ((b"1", b"a"), (b"1", b"b"))


def test_zeros_at_the_end_of_a_fraction_are_added() -> None:
    create = {
        "statement": "CREATE TABLE t (id INT PRIMARY KEY, v DECIMAL(8,2), w DATETIME(3))",
        "schema": "test",
    }
    executed = history(create, insert({"id": b"1", "v": b"1.5", "w": b"2024-01-01 00:00:00"}))
    assert executed.changes[0].after == (b"1", b"1.50", b"2024-01-01 00:00:00.000")


def test_an_old_image_that_is_not_given_is_the_stored_row() -> None:
    changed = {"op": "update", "table": "t", "after": [("id", b"1"), ("v", b"b")]}
    executed = history(CREATE, insert({"id": b"1", "v": b"a"}), changed)
    assert executed.changes[1].before == (b"1", b"a")


NONCLUSTERED = {
    "statement": "CREATE TABLE t (id INT PRIMARY KEY NONCLUSTERED, v INT)",
    "schema": "test",
}


def test_row_ids_are_given_or_follow_from_the_deletes_of_the_transaction() -> None:
    first = insert({"id": b"1", "v": b"1"}, row_id=7)
    delete = {"table": "t", "before": [("id", b"1"), ("v", b"1")], "commit_ts": TS + 9}
    again = insert({"id": b"2", "v": b"1"}, commit_ts=TS + 9)
    executed = history(NONCLUSTERED, first, delete, again, insert({"id": b"3", "v": b"1"}, commit_ts=TS + 20))
    assert [change.row_id for change in executed.changes] == [7, 7, 7, 8]


def test_a_row_that_replaces_another_with_its_key_has_an_id_of_its_own() -> None:
    first = insert({"id": b"1", "v": b"1"}, row_id=7)
    delete = {"table": "t", "before": [("id", b"1"), ("v", b"1")], "commit_ts": TS + 9}
    executed = history(NONCLUSTERED, first, delete, insert({"id": b"1", "v": b"2"}, commit_ts=TS + 9))
    assert [change.row_id for change in executed.changes] == [7, 7, 8]


def sent(
    scenario: Scenario, sink_uri: str = "kafka:///t?protocol=open-protocol&partition-num=1"
) -> list[Any]:
    """The events of a scenario, decoded."""
    job = prepare(scenario, sink_uri=sink_uri)
    batches = simulated_topic(job).messages.to_batches()
    decode = event_decoder(job.changefeed.protocol, job.changefeed.codec_options())
    return [row for batch in decode(iter(batches)) for row in batch.to_pylist()]


def test_ddls_have_the_text_that_was_sent() -> None:
    text = "create   TABLE `x` (`id` INT primary key)"
    rename = "RENAME TABLE `shop`.`x` TO `shop`.`y`"
    built = scenario(
        {"statement": "CREATE DATABASE `shop`"},
        {"statement": text, "schema": "shop"},
        {"statement": text.replace("x", "z"), "schema": "shop"},
        {"statement": rename, "schema": "shop", "commit_ts": TS + 9},
        {"statement": rename.replace("x", "z").replace("`y`", "`x`"), "schema": "shop", "commit_ts": TS + 9},
    )
    ddls = [(row["commit_ts"] - TS, row["query"]) for row in sent(built) if row["kind"] == "ddl"]
    assert ddls == [
        (0, "CREATE DATABASE `shop`"), (1, text), (2, text.replace("x", "z")), (9, rename),
        (9, "RENAME TABLE `shop`.`z` TO `shop`.`x`"),
    ]  # fmt: skip


def test_several_ddls_of_one_commit_are_renames() -> None:
    with pytest.raises(ProducerError, match="2 DDLs have one commit-ts, and only RENAME TABLE can"):
        history(CREATE, {**CREATE, "commit_ts": TS})


def test_a_database_exists_that_no_statement_created() -> None:
    executed = history({"statement": "CREATE TABLE t (id INT PRIMARY KEY)", "schema": "shop"})
    assert [(table.schema, table.name) for table in executed.catalog.tables] == [("shop", "t")]


def test_resolved_events_come_where_they_came() -> None:
    rows = [CREATE, {"resolved": TS, "commit_ts": TS}, insert({"id": b"1", "v": b"a"}, commit_ts=TS + 5)]
    rows += [{"resolved": TS + 2, "commit_ts": TS + 5}, insert({"id": b"2", "v": b"a"}, commit_ts=TS + 6)]
    events = sent(scenario(*rows, resolved={"after": "never"}))
    assert [(row["kind"], row["commit_ts"] - TS) for row in events] == [
        ("ddl", 0), ("resolved", 0), ("row", 5), ("resolved", 2), ("row", 6),
    ]  # fmt: skip


def test_a_resolved_ts_has_to_be_one() -> None:
    with pytest.raises(ProducerError, match="0 is no resolved-ts"):
        history(CREATE, {"resolved": 0})


def test_row_ids_require_canonical_values() -> None:
    df = frame(CREATE, insert({"id": b"1", "v": b"a"}, row_id=1))
    with pytest.raises(ProducerError, match="a column row_id requires canonical values"):
        execute(Scenario.from_dataframe(df).load())


def test_canonical_values_require_a_frame_of_all_tables() -> None:
    built = Scenario("s").changes(frame(CREATE), table="t", order="seq", canonical=True)
    with pytest.raises(ProducerError, match="canonical requires a frame of several tables"):
        built.load()


@pytest.mark.parametrize("name", ["resolved", "row_id"])
def test_a_large_frame_has_no_columns_of_small_ones(name: str) -> None:
    with pytest.raises(ProducerError, match=f"100,000 rows cannot have a column '{name}'"):
        FrameColumnNames.of(["txn", name])


def test_images_that_are_all_null_have_any_type() -> None:
    """Spark reads a column of NULLs in a Parquet file as INT."""
    (table,) = history(CREATE).catalog.tables
    assert image_values(table, pa.nulls(2, pa.int32()), SQLMode()).values == {}
    with pytest.raises(ProducerError, match="not int32"):
        image_values(table, pa.array([1, None], pa.int32()), SQLMode())


@pytest.mark.parametrize("value", ["1", 1, {"a": b"1"}])
def test_values_that_are_not_bytes_are_refused_in_tasks_too(value: object) -> None:
    (table,) = history(CREATE).catalog.tables
    with pytest.raises(ProducerError, match="the value of column 'id' is not bytes"):
        canonical_values(table, pa.array([{"id": value}]), SQLMode())
    with pytest.raises(ProducerError, match="the value of column 'id' is not bytes"):
        canonical_values(table, pa.array(['{"id": 1}']), SQLMode())
