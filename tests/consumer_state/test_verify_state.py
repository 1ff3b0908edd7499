"""``verify state``: the tables that a consumer wrote, compared with those of a golden folder."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from jsonschema import ValidationError
from junitparser import JUnitXml
from pyspark.sql import SparkSession

from tests.consumer_state.filled import ITEMS, SIDE_ROWS, STOCK, sqlite_row, write_files
from tests.consumer_state.folder import state_folder
from tests.published_form import check, schema
from ticdc_producer import api
from ticdc_producer.cli import main
from ticdc_producer.reports.text import state_lines
from ticdc_producer.targets.golden.write import write_manifest
from ticdc_producer.verifier.consumer_state.canonical_value import UNREADABLE
from ticdc_producer.verifier.consumer_state.outcome import RowDifference, StateOutcome, TableOutcome

SCHEMA = schema("state.schema.json")


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return state_folder(tmp_path_factory.mktemp("state") / "shop")


def sqlite_file(path: Path) -> Path:
    with sqlite3.connect(path) as database:
        columns = ", ".join(f"{name} NUMERIC" if name == "price" else name for name in ITEMS[0])
        database.execute(f"CREATE TABLE items ({columns}, PRIMARY KEY (id))")
        database.execute("CREATE TABLE goods (PLACE TEXT, item INTEGER, pieces INTEGER, seen_at TEXT)")
        database.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
        marks = ", ".join("?" * len(ITEMS[0]))
        database.executemany(f"INSERT INTO items VALUES ({marks})", map(sqlite_row, ITEMS))
        database.executemany("INSERT INTO goods VALUES (?, ?, ?, 'now')", STOCK)
        database.executemany("INSERT INTO notes VALUES (?)", [(number,) for number, _ in SIDE_ROWS])
    return path


def test_files_of_three_formats_hold_the_state(spark: SparkSession, golden: Path, tmp_path: Path) -> None:
    outcome = api.verify_state(golden, write_files(tmp_path / "filled"))
    assert outcome.ok, "\n".join(state_lines(outcome))
    assert {table.table: table.actual_rows for table in outcome.tables} == {
        "shop.items": 3, "shop.stock": 4, "shop.notes": 5,
    }  # fmt: skip


def test_a_wrong_database_is_reported_row_by_row(
    spark: SparkSession, golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sqlite_file(tmp_path / "filled.db")
    with sqlite3.connect(path) as database:
        database.execute("UPDATE items SET price = 1.25, name = NULL, made = 'soon' WHERE id = 1")
        database.execute("DELETE FROM items WHERE id = 2")
        database.execute("INSERT INTO items (id, name) VALUES (10, 'new'), (9, 'old')")
        database.execute("UPDATE goods SET pieces = 8 WHERE place = 'north' AND item = 2")
        database.execute("INSERT INTO goods VALUES ('south', 1, 9, 'again')")
    junit = tmp_path / "state.xml"
    options = ["--expected", str(golden), "--actual", f"sqlite:///{path}", "--map", "shop.stock=goods"]
    code = main(
        ["verify", "state", *options, "--ignore-column", "seen_at", "--json", "--junit-xml", str(junit)]
    )
    assert code == 1
    report = json.loads(capsys.readouterr().out)
    check(report, SCHEMA)
    items, notes, stock = report["tables"]
    assert not report["ok"]
    assert [items[name] for name in ("missing", "extra", "different")] == [1, 2, 1]
    assert [(example["kind"], example["key"]["id"]) for example in items["examples"]] == [
        ("different", "1"), ("extra", "9"), ("extra", "10"), ("missing", "2"),
    ]  # fmt: skip
    assert items["examples"][0]["expected"] == {"name": "lamp", "price": "1.50", "made": "2021-12-20"}
    assert items["examples"][0]["actual"] == {"name": None, "price": "1.25", "made": "soon"}
    assert (notes["missing_columns"], notes["different"], notes["missing"]) == (["note"], 0, 0)
    assert (stock["extra_columns"], stock["actual"]) == ([], "goods")
    assert [(example["kind"], example["key"]) for example in stock["examples"]] == [
        ("different", {"place": "north", "item": "2"}), ("extra", {"place": "south", "item": "1"}),
    ]  # fmt: skip
    cases = {case.name: bool(case.result) for suite in JUnitXml.fromfile(str(junit)) for case in suite}
    assert cases == dict.fromkeys(("state:shop.items", "state:shop.notes", "state:shop.stock"), True)


def test_a_missing_table_is_a_difference(
    spark: SparkSession, golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sqlite_file(tmp_path / "filled.db")
    tables = ["--table", "shop.st*", "--table", "shop.items"]
    assert main(["verify", "state", "--expected", str(golden), "--actual", f"sqlite:///{path}", *tables]) == 1
    output = capsys.readouterr().out.splitlines()
    assert output == [
        "ok     shop.items  3 rows expected, 3 found in items",
        "error  shop.stock  there is no such table (a map SCHEMA.TABLE=NAME names it)",
        "VIOLATED: 1 of 2 tables differs",
    ]


def test_different_values_match_the_published_schema() -> None:
    values = {
        "text": b"a",
        "nothing": None,
        "bytes": b"\xff",
        "odd": UNREADABLE + b"soon",
        "worse": UNREADABLE + b"\xff",
    }
    row = RowDifference(kind="different", key={"id": b"\xff"}, expected=values, actual=values)
    table = TableOutcome(table="shop.items", actual="items", different=1, examples=(row,))
    outcome = StateOutcome(source="x", at=1, protocol="craft", tables=(table,), ignored=("seen_at",))
    printed = json.loads(json.dumps(outcome.to_json()))
    check(printed, SCHEMA)
    assert printed["tables"][0]["examples"][0]["actual"] == {
        "text": "a", "nothing": None, "bytes": {"b64": "/w=="},
        "odd": {"unreadable": "soon"}, "worse": {"unreadable": {"b64": "/w=="}},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("part", "wrong"),
    [("ok", "yes"), ("at", "now"), ("tables", [{}]), ("ignored", None)],
)
def test_other_json_does_not_match_the_published_schema(part: str, wrong: object) -> None:
    right = StateOutcome(source="x", at=None, protocol="craft", tables=()).to_json()
    check(right, SCHEMA)
    with pytest.raises(ValidationError):
        check(right | {part: wrong}, SCHEMA)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pattern", "frames"])
def test_tables_that_spark_reads(spark: SparkSession, golden: Path, tmp_path: Path, kind: str) -> None:
    frames = {
        "shop.items": spark.read.parquet(str(write_files(tmp_path / "filled") / "shop.items.parquet")),
        "shop.stock": spark.createDataFrame(STOCK[:-1], "place string, item int, pieces bigint"),
        "shop.notes": spark.createDataFrame(SIDE_ROWS, "id int, note string"),
    }
    for name, frame in frames.items():
        frame.write.orc(str(tmp_path / "lake" / name.replace(".", "/")))
    pattern = f"spark:orc:{tmp_path}/lake/{{schema}}/{{table}}"
    outcome = api.verify_state(golden, frames if kind == "frames" else pattern)
    assert {table.table: table.missing for table in outcome.tables if not table.ok} == {"shop.stock": 1}


@pytest.mark.slow
def test_many_rows_are_compared_by_the_same_plan(spark: SparkSession, golden: Path, tmp_path: Path) -> None:
    """200,000 rows, of which one is changed and one is missing; the folder's file is replaced."""
    stock = golden / "state" / "shop.stock.jsonl"
    many = tmp_path / "many"
    shutil.copytree(golden, many)
    lines = [f'{{"place": "p{n % 7}", "item": "{n}", "pieces": "{n}"}}\n' for n in range(200_000)]
    (many / "state" / stock.name).write_text("".join(lines), "utf-8")
    manifest = json.loads((many / "manifest.json").read_text("utf-8"))
    (many / "manifest.json").unlink()
    write_manifest(many, manifest)
    path = tmp_path / "many.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE stock (place TEXT, item INTEGER, pieces INTEGER)")
        rows = ((f"p{n % 7}", n, n + (n == 5)) for n in range(200_000) if n != 77_777)
        database.executemany("INSERT INTO stock VALUES (?, ?, ?)", rows)
    (table,) = api.verify_state(many, f"sqlite:///{path}", tables=["shop.stock"]).tables
    assert (table.expected_rows, table.actual_rows) == (200_000, 199_999)
    assert [(example.kind, example.key["item"]) for example in table.examples] == [
        ("different", b"5"),
        ("missing", b"77777"),
    ]
