"""``ticdc_assert_state``: equality of rows, and the text of differences."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from ticdc_producer.errors import ArgumentError
from ticdc_producer.testing.state_diff import same, state_diff

UUID_TEXT = "12345678-1234-5678-1234-567812345678"


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (None, None),
        ("aa", "aa"),
        ("aé", "aé".encode()),
        (b"\xff", b"\xff"),
        (b"\xff", bytearray(b"\xff")),
        ("7", 7),
        ("1", True),
        ("75.00", Decimal("75.0")),
        ("75.00", 75),
        ("0.1", 0.1),
        ("100000000000000000000", 1e20),
        ("2021-12-20 13:30:49.50", datetime(2021, 12, 20, 13, 30, 49, 500_000)),
        ("2021-12-20 13:30:49", datetime(2021, 12, 20, 13, 30, 49, tzinfo=UTC)),
        ("2021-12-20", date(2021, 12, 20)),
        ("13:30:49", time(13, 30, 49)),
        ("-838:59:59.000001", -timedelta(hours=838, minutes=59, seconds=59, microseconds=1)),
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("[]", []),
        (UUID_TEXT, UUID(UUID_TEXT)),
    ],
)
def test_a_value_is_compared_by_the_type_of_the_consumer(expected: Any, actual: object) -> None:
    assert same(expected, actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (None, ""),
        (None, 0),
        ("", None),
        ("NULL", None),
        ("7", "07"),
        ("75.00", "75.0"),
        ("7", 8),
        ("2", True),
        ("seven", 7),
        ("75.001", Decimal("75.00")),
        (b"\xff", "\xff"),
        (b"\xff", 255),
        ("\xff", b"\xff"),
        ("0000-00-00", date(1, 1, 1)),
        ("2021-12-20 13:30:49", datetime(2021, 12, 20, 13, 30, 48)),
        ("838:59:59", time(13)),
        ("{", {}),
        ('{"a": 1}', {"a": 2}),
    ],
)
def test_other_values_differ(expected: Any, actual: object) -> None:
    assert not same(expected, actual)


EXPECTED: dict[str, Any] = {"s.t": [{"id": "1", "v": "a"}, {"id": "2", "v": None}, {"id": "3", "v": "c"}]}
KEYS = {"s.t": ("id",)}


@pytest.mark.parametrize("keys", [KEYS, {}])
def test_the_order_of_rows_and_columns_does_not_matter(keys: Any) -> None:
    actual = [{"v": "c", "id": 3}, {"v": None, "id": Decimal(2)}, {"id": "1", "v": b"a"}]
    assert state_diff(EXPECTED, actual, keys) == ""
    assert state_diff(EXPECTED, {"s.t": iter(actual), "s.empty": []}, keys) == ""


def test_rows_are_matched_by_their_key() -> None:
    actual = {"s.t": [{"id": 1, "v": "x"}, {"id": 2, "v": None}, {"id": 4, "v": "d"}]}
    assert state_diff(EXPECTED, actual, KEYS).splitlines() == [
        "table s.t: 1 missing, 1 extra, 1 different",
        "  missing    id='3' v='c'",
        "  extra      id=4 v='d'",
        "  different  id='1': v is 'x', expected 'a'",
    ]


def test_keys_that_look_different_are_the_same_row() -> None:
    expected = {"s.t": [{"id": "1.50", "v": "a"}]}
    assert state_diff(expected, [{"id": Decimal("1.5"), "v": "b"}], KEYS).splitlines() == [
        "table s.t: 1 different",
        "  different  id='1.50': v is 'b', expected 'a'",
    ]


def test_a_duplicate_row_is_extra() -> None:
    assert state_diff({"s.t": [{"id": "1"}]}, [{"id": 1}, {"id": 1}], KEYS).splitlines() == [
        "table s.t: 1 extra",
        "  extra      id=1",
    ]


def test_without_a_key_rows_are_missing_or_extra() -> None:
    text = state_diff({"s.t": [{"id": "1", "v": "a"}]}, [{"id": 1, "v": "b"}])
    assert text.splitlines()[1:] == ["  missing    id='1' v='a'", "  extra      id=1 v='b'"]


def test_columns_and_tables_that_are_absent_or_too_many() -> None:
    actual = {"s.t": [{"id": 1, "w": 5}], "s.u": [{"x": None}]}
    assert state_diff({"s.t": [{"id": "1", "v": "a"}]}, actual, KEYS).splitlines() == [
        "table s.t: 1 different",
        "  different  id='1': v is absent, expected 'a'; w is 5, and there is no such column",
        "table s.u: 1 extra",
        "  extra      x=NULL",
    ]
    assert state_diff(EXPECTED, {}).startswith("table s.t: 3 missing\n")


def test_many_differences_are_counted_and_some_are_listed() -> None:
    lines = state_diff({"s.t": [{"id": str(n)} for n in range(500)]}, [], KEYS).splitlines()
    assert lines[0] == "table s.t: 500 missing"
    assert lines[-1] == "  missing    … and 480 more"
    assert len(lines) == 22


def test_rows_of_another_form_are_refused() -> None:
    with pytest.raises(ArgumentError, match="2 tables are expected"):
        state_diff({"s.t": [], "s.u": []}, [])
    with pytest.raises(ArgumentError, match=r"a row of s\.t is not a mapping"):
        state_diff(EXPECTED, [(1, "a")])  # type: ignore[list-item]
