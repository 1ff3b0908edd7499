"""Changes that lie in files of the user's, as steps of a scenario."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from ticdc_producer.cli import main
from ticdc_producer.errors import ProducerError, ScenarioError

ORDER_TYPES = "n INT, m INT, op STRING, id INT, item BIGINT"
CSV = f"""\
format: csv
      path: orders.csv
      schema: {ORDER_TYPES}
      options: {{header: 'true'}}"""
SCENARIO = f"""\
version: 1
changefeed: {{sink-uri: "kafka:///shop?protocol=open-protocol&partition-num=2"}}
steps:
  - sql: |
      CREATE DATABASE shop;
      CREATE TABLE shop.items (id BIGINT PRIMARY KEY, price DECIMAL(8,2));
      CREATE TABLE shop.orders (id INT PRIMARY KEY, item BIGINT);
  - data:
      table: shop.items
      format: parquet
      path: items.parquet
      transactions: 4
      order: n
      before: old
  - data:
      table: shop.orders
      {CSV}
      transactions: 2
      order: [n, m]
"""
ITEMS = [
    (0, "insert", 1, "1.50", None),
    (0, "insert", 2, "2.00", None),
    (1, "update", 1, "3.25", (1, "1.50")),
    (2, "update", 7, "2.00", (2, "2.00")),
    (3, "delete", 1, "3.25", None),
]
ORDERS = "n,m,op,id,item\n0,0,i,1,7\n0,1,i,2,7\n1,0,u,2,1\n"


@pytest.fixture(scope="module")
def items(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The changes of items as Parquet files, which tests only read."""
    types = "n int, op string, id long, price string, old struct<id:long,price:string>"
    price, old = "cast(price as decimal(8,2)) price", "struct(old.id, cast(old.price as decimal(8,2)) price)"
    changes = spark.createDataFrame(ITEMS, types)
    typed = changes.selectExpr("n", "op", "id", price, f"if(old is null, null, {old}) old")
    folder = tmp_path_factory.mktemp("items") / "items.parquet"
    typed.write.parquet(str(folder))
    return folder


@pytest.fixture
def scenario(items: Path, tmp_path: Path) -> Path:
    (tmp_path / "items.parquet").symlink_to(items)
    (tmp_path / "orders.csv").write_text(ORDERS)
    path = tmp_path / "shop.yaml"
    path.write_text(SCENARIO)
    return path


def test_parquet_and_csv_run_and_verify(spark: SparkSession, scenario: Path, tmp_path: Path) -> None:
    report = ticdc_producer.run(scenario, out=tmp_path / "out")
    assert report.verdict is not None
    assert report.verdict.ok, report.verdict.to_json()
    assert report.counts.by_kind()["row"]["events"] == 5 + 1 + 3  # the update of a key is two events
    state = tmp_path / "out" / "state"
    items, orders = (
        [json.loads(line) for line in (state / f"shop.{name}.jsonl").read_text().splitlines()]
        for name in ("items", "orders")
    )
    assert items == [{"id": "7", "price": "2.00"}]
    assert orders == [{"id": "1", "item": "7"}, {"id": "2", "item": "1"}]


@pytest.mark.parametrize(
    ("was", "instead", "line", "what"),
    [
        ("items.parquet", "nowhere.parquet", 8, "Spark cannot read the data of shop.items"),
        ("n INT, m INT, op STRING, id INT", "n INT, m INT, op STRING, id STRING", 15, "cannot be made from"),
        ("table: shop.items", "table: shop.things", 8, "shop.things"),
        ("order: n", "orders: n", 13, "orders"),
        ("      path: items.parquet\n", "", 8, "write path, or options"),
    ],
)
def test_what_does_not_fit_names_its_line(
    spark: SparkSession, scenario: Path, was: str, instead: str, line: int, what: str
) -> None:
    scenario.write_text(SCENARIO.replace(was, instead, 1))
    with pytest.raises(ProducerError) as caught:
        ticdc_producer.run(scenario, dry_run=True)
    assert what in str(caught.value)
    assert f"shop.yaml:{line}" in str(caught.value)


def test_a_transaction_beyond_those_announced_stops_the_run(
    spark: SparkSession, scenario: Path, tmp_path: Path
) -> None:
    scenario.write_text(SCENARIO.replace("transactions: 4", "transactions: 3"))
    with pytest.raises(ScenarioError, match="not below 3"):
        ticdc_producer.run(scenario, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "where", [["--dry-run"], pytest.param(["--only", "messages", "--out", "out"], marks=pytest.mark.slow)]
)
def test_a_value_that_its_column_does_not_take_is_bad_input(
    spark: SparkSession,
    scenario: Path,
    where: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(scenario.parent)
    (scenario.parent / "orders.csv").write_text(ORDERS.replace("0,0,i,1,7", "0,0,i,,7"))
    assert main(["run", str(scenario), *where]) == 2
    assert "shop.yaml:15: Column 'id' cannot be null" in capsys.readouterr().err
    assert sorted(path.name for path in scenario.parent.iterdir()) == [
        "items.parquet",
        "orders.csv",
        "shop.yaml",
    ]


def test_errors_of_rows_name_the_step(spark: SparkSession, scenario: Path) -> None:
    """Two changes of a row at one position, with and without a column of old rows."""
    orders = scenario.parent / "orders.csv"
    orders.write_text(ORDERS + "1,0,d,2,1\n")
    with pytest.raises(ScenarioError, match=r"shop\.yaml:15: two changes have the same position"):
        ticdc_producer.run(scenario, dry_run=True)
    orders.write_text(ORDERS)
    items = scenario.parent / "items.parquet"
    rows = spark.read.parquet(str(items))
    rows.union(rows.where("op = 'delete'")).write.parquet(str(scenario.parent / "twice.parquet"))
    scenario.write_text(SCENARIO.replace("items.parquet", "twice.parquet"))
    two = r"shop\.yaml:8: two changes of the row \(1, 3\.25\) have the same position"
    with pytest.raises(ScenarioError, match=two):
        ticdc_producer.run(scenario, dry_run=True)


def _as_json(spark: SparkSession, folder: Path) -> str:
    orders = spark.read.csv(str(folder / "orders.csv"), header=True, schema=ORDER_TYPES)
    orders.write.json(str(folder / "orders"))
    return f"format: json\n      path: orders\n      schema: {ORDER_TYPES}"


def _as_table(spark: SparkSession, folder: Path) -> str:
    """A table of Derby, which comes with Spark."""
    orders = spark.read.csv(str(folder / "orders.csv"), header=True, schema=ORDER_TYPES)
    url = f"jdbc:derby:memory:{folder.name};create=true"
    orders.write.jdbc(url, "orders")
    return f"format: jdbc\n      options: {{url: '{url}', dbtable: orders}}"


@pytest.mark.slow  # fast: test_parquet_and_csv_run_and_verify
@pytest.mark.parametrize("save", [_as_json, _as_table])
def test_json_and_databases_likewise(
    spark: SparkSession, scenario: Path, save: Callable[[SparkSession, Path], str]
) -> None:
    whole = ticdc_producer.run(scenario, dry_run=True)
    source = save(spark, scenario.parent)
    scenario.write_text(SCENARIO.replace(CSV, source))
    assert source in scenario.read_text()
    assert ticdc_producer.run(scenario, dry_run=True).counts == whole.counts
