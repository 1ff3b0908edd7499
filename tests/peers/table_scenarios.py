"""The shipped scenarios and the legal traps, with what a consumer does to have the expected rows of each.

The recipes are those of docs/spark.md. A table without a handle key cannot be merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.types import StringType, StructField, StructType

import ticdc_producer
from pyspark_ticdc import DefaultSource
from tests.faults.legal_together import legal_traps, run_arguments
from ticdc_producer.scenario.load import shipped
from ticdc_producer.spark.storage import arrow_schema

PARTITION_OF_2023 = "placed BETWEEN '2023-01-01' AND '2023-12-31'"
TIMES = ("d", "dt", "dt6", "ts", "ts6", "t", "t6")
URI = "kafka:///applied?protocol=simple&partition-num=3&max-message-bytes=1048576"
"""Simple loses no type, and no row is too large for a message."""
MICRO_BATCHES = 2
OF_SOURCE = "seed_t1"
"""The scenario that is read with ``format("ticdc")``. The changes of the others are read from Parquet."""
SWAP = """version: 1
name: swap
steps:
  - sql: |
      CREATE TABLE test.swapped (id INT PRIMARY KEY NONCLUSTERED, v VARCHAR(10));
      INSERT INTO test.swapped VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e'), (6, 'f'), (7, 'g');
  - txn: |
      UPDATE test.swapped SET id = id + 10 WHERE id < 7;
      UPDATE test.swapped SET id = 1 WHERE id = 12;
      UPDATE test.swapped SET id = 2 WHERE id = 11;
      UPDATE test.swapped SET id = 3 WHERE id = 14;
      UPDATE test.swapped SET id = 4 WHERE id = 13;
      UPDATE test.swapped SET id = 5 WHERE id = 16;
      UPDATE test.swapped SET id = 6 WHERE id = 15;
  - sql: |
      DELETE FROM test.swapped WHERE id IN (1, 7);
      INSERT INTO test.swapped VALUES (7, 'again');
"""
"""Rows exchange their keys in a transaction, so that a key has a delete and an insert of one commit-ts."""


@dataclass(frozen=True)
class Applied:
    """A table of a scenario.

    :param former: its names before it was renamed, in order.
    :param renamed: former names of columns by their present ones.
    :param texts: columns with values that their types in Spark cannot hold.
    """

    name: str
    key: tuple[str, ...] = ("id",)
    former: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class AppliedDDL:
    """A DDL that changes rows without row events.

    :param words: the part of its text by which it is found; the newest one counts.
    :param kind: its line in the table of the page.
    :param table: the table whose rows it changes.
    :param words_of_page: what the page's words are in this DDL.
    """

    words: str
    kind: str
    table: str
    words_of_page: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A scenario.

    :param name: that of a shipped scenario, ``swap``, or one for the legal traps.
    :param traps: those of its messages.
    """

    name: str
    tables: tuple[Applied, ...]
    ddls: tuple[AppliedDDL, ...] = ()
    traps: tuple[str, ...] = ()

    @cached_property
    def targets(self) -> dict[str, str]:
        """The names of the consumer's tables."""
        prefix = self.name.replace("-", "_")
        return {table.name: f"{prefix}_{table.name.replace('.', '_')}" for table in self.tables}

    def plan(self, folder: Path) -> dict[str, Any]:
        """Write a golden folder, which has the expected rows, and the changes of the tables.

        :return: what a consumer reads, and the DDLs.
        """
        work = folder.with_suffix(".changes")
        work.mkdir(parents=True)
        assert ticdc_producer.run(**self._arguments(work), out=folder).ok
        tables = [self._table(table, folder, work / self.targets[table.name]) for table in self.tables]
        return {"tables": tables, "ddls": list(self._ddls(folder))}

    def _arguments(self, work: Path) -> dict[str, Any]:
        if self.traps:
            return run_arguments("open-protocol", self.traps, work)
        scenario = self.name
        if scenario not in shipped():
            scenario = str(work / "scenario.yaml")
            Path(scenario).write_text(SWAP, "utf-8")
        return {"scenario": scenario, "sink_uri": URI}

    def _table(self, table: Applied, folder: Path, work: Path) -> dict[str, Any]:
        """Write the changes of a table into files, in no order of their commits."""
        columns = StructType(
            [
                StructField(field.name, StringType()) if field.name in table.texts else field
                for field in source(folder, table.name).schema()
            ]
        )
        former = [StructField(old, columns[new].dataType) for new, old in table.renamed.items()]
        schema = StructType([*columns, *former])
        readers = [source(folder, name).reader(schema) for name in (*table.former, table.name)]
        batches = [batch for reader in readers for part in reader.partitions() for batch in reader.read(part)]
        changes = pa.Table.from_batches(batches, arrow_schema(schema))
        work.mkdir()
        for number in range(MICRO_BATCHES):
            part = changes.take(pa.array(range(number, changes.num_rows, MICRO_BATCHES)))
            pq.write_table(part, work / f"{number}.parquet")
        return {
            "target": self.targets[table.name],
            "name": table.name,
            "scenario": self.name if self.name == OF_SOURCE else "",
            "key": table.key,
            "renamed": table.renamed,
            "schema": schema.json(),
            "columns": [
                f"`{field.name}` {field.dataType.simpleString()}" for field in columns if field.name[0] != "_"
            ],
            "changes": str(work),
        }

    def _ddls(self, folder: Path) -> Iterator[dict[str, Any]]:
        events = [event for event in ticdc_producer.decode(folder=folder) if event["kind"] == "ddl"]
        for ddl in self.ddls:
            ts = max(int(event["commit_ts"]) for event in events if ddl.words in event["query"])
            words = {"target": self.targets[ddl.table], "TS": str(ts), **ddl.words_of_page}
            if "other" in words:
                words["other"] = self.targets[words["other"]]
            yield {"kind": ddl.kind, "words": words}


