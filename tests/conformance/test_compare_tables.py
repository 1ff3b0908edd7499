"""Comparison of rows: by key, in any order, and only of requested tables."""

from __future__ import annotations

from ticdc_producer.conformance.compare import ExpectedRows, table_differences
from ticdc_producer.conformance.wire import Base64, Image

FIRST: Image = {"id": "1", "f": "0.1", "b": Base64("w/8="), "n": None}
SECOND: Image = {"id": "2", "f": "2.5", "b": "text", "n": ""}
TABLE = ExpectedRows(
    schema="s",
    table="t",
    key=["id"],
    types={"id": "bigint", "f": "double unsigned", "b": "blob", "n": "varchar"},
    rows=[FIRST, SECOND],
)


def compared(*rows: Image) -> list[str]:
    return table_differences([TABLE], {"s.t": rows, "s.not_requested": [FIRST]})


def test_the_order_of_rows_and_the_digits_of_floats_do_not_matter() -> None:
    assert compared(SECOND, {**FIRST, "f": "1e-1"}) == []


def test_missing_extra_and_different_rows_are_counted_and_listed() -> None:
    assert compared({**FIRST, "n": "null"}, {**SECOND, "id": "3"}) == [
        "table s.t: 1 missing, 1 extra, 1 different",
        '  missing: {"id": "2", "f": "2.5", "b": "text", "n": ""}',
        '  extra: {"id": "3", "f": "2.5", "b": "text", "n": ""}',
        '  different: {"id": "1"}: n is "null", expected null',
    ]


def test_a_duplicate_row_is_extra() -> None:
    assert compared(FIRST, SECOND, SECOND)[0] == "table s.t: 1 extra"


def test_columns_too_few_and_too_many_are_differences() -> None:
    row = {name: value for name, value in FIRST.items() if name != "n"}
    (_, difference) = compared({**row, "x": "1"}, SECOND)
    assert difference == '  different: {"id": "1"}: n is missing; x is not a column'


def test_a_number_is_not_compared_as_one_where_the_column_is_text() -> None:
    assert compared(FIRST, {**SECOND, "id": "2.0"})[0] == "table s.t: 1 missing, 1 extra"


def test_a_missing_table_is_reported_even_if_it_is_empty() -> None:
    empty = ExpectedRows(schema="s", table="empty", key=["id"], types={}, rows=[])
    assert table_differences([empty], {}) == ["table s.empty is missing, with 0 rows"]
    assert table_differences([empty], {"s.empty": []}) == []


def test_only_some_of_many_rows_are_listed() -> None:
    many = [{**FIRST, "id": str(number)} for number in range(100, 200)]
    lines = compared(FIRST, SECOND, *many)
    assert lines[0] == "table s.t: 100 extra"
    assert len(lines) < 10
