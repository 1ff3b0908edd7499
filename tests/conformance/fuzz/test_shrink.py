"""Shrinking: edits of scripts, and the smallest example that fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from ticdc_producer.conformance.fuzz import sql_edits
from ticdc_producer.conformance.fuzz.example import FuzzExample, TopicRequest
from ticdc_producer.conformance.fuzz.shrink import Shrinker
from ticdc_producer.conformance.fuzz.sql_edits import Script

TABLE = "CREATE TABLE t (k INT, v VARCHAR(9) NOT NULL DEFAULT 'a,b', w INT, PRIMARY KEY (k))"


def variants(edit: Callable[[Script], Iterable[Script]], *script: str) -> list[Script]:
    return list(edit(script))


def test_a_transaction_is_removed_as_a_whole_or_by_statement() -> None:
    script = ("A", "BEGIN", "B", "C", "COMMIT")
    scripts = variants(lambda sql: sql_edits.without_statements(sql, 1), *script)
    assert ("A",) in scripts
    assert ("A", "BEGIN", "C", "COMMIT") in scripts
    assert all(script.count("BEGIN") == script.count("COMMIT") for script in scripts)
    assert variants(sql_edits.without_transactions, *script) == [("A", "B", "C")]


def test_rows_of_an_insert() -> None:
    scripts = variants(sql_edits.without_rows, "INSERT INTO t VALUES (1, '),('), (2, x'00')")
    assert scripts == [("INSERT INTO t VALUES (2, x'00')",), ("INSERT INTO t VALUES (1, '),(')",)]


def test_a_column_is_removed_from_all_statements() -> None:
    scripts = variants(
        sql_edits.without_columns,
        TABLE,
        "INSERT INTO t VALUES (1, 'it''s', 2), (2, 'b', NULL)",
        "INSERT INTO t (w, v, k) VALUES (7, 'c', 3)",
        "UPDATE t SET v = 'x', w = 1 WHERE k = 1",
        "UPDATE t SET v = 'y'",
    )
    assert (
        "CREATE TABLE t (k INT, w INT, PRIMARY KEY (k))",
        "INSERT INTO t VALUES (1, 2), (2, NULL)",
        "INSERT INTO t (w, k) VALUES (7, 3)",
        "UPDATE t SET w = 1 WHERE k = 1",
    ) in scripts


def test_an_added_column_is_removed_with_its_values() -> None:
    scripts = variants(
        sql_edits.without_columns,
        "CREATE TABLE t (k INT)",
        "ALTER TABLE t ADD COLUMN a INT DEFAULT 5",
        "INSERT INTO t VALUES (1, 2)",
    )
    assert ("CREATE TABLE t (k INT)", "INSERT INTO t VALUES (1)") in scripts


def test_attributes_are_removed() -> None:
    partitions = " PARTITION BY HASH (k)"
    assert variants(sql_edits.with_fewer_clauses, TABLE + partitions) == [
        (TABLE,),
        ("CREATE TABLE t (k INT, v VARCHAR(9), w INT, PRIMARY KEY (k))" + partitions,),
    ]
    keyed = "CREATE TABLE t (k DECIMAL(10,2) UNSIGNED, PRIMARY KEY (k) NONCLUSTERED)"
    assert variants(sql_edits.with_fewer_clauses, keyed) == [
        ("CREATE TABLE t (k DECIMAL(10,2) UNSIGNED, PRIMARY KEY (k))",)
    ]


def test_values_become_simple() -> None:
    scripts = variants(
        sql_edits.with_simpler_values, "INSERT INTO t VALUES (100, 'long text', REPEAT('a', 9))"
    )
    assert ("INSERT INTO t VALUES (1, 'long text', REPEAT('a', 9))",) in scripts
    assert ("INSERT INTO t VALUES (100, 'a', REPEAT('a', 9))",) in scripts
    assert ("INSERT INTO t VALUES (100, 'long text', NULL)",) in scripts


def test_what_does_not_parse_is_left_alone() -> None:
    for edit in (sql_edits.without_rows, sql_edits.without_columns, sql_edits.with_simpler_values):
        assert variants(edit, "INSERT INTO t VALUES ('open", "SELECT", ";") == []


def test_the_smallest_example_that_fails() -> None:
    """It fails if a row is moved while a message is repeated, in more than one partition."""

    async def fails(example: FuzzExample) -> bool:
        moves = any(statement.startswith("UPDATE t SET k") for statement in example.sql)
        repeats = any(setting.startswith("duplicate-message") for setting in example.inject)
        return TABLE.split("(", 1)[0] in example.text and moves and repeats and example.partitions > 1

    statements = (
        TABLE,
        "INSERT INTO t VALUES (1, 'a', 2)",
        "BEGIN",
        "UPDATE t SET k = 2",
        "DELETE FROM t",
        "COMMIT",
    )
    example = FuzzExample(
        sql=(*statements, "TRUNCATE TABLE t"),
        protocol="craft",
        options={"max-batch-size": 2},
        partitions=4,
        inject=("duplicate-message:rate=0.4", "replay-suffix:rate=0.9,window=3"),
        seed=7,
        deliveries=(TopicRequest(order="rebalance", at_commit=1), TopicRequest(order="mixed", seed=5)),
    )
    shrinker = Shrinker(fails)
    smallest = asyncio.run(shrinker.smallest(example))
    assert smallest.statements == 2
    assert smallest.sql[1] == "UPDATE t SET k = 2"
    assert (smallest.partitions, smallest.seed, smallest.options) == (2, 0, {})
    assert smallest.deliveries == (TopicRequest(),)
    assert smallest.inject == ("duplicate-message:rate=1",)
    assert shrinker.tries < 200


def test_a_column_is_removed_from_keys_and_conditions() -> None:
    scripts = variants(
        sql_edits.without_columns,
        "CREATE TABLE t (k INT, k2 INT, PRIMARY KEY (k, k2))",
        "UPDATE t SET k = 7 WHERE k = 5 AND k2 = 3",
        "DELETE FROM t WHERE k2 = 1",
    )
    assert (
        "CREATE TABLE t (k INT, PRIMARY KEY (k))",
        "UPDATE t SET k = 7 WHERE k = 5",
        "DELETE FROM t",
    ) in scripts
    assert variants(sql_edits.without_columns, "CREATE TABLE t (a INT, b INT)") == [
        ("CREATE TABLE t (b INT)",),
        ("CREATE TABLE t (a INT)",),
    ]