def source(folder: Path, table: str, **options: str) -> DefaultSource:
    """Return Spark's data source of a table in a golden folder, of its changes if no ``rows`` are given."""
    given = {"path": str(folder), "rows": "changes", "table": table, **options}
    return DefaultSource(CaseInsensitiveDict(given))


def rows_of(folder: Path, table: str, ts: int) -> pa.Table:
    """Return the rows of a table in a golden folder after the commit of a TSO."""
    state = source(folder, table, rows="state", **{"state-at": str(ts)})
    schema = state.schema()
    reader = state.reader(schema)
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    return pa.Table.from_batches(batches, arrow_schema(schema))


def _truncated(table: str) -> AppliedDDL:
    return AppliedDDL(f"TRUNCATE TABLE `{table.replace('.', '`.`')}`", "TRUNCATE TABLE", table)


def _partition(words: str, table: str, condition: str) -> AppliedDDL:
    return AppliedDDL(words, words, table, {"IN_PARTITION": condition})


def _added(table: str, column: str, value: str) -> AppliedDDL:
    return AppliedDDL(f"ADD COLUMN `{column}`", "ADD COLUMN", table, {"c": column, "VALUE": value})


def _exchanged(table: str, other: str, condition: str) -> AppliedDDL:
    values = {"IN_PARTITION": condition, "other": other}
    return AppliedDDL("EXCHANGE PARTITION", "EXCHANGE PARTITION", table, values)


SHIPPED = (
    Case(
        "all-traps",
        (
            *(
                Applied(f"traps.{name}")
                for name in ("users", "batches", "numbers", "texts", "items", "moving")
            ),
            Applied("traps.times", texts=TIMES),
            Applied("traps.parts"),
            Applied("traps.whole"),
        ),
        (
            _added("traps.items", "state", "'new'"),
            _added("traps.items", "note", "'none'"),
            _exchanged("traps.parts", "traps.whole", "id BETWEEN 10 AND 19"),
            _partition("TRUNCATE PARTITION", "traps.parts", "id < 10"),
            _truncated("traps.whole"),
        ),
    ),
    Case("all-types", tuple(Applied(f"types.{name}") for name in ("edges", "vectors", "rows"))),
    Case("bank", (Applied("bank.accounts"),)),
    Case(
        "ddl-mix",
        (
            *(Applied(f"ddl.{name}") for name in ("first", "second", "third")),
            Applied("ddl.lively_14", former=("ddl.lively", "ddl.lively_3", "ddl.lively_4", "ddl.lively_13")),
        ),
        (
            _truncated("ddl.third"),
            _truncated("ddl.lively_14"),
            _added("ddl.lively_14", "added_19", "7"),
        ),
    ),
    Case("large-rows", (Applied("large.letters"),)),
    Case("message-limit", (Applied("sizes.notes"),)),
    Case(
        "migrations",
        (
            Applied("shop.customers"),
            Applied("shop.delivery_addresses", former=("shop.addresses",)),
            Applied("shop.products", ("sku",), renamed={"label": "title"}),
            Applied("shop.orders", ("id", "placed")),
            Applied("shop.archive", ("id", "placed")),
            Applied("shop.order_items", ("order_id", "line"), renamed={"amount": "quantity"}),
        ),
        (
            _added("shop.customers", "points", "100"),
            AppliedDDL("TRUNCATE TABLE `archive`", "TRUNCATE TABLE", "shop.archive"),
            _exchanged("shop.orders", "shop.archive", PARTITION_OF_2023),
            _partition("TRUNCATE PARTITION", "shop.orders", "placed < '2023-01-01'"),
            _added("shop.orders", "currency", "'EUR'"),
            _partition("DROP PARTITION", "shop.orders", "placed >= '2025-01-01'"),
            _added("shop.order_items", "gift", "0"),
        ),
    ),
    Case(
        "orders",
        tuple(Applied(f"shop.{name}") for name in ("customers", "products", "orders", "order_items")),
    ),
    Case("seed_t1", (Applied("test.t1"),)),
    Case("sysbench", tuple(Applied(f"sbtest.sbtest{number}") for number in range(1, 5))),
    Case("wide", (Applied("wide.rows"),)),
)

TRAPS = tuple(trap for trap in legal_traps("open-protocol") if trap != "handle-key-only")
"""Rows that are sent as their handle key alone cannot be applied."""
TABLES = (Applied("test.people"), Applied("test.jobs", ("id", "step")))
TRUNCATED = (AppliedDDL("TRUNCATE TABLE", "TRUNCATE TABLE", "test.jobs"),)
ALONE = "idle-partition"
"""The rows of each table then go to one partition, which the other traps do not allow."""
CASES = (
    *SHIPPED,
    Case("swap", (Applied("test.swapped"),)),
    Case("legal-traps", TABLES, TRUNCATED, tuple(trap for trap in TRAPS if trap != ALONE)),
    Case(ALONE, TABLES, TRUNCATED, (ALONE,)),
)
