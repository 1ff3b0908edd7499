"""Partitions of whole scenarios against what TiCDC's dispatchers computed, for every rule and count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from producer.dispatch import spark as rules
from producer.jobs.frames import change_log
from producer.jobs.prepare import Job, prepare
from producer.stream.commit import commit
from producer.stream.dispatch import dispatch
from producer.stream.facts import facts, with_facts
from producer.stream.mutations import mutations
from producer.stream.slots import Slots
from producer.stream.split import split
from tests.golden_events import GOLDEN, GoldenRow, load_events

FILES = sorted(path for part in ("visible", "fuzz") for path in (GOLDEN / part).glob("*.sql"))
Result: TypeAlias = dict[str, Any]
COUNTS = (1, 2, 3, 4, 7, 16)
STAGE = 7


def _job(path: Path, rules: dict[str, tuple[str, list[str]]]) -> Job:
    """A job with one dispatch rule per table: ``{table: (rule, arguments)}``."""
    entries = [_entry(table, rule, arguments) for table, (rule, arguments) in rules.items()]
    config = path.with_suffix(".toml")
    config.write_text("[sink]\ndispatchers = [" + ", ".join(entries) + "]\n")
    return prepare(path, config=config)


def _entry(table: str, rule: str, arguments: list[str]) -> str:
    partition, _, index = rule.partition(":")
    name = "columns" if partition.startswith("columns") else partition
    parameters: dict[str, object] = {"matcher": [table], "partition": name}
    if index:
        parameters["index"] = index
    if name == "columns":
        parameters["columns"] = arguments
    return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in parameters.items()) + "}"


def _golden(events: Path) -> dict[int, dict[str, Result]]:
    """Golden results by event number and rule."""
    path = events.with_name(events.name.replace(".events.", ".dispatch."))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {line.pop("seq"): line for line in lines}


def _rounds(rows: list[GoldenRow], golden: dict[int, dict[str, Result]]) -> list[dict[str, str]]:
    """Rules by table, one round after the other, until every rule of every table had its turn."""
    rules: dict[str, set[str]] = {}
    for row in rows:
        rules.setdefault(row.table.qualified_name, set()).update(golden[row.seq])
    ordered = {table: sorted(names) for table, names in rules.items()}
    most = max(map(len, ordered.values()))
    return [{table: names[n % len(names)] for table, names in ordered.items()} for n in range(most)]


def _placed(spark: SparkSession, job: Job) -> DataFrame:
    """What the dispatch stage takes; the same under every rule, so computed once."""
    known = facts(spark, job.stream.replicated, job.stream.routes)
    committed = commit(change_log(spark, job.history), job.stream.resolved.clock)
    return split(mutations(committed), known).localCheckpoint()


def _dispatched(placed: DataFrame, job: Job) -> DataFrame:
    """Row events in the order of the stream, with their partition under every count beside them."""
    known = facts(placed.sparkSession, job.stream.replicated, job.stream.routes)
    events = dispatch(placed, known, Slots(job.stream.slots.topics, STAGE))
    # The stage knows one count; what it computes for the others is the same expression.
    rule, ts = F.col("rule"), F.col("commit_ts")
    hashed = F.when(rule == "table", F.col("base_hash")).otherwise(F.col("dispatch_key").cast("long"))
    counts = [rules.partition(rule, hashed, ts, count).alias(f"of_{count}") for count in COUNTS]
    shown = ("commit_ts", "place", "partition", "dispatch_key", *counts)
    return with_facts(events, known, "rule", "base_hash").select(*shown).orderBy("commit_ts", "place")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_partition_and_key_under_every_rule_and_count(
    spark: SparkSession, tmp_path: Path, path: Path
) -> None:
    events = path.with_suffix(".events.jsonl")
    script = tmp_path / path.name
    script.write_bytes(path.read_bytes())
    rows = [event for event in load_events(events) if isinstance(event, GoldenRow)]
    golden = _golden(events)
    checked = 0
    placed = _placed(spark, prepare(script))
    for rules_of in _rounds(rows, golden):
        results = [golden[row.seq][rules_of[row.table.qualified_name]] for row in rows]
        arguments = {
            row.table.qualified_name: list(r["args"] or ()) for row, r in zip(rows, results, strict=True)
        }
        job = _job(script, {table: (rule, arguments[table]) for table, rule in rules_of.items()})
        events = _dispatched(placed, job).collect()
        assert [row["dispatch_key"] for row in events] == [r["key"] for r in results], rules_of
        assert [row["partition"] for row in events] == [r["partition"][str(STAGE)] for r in results]
        for count in COUNTS:
            assert [row[f"of_{count}"] for row in events] == [r["partition"][str(count)] for r in results]
            checked += len(results)
    assert checked >= sum(map(len, golden.values())) * len(COUNTS)
