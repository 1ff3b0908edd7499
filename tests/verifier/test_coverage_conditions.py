"""Conditions of features: SQL on Arrow columns, with NULL as in SQL."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from ticdc_producer.errors import FaultError
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.model.trap_coverage import Feature
from ticdc_producer.verifier.coverage.conditions import condition
from ticdc_producer.verifier.coverage.definitions import CellValues

COLUMNS = {
    "type": pa.array(["int", "bigint unsigned", None, "set"]),
    "flag": pa.array([18, 16, None, 64], pa.int32()),
    "value": pa.array([b"7", b"", None, b"\xff"]),
    "text": pa.array(["7", "", None, "1.50"]),
    "number": pa.array([Decimal(7), Decimal(2**64 - 1), None, Decimal(-1)], pa.decimal128(30)),
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("type = 'int'", [True, False, None, False]),
        ("type <> 'int' and flag & 16 <> 0", [False, True, None, False]),
        ("flag & 16 <> 0 and flag & 2 = 0", [False, True, None, False]),
        ("type in ('set', 'int')", [True, False, None, True]),
        ("not type in ('set', 'int')", [False, True, None, False]),
        ("type like '%unsigned' or text is null", [False, True, True, False]),
        ("type not like 'big%'", [True, False, None, True]),
        ("value is not null and length(value) = 0", [False, True, False, False]),
        ("number > 9223372036854775807", [False, True, None, False]),
        ("number = 18446744073709551615", [False, True, None, False]),
        ("abs(number) <= 1", [False, False, None, True]),
        ("bit_count(number) >= 64", [False, True, None, True]),
        ("text rlike r'^\\d+$' and text < '8'", [True, False, None, False]),
        ("length(trim(both '0' from regexp_replace(text, '[-.]', ''))) = 2", [False, False, None, True]),
        ("try_cast(text as double) > 1", [True, None, None, True]),
        ("try_cast(text as int) = 7", [True, None, None, None]),
        ("coalesce(flag, 0) = 0 and type is null", [False, False, True, False]),
        ("(type = 'int' or flag < 20) and TYPE = 'set'", [False, False, None, False]),
    ],
)
def test_a_condition_holds_is_false_or_unknown(text: str, holds: list[bool | None]) -> None:
    assert condition(Feature("cell", text))(COLUMNS).to_pylist() == holds


def test_lists_may_overlap() -> None:
    columns = {"old": pa.array([["a"], ["a"], [], None]), "new": pa.array([["b", "a"], ["b"], ["a"], ["a"]])}
    overlap = condition(Feature("ddls-of-commit", "arrays_overlap(old, new)"))(columns)
    assert overlap.to_pylist() == [True, False, False, None]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("type =", "it is not an SQL expression"),
        ("kind = 'row'", "the view has no column 'kind'"),
        ("upper(type) = 'INT'", r"'UPPER\(type\)' is not supported .* try_cast"),
        ("rtrim(type) = 'int'", "is not supported"),
        ("trim(leading '0' from text) = '1'", "is not supported"),
        ("my_function(type)", r"'MY_FUNCTION\(type\)' is not supported"),
        ("text like type", "'type' must be a text in quotes"),
        ("text rlike '('", "missing \\)"),
        ("number > 1.5", "'1.5' is not supported"),
        ("try_cast(text as date) is null", "is not supported"),
        ("text = null", "'NULL' is not supported"),
    ],
)
def test_what_is_not_supported_is_named(text: str, complaint: str) -> None:
    with pytest.raises(FaultError, match=complaint) as caught:
        condition(Feature("cell", text))
    assert f"condition {text!r} on the view 'cell'" in str(caught.value)


def test_all_conditions_of_the_catalogue_are_supported() -> None:
    for trap in catalogue().values():
        for feature in () if trap.coverage is None else trap.coverage.features:
            condition(feature)


@pytest.mark.parametrize(
    ("value", "text", "number", "different_bytes"),
    [
        (None, None, None, None),
        (b"", "", None, 0),
        (b"-12", "-12", -12, 3),
        (b" +2.5 ", " +2.5 ", 3, 5),
        (b"1e3", "1e3", 1000, 3),
        (b"1e-999999999", "1e-999999999", None, 4),
        (b"1_0", "1_0", None, 3),
        (b"NaN", "NaN", None, 2),
        (b"9" * 30, "9" * 30, 10**30 - 1, 1),
        (b"9" * 31, "9" * 31, None, 1),
        (b"9" * 30 + b".5", "9" * 30 + ".5", None, 3),
        (b"a\xff", "a\ufffd", None, 2),
    ],
)
def test_a_value_is_bytes_text_and_perhaps_a_number(
    value: bytes | None, text: str | None, number: int | None, different_bytes: int | None
) -> None:
    cells = CellValues(pa.array([value, b"x"], pa.binary()))
    assert cells.text[0].as_py() == text
    assert cells.number[0].as_py() == number
    assert cells.different_bytes[0].as_py() == different_bytes
