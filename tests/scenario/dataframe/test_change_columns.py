"""The change log that tasks make of rows equals that of the SQL session for the same statements."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from tests.scenario.dataframe.test_changes import session_rows
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.shapes import CHANGE_LOG
from ticdc_producer.scenario.dataframe import tables
from ticdc_producer.scenario.dataframe.change_columns import changes_digest, partial_changes
from ticdc_producer.scenario.dataframe.change_form import ChangeForm
from ticdc_producer.scenario.dataframe.row_histories import OldRows, RowHistories

PEOPLE = "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(9) NOT NULL, note VARCHAR(9) DEFAULT 'new');"
ROWS = "op string, txn int, id int, name string, note string"
OLD = f"{ROWS}, before struct<id int, name string, note string>"
PAIRED = "_change_type string, _commit_version bigint, id int, name string, note string"


def form_of(schema: str, ddl: str = PEOPLE, **columns: Any) -> ChangeForm:
    (table,) = tables(ddl).values()
    return ChangeForm(
        table=table, schema=StructType.fromDDL(schema), **{"op": "op", "number": "txn", **columns}
    )


def paired_form() -> ChangeForm:
    return form_of(PAIRED, op="_change_type", number="_commit_version", paired=True)


def log_of(form: ChangeForm, *rows: tuple[Any, ...], old_rows: OldRows = "previous") -> list[tuple[Any, ...]]:
    """The complete changes of rows."""
    form.check()
    changes = partial_changes(form, batch(form, *rows))
    log = LocalEngine().of_batches([changes], CHANGE_LOG)
    complete = RowHistories(form.key, old_rows, form.number).complete(log).batches()
    by_time = pa.Table.from_batches(complete, CHANGE_LOG).sort_by(
        [("commit_seq", "ascending"), ("row_key", "ascending")]
    )
    return [tuple(row.values()) for row in by_time.to_pylist()]


def batch(form: ChangeForm, *rows: tuple[Any, ...]) -> pa.RecordBatch:
    schema = to_arrow_schema(form.schema, timezone="UTC")
    return pa.RecordBatch.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)


def test_without_old_rows_the_previous_change_has_them(spark: SparkSession) -> None:
    dml = """INSERT INTO people VALUES (1, 'a', NULL), (2, 'b', 'x'); UPDATE people SET note='y' WHERE id=1;
      DELETE FROM people WHERE id=2;"""
    rows = (
        ("d", 2, 2, None, None),
        ("update", 1, 1, "a", "y"),
        ("I", 0, 2, "b", "x"),
        ("insert", 0, 1, "a", None),
    )
    log = log_of(form_of(ROWS), *rows)
    assert [row[2:] for row in log] == [row[2:] for row in session_rows(PEOPLE, dml)]
    assert [row[0] for row in log] == [0, 0, 1, 2]


def test_given_old_rows(spark: SparkSession) -> None:
    dml = """INSERT INTO people VALUES (1, 'a', NULL); UPDATE people SET id=7 WHERE id=1;
      UPDATE people SET name='b' WHERE id=7; DELETE FROM people;"""
    rows = (
        ("insert", 0, 1, "a", None, None),
        ("update", 1, 7, "a", None, (1, "a", None)),
        ("update", 2, 7, "b", None, (7, "a", None)),
        ("delete", 3, 7, "b", None, None),
    )
    old = [(*row[:-1], row[-1] and dict(zip(("id", "name", "note"), row[-1], strict=True))) for row in rows]
    log = log_of(form_of(OLD, before="before"), *old, old_rows="given")
    assert log == session_rows(PEOPLE, dml)


def test_the_two_rows_of_an_update_become_one(spark: SparkSession) -> None:
    dml = """INSERT INTO people VALUES (1, 'a', NULL); UPDATE people SET name='b'; DELETE FROM people;"""
    rows = (
        ("update_postimage", 1, 1, "b", None),
        ("update_preimage", 1, 1, "a", None),
        ("insert", 0, 1, "a", None),
        ("delete", 2, 1, "b", None),
    )
    log = log_of(paired_form(), *rows, old_rows="preimages")
    assert [(*row[:1], *row[2:]) for row in log] == [
        (*row[:1], *row[2:]) for row in session_rows(PEOPLE, dml)
    ]


@pytest.mark.parametrize(
    "key",
    ["a BIGINT UNSIGNED, PRIMARY KEY (a)", "a VARCHAR(9), b INT, PRIMARY KEY (a(2), b) CLUSTERED",
     "a DECIMAL(9,2), b DATE, PRIMARY KEY (a, b) CLUSTERED"],
)  # fmt: skip
def test_keys_are_those_of_the_session(spark: SparkSession, key: str) -> None:
    ddl = f"CREATE TABLE t ({key})"
    columns = [column.strip().split()[:2] for column in key.partition("PRIMARY")[0].strip(", ").split(", ")]
    kinds = {"BIGINT": "decimal(20,0)", "VARCHAR(9)": "string", "INT": "int", "DATE": "date"}
    schema = ", ".join(f"{name} {kinds.get(kind, kind.lower())}" for name, kind in columns)
    values = {"BIGINT": Decimal(1 << 63), "VARCHAR(9)": "añb", "INT": -3, "DATE": date(2020, 2, 3)}
    row = [values.get(kind, Decimal("-1.50")) for _, kind in columns]
    literals = ", ".join(f"'{value}'" for value in row)
    log = log_of(form_of(f"op string, txn int, {schema}", ddl), ("insert", 0, *row))
    assert log == session_rows(ddl, f"INSERT INTO t VALUES ({literals})")


_WRONG: list[tuple[list[tuple[Any, ...]], str]] = [
    ([("insert", 0, 1, "a", None)] * 2, "two changes have the same position, those of row '1' .txn 0"),
    ([("insert", 0, 1, "a", None), ("insert", 1, 1, "a", None)], "insert of a row that exists, row '1'"),
    ([("update", 3, 5, "a", None)], "no earlier change inserted, row '5' .txn 3"),
    ([("delete", 3, 5, None, None)], "no earlier change inserted, row '5' .txn 3"),
    ([("insert", 0, 1, None, None)], "Column 'name' cannot be null"),
    ([("insert", 0, None, "a", None)], "Column 'id' cannot be null"),
    ([("upsert", 0, 1, "a", None)], "column 'op' must be insert, update or delete, not 'upsert'"),
    ([("insert", None, 1, "a", None)], "column 'txn' must be 0 or greater, not NULL"),
    ([("insert", 0, 1, "0123456789", None)], "Data too long .* for column 'name': '0123456789'"),
]


@pytest.mark.parametrize(("rows", "message"), _WRONG)
def test_wrong_rows_are_refused(spark: SparkSession, rows: list[tuple[Any, ...]], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        log_of(form_of(ROWS), *rows)


_WRONG_PAIRS: list[tuple[list[tuple[Any, ...]], str]] = [
    ([("update_postimage", 5, 1, "a", None)], "an update_postimage has no update_preimage, that of row '1'"),
    ([("update_preimage", 5, 1, "a", None)], "an update_preimage has no update_postimage, that of row '1'"),
    (
        [("update_preimage", 5, 1, "a", None), ("update_postimage", 6, 1, "a", None)],
        "an update_p.* that of row '1' ._commit_version",
    ),
    ([("update", 5, 1, "a", None)], "'_change_type' must be delete, update_preimage, .* not 'update'"),
]


@pytest.mark.parametrize(("rows", "message"), _WRONG_PAIRS)
def test_wrong_pairs_are_refused(spark: SparkSession, rows: list[tuple[Any, ...]], message: str) -> None:
    form = paired_form()
    with pytest.raises(ScenarioError, match=message):
        log_of(form, *rows, old_rows="preimages")


@pytest.mark.parametrize(
    ("schema", "columns", "message"),
    [
        (
            "op string, txn int, id string, name string",
            {},
            "column 'id' is int and cannot be made from string",
        ),
        ("op string, txn string, id int, name string", {}, "column 'txn' must be an integer, not string"),
        ("op int, txn int, id int, name string", {}, "column 'op' must be text, not int"),
        ("op string, txn int, id int", {}, "Field 'name' doesn't have a default value"),
        ("op string, txn int, id int, name string, other int", {}, "has no column 'other'"),
        (f"{ROWS}, before int", {"before": "before"}, "'before' is int and not a struct"),
        (f"{ROWS}, before struct<id int>", {"before": "before"}, "must have the same columns"),
    ],
)
def test_columns_that_do_not_fit_are_refused_at_once(
    spark: SparkSession, schema: str, columns: dict[str, str], message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        form_of(schema, **columns).check()


def test_the_digest_follows_from_the_rows_alone(spark: SparkSession) -> None:
    form = form_of(ROWS)
    rows = [("insert", n, n, "a", None if n % 2 else "") for n in range(9)]
    whole = changes_digest(partial_changes(form, batch(form, *rows)))
    parts = [partial_changes(form, batch(form, *part)) for part in (rows[5:], rows[:5][::-1])]
    assert sum(map(changes_digest, parts)) % (1 << 64) == whole
    changed = changes_digest(partial_changes(form, batch(form, *rows[:-1], ("insert", 8, 8, "a", None))))
    assert changed != whole
