"""The scenario of migrations: all tables are compared in all protocols that send DDL, all faults state."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from tests.replica.decoded_stream import WITH_DDL, DecodedStream
from tests.replica.faulty_rows import FAST, FAULTS, Fault

TABLES, ROWS = 6, 35


@cache
def stream(protocol: str) -> DecodedStream:
    return DecodedStream.of("migrations", protocol)


@pytest.mark.parametrize("protocol", WITH_DDL)
def test_every_table_is_compared(protocol: str) -> None:
    comparison = stream(protocol).state()
    assert comparison.ok
    assert (comparison.tables, comparison.rows, dict(comparison.not_compared)) == (TABLES, ROWS, {})


@pytest.mark.parametrize("protocol", ["maxwell", "canal"])
def test_positions_tell_which_rows_of_a_second_follow_a_ddl(protocol: str) -> None:
    """Up to ten DDLs and rows are within each second."""
    test_every_table_is_compared(protocol)


def test_a_row_that_is_repeated_after_a_ddl_of_its_second_is_not_compared() -> None:
    events = stream("maxwell").events
    same = ("topic", "partition", "schema", "table", "commit_ts")
    row = next(
        row
        for row, ddl in product(events, events)
        if row["kind"] == "row" and ddl["kind"] == "ddl" and row["offset"] < ddl["offset"]
        if all(row[name] == ddl[name] for name in same)
    )
    at = 1 + max(number for number, event in enumerate(events) if event["partition"] == row["partition"])
    copy = {**row, "offset": events[at - 1]["offset"] + 1}
    state = stream("maxwell").state([*events[:at], copy, *events[at:]])
    assert state.ok
    assert state.not_compared[f"shop.{row['table']}"] == (
        "rows and a DDL are within the same unit of time, and the commit-ts of the messages is in seconds"
    )
    assert 0 < state.tables < TABLES


@pytest.mark.parametrize("fault", FAST, ids=str)
def test_a_fault_is_found_in_the_tables(fault: Fault) -> None:
    decoded = stream("open-protocol")
    assert not decoded.state(fault.applied(decoded.events)).ok


@pytest.mark.slow
@pytest.mark.parametrize("protocol", WITH_DDL)
def test_all_faults_are_found_in_the_tables(protocol: str) -> None:
    decoded = stream(protocol)
    unnoticed = [str(fault) for fault in FAULTS if decoded.state(fault.applied(decoded.events)).ok]
    assert not unnoticed
