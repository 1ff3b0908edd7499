"""Measures the table of docs/spark.md on legal traps in tables that MERGE fills.

``python -m tests.peers.lake_traps`` writes ``lake_traps.json``, which ``tests.docs.generated_tables`` reads.
It runs a history with each trap alone, and one without a trap. Two consumers fill tables of Delta and of
Iceberg: the recipe of the page, and a MERGE by arrival order. The rows of all histories are in the same
tables, whose keys begin with the trap: a MERGE takes seconds, however few rows it has. The folder that the
environment variable ``TABLE_FORMATS`` names has or gets the environments.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql.types import IntegralType, LongType, StringType, StructField, StructType

import ticdc_producer
from tests.conftest import SMALL_DATA
from tests.faults.legal_together import run_arguments
from tests.peers.applied_tables import POSITION
from tests.peers.delivered import MicroBatch, Position, Row, Table, WrongRow, micro_batches, wrong_rows
from tests.peers.table_formats import DELTA, ICEBERG, TableFormat, apply
from tests.peers.table_scenarios import TABLES, TRAPS, TRUNCATED, Applied, source
from ticdc_producer.spark.session import spark_session
from ticdc_producer.spark.storage import arrow_schema

MEASURED = Path(__file__).with_name("lake_traps.json")
FORMATS = (DELTA, ICEBERG)
SEED = 15
"""With it a repeated message comes after a newer one of its row, which is a matter of the draw."""
TOPIC = "together"
NO_TRAP = "no-trap"
TRAP = "trap"
"""The column with the trap of a row's history."""
CONSUMERS = ("recipe", "by_arrival")
Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class History:
    """A history with one legal trap.

    :param trap: ``NO_TRAP`` for the history without one.
    :param golden: its golden folder.
    :param tables: by the names of ``TABLES``.
    :param batches: the micro-batches of each table.
    """

    trap: str
    golden: Path
    tables: Mapping[str, Table]
    batches: Mapping[str, Sequence[MicroBatch]]


def history(trap: str, folder: Path) -> History:
    """Run a history, and decode what it delivers."""
    golden, claims = folder / trap, folder / f"{trap}.claims"
    claims.mkdir(parents=True)
    arguments = run_arguments("open-protocol", () if trap == NO_TRAP else (trap,), claims)
    arguments["overrides"] += [f"seed={SEED}"]
    assert ticdc_producer.run(**arguments, out=golden).ok
    events = [*ticdc_producer.decode(folder=golden)]
    tables = {applied.name: _table(golden, applied) for applied in TABLES}
    batches = {name: micro_batches(events, table) for name, table in tables.items()}
    return History(trap, golden, tables, batches)


def _table(golden: Path, applied: Applied) -> Table:
    columns = _columns(golden, applied)
    integers = frozenset(column.name for column in columns if isinstance(column.dataType, IntegralType))
    return Table(applied.name, applied.key, tuple(column.name for column in columns), integers)


def _columns(golden: Path, applied: Applied) -> list[StructField]:
    return [column for column in source(golden, applied.name).schema() if column.name[0] != "_"]


def histories(folder: Path) -> list[History]:
    """Run a history without a trap, and one with each legal trap that a consumer can apply."""
    return [history(trap, folder) for trap in (NO_TRAP, *TRAPS)]


def target(consumer: str, table: str) -> str:
    """Return the name of a table that a consumer fills."""
    return f"{consumer}_{table.replace('.', '_')}"


def plans(of_traps: Sequence[History], work: Path) -> list[Json]:
    """Write the micro-batches of all histories, and return the plans of both consumers."""
    tables = [_planned(applied, of_traps, work / applied.name) for applied in TABLES]
    of_consumers = [
        [{**table, "target": target(consumer, table["name"]), "schema": table["schemas"][consumer]}
         for table in tables]
        for consumer in CONSUMERS
    ]  # fmt: skip
    ddls = [
        {
            "kind": ddl.kind,
            "words": {"target": target("recipe", ddl.table), "TS": str(_truncated(ddl.table, of_traps))},
        }
        for ddl in TRUNCATED
    ]
    return [
        {"tables": of_consumers[0], "ddls": ddls},
        {"tables": of_consumers[1], "ddls": [], "by_arrival": True},
    ]


