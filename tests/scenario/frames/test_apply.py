"""Rows of small DataFrames in the SQL session: their values, rows, ids and refusals."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from ticdc_producer import ProducerError, Scenario
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.frames.image_values import image_values
from ticdc_producer.scenario.frames.plain_table import plain_table
from ticdc_producer.scenario.history import History

CREATE = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20) UNIQUE, n INT NOT NULL DEFAULT 5)"


def history(scenario: Scenario, state_at: tuple[int, ...] = ()) -> History:
    return execute(scenario.load(), state_at=state_at)


def rows(scenario: Scenario, table: str = "t") -> list[tuple[bytes | None, ...]]:
    return [*history(scenario).state["test", table].rows]


def frame(*records: tuple[Any, ...], names: str = "x op id v") -> pa.Table:
    return pa.table(dict(zip(names.split(), map(list, zip(*records, strict=True)), strict=True)))


def changed(create: str, df: object, order: str = "x", **columns: Any) -> Scenario:
    return Scenario("s").sql(create).changes(df, table="t", order=order, **columns)


def test_rows_are_inserted_updated_and_deleted() -> None:
    df = frame((0, "insert", 1, "a"), (0, "i", 2, "b"), (2, "U", 1, "c"), (3, "delete", 2, None))
    executed = history(changed(CREATE, df))
    assert executed.state["test", "t"].rows == ((b"1", b"c", b"5"),)
    assert [change.commit_seq for change in executed.changes] == [1, 1, 3, 4]
    assert executed.commits == 5, "the gap in the order takes a time stamp"


def test_columns_that_an_update_does_not_have_keep_their_values() -> None:
    sql = f"{CREATE}; INSERT INTO t VALUES (1, 'a', 8)"
    assert rows(changed(sql, frame((0, "u", 1, "b")))) == [(b"1", b"b", b"8")]


def test_sql_and_ddl_before_and_after() -> None:
    df = frame((0, "i", 2, "b"))
    later = frame((0, "i", 3, "c", 9), (1, "d", 1, None, None), names="x op id v m")
    scenario = (
        Scenario("s")
        .sql(f"{CREATE}; INSERT INTO t VALUES (1, 'a', 1)")
        .changes(df, table="t", order="x")
        .sql("ALTER TABLE t ADD COLUMN m INT DEFAULT 3; UPDATE t SET v = 'z' WHERE id = 2")
        .changes(later, table="t", order="x")
    )
    assert rows(scenario) == [(b"2", b"z", b"5", b"3"), (b"3", b"c", b"5", b"9")]


EAST = dt.timezone(dt.timedelta(hours=2))
VALUES: list[tuple[str, Any, bytes | None]] = [
    ("DECIMAL(8,2)", "3.255", b"3.26"),
    ("DECIMAL(8,2)", Decimal("1.5"), b"1.50"),
    ("BIGINT UNSIGNED", (1 << 64) - 1, b"18446744073709551615"),
    ("TINYINT", True, b"1"),
    ("DOUBLE", 1.5, b"1.5"),
    ("BIT(4)", 5, b"5"),
    ("YEAR", 2024, b"2024"),
    ("DATE", dt.date(2024, 2, 29), b"2024-02-29"),
    ("DATETIME(3)", dt.datetime(2024, 1, 1, 1, 2, 3, 4567), b"2024-01-01 01:02:03.005"),
    ("DATETIME", dt.datetime(2024, 1, 1, 1, tzinfo=EAST), b"2024-01-01 01:00:00"),
    ("TIMESTAMP", dt.datetime(2024, 1, 1, 1, tzinfo=EAST), b"2023-12-31 23:00:00"),
    ("TIMESTAMP", dt.datetime(2024, 1, 1, 1), b"2024-01-01 01:00:00"),
    ("TIME", dt.time(1, 2, 3), b"01:02:03"),
    ("TIME", dt.timedelta(hours=-30), b"-30:00:00"),
    ("ENUM('a','b')", "b", b"2"),
    ("SET('a','b')", "b,a", b"3"),
    ("JSON", '{"b":1,"a":[1.0]}', b'{"a": [1.0], "b": 1}'),
    ("JSON", {"b": 1}, b'{"b": 1}'),
    ("VARBINARY(4)", b"\xff\x00", b"\xff\x00"),
    ("VARCHAR(9)", 5, b"5"),
    ("VARCHAR(9)", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("column", "value", "stored"), VALUES)
def test_values_are_converted_as_tidb_converts(column: str, value: Any, stored: bytes | None) -> None:
    kind = pa.uint64() if isinstance(value, int) and value > 1 << 62 else None
    df = pa.table({"x": [0], "op": ["i"], "id": [1], "v": pa.array([value], kind)})
    create = f"CREATE TABLE t (id INT PRIMARY KEY, v {column})"
    assert rows(changed(create, df)) == [(b"1", stored)]


def test_defaults_generated_columns_and_ids_are_those_of_sql() -> None:
    create = "CREATE TABLE t (a INT, id INT AUTO_INCREMENT PRIMARY KEY NONCLUSTERED, g INT AS (a * 2) STORED)"
    df = pa.table({"x": [0, 0, 1], "op": ["i", "i", "i"], "a": [4, 5, 6], "g": [8, None, 12]})
    with pytest.raises(ProducerError, match="generated column 'g' has the value '10', not NULL, in row 1"):
        rows(changed(create, df))
    given = changed(create, df.drop_columns("g"))
    sql = Scenario("s").sql(f"{create}; BEGIN; INSERT INTO t (a) VALUES (4); INSERT INTO t (a) VALUES (5); "
                            "COMMIT; INSERT INTO t (a) VALUES (6);")  # fmt: skip
    of_sql, of_rows = history(sql).changes, history(given).changes
    assert [(c.row_id, c.row_key, c.after) for c in of_rows] == [
        (c.row_id, c.row_key, c.after) for c in of_sql
    ]


@pytest.mark.parametrize(
    "partitions",
    [
        "HASH (id) PARTITIONS 3",
        "KEY (id) PARTITIONS 2",
        "RANGE (id) (PARTITION p VALUES LESS THAN (2), PARTITION q VALUES LESS THAN MAXVALUE)",
        "LIST (id) (PARTITION p VALUES IN (1,3), PARTITION q VALUES IN (2))",
    ],
)
def test_partitions_have_the_ids_that_sql_gives(partitions: str) -> None:
    create = f"CREATE TABLE t (id INT PRIMARY KEY, v INT) PARTITION BY {partitions}"
    df = pa.table({"x": [0, 1, 2], "op": ["i", "i", "u"], "id": [1, 2, 3], "v": [1, 2, 3],
                   "old": [None, None, {"id": 1, "v": 1}]})  # fmt: skip
    of_rows = history(changed(create, df, before="old")).changes
    statements = "INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (2, 2); UPDATE t SET id=3, v=3 WHERE id=1"
    of_sql = history(Scenario("s").sql(f"{create}; {statements}")).changes
    ids = [[(c.table_id, c.old_table_id, c.row_key) for c in changes] for changes in (of_rows, of_sql)]
    assert ids[0] == ids[1]


def test_states_are_those_of_every_commit() -> None:
    df = frame((0, "i", 1, "a"), (1, "u", 1, "b"), (2, "d", 1, None))
    scenario = (
        Scenario("s", clock={"start": 1 << 18, "every": "1ms"}).sql(CREATE).changes(df, table="t", order="x")
    )
    executed = history(scenario, tuple(n << 18 for n in (2, 3, 4)))
    states = [executed.state_at[commits]["test", "t"].rows for commits in (2, 3, 4)]
    assert states == [((b"1", b"a", b"5"),), ((b"1", b"b", b"5"),), ()]


def test_the_column_of_the_order_may_be_one_of_the_table() -> None:
    df = pa.table({"id": [0, 1], "op": ["i", "i"]})
    create = "CREATE TABLE t (id INT PRIMARY KEY, op VARCHAR(9))"
    assert rows(changed(create, df, order="id")) == [(b"0", b"i"), (b"1", b"i")]


def test_an_empty_frame_changes_nothing() -> None:
    df = frame((0, "i", 1, "a")).slice(0, 0)
    assert history(changed(CREATE, df)).commits == 1


def test_pandas_categories_and_missing_values() -> None:
    df = pd.DataFrame({"x": [0, 1], "op": pd.Categorical(["i", "i"]), "id": [1, 2], "v": [1.0, float("nan")]})
    assert rows(changed("CREATE TABLE t (id INT PRIMARY KEY, v INT)", df)) == [(b"1", b"1"), (b"2", None)]


def test_rows_are_found_by_any_key_and_collation() -> None:
    create = "CREATE TABLE t (id VARCHAR(9) COLLATE utf8mb4_general_ci NOT NULL, v INT, UNIQUE (id))"
    df = frame((0, "i", "Ab", 1), (1, "u", "aB", 2), (2, "d", "AB", None))
    assert rows(changed(create, df)) == []


@pytest.mark.parametrize("key", ["PRIMARY KEY", "PRIMARY KEY NONCLUSTERED"])
def test_two_changes_of_a_row_at_one_position_are_refused(key: str) -> None:
    """Without positions the rows of the frame are in order."""
    create = f"CREATE TABLE t (id INT {key}, v VARCHAR(9))"
    changes = frame((0, "i", 1, "a", 0), (0, "i", 2, "a", 0), (0, "d", 1, None, 0), (0, "i", 1, "b", 0),
                    names="x op id v y")  # fmt: skip
    assert sorted(rows(changed(create, changes.drop_columns("y")))) == [(b"1", b"b"), (b"2", b"a")]
    scenario = Scenario("s").sql(create).changes(changes, table="t", order=("x", "y"))
    with pytest.raises(ProducerError, match=r"row 0 changes the same row at the same position, 0, in row 2"):
        rows(scenario)


def test_the_former_key_of_a_row_has_its_position() -> None:
    df = pa.table({"x": [0, 1, 1], "y": [0, 1, 1], "op": ["i", "u", "i"], "id": [1, 2, 1],
                   "old": [None, {"id": 1}, None]})  # fmt: skip
    scenario = Scenario("s").sql("CREATE TABLE t (id INT PRIMARY KEY)")
    with pytest.raises(ProducerError, match="row 1 changes the same row at the same position, 1, in row 2"):
        rows(scenario.changes(df, table="t", order=("x", "y"), before="old"))


def test_rows_without_a_key_are_found_by_their_values() -> None:
    df = frame((0, "i", 1, None), (1, "i", 1, "a"), (2, "i", 1, "a"), (3, "d", 1, "a"), (4, "d", 1, None))
    assert rows(changed("CREATE TABLE t (id INT, v VARCHAR(9))", df)) == [(b"1", b"a")]


HISTORY = {
    "txn": [3, 7, 7, 8, 9],
    "statement": [CREATE, None, "INSERT INTO t VALUES (2, 'b', 2)", None, "ALTER TABLE t DROP COLUMN n"],
    "op": [None, "insert", None, "update", None],
    "table": [None, "t", None, "t", None],
}


@pytest.mark.parametrize(
    "images",
    [
        ([None, '{"id": 1, "v": "a"}'], [None, '{"id": 1, "v": "c"}']),
        ([None, {"id": 1, "v": "a"}], [None, {"id": 1, "v": "c"}]),
    ],
    ids=["json", "struct"],
)
def test_one_frame_is_a_whole_scenario(images: Any) -> None:
    (_, first), (_, last) = images
    df = pa.table(
        {**HISTORY, "before": [None, None, None, first, None], "after": [None, first, None, last, None]}
    )
    executed = history(Scenario.from_dataframe(df))
    assert executed.state["test", "t"].rows == ((b"1", b"c"), (b"2", b"b"))
    assert (executed.commits, len(executed.changes)) == (4, 3)


def test_maps_and_positions() -> None:
    kind = pa.map_(pa.string(), pa.string())
    after = pa.array([None, [("id", "1"), ("v", "b")], [("id", "1"), ("v", "a")]], kind)
    df = pa.table({"txn": [1, 2, 2], "seq": [0, 1, 0], "statement": [CREATE, None, None],
                   "op": [None, "u", "i"], "schema": [None, "test", None],
                   "table": [None, "t", "t"], "after": after})  # fmt: skip
    assert rows(Scenario.from_dataframe(df)) == [(b"1", b"b", b"5")]


def test_real_time_stamps() -> None:
    stamps = [450000000000000001, 450000000000000005, 450000000000000009]
    df = pd.DataFrame(
        {"commit_ts": stamps, "statement": [CREATE, "SET @a = 1", "INSERT INTO t VALUES (1, 'a', 1)"]}
    )
    executed = history(Scenario.from_dataframe(df))
    assert executed.pinned == {0: stamps[0], 1: stamps[2]}
    with pytest.raises(
        ProducerError, match=r"commit_ts 450000000000000001 must be greater.*in row 0: CREATE"
    ):
        history(Scenario("s").sql("CREATE TABLE u (a INT)", commit_ts=stamps[1]).changes(df))


REFUSED: list[tuple[dict[str, list[Any]], str]] = [
    ({"id": [1, 2], "v": ["a", "a"]},
     r"Duplicate entry 'a' for key 't.v': it is the key of \(id=1, v='a', n=5\) of row 0, in row 1: insert"),
    ({"id": [1, 2], "v": ["a", "a"]}, r"of row 0, in row 1: insert \(id=2, v='a'\)"),
    ({"id": [1, 1], "v": ["a", "b"]}, r"Duplicate entry '1' for key 't.PRIMARY': .* of row 0, in row 1"),
    ({"id": [7, 1], "v": ["a", "b"]}, r"Duplicate entry '7' .* of an earlier step, in row 0"),
    ({"id": ["1", "x"]}, r"Incorrect integer value for column 'id': 'x', in row 1: insert \(id='x'\)"),
    ({"id": [1, 2], "v": ["a", "a" * 21]}, r"Data too long .* for column 'v': 'a+', in row 1"),
    ({"id": [1, 2], "w": [1, 2]}, r"table test.t has no column 'w', in row 0"),
    ({"id": [1, 2], "n": [1, None]}, r"Column 'n' cannot be null, in row 1"),
    ({"id": [1.5, float("inf")]}, r"Out of range value for column 'id': 'inf', in row 1"),
    ({"op": ["i", "u"], "id": [1, 2]}, r"the update of a row that does not exist, in row 1: update \(id=2\)"),
    ({"op": ["i", "x"], "id": [1, 2]}, r"must be insert, update or delete, not 'x', in row 1"),
    ({"op": ["i", "d"], "v": ["a", "b"]}, r"doesn't have a default value, in row 0"),
    ({"x": [0, -1], "id": [1, 2]}, r"'x' counts transactions from 0 to 1999999999, and is -1, in row 1"),
    ({"x": [0, None], "id": [1, 2]}, r"'x' is NULL, in row 1"),
    ({"x": ["0", "1"], "id": [1, 2]}, r"order column 'x' must be an integer column"),
    ({"op": [1, 2], "id": [1, 2]}, r"the operation must be text"),
    ({"X": [1, 2], "id": [1, 2]}, r"column 'X' is not unique|column 'x' is not unique"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "message"), REFUSED)
def test_a_row_that_does_not_fit_is_refused_with_its_content(columns: Any, message: str) -> None:
    df = pa.table({"x": [0, 1], "op": ["i", "i"], **columns})
    with pytest.raises(ProducerError, match=message):
        rows(changed(f"{CREATE}; INSERT INTO t VALUES (7, 'g', 7)", df))


LAST_DAY = dt.date(9999, 12, 31)
FOREIGN_VALUES: list[tuple[str, pa.Array, str]] = [
    ("DATETIME", pa.array([0, 1 << 61], pa.timestamp("us")), "in row 1: date value out of range"),
    ("INT", pa.array([1 << 61, 0], pa.timestamp("s")), "a time is out of range"),
    ("DATE", pa.array([0, 1 << 30], pa.int32()).cast(pa.date32()), "column 'v' has a value .* in row 1"),
    ("DATETIME", pa.array([dt.datetime.combine(LAST_DAY, dt.time(23)), None], pa.timestamp("us", "+05:00")),
     "in row 0: date value out of range"),
    ("TIME", pa.array([None, 1 << 62], pa.duration("s")), "a time is out of range"),
    ("DATETIME", pa.array([1 << 60, None], pa.duration("us")), "Incorrect datetime value"),
    ("VARCHAR(9)", pa.array([0, 1], pa.timestamp("us", "Mars/Phobos")),
     "column 'v' has an unknown time zone: 'Mars/Phobos'"),
    ("VARCHAR(9)", pa.array([[0], None], pa.list_(pa.timestamp("us", "Mars/Phobos"))),
     "column 'v' has a value .* in row 0: 'Mars/Phobos'"),
    ("DECIMAL(8,2)", pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
     "A value of type MonthDayNano is not supported .*in row 0"),
    ("VARBINARY(16)", pa.array([b"1" * 16, None], pa.uuid()), "A value of type UUID is not supported"),
]  # fmt: skip
"""Values of Arrow that Python or TiDB does not have, and the error of a small DataFrame."""


@pytest.mark.parametrize(("column", "values", "message"), FOREIGN_VALUES)
def test_a_value_that_no_column_holds_is_refused(column: str, values: pa.Array, message: str) -> None:
    df = pa.table({"x": [0, 1], "op": ["i", "i"], "id": [1, 2], "v": values})
    with pytest.raises(ProducerError, match=message):
        rows(changed(f"CREATE TABLE t (id INT PRIMARY KEY, v {column})", df))


@pytest.mark.parametrize(("column", "values", "_"), FOREIGN_VALUES)
def test_images_with_a_value_that_no_column_holds_are_refused(column: str, values: pa.Array, _: str) -> None:
    """As the tasks read a large DataFrame."""
    (table,) = history(Scenario("s").sql(f"CREATE TABLE t (id INT PRIMARY KEY, v {column})")).catalog.tables
    with pytest.raises(ProducerError):
        image_values(table, plain_table(pa.table({"v": values})).to_struct_array().chunk(0), SQLMode())


_YEAR_0 = pa.array([-719_528 + 45, None], pa.int32()).cast(pa.date32())
_LAST_SECOND = pa.array([-62_135_596_800_400_000, 0], pa.int64()).cast(pa.timestamp("us"))
_OF_YEAR_0: list[tuple[str, pa.Array, list[bytes | None]]] = [
    ("DATE", _YEAR_0, [b"0000-02-15", None]),
    ("DATE", _YEAR_0.cast(pa.date64()), [b"0000-02-15", None]),
    ("DATE", _YEAR_0.cast(pa.timestamp("us")), [b"0000-02-15", None]),
    ("DATETIME", _YEAR_0, [b"0000-02-15 00:00:00", None]),
    ("DATETIME(1)", _LAST_SECOND, [b"0000-12-31 23:59:59.6", b"1970-01-01 00:00:00.0"]),
    ("DATETIME", _LAST_SECOND, [b"0001-01-01 00:00:00", b"1970-01-01 00:00:00"]),
    ("DATETIME(6)", _LAST_SECOND.cast(pa.timestamp("us", "+02:00")),
     [b"0001-01-01 01:59:59.600000", b"1970-01-01 02:00:00.000000"]),
    ("DATETIME(6)", _YEAR_0.cast(pa.timestamp("us", "-02:00")), [b"0000-02-14 22:00:00.000000", None]),
]  # fmt: skip
"""Dates that Python does not have and TiDB stores."""


@pytest.mark.parametrize(("column", "values", "stored"), _OF_YEAR_0)
def test_dates_of_the_year_0_are_stored_by_small_and_large_frames(
    column: str, values: pa.Array, stored: list[bytes | None]
) -> None:
    create = f"CREATE TABLE t (id INT PRIMARY KEY, v {column})"
    df = pa.table({"x": [0, 1], "op": ["i", "i"], "id": [1, 2], "v": values})
    assert rows(changed(create, df)) == [(b"1", stored[0]), (b"2", stored[1])]
    images = pa.table({"id": [1, 2], "v": values}).to_struct_array().combine_chunks()
    all_tables = pa.table({"txn": [0, 1], "table": ["t", "t"], "after": images})
    assert rows(Scenario("s").sql(create).changes(all_tables)) == rows(changed(create, df))
    (table,) = history(Scenario("s").sql(create)).catalog.tables
    assert image_values(table, images, SQLMode()).values[1].to_pylist() == stored


def test_a_timestamp_of_the_year_0_is_refused() -> None:
    df = pa.table({"x": [0, 1], "op": ["i", "i"], "id": [1, 2], "v": _LAST_SECOND})
    with pytest.raises(ProducerError, match=r"Incorrect timestamp value.*'0000-12-31 23:59:59\.6.*in row 0"):
        rows(changed("CREATE TABLE t (id INT PRIMARY KEY, v TIMESTAMP(1))", df))


def test_values_of_different_types_in_a_column_are_refused() -> None:
    with pytest.raises(ProducerError, match=r"Arrow cannot hold a column.*id"):
        changed(CREATE, pd.DataFrame({"x": [0, 1], "op": "i", "id": [1, "x"]}))


OF_ALL_TABLES: list[tuple[dict[str, Any], str]] = [
    ({"statement": ["INSERT INTO t VALUES (9)"]}, r"Column count .*, in row 0: INSERT INTO t VALUES \(9\)"),
    ({"statement": ["DELETE t FROM"]}, r"SQL does not parse.*, in row 0: DELETE t FROM"),
    ({"statement": [" "]}, "is not SQL text"),
    ({"statement": [None]}, "neither a statement nor a table, in row 0"),
    ({"table": ["t"]}, "neither before nor after"),
    ({"table": ["u"], "after": ['{"a": 1}']}, "Table 'test.u' doesn't exist, in row 0"),
    ({"table": ["t"], "op": ["delete"], "after": ['{"id": 7}']}, "'delete' has before alone"),
    ({"table": ["t"], "after": ["[1]"]}, "'after' is no JSON object"),
    ({"table": ["t"], "after": ["{"]}, "'after' is no JSON text"),
    ({"table": ["t"], "after": [5]}, "'after' is no JSON text"),
    ({"table": ["t"], "after": ["[" * 9000]}, "'after' is no JSON text"),
    ({"table": ["t"], "after": [["id", "v"]]}, "'after' is a struct, a map or a JSON text, not list"),
    ({"table": ["t"], "after": pa.array([[1, 2]], pa.list_(pa.int8(), 2))}, "not fixed_size_list"),
    ({"table": ["t"], "after": pa.array([[(1, 2)]], pa.map_(pa.int8(), pa.int8()))},
     "'after' is a struct, a map or a JSON text, not map<int8, int8>"),
    ({"table": ["t"], "after": pa.array([[("id", 1), ("id", 2)]], pa.map_(pa.string(), pa.int8()))},
     "'after' has two values of 'id', in row 0"),
    ({"table": ["t"], "after": [{"id": 1, "ID": 2}]}, "two columns for one: 'ID', in row 0"),
    ({"table": ["t"], "before": ['{"id": 7, "v": "h"}']},
     r"test.t holds \(id=7, v='g', n=7\) of an earlier step and not the row before, in row 0"),
    ({"statement": ["SET @a = 1"], "op": ["insert"]}, "either a statement or a row change"),
    ({"statment": ["x"]}, r"column 'statment' of the DataFrame is unknown \(did you mean 'statement'\?\)"),
    ({"commit_ts": [5], "statement": ["x"]}, "both txn and commit_ts"),
    ({"txn": [0, 0], "seq": [3, 3], "table": ["t", "t"], "before": [None, '{"id": 8}'],
      "after": ['{"id": 8}', None]},
     "row 0 changes the same row at the same position, 3, in row 1"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "message"), OF_ALL_TABLES)
def test_a_row_of_a_whole_scenario_is_refused_with_its_content(columns: Any, message: str) -> None:
    scenario = Scenario("s").sql(f"{CREATE}; INSERT INTO t VALUES (7, 'g', 7)")
    with pytest.raises(ProducerError, match=message):
        rows(scenario.changes(pa.table({"txn": [0], **columns})))


def test_ddl_in_a_transaction_is_refused() -> None:
    df = pa.table({"txn": [0, 0], "statement": [CREATE, "INSERT INTO t VALUES (1, 'a', 1)"]})
    with pytest.raises(ProducerError, match="CREATE is not allowed in a transaction step, in row 0"):
        rows(Scenario.from_dataframe(df))


def test_foreign_keys_are_not_checked_and_a_warning_names_them() -> None:
    create = (
        "CREATE TABLE p (id INT PRIMARY KEY);"
        "CREATE TABLE t (id INT PRIMARY KEY, v INT, FOREIGN KEY (v) REFERENCES p (id))"
    )
    warnings = history(changed(create, frame((0, "i", 1, 5)))).warnings
    assert warnings == (
        "s.to_yaml():6: the foreign keys of test.t are not checked for the rows of a DataFrame",
    )
    off = changed(f"{create}; SET foreign_key_checks = 0", frame((0, "i", 1, 5)))
    assert history(off).warnings == ()


def test_a_time_of_more_digits_is_refused() -> None:
    moment = pd.Series([pd.Timestamp("2024-01-01 00:00:00.123456789")])
    df = pd.DataFrame({"x": [0], "op": ["i"], "id": [1], "v": moment})
    with pytest.raises(ProducerError, match="more than 6 fractional digits"):
        rows(changed("CREATE TABLE t (id INT PRIMARY KEY, v DATETIME(6))", df))
