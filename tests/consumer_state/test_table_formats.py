"""Tables of Delta, Iceberg, Hudi and Paimon, and Parquet with versions of rows, as a consumer's tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.consumer_state.folder import state_folder
from ticdc_producer import api
from ticdc_producer.errors import MissingPartError, StateError
from ticdc_producer.verifier.consumer_state.table_formats import is_table_format, table_source

SQL = """
CREATE TABLE shop.t (id INT PRIMARY KEY, name VARCHAR(9), price DECIMAL(9,2), made DATE, at DATETIME(6));
INSERT INTO shop.t VALUES (1, 'a', 1.5, '2021-12-20', '2021-12-20 13:30:49.5'), (2, NULL, NULL, NULL, NULL);
"""
ROWS: list[dict[str, Any]] = [
    {
        "id": 1, "name": "a", "price": Decimal("1.50"), "made": date(2021, 12, 20),
        "at": datetime(2021, 12, 20, 13, 30, 49, 500_000),
    },
    {"id": 2, "name": None, "price": None, "made": None, "at": None},
]  # fmt: skip
TYPES = pa.schema(
    [
        ("id", pa.int32()), ("name", pa.string()), ("price", pa.decimal128(9, 2)), ("made", pa.date32()),
        ("at", pa.timestamp("us")), ("ver", pa.int64()), ("gone", pa.bool_()),
    ]
)  # fmt: skip
Write = Callable[[Path, list[pa.Table]], str]
"""Writes each table as a version, and returns the newest version but one."""


def rows(*numbers: int, version: int = 1, gone: bool = False) -> pa.Table:
    values = [{**row, "ver": version, "gone": gone} for row in ROWS if row["id"] in numbers]
    return pa.Table.from_pylist(values, TYPES)


def write_delta(folder: Path, versions: list[pa.Table]) -> str:
    deltalake = pytest.importorskip("deltalake", reason="not run: the extra lake is not installed")
    for table in versions:
        deltalake.write_deltalake(folder, table, mode="append")
    return str(len(versions) - 2)


def write_iceberg(folder: Path, versions: list[pa.Table]) -> str:
    pytest.importorskip("pyiceberg", reason="not run: the extra lake is not installed")
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("test", warehouse=folder.parent.as_uri())
    catalog.create_namespace("ns")
    table = catalog.create_table("ns.t", schema=TYPES, location=folder.as_uri())
    for each in versions:
        table.append(each)
    newest = Path(table.metadata_location.removeprefix("file://"))
    (newest.parent / "version-hint.text").write_text(newest.name.removesuffix(".metadata.json"))
    return str(table.snapshots()[-2].snapshot_id)


def write_paimon(folder: Path, versions: list[pa.Table]) -> str:
    pytest.importorskip("pypaimon", reason="not run: the extra paimon is not installed")
    from pypaimon import CatalogFactory, Schema

    catalog = CatalogFactory.create({"warehouse": str(folder.parents[1])})
    catalog.create_database("shop", True)
    catalog.create_table("shop.t", Schema.from_pyarrow_schema(TYPES), False)
    for each in versions:
        builder = catalog.get_table("shop.t").new_batch_write_builder()
        write, commit = builder.new_write(), builder.new_commit()
        write.write_arrow(each)
        commit.commit(write.prepare_commit())
        write.close()
        commit.close()
    return str(len(versions) - 1)


FORMATS = {
    "delta": (write_delta, "versionAsOf"),
    "iceberg": (write_iceberg, "snapshot-id"),
    "paimon": (write_paimon, "scan.snapshot-id"),
}


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    (folder / "t.sql").write_text(SQL)
    return state_folder(folder / "golden", folder / "t.sql")


@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_is_compared_as_of_a_version(
    spark: SparkSession, golden: Path, tmp_path: Path, kind: str
) -> None:
    write, as_of = FORMATS[kind]
    folder = tmp_path / "shop.db" / "t"
    complete = write(folder, [rows(1), rows(2), rows(1)])
    location = f"{kind}:{tmp_path}/{{schema}}.db/{{table}}"
    ignored = {"ignore_columns": ["ver", "gone"]}
    assert api.verify_state(golden, f"{location}?{as_of}={complete}", **ignored).ok
    (table,) = api.verify_state(golden, location, **ignored).tables
    assert (table.actual_rows, table.extra, table.missing) == (3, 1, 0)
    (table,) = api.verify_state(golden, f"{location}?deleted=gone&{as_of}={complete}").tables
    assert (table.ok, table.extra_columns) == (False, ("ver",))


def test_deleted_rows_are_left_out(spark: SparkSession, golden: Path, tmp_path: Path) -> None:
    write_delta(tmp_path / "t", [rows(1, 2), rows(2, gone=True)])
    assert api.verify_state(golden, f"delta:{tmp_path}/t?deleted=gone", ignore_columns=["ver"]).ok
    assert not api.verify_state(golden, f"delta:{tmp_path}/t", ignore_columns=["ver", "gone"]).ok


def write_parquet(folder: Path, versions: list[pa.Table]) -> None:
    folder.mkdir()
    for number, table in enumerate(versions):
        pq.write_table(table, folder / f"part-{number}.parquet")


def test_the_newest_row_of_each_key_counts_in_parquet(
    spark: SparkSession, golden: Path, tmp_path: Path
) -> None:
    wrong = rows(1).set_column(1, "name", pa.array(["old"]))
    deleted_before = rows(2, version=5, gone=True)
    write_parquet(tmp_path / "t", [rows(1, version=3), wrong, rows(2, version=5), deleted_before])
    assert api.verify_state(golden, f"parquet:{tmp_path}/{{table}}?version=ver&deleted=gone").ok
    write_parquet(tmp_path / "u", [rows(1, 2), rows(2, version=2, gone=True)])
    (table,) = api.verify_state(golden, f"parquet:{tmp_path}/u?version=ver&deleted=gone").tables
    assert (table.missing, table.extra, table.different) == (1, 0, 0)


def test_a_table_that_does_not_exist_has_no_rows(spark: SparkSession, golden: Path, tmp_path: Path) -> None:
    (table,) = api.verify_state(golden, f"delta:{tmp_path}/{{schema}}/{{table}}").tables
    assert table.actual == ""


def no_spark() -> SparkSession:
    raise AssertionError("Spark is not needed")


@pytest.mark.parametrize(
    ("pattern", "tables", "words"),
    [
        ("delta:", 1, "not a pattern"),
        ("delta:/x?version=1", 1, "delta has no option 'version'"),
        ("iceberg:/x?versionAsOf=1", 1, "iceberg has no option 'versionAsOf'"),
        ("parquet:/x?versionAsOf=1", 1, "parquet has no option 'versionAsOf'"),
        ("hudi:/x?as.of.instant=", 1, "the option 'as.of.instant' is empty"),
        ("paimon:/x", 2, "this is one table, but 2 tables are to be compared"),
    ],
)
def test_wrong_patterns_are_rejected_before_spark_starts(pattern: str, tables: int, words: str) -> None:
    with pytest.raises(StateError, match=words):
        table_source(pattern, no_spark, tables=tables)


def test_a_folder_that_is_no_table(golden: Path, tmp_path: Path) -> None:
    with pytest.raises((StateError, MissingPartError), match=r"cannot open it|needs deltalake"):
        api.verify_state(golden, f"delta:{tmp_path}")


def test_what_is_no_table_format() -> None:
    assert not any(
        map(is_table_format, ("sqlite:///x", "spark:delta:/x", "delta", "/lake/delta:x", "a.parquet"))
    )