def _truncated(table: str, of_traps: Iterable[History]) -> int:
    """Return the commit-ts of the TRUNCATE of a table, which is the same in all histories."""
    (ts,) = {ts for each in of_traps for batch in each.batches[table] for ts in batch.truncated}
    return ts


def _planned(applied: Applied, of_traps: Sequence[History], work: Path) -> Json:
    """Write a file for each micro-batch of a table, and return what both consumers need of it."""
    columns = [StructField(TRAP, StringType()), *_columns(of_traps[0].golden, applied)]
    changes = [
        *columns,
        StructField("_change_type", StringType()),
        StructField("_commit_version", LongType()),
    ]
    schema = StructType(changes)
    with_position = StructType([*changes, *(StructField(name, LongType()) for name in POSITION)])
    work.mkdir(parents=True)
    after = {}
    for number, batches in enumerate(zip_longest(*(each.batches[applied.name] for each in of_traps))):
        delivered = [(each.trap, batch) for each, batch in zip(of_traps, batches, strict=True) if batch]
        rows = [{TRAP: trap, **row} for trap, batch in delivered for row in _rows(batch)]
        file = work / f"{number}.parquet"
        pq.write_table(pa.Table.from_pylist(rows, arrow_schema(with_position)), file)
        os.utime(file, (number, number))  # Spark reads files in the order of their times
        if traps := [trap for trap, batch in delivered if batch.truncated]:
            after[str(number)] = f"DELETE FROM {{target}} WHERE {TRAP} IN ({', '.join(map(repr, traps))})"
    return {
        "name": applied.name,
        "scenario": "",
        "key": (TRAP, *applied.key),
        "renamed": {},
        "schemas": {"recipe": schema.json(), "by_arrival": with_position.json()},
        "columns": [f"`{column.name}` {column.dataType.simpleString()}" for column in columns],
        "changes": str(work),
        "after": after,
    }


def _rows(batch: MicroBatch) -> Iterator[Json]:
    """Yield the rows of a micro-batch, as ``rows=changes`` has them, with their positions."""
    for change in batch.changes:
        at = change.position
        position = dict(zip(POSITION, (at.partition, at.offset, at.index), strict=True))
        own = {"_commit_version": change.commit_ts, **position}
        if change.op == "update":
            assert change.before is not None
            yield {**change.before, "_change_type": "update_preimage", **own}
            yield {**change.row, "_change_type": "update_postimage", **own}
        else:
            yield {**change.row, "_change_type": change.op, **own}


def measure(
    table_format: TableFormat,
    of_traps: Sequence[History],
    spark: SparkSession,
    work: Path,
    environments: Path,
) -> dict[str, Json]:
    """Fill the tables in a format, and return what is wrong in them, by trap.

    :param spark: reads the rows for the comparison.
    :raises NotRun: software cannot be fetched.
    """
    apply(table_format, plans(of_traps, work / "changes"), work, environments)
    if table_format == DELTA and find_spec(table_format.library):
        _compare_with_library(work)
    states = {name: _states(work / "after" / f"{target('by_arrival', name)}.jsonl") for name in _NAMES}
    return {each.trap: _measured(each, states, spark, work) for each in of_traps}


_NAMES = tuple(applied.name for applied in TABLES)
_States: TypeAlias = list[dict[str, list[Row]]]


def _states(file: Path) -> _States:
    """Return the rows of a table after each micro-batch, by trap."""
    states: _States = []
    for line in file.read_text("utf-8").splitlines():
        states.append({})
        for row in json.loads(line):
            states[-1].setdefault(row.pop(TRAP), []).append(row)
    return states


def _measured(of_trap: History, states: Mapping[str, _States], spark: SparkSession, work: Path) -> Json:
    after_each = [
        wrong_rows(table, batches, [state.get(of_trap.trap, []) for state in states[name][: len(batches)]])
        for name, table in of_trap.tables.items()
        if (batches := of_trap.batches[name])
    ]
    result = by_arrival(after_each)
    assert len(result["wrong_at_end"]) == wrong_at_end(of_trap, "by_arrival", spark, work / "rows")
    recipe = {
        "wrong_at_end": wrong_at_end(of_trap, "recipe", spark, work / "rows"),
        "wrong_again": wrong_at_end(of_trap, "recipe", spark, work / "again"),
    }
    return {"recipe": recipe, "by_arrival": result}


