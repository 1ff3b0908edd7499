"""Mathematical functions: which results are exact, and which are DOUBLEs."""

from __future__ import annotations

import pytest

from tests.scenario.sql.expressions import result_text, value_of
from ticdc_producer.errors import ScenarioError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("round(-1.23)", "-1"),
        ("round(-1.58)", "-2"),
        ("round(1.58)", "2"),
        ("round(1.298, 1)", "1.3"),
        ("round(1.298, 0)", "1"),
        ("round(23.298, -1)", "20"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(2.5e0)", "2"),
        ("round(150.000, 2)", "150.00"),
        ("round(1.5, 5)", "1.50000"),
        ("truncate(1.5, 3)", "1.500"),
        ("hex(9223372036854775807)", "7FFFFFFFFFFFFFFF"),
        ("bin(-9223372036854775808)", "1" + "0" * 63),
        ("round(150, -2)", "200"),
        ("round(149, -2)", "100"),
        ("round(250, -2)", "200"),  # TiDB rounds it as a DOUBLE
        ("round(9007199254740993)", "9007199254740993"),
        ("round(9007199254740993, 2)", "9007199254740992"),
        ("round(9223372036854775807, 0)", "-9223372036854775808"),
        ("round(18446744073709551615, -1)", "0"),  # as a number with a sign it is -1
        ("round(cast(9223372036854775808 as unsigned), -1)", "9223372036854775808"),
        ("round(250.0, -2)", "300"),
        ("round(12.5e0, -1)", "10"),
        ("truncate(1.223, 1)", "1.2"),
        ("truncate(1.999, 0)", "1"),
        ("truncate(-1.999, 1)", "-1.9"),
        ("truncate(122, -2)", "100"),
        ("truncate(10.28e0, 1)", "10.2"),
        ("ceil(1.23)", "2"),
        ("ceiling(-1.23)", "-1"),
        ("floor(1.23)", "1"),
        ("floor(-1.23)", "-2"),
        ("floor('1.9')", "1"),
        ("sign(-32)", "-1"),
        ("sign(0)", "0"),
        ("sign(234.5)", "1"),
        ("sqrt(4)", "2"),
        ("sqrt(-16)", None),
        ("pow(2, 2)", "4"),
        ("power(2, -2)", "0.25"),
        ("exp(0)", "1"),
        ("ln(1)", "0"),
        ("ln(-2)", None),
        ("log(2, 65536)", "16"),
        ("log(1, 100)", None),
        ("log2(8)", "3"),
        ("log10(100)", "2"),
        ("log10(-100)", None),
        ("pi()", "3.141592653589793"),
        ("degrees(pi())", "180"),
        ("radians(180)", "3.141592653589793"),
        ("acos(1.0001)", None),
        ("atan2(1, 1)", "0.7853981633974483"),
        ("bit_count(29)", "4"),
        ("bit_count(-1)", "64"),
        ("mod(234, 10)", "4"),
        ("abs(-9223372036854775807)", "9223372036854775807"),
    ],
)
def test_number(text: str, expected: str | None) -> None:
    assert result_text(text) == expected


@pytest.mark.parametrize("text", ["pow(10, 400)", "exp(1000)", "cot(0)", "abs(-9223372036854775808)"])
def test_results_out_of_range_are_errors(text: str) -> None:
    with pytest.raises(ScenarioError, match="out of range"):
        value_of(text)
