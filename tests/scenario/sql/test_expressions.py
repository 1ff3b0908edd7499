"""Expressions by MySQL's rules."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import Quotient, SQLMode, SQLValue, stored_number
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate_constant
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.text.parse import parse_expression

MODE = SQLMode()
LAX = SQLMode(strict=False)


def value(text: str, mode: SQLMode = MODE) -> SQLValue:
    tree = parse_expression(text, 1)
    check_expression(tree, Scope(mode))
    return evaluate_constant(tree, mode)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-7 DIV 2", -3),
        ("-7 % 4", -3),
        ("7 MOD -4", 3),
        ("1.10 + 2", Decimal("3.10")),
        ("1.10 * 2.0", Decimal("2.200")),
        ("1 / 3", Decimal("0.333333333")),
        ("7 / 2", Decimal("3.500000000")),
        ("1e0 + 1", 2.0),
        ("1e0+1", 2.0),
        ("1e2-1e1-1e0+1e-1", 89.1),
        ("x'10' + 0", 16),
        ("b'101' + 0", 5),
        ("-9223372036854775808", -9223372036854775808),
        ("- - 5", 5),
        ("~0", 18446744073709551615),
        ("5 & 6 | 8 ^ 1", 13),
        ("1 << 3", 8),
        ("1 << 64", 0),
        ("null + 1", None),
        ("null and 0", 0),
        ("null or 1", 1),
        ("null or 0", None),
        ("null xor 1", None),
        ("1 or 0 xor 1", 1),
        ("not null", None),
        ("!0 + 1", 2),
        ("not 0 + 1", 0),
        ("1 = 1 = 1", 1),
        ("2 > 1 > 1", 0),
        ("null = null", None),
        ("null <=> null", 1),
        ("1 <=> null", 0),
        ("'a' = 'a  '", 1),
        ("'a' = 'A'", 0),
        ("'a' collate utf8mb4_general_ci = 'Á'", 1),
        ("1 = '1.0'", 1),
        ("9007199254740993 = 9007199254740992", 0),
        ("2 in (1, null)", None),
        ("1 in (1, null)", 1),
        ("3 not in (1, 2)", 1),
        ("2 between 1 and 3", 1),
        ("2 not between 1 and 3", 0),
        ("null between 1 and 3", None),
        ("4 between null and 3", 0),
        ("null is null", 1),
        ("0 is not null", 1),
        ("5 is true", 1),
        ("null is false", 0),
        ("'a_c' like 'a\\_c'", 1),
        ("'abc' like 'a\\_c'", 0),
        ("'abc' like 'a_c'", 1),
        ("'abc' not like 'a%'", 0),
        ("'a%c' like 'a|%c' escape '|'", 1),
        ("'' like '%%'", 1),
        ("'ABC' collate utf8mb4_general_ci like 'a%c'", 1),
        ("concat('a', 1, 1.50)", "a11.50"),
        ("concat('a', null)", None),
        ("'a' 'b'", "ab"),
        ("n'x'", "x"),
        ("_utf8mb4 x'c3a9'", "é"),
        ("upper('é')", "É"),
        ("length('é')", 2),
        ("char_length('é')", 1),
        ("repeat('ab', 2)", "abab"),
        ("repeat('ab', -1)", ""),
        ("if(null, 1, 2)", 2),
        ("ifnull(null, 3)", 3),
        ("coalesce(null, null, 4)", 4),
        ("nullif(1, 1)", None),
        ("abs(-2.50)", Decimal("2.50")),
        ("mod(10, 3)", 1),
        ("case when 0 then 1 when 1 then 2 end", 2),
        ("case 3 when 1 then 1 else 9 end", 9),
        ("date'2020-01-02' < '2020-01-03'", 1),
        ("date'2020-01-02' = 20200102", 1),
        ("time'01:02:03' > '1:2:2'", 0),  # without a column, TiDB compares texts
        ("now() = '2021-12-20 13:30:49'", 1),
        ("true + true", 2),
    ],
)
def test_value(text: str, expected: SQLValue) -> None:
    result = value(text)
    assert result == expected
    assert isinstance(result, Decimal) == isinstance(expected, Decimal)
    if isinstance(expected, Decimal):
        assert str(result) == str(expected)


def test_division_by_zero_is_null_if_sql_mode_allows_it() -> None:
    assert [value(f"1 {sign} 0", LAX) for sign in ("/", "DIV", "%")] == [None, None, None]
    with pytest.raises(ScenarioError, match="Division by 0"):
        value("1 / 0")


def test_a_pattern_of_many_wildcards_is_matched_in_short_time() -> None:
    assert value(f"'{'a' * 2000}' like '{'%a' * 50}b'") == 0


@pytest.mark.parametrize(
    ("text", "lax"),
    [
        ("'1.5x' + 1", 2.5),
        ("'abc' = 0", True),
        ("'3x' | 0", 3),
        ("'3.7' & 3", 3),
        ("if('a', 1, 2)", 2),
        ("abs('3x')", 3.0),
        ("left('abc', '1x')", "a"),
        ("left('abcdefghijk', '1e1')", "a"),
        ("'a' or 0", False),
        ("date'2020-01-02' < 'x'", None),
        ("5 in ('x', 5)", True),
    ],
)
def test_a_text_that_is_no_number_is_an_error_in_strict_mode(text: str, lax: SQLValue) -> None:
    assert value(text, LAX) == lax
    with pytest.raises(ScenarioError, match=r"Truncated incorrect|Incorrect datetime"):
        value(text)


@pytest.mark.parametrize(
    ("text", "stored"),
    [("1 / 3", "0.3333"), ("7 / 2", "3.5000"), ("1 / 7 * 7", "1.0000"), ("2 / 3 - 1", "-0.3333"),
     ("-99.995 / 0.3", "-333.3166667"), ("mod(-99.995 / 0.3, 7)", "-4.3166667")],
)  # fmt: skip
def test_a_quotient_shows_four_more_digits_than_its_dividend(text: str, stored: str) -> None:
    quotient = value(text)
    assert isinstance(quotient, Quotient)
    assert f"{quotient.rounded():f}" == stored
    assert float(stored_number(quotient)) == float(stored)


@pytest.mark.parametrize(
    ("text", "real"),
    [("1 / 3 + 0e0", 0.333333333), ("cast(5.04600000 / 36000 as double)", 0.000140166666666666),
     ("'20210606' * 50000.00 * (5.04600000 / 36000)", 141642663.71666598),
     ("1 / 3 * 3 * 1e0", 0.999999999), ("-(1 / 3) + 0e0", -0.333333333), ("1 / 3 * 3 = 1e0", False)],
)  # fmt: skip
def test_a_double_has_all_digits_of_a_division_and_of_constants(text: str, real: float) -> None:
    assert value(text) == real