def wrong_at_end(of_trap: History, consumer: str, spark: SparkSession, folder: Path) -> int:
    """Return how many rows of a consumer's tables are not those that the golden folder expects.

    :param folder: the rows of all tables.
    """
    rows = {
        name: spark.read.parquet(str(folder / target(consumer, name)))
        .where(f"{TRAP} = '{of_trap.trap}'")
        .drop(TRAP)
        for name in of_trap.tables
    }
    outcome = ticdc_producer.verify_state(of_trap.golden, rows, tables=[*rows])
    for table in outcome.tables:
        assert table.actual, table
        assert not table.missing_columns, table
        assert not table.extra_columns, table
    return sum(table.missing + table.extra + table.different for table in outcome.tables)


def _compare_with_library(work: Path) -> None:
    """Compare the rows that Delta's Python library reads with those that Spark reads."""
    from deltalake import DeltaTable

    for consumer in CONSUMERS:
        for name in _NAMES:
            table = target(consumer, name)
            by_spark = pq.read_table(work / ("again" if consumer == "recipe" else "rows") / table)
            rows = DeltaTable(work / "warehouse" / table).to_pyarrow_table().to_pylist()
            present = [row for row in rows if not row.pop("ticdc_deleted", False)]
            assert _texts(present, by_spark.column_names) == _texts(
                by_spark.to_pylist(), by_spark.column_names
            )


def _texts(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    return sorted(repr([row[name] for name in columns]) for row in rows)


def by_arrival(after_each: Sequence[Sequence[Sequence[WrongRow]]]) -> Json:
    """Return what is stored of the MERGE by arrival order: its wrong rows, and those at the end alone.

    :param after_each: the wrong rows by table and micro-batch.
    """
    return {
        "micro_batches": sum(len(batches) for batches in after_each),
        "wrong_after": sum(bool(wrong) for batches in after_each for wrong in batches),
        "wrong": [_stored(row) for batches in after_each for wrong in batches for row in wrong],
        "wrong_at_end": [_stored(row) for batches in after_each for row in batches[-1]],
    }


def _stored(row: WrongRow) -> Json:
    return {
        "table": row.table,
        "key": ", ".join(f"{name} = {value}" for name, value in row.key.items()),
        "after": row.micro_batch,
        "kind": row.kind,
        "message": _named(row.message),
        "first": _named(row.first),
        "newest": _named(row.newest) if row.newest else None,
    }


def _named(position: Position) -> str:
    return f"{TOPIC}-{position.partition}@{position.offset}"


def measured() -> dict[str, dict[str, Json]]:
    """Return the stored results: trap → format → consumer."""
    content: dict[str, dict[str, Json]] = json.loads(MEASURED.read_text("utf-8"))
    return content


def store(results: dict[str, dict[str, Json]]) -> None:
    """Write the results, each row on a line of its own."""
    text = re.sub(r"\{[^{}\[\]]*\}", lambda row: " ".join(row[0].split()), json.dumps(results, indent=2))
    MEASURED.write_text(f"{text}\n", "utf-8")


def main(environments: Path | None) -> None:
    """Measure both formats, and store the results."""
    spark = spark_session("local[2]", settings=SMALL_DATA)
    with TemporaryDirectory() as directory:
        folder = Path(directory)
        of_traps = histories(folder / "golden")
        results: dict[str, dict[str, Json]] = {each.trap: {} for each in of_traps}
        for table_format in FORMATS:
            work = folder / table_format.name
            work.mkdir()
            after_each = measure(table_format, of_traps, spark, work, environments or folder / "environments")
            for trap, result in after_each.items():
                results[trap][table_format.name] = result
                sys.stderr.write(f"{table_format.name}: {trap}: {json.dumps(result)}\n")
    spark.stop()
    store(results)


if __name__ == "__main__":
    named = os.environ.get("TABLE_FORMATS")
    main(Path(named) if named else None)
