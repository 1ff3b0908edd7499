"""The table of docs/spark.md on legal traps: two MERGEs into Delta and Iceberg, and the stored results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.faults.legal_together import legal_traps
from tests.peers.conftest import or_skipped
from tests.peers.delivered import (
    MESSAGES,
    Change,
    MicroBatch,
    Position,
    Row,
    RowsByArrival,
    Table,
    WrongRow,
    micro_batches,
    wrong_rows,
)
from tests.peers.lake_traps import (
    FORMATS,
    NO_TRAP,
    History,
    by_arrival,
    histories,
    history,
    measure,
    measured,
)
from tests.peers.table_formats import TableFormat
from tests.peers.table_scenarios import TRAPS

FAST = ("duplicate-message", "replay-suffix", "raw-key-update")
"""Traps that leave wrong rows."""
TABLE = Table("test.t", ("id",), ("id", "v"), frozenset({"id"}))


@pytest.fixture(scope="module")
def of_traps(tmp_path_factory: pytest.TempPathFactory) -> list[History]:
    """The histories, which the formats share."""
    return histories(tmp_path_factory.mktemp("golden"))


@pytest.mark.slow
@pytest.mark.parametrize("table_format", FORMATS, ids=lambda table_format: table_format.name)
def test_the_tables_have_the_stored_wrong_rows(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    of_traps: list[History],
    environments: Path,
    tmp_path: Path,
    table_format: TableFormat,
) -> None:
    with or_skipped(request):
        after_each = measure(table_format, of_traps, spark, tmp_path, environments)
    assert after_each == {trap: results[table_format.name] for trap, results in measured().items()}


def test_the_results_have_each_legal_trap_and_format() -> None:
    traps = {*legal_traps("open-protocol")} - {"handle-key-only"}
    assert {*measured()} == {NO_TRAP, *traps}
    for trap, results in measured().items():
        assert {*results} == {table_format.name for table_format in FORMATS}, trap


def test_the_recipe_is_never_wrong() -> None:
    for trap, results in measured().items():
        for name, result in results.items():
            assert not any(result["recipe"].values()), (trap, name)


def test_a_message_and_the_newest_one_are_named_of_each_wrong_row() -> None:
    of_traps = measured()
    wrong = [
        row
        for results in of_traps.values()
        for each in results.values()
        for row in each["by_arrival"]["wrong"]
    ]
    assert wrong
    for row in wrong:
        assert row["message"] != row["newest"]
        assert row["message"].startswith("together-")


def test_no_row_is_wrong_without_a_trap() -> None:
    for result in measured()[NO_TRAP].values():
        assert result["by_arrival"]["wrong_after"] == 0


@pytest.mark.parametrize(
    "trap",
    [pytest.param(trap, marks=() if trap in FAST else pytest.mark.slow) for trap in (NO_TRAP, *TRAPS)],
)
def test_rows_by_arrival_are_those_of_the_stored_tables(trap: str, tmp_path: Path) -> None:
    """A dictionary in Python, to which the micro-batches are applied, has the wrong rows of both formats."""
    of_trap = history(trap, tmp_path)
    after_each = [
        wrong_rows(table, of_trap.batches[name], _by_arrival(table, of_trap.batches[name]))
        for name, table in of_trap.tables.items()
    ]
    for name, result in measured()[trap].items():
        assert by_arrival(after_each) == result["by_arrival"], name


def _by_arrival(table: Table, batches: Sequence[MicroBatch]) -> list[list[Row]]:
    consumer, states = RowsByArrival(table), []
    for batch in batches:
        consumer.read(batch)
        states.append([*consumer.rows.values()])
    return states


def _change(offset: int, commit_ts: int, op: str, value: str) -> Change:
    row: Row = {"id": 1, "v": value}
    before, after = row if op != "insert" else None, row if op != "delete" else None
    return Change(Position(0, offset, 0), commit_ts, op, before, after)


def _last(*batches: MicroBatch) -> WrongRow:
    """Return the wrong row after the last micro-batch."""
    (row,) = wrong_rows(TABLE, batches, _by_arrival(TABLE, batches))[-1]
    return row


def test_an_older_row_is_named_with_its_repeated_message() -> None:
    batches = [
        MicroBatch([_change(0, 10, "insert", "a"), _change(1, 20, "update", "b")]),
        MicroBatch([_change(2, 10, "insert", "a")]),
        MicroBatch([_change(3, 20, "update", "b")]),
    ]
    first, second, third = wrong_rows(TABLE, batches, _by_arrival(TABLE, batches))
    assert (first, third) == ([], [])
    (row,) = second
    assert (row.kind, row.micro_batch, row.key) == ("older", 1, {"id": 1})
    assert (row.message.offset, row.first.offset, row.newest) == (2, 0, Position(0, 1, 0))


def test_a_row_that_came_back_is_extra() -> None:
    changes = [_change(0, 10, "insert", "a"), _change(1, 20, "delete", "a")]
    row = _last(MicroBatch(changes), MicroBatch([_change(2, 10, "insert", "a")]))
    assert (row.kind, row.message.offset, row.newest) == ("extra", 2, Position(0, 1, 0))


def test_a_row_after_its_repeated_delete_is_missing() -> None:
    changes = [_change(0, 10, "delete", "a"), _change(1, 20, "insert", "b")]
    row = _last(MicroBatch(changes), MicroBatch([_change(2, 10, "delete", "a")]))
    assert (row.kind, row.message.offset, row.newest) == ("missing", 2, Position(0, 1, 0))


def test_a_row_that_comes_again_after_a_truncate_is_extra() -> None:
    insert = _change(0, 10, "insert", "a")
    row = _last(MicroBatch([insert], [15]), MicroBatch([_change(2, 10, "insert", "a")]))
    assert (row.kind, row.message.offset, row.first.offset, row.newest) == ("extra", 2, 0, None)


def test_a_micro_batch_ends_at_a_ddl_of_each_partition() -> None:
    """The rows of all partitions before a TRUNCATE come before it."""
    table: dict[str, Any] = {"schema": "test", "table": "t", "index": 0}
    row = {**table, "kind": "row", "op": "insert", "before": None, "query": None}
    ddl = {**table, "kind": "ddl", "query": "TRUNCATE TABLE `t`", "commit_ts": 50}
    events = [
        {**row, "partition": 0, "offset": 0, "commit_ts": 10, "after": {"id": b"1", "v": b"a"}},
        {**ddl, "partition": 0, "offset": 1},
        {**row, "partition": 0, "offset": 2, "commit_ts": 60, "after": {"id": b"1", "v": None}},
    ]
    of_two = {**row, "partition": 1, "after": {"id": b"2", "v": b""}}
    events += [{**of_two, "offset": offset, "commit_ts": 11 + offset} for offset in range(MESSAGES + 4)]
    events += [{**ddl, "partition": 1, "offset": MESSAGES + 4}]
    before, more, after = micro_batches(events, TABLE)
    assert [len(batch.changes) for batch in (before, more, after)] == [MESSAGES + 1, 4, 1]
    assert (before.truncated, more.truncated, after.truncated) == ([], [50], [])
    assert after.changes[0].after == {"id": 1, "v": None}
