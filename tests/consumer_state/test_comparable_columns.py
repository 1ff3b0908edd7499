"""Arrow's kernels convert columns to the bytes to which values are converted one by one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.temporal_text import zone_of
from ticdc_producer.protocols.registry import fidelity
from ticdc_producer.scenario.scenario import Scenario
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.verifier.consumer_state.canonical_value import actual_reader, expected_reader
from ticdc_producer.verifier.consumer_state.comparable_columns import actual_batches, expected_batch
from ticdc_producer.verifier.consumer_state.plan import ExpectedTable, TablePlan, plan_table


def table_of(*types: str) -> TableInfo:
    columns = ", ".join(f"c{number} {kind}" for number, kind in enumerate(types))
    scenario = Scenario("columns").sql(f"CREATE TABLE test.t (id INT PRIMARY KEY, {columns})")
    (table,) = prepare(scenario, sink_uri="kafka:///t?protocol=open-protocol").history.catalog.tables
    return table


def plan_of(*types: str, protocol: str = "open-protocol", zone: str = "UTC") -> TablePlan:
    table = table_of(*types)
    expected = ExpectedTable(
        schema="test", name="t", columns=table.columns, key=("id",), virtual=(), file=Path("t.jsonl")
    )
    names = [column.name for column in table.columns]
    return plan_table(
        7, expected, "t", names, ignored=frozenset(), zone=zone_of(zone), fidelity=fidelity(protocol, {})
    )


def column_of(plan: TablePlan, array: pa.Array) -> list[bytes | None]:
    """The converted values of the column next to the key."""
    batch = pa.record_batch({"id": pa.array(range(len(array)), pa.int32()), "c0": array})
    rows = [row for part in actual_batches(plan, batch) for row in part.to_pylist()]
    assert [row["number"] for row in rows] == [7] * len(array)
    assert [row["key"] for row in rows] == [[str(number).encode()] for number in range(len(array))]
    return [row["row"][0] for row in rows]


T = datetime(2021, 12, 20, 13, 30, 49)
ARRAYS: Sequence[tuple[str, pa.DataType, list[Any]]] = [
    ("BIGINT UNSIGNED", pa.uint64(), [0, 2**64 - 1, None]),
    ("INT", pa.int8(), [-128, 127, None]),
    ("INT", pa.float64(), [1.0, 1.5, None]),
    ("INT", pa.string(), ["1", "x", None]),
    ("YEAR", pa.int16(), [2021, 0, None]),
    ("DECIMAL(10,2)", pa.decimal128(10, 1), [Decimal("1.5"), Decimal("-0.1"), Decimal(0), None]),
    ("DECIMAL(10,2)", pa.decimal128(10, 3), [Decimal("1.500"), Decimal("1.501"), None]),
    ("DECIMAL(10,2)", pa.decimal128(10, 3), [Decimal("1.500"), Decimal("1.510"), None]),
    ("DECIMAL(20,8)", pa.decimal128(20, 8), [Decimal("0.00000001"), Decimal(0), None]),
    ("DECIMAL(65,0)", pa.decimal256(65, 0), [Decimal(10**64), None]),
    ("DECIMAL(20,6)", pa.decimal128(20, 6), [Decimal("0.000001"), Decimal("-0.000001"), Decimal(0), None]),
    ("VARCHAR(9)", pa.string(), ["a ", "", "😀", None]),
    ("VARCHAR(9)", pa.large_string(), ["a ", "", None]),
    ("VARCHAR(9)", pa.binary(), [b"a ", b"\xff", None]),
    ("CHAR(9)", pa.string(), ["a ", " ", "\t", "a\u3000", None]),
    ("CHAR(9)", pa.binary(), [b"a ", b"\xff ", None]),
    ("VARBINARY(9)", pa.binary(), [b"\xff\x00", b"", None]),
    ("BLOB", pa.string(), ["a", None]),
    ("DATE", pa.date32(), [date(1, 1, 1), date(2021, 12, 20), None]),
    ("DATE", pa.timestamp("us"), [T, datetime(2021, 12, 20), None]),
    ("DATETIME", pa.timestamp("us"), [T, T.replace(microsecond=1), None]),
    ("DATETIME", pa.timestamp("ns"), [T, datetime(1700, 1, 1), None]),
    ("DATETIME(3)", pa.timestamp("us"), [T, T.replace(microsecond=120_000), None]),
    ("DATETIME(6)", pa.timestamp("us"), [T, datetime(1, 1, 1), None]),
    ("DATETIME(2)", pa.timestamp("us"), [T.replace(microsecond=120_000), None]),
    ("DATETIME", pa.date32(), [date(2021, 12, 20), None]),
    ("TIMESTAMP", pa.timestamp("us", "UTC"), [T.replace(tzinfo=UTC), None]),
    ("TIMESTAMP", pa.timestamp("us", "Asia/Tokyo"), [T.replace(tzinfo=UTC), None]),
    ("DOUBLE", pa.float64(), [0.1, 1e300, None]),
    ("FLOAT", pa.float32(), [123.99, None]),
    ("BIT(9)", pa.binary(), [b"\x01\xff", None]),
    ("ENUM('a','b')", pa.string(), ["b", "x", None]),
    ("SET('a','b')", pa.string(), ["a,b", "", None]),
    ("JSON", pa.string(), ['{"a": 1.0}', "x", None]),
    ("TIME", pa.string(), ["1:00:00", None]),
]


@pytest.mark.parametrize("protocol", ["open-protocol", "debezium", "canal-json"])
@pytest.mark.parametrize("zone", ["UTC", "+08:00"])
def test_a_kernel_and_a_value_are_the_same_bytes(protocol: str, zone: str) -> None:
    for sql_type, kind, values in ARRAYS:
        plan, array = plan_of(sql_type, protocol=protocol, zone=zone), pa.array(values, kind)
        read = actual_reader(plan.others[0], plan.zone, plan.fidelity)
        assert column_of(plan, array) == [read(value) for value in array.to_pylist()], (sql_type, kind)


def test_columns_are_in_the_order_of_the_plan() -> None:
    plan = plan_of("INT", "VARCHAR(9)", "DATE")
    batch = pa.record_batch({"c2": [date(2021, 1, 2)], "c1": ["x"], "more": [1], "id": [5], "c0": [3]})
    (part,) = actual_batches(plan, batch)
    assert part.to_pylist() == [{"number": 7, "key": [b"5"], "row": [b"3", b"x", b"2021-01-02"]}]


def test_a_table_of_nothing_but_its_key() -> None:
    table = Scenario("columns").sql("CREATE TABLE test.t (id INT PRIMARY KEY)")
    (info,) = prepare(table, sink_uri="kafka:///t?protocol=open-protocol").history.catalog.tables
    expected = ExpectedTable(
        schema="test", name="t", columns=info.columns, key=("id",), virtual=(), file=Path("t.jsonl")
    )
    plan = plan_table(
        0, expected, "t", ["id"], ignored=frozenset(), zone=UTC, fidelity=fidelity("open-protocol", {})
    )
    (part,) = actual_batches(plan, pa.record_batch({"id": [1, 2]}))
    assert [row["row"] for row in part.to_pylist()] == [[], []]


LINES = [
    '{"id": "1", "c0": "a\\n\\u2028\\"", "c1": null}',
    '{"c1": "0.10", "more": "x", "c0": "", "id": "2"}',
]


def test_lines_of_a_state_file_are_read_as_texts() -> None:
    plan = plan_of("VARCHAR(9)", "DECIMAL(9,2)")
    batch = expected_batch(plan, LINES)
    assert batch is not None
    assert batch.to_pylist() == [
        {"number": 7, "key": [b"1"], "row": ['a\n\u2028"'.encode(), None]},
        {"number": 7, "key": [b"2"], "row": [b"", b"0.10"]},
    ]
    read = expected_reader(plan.others[1], plan.fidelity)
    assert read(b"0.10") == b"0.10"


@pytest.mark.parametrize(
    ("types", "protocol", "line"),
    [
        (("BLOB",), "open-protocol", '{"id": "1", "c0": {"b64": "/w=="}}'),
        (("JSON",), "open-protocol", '{"id": "1", "c0": "{}"}'),
        (("DECIMAL(30,2)",), "debezium", '{"id": "1", "c0": "1.50"}'),
    ],
)
def test_other_lines_are_read_value_by_value(types: tuple[str, ...], protocol: str, line: str) -> None:
    assert expected_batch(plan_of(*types, protocol=protocol), [line]) is None
