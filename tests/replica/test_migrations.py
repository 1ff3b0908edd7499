"""The scenario of migrations: all tables are compared in all protocols that send DDL, all faults found."""

from __future__ import annotations

from functools import cache

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
