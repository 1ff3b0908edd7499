"""Applies the changes of scenarios to tables of a format, in a process with a Spark of its own.

The recipes are blocks of docs/spark.md. A file of changes is a micro-batch. The rows are written as Parquet.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

POSITION = ("_partition", "_offset", "_index")
"""Columns that only the MERGE by arrival order reads: where an event is in the topic."""
OWN = ("_change_type", "_commit_version", "_commit_timestamp")
Table = Mapping[str, Any]


class Recipes:
    """The code of the page.

    :ivar names: what it defines, and what it uses.
    """

    def __init__(self, spark: SparkSession, code: str) -> None:
        self.spark = spark
        self.names: dict[str, Any] = {"spark": spark, "F": F}
        exec(code, self.names)

    def evaluate(self, code: str, words: Mapping[str, str], **values: object) -> Any:
        """Return the value of code, or run an SQL statement, after words of the page have been replaced."""
        code = re.sub(r"\b\w+\b", lambda word: words.get(word[0], word[0]), code)
        return self.spark.sql(code) if code.startswith("UPDATE") else eval(code, {**self.names, **values})

    def stream(self, table: Table) -> DataFrame:
        """Return the changes of a table, with the present names of its columns."""
        if table["scenario"]:
            options = {"scenario": table["scenario"], "rows": "changes", "table": table["name"]}
            return self.spark.readStream.format("ticdc").options(**options).load()
        schema = StructType.fromJson(json.loads(table["schema"]))
        reader = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", "1")
        return self._renamed(reader.parquet(table["changes"]), table)

    def batch(self, table: Table) -> DataFrame:
        """Return all changes of a table at once."""
        return self._renamed(self.spark.read.parquet(table["changes"]), table)

    def _renamed(self, changes: DataFrame, table: Table) -> DataFrame:
        for new, old in table["renamed"].items():
            changes = self.evaluate(table["rename"], {"new": new, "old": old}, changes=changes)
        return changes


def merge(recipes: Recipes, case: Mapping[str, Any], table_format: str, work: Path) -> None:
    """Merge micro-batches, run what the DDLs need, and merge all changes again."""
    spark = recipes.spark
    for table in case["tables"]:
        names = f"{', '.join(table['columns'])}, ticdc_version BIGINT, ticdc_deleted BOOLEAN"
        spark.sql(f"CREATE TABLE {table['target']} ({names}) USING {table_format}")
        _read(recipes.stream(table), _merge_into(recipes, table), work / "checkpoints" / table["target"])
        spark.sql(f"REFRESH TABLE {table['target']}")  # Iceberg caches tables: this session has an older one
    keys = {table["target"]: table["key"] for table in case["tables"]}
    for ddl in case["ddls"]:
        recipes.evaluate(ddl["code"], ddl["words"], key=keys[ddl["words"]["target"]])
    for folder in ("rows", "again"):
        for table in case["tables"]:
            rows = spark.table(table["target"]).where("NOT ticdc_deleted")
            rows.drop("ticdc_version", "ticdc_deleted").write.parquet(str(work / folder / table["target"]))
            if folder == "rows":
                _merge_into(recipes, table)(recipes.batch(table), 0)


def _merge_into(recipes: Recipes, table: Table) -> Callable[[DataFrame, int], None]:
    return recipes.evaluate("merge_into(target, *key)", {}, target=table["target"], key=table["key"])


def merge_by_arrival(recipes: Recipes, case: Mapping[str, Any], table_format: str, work: Path) -> None:
    """Merge micro-batches by their order alone, without commit-ts, and keep the rows after each of them."""
    spark = recipes.spark
    (work / "after").mkdir(exist_ok=True)
    for table in case["tables"]:
        spark.sql(f"CREATE TABLE {table['target']} ({', '.join(table['columns'])}) USING {table_format}")
        _read(recipes.stream(table), _last_wins(table, work), work / "checkpoints" / table["target"])
        spark.sql(f"REFRESH TABLE {table['target']}")
        spark.table(table["target"]).write.parquet(str(work / "rows" / table["target"]))


def _last_wins(table: Table, work: Path) -> Callable[[DataFrame, int], None]:
    target, names = table["target"], [column.split()[0] for column in table["columns"]]
    same_key = " AND ".join(f"t.`{name}` = s.`{name}`" for name in table["key"])
    values = ", ".join(f"s.{name}" for name in names)

    def merge(batch: DataFrame, number: int) -> None:
        last = Window.partitionBy(*table["key"]).orderBy(*(F.desc(name) for name in POSITION))
        changes = batch.where("_change_type <> 'update_preimage'").withColumn(
            "last", F.row_number().over(last)
        )
        changes.where("last = 1").createOrReplaceTempView("last_changes")
        spark = batch.sparkSession
        spark.sql(f"""
            MERGE INTO {target} AS t USING last_changes AS s ON {same_key}
            WHEN MATCHED AND s._change_type = 'delete' THEN DELETE
            WHEN MATCHED THEN UPDATE SET {", ".join(f"t.{name} = s.{name}" for name in names)}
            WHEN NOT MATCHED AND s._change_type <> 'delete' THEN INSERT ({", ".join(names)}) VALUES ({values})
        """)
        if statement := table["after"].get(str(number)):
            spark.sql(statement.format(target=target))
        rows = [row.asDict() for row in spark.table(target).collect()]
        with (work / "after" / f"{target}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows) + "\n")

    return merge


def _read(changes: DataFrame, merge: Callable[[DataFrame, int], None], checkpoint: Path) -> None:
    query = changes.writeStream.foreachBatch(merge).option("checkpointLocation", str(checkpoint))
    query.trigger(availableNow=True).start().awaitTermination()


def auto_cdc(spark: SparkSession, cases: list[Mapping[str, Any]], scd_type: int, work: Path) -> None:
    """Run a pipeline with a flow for each table. A case has the recipe that it uses."""
    from pyspark.pipelines import api
    from pyspark.pipelines.graph_element_registry import graph_element_registration_context
    from pyspark.pipelines.spark_connect_graph_element_registry import SparkConnectGraphElementRegistry
    from pyspark.pipelines.spark_connect_pipeline import (
        create_dataflow_graph,
        handle_pipeline_events,
        start_run,
    )

    spark.sql("CREATE NAMESPACE IF NOT EXISTS default")
    graph = create_dataflow_graph(spark, default_catalog=None, default_database="default", sql_conf={})
    with graph_element_registration_context(SparkConnectGraphElementRegistry(spark, graph)):
        for case in cases:
            recipes = Recipes(spark, case["recipe"])
            sources = corrected(recipes, case, recipes.stream)
            for table in case["tables"]:
                source = f"{table['target']}_changes"
                api.temporary_view(name=source)(lambda view=sources[table["target"]]: view)
                call = "auto_cdc(target, source, *key, scd_type=scd_type)"
                values = {"target": table["target"], "key": table["key"], "scd_type": scd_type}
                recipes.evaluate(call, {}, source=source, **values)
    storage = (work / "storage").as_uri()
    run = start_run(
        spark, graph, full_refresh=None, full_refresh_all=False, refresh=None, dry=False, storage=storage
    )
    handle_pipeline_events(run)
    for case in cases:
        for table in case["tables"]:
            rows = spark.table(table["target"])
            newest = rows.where("__END_AT IS NULL") if scd_type == 2 else rows
            if scd_type == 2:
                rows.write.parquet(str(work / "versions" / table["target"]))
            names = [column.split()[0] for column in table["columns"]]
            newest.select(*names).write.parquet(str(work / "rows" / table["target"]))


def corrected(
    recipes: Recipes, case: Mapping[str, Any], read: Callable[[Table], DataFrame]
) -> dict[str, DataFrame]:
    """Return the changes of each table, as the page corrects them for each DDL."""
    changes = {table["target"]: read(table).where(case["where"]) for table in case["tables"]}
    for ddl in case["ddls"]:
        target = ddl["words"]["target"]
        other = ddl["words"].get("other", target)
        changes |= {
            name: recipes.evaluate(ddl["code"], ddl["words"], changes=changes[name], others=changes[second])
            for name, second in ((target, other), (other, target))
        }
    return changes


def main(work: Path) -> None:
    """Apply the changes of the cases of ``plan.json``."""
    plan = json.loads((work / "plan.json").read_text("utf-8"))
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if plan["scd_type"] else builder.master("local[2]")
    for name, value in plan["session"].items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    if plan["scd_type"]:
        auto_cdc(spark, plan["cases"], plan["scd_type"], work)
    else:
        for case in plan["cases"]:
            fill = merge_by_arrival if case.get("by_arrival") else merge
            fill(Recipes(spark, case["recipe"]), case, plan["format"], work)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
