"""The tables of all SQL files that real TiCDC encoded are compared, in all protocols that send DDLs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden_events import GOLDEN
from tests.replica.decoded_stream import WITH_DDL, DecodedStream

FILES = sorted(GOLDEN.rglob("*.sql"))
FAST = [path for path in FILES if path.stem in ("partition", "keys", "ddl_many")]
NOT_COMPARED = {
    "ddl_many": {"ddl_db.nopk"},  # it gets a key: its earlier rows are not in the stream
    "fuzz12": {"test.T1"},  # a value of a SET ends with a backslash, and its printed statement is no SQL
    # A DDL converts a DATETIME to a TIMESTAMP or back, in the time zone of its session.
    "m2": {"test.s1"},
    "m5": {"test.x"},
    "m6": {"test.x4"},
    "world16": {"test.t1"},
}
NOT_COMPARED_IN = {
    "debezium": {
        "rental_shop": {"test.payment"},  # a DDL converts a DECIMAL, and the messages have doubles
        "world03": {"test.t1"},
        "world00": {"test.t0"},  # a NULL in a column with a DEFAULT
        "world13": {"test.t2"},
    }
}
"""By protocol, and file, the tables that are not compared in this protocol alone."""


@pytest.mark.parametrize(
    ("protocol", "files"),
    [
        *((protocol, FAST) for protocol in ("open-protocol", "canal-json")),
        *(pytest.param(protocol, FILES, marks=pytest.mark.slow) for protocol in WITH_DDL),
    ],
    ids=lambda value: value if isinstance(value, str) else str(len(value)),
)
def test_all_tables_are_compared(protocol: str, files: list[Path]) -> None:
    not_compared = NOT_COMPARED | NOT_COMPARED_IN.get(protocol, {})
    for path in files:
        comparison = DecodedStream.of(path, protocol).state()
        assert comparison.ok, path
        assert set(comparison.not_compared) == not_compared.get(path.stem, set()), path
