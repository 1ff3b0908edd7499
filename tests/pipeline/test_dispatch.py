"""Partitions of whole scenarios against what TiCDC's dispatchers computed, for every rule and count."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.golden_events import GOLDEN, load_rows
from ticdc_producer.config import resolve
from ticdc_producer.dispatch import spark as rules
from ticdc_producer.dispatch.rules import Route, Router
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.commit import commit
from ticdc_producer.pipeline.dispatch import dispatch
from ticdc_producer.pipeline.go_sort_order import go_sort_order
from ticdc_producer.pipeline.mutations import mutations
from ticdc_producer.pipeline.split import split
from ticdc_producer.pipeline.table_metadata import join_table_metadata, table_metadata
from ticdc_producer.pipeline.topic_partitions import TopicPartitions
from ticdc_producer.runs.change_log import change_log
from ticdc_producer.runs.prepare import Job, prepare

TOPIC = "scenario"
FILES = sorted(path for part in ("visible", "fuzz") for path in (GOLDEN / part).glob("*.sql"))
Result: TypeAlias = dict[str, Any]
Rule: TypeAlias = tuple[str, tuple[str, ...]]
COUNTS = (1, 2, 3, 4, 7, 16)
STAGE = 7


def golden_dispatch(path: Path) -> dict[int, dict[str, Result]]:
    """Golden results by event number and rule; not those where TiCDC's dispatcher failed."""
    lines = [json.loads(line) for line in path.with_suffix(".dispatch.jsonl").read_text().splitlines()]
    return {
        line.pop("seq"): {rule: result for rule, result in line.items() if "key" in result} for line in lines
    }


def _takes_another_column(table: TableInfo, rule: Rule) -> bool:
    """Whether TiCDC's dispatcher looks up another column than the rule names: a bug of its own.

    It counts virtual columns where its row has none. Rules that name columns or an index are concerned.
    """
    name, arguments = rule
    named = {table.columns[o].name for i in table.indexes if i.name in arguments for o in i.offsets}
    wanted = set(arguments) if name.startswith("columns") else named
    virtual = [offset for offset, column in enumerate(table.columns) if column.generated == "virtual"]
    return any(
        column.name in wanted and any(v < offset for v in virtual)
        for offset, column in enumerate(table.columns)
    )


def comparable_rules(
    tables: Sequence[TableInfo], versions: list[int], results: list[dict[str, Result]]
) -> dict[int, set[Rule]]:
    """The rules that hold for all rows of a table version.

    :param versions: the index in ``tables`` of each row; ``results`` the golden ones of the row by rule.
    """
    rules: dict[int, set[Rule]] = {}
    for version, result in zip(versions, results, strict=True):
        given = {(rule, tuple(one["args"] or ())) for rule, one in result.items()}
        given = {rule for rule in given if not _takes_another_column(tables[version], rule)}
        rules.setdefault(version, given).intersection_update(given)
    return rules


def _rounds(
    tables: Sequence[TableInfo], versions: list[int], results: list[dict[str, Result]]
) -> list[dict[int, Rule]]:
    """Rules by table version, one round after the other, until every rule of every version had its turn."""
    rules = comparable_rules(tables, versions, results)
    ordered = {version: sorted(given) for version, given in rules.items()}
    most = max(map(len, ordered.values()))
    return [{version: given[n % len(given)] for version, given in ordered.items()} for n in range(most)]


def _routes(job: Job, rules_of: dict[int, Rule]) -> dict[int, Route]:
    return {table.version: _route(table, rules_of.get(table.version)) for table in job.stream.replicated}


def _route(table: TableInfo, rule: Rule | None) -> Route:
    name, arguments = rule or ("table", ())
    partition, _, index = name.partition(":")
    dispatcher: dict[str, object] = {"matcher": ["*.*"], "partition": partition}
    if index:
        dispatcher["index"] = index
    if partition.startswith("columns"):
        dispatcher |= {"partition": "columns", "columns": list(arguments)}
    return Router(resolve(None, {"sink": {"dispatchers": [dispatcher]}})).route(table)


def _with_order_key(spark: SparkSession, job: Job) -> DataFrame:
    """What the dispatch stage takes; the same under every rule, so computed once."""
    known = table_metadata(spark, job.stream.replicated, job.stream.routes)
    committed = commit(change_log(spark, job.history).changes, job.stream.resolved.clock)
    return go_sort_order(split(mutations(committed), known), job.stream.large_transactions).localCheckpoint()


def _dispatched(changes: DataFrame, job: Job, routes: dict[int, Route]) -> DataFrame:
    """Row events in the order of the stream, with their partition under every count beside them."""
    known = table_metadata(changes.sparkSession, job.stream.replicated, routes)
    events = dispatch(changes, known, TopicPartitions(job.stream.topic_partitions.topics, STAGE))
    # The stage knows one count; what it computes for the others is the same expression.
    rule, ts = F.col("rule"), F.col("commit_ts")
    hashed = F.when(rule == "table", F.col("base_hash")).otherwise(F.col("dispatch_key").cast("long"))
    counts = [rules.partition(rule, hashed, ts, count).alias(f"of_{count}") for count in COUNTS]
    columns = ("commit_ts", "txn_order_key", "partition", "dispatch_key", *counts)
    return (
        join_table_metadata(events, known.rows, "rule", "base_hash")
        .select(*columns)
        .orderBy("commit_ts", "txn_order_key")
    )


FEW = {"keys", "partition", "nokey_force", "generated_defaults", "fuzz02", "fuzz04"}
"""Keys of every kind, partitions, no key, virtual columns, NULLs, odd names."""


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in FEW else pytest.mark.slow, id=path.stem) for path in FILES],
)
def test_partition_and_key_under_every_rule_and_count(
    spark: SparkSession, tmp_path: Path, path: Path
) -> None:
    config = tmp_path / "changefeed.toml"
    config.write_text(f"force-replicate = {str('-- oracle: force' in path.read_text()).lower()}\n")
    job = prepare(path, sink_uri=f"kafka:///{TOPIC}?protocol=open-protocol", config=config)
    changes = _with_order_key(spark, job)
    known = table_metadata(spark, job.stream.replicated, job.stream.routes)
    in_order = join_table_metadata(changes, known.rows, "rule").orderBy("commit_ts", "txn_order_key")
    versions = [row["table_version"] for row in in_order.select("table_version").collect()]
    golden = golden_dispatch(path)
    results = [golden[event.seq] for event in load_rows(path.with_suffix(".events.jsonl"))]
    for rules_of in _rounds(job.history.catalog.tables, versions, results):
        wanted = [result[rules_of[v][0]] for v, result in zip(versions, results, strict=True)]
        events = _dispatched(changes, job, _routes(job, rules_of)).collect()
        assert [row["dispatch_key"] for row in events] == [one["key"] for one in wanted], rules_of
        assert [row["partition"] for row in events] == [one["partition"][str(STAGE)] for one in wanted]
        for count in COUNTS:
            assert [row[f"of_{count}"] for row in events] == [one["partition"][str(count)] for one in wanted]
