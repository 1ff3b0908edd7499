"""CAST and CONVERT: one case per rule, with and without strict mode."""

from __future__ import annotations

from contextlib import suppress

import pytest

from tests.scenario.sql.expressions import LAX, result_text, value_of
from tests.scenario.sql.script_results import rows_of
from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.sql_value import SQLMode


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cast('12' as signed)", "12"),
        ("cast(' -5 ' as signed integer)", "-5"),
        ("cast(1.5 as signed)", "2"),
        ("cast(-1.5 as signed)", "-2"),
        ("cast(2.5e0 as signed)", "2"),
        ("cast(18446744073709551615 as signed)", "-1"),
        ("cast('18446744073709551615' as signed)", "-1"),
        ("cast(-1 as unsigned)", "18446744073709551615"),
        ("cast('-1' as unsigned)", "18446744073709551615"),
        ("cast(1 - 2 as unsigned)", "18446744073709551615"),
        ("cast(x'41' as unsigned)", "65"),
        ("cast(date'2020-01-02' as signed)", "20200102"),
        ("cast(time'01:02:03' as unsigned)", "10203"),
        ("cast(true as signed)", "1"),
        ("convert('7', signed)", "7"),
        ("cast('1.255' as decimal(10,2))", "1.26"),
        ("cast(1.5 as decimal)", "2"),
        ("cast(-1.005e0 as decimal(5,2))", "-1.01"),
        ("cast('1e2' as decimal(10,1))", "100.0"),
        ("cast(5 as decimal(4,3))", "5.000"),
        ("cast(1.50 as char)", "1.50"),
        ("cast(1e15 as char)", "1000000000000000"),
        ("cast('abc' as char(5))", "abc"),
        ("cast(date'2020-01-02' as char)", "2020-01-02"),
        ("cast(x'c3a9' as char)", "é"),
        ("cast('é' as char character set binary)", "0xc3a9"),
        ("cast('ab' as binary(4))", "0x61620000"),
        ("cast('é' as binary)", "0xc3a9"),
        ("binary 'a' = 'a '", "0"),
        ("binary ('a') = 'a'", "1"),
        ("cast(binary 'a' as json)", '"base64:type254:YQ=="'),
        ("cast('7' as signed int)", "7"),
        ("cast(1.1 as float) = 1.1", "1"),
        ("cast(1.1 as float) * 3", "3.3000000000000003"),
        ("convert(x'ff' using utf8mb4)", None),
        ("convert('é' using binary)", "0xc3a9"),
        ("convert(x'61' using utf8mb4)", "a"),
        ("convert('abc' using ascii)", "abc"),
        ("convert('Straße' using ascii)", "Stra?e"),
        ("hex(convert('é' using latin1))", "C3A9"),
        ("cast('2020-1-2 3:4:5.6' as date)", "2020-01-02"),
        ("cast(20200102 as date)", "2020-01-02"),
        ("cast('2020-01-02' as datetime)", "2020-01-02 00:00:00"),
        ("cast('2020-01-02 03:04:05.6785' as datetime(3))", "2020-01-02 03:04:05.679"),
        ("cast('2020-12-31 23:59:59.9' as datetime)", "2021-01-01 00:00:00"),
        ("cast('01:02:03.5' as time)", "01:02:04"),
        ("time'01:02:03.5'", "01:02:03.5"),
        ("cast(10203 as time(2))", "01:02:03.00"),
        ("cast('2020-01-02 03:04:05' as time)", "03:04:05"),
        ("cast('70' as year)", "70"),
        ("cast('1.5' as double)", "1.5"),
        ("cast(0.1 as float)", "0.1"),
        ("cast(0.1 as float(53))", "0.1"),
        ("cast('[1, 2.50, -0]' as vector)", "[1,2.5,-0]"),
        ("cast('[1,2]' as vector(2))", "[1,2]"),
        ("cast(null as json)", None),
        ('cast(\'[1,2.0,{"b":1,"a":null}]\' as json)', '[1, 2.0, {"a": null, "b": 1}]'),
        ("cast(1 as json)", "1"),
        ("cast(1.50 as json)", "1.5"),
        ("cast(2e0 as json)", "2.0"),
        ("cast(true as json)", "true"),
        ("cast(1 = 2 as json)", "false"),
        ("cast(18446744073709551615 as json)", "18446744073709551615"),
        ("cast(date'2020-01-02' as json)", '"2020-01-02"'),
        ("cast(cast('2020-01-02 03:04:05.678' as datetime(3)) as json)", '"2020-01-02 03:04:05.678000"'),
        ("cast(cast('12:34:56' as time) as json)", '"12:34:56.000000"'),
        ("cast(x'00ff' as json)", '"base64:type253:AP8="'),
        ("cast(json_extract('[\"7\"]', '$[0]') as signed)", "7"),
        ("cast(json_extract('[\"2020-01-02\"]', '$[0]') as date)", "2020-01-02"),
    ],
)
def test_cast(text: str, expected: str | None) -> None:
    assert result_text(text) == expected


@pytest.mark.parametrize(
    ("text", "lax"),
    [
        ("cast('1.9' as signed)", "1"),
        ("cast('abc' as signed)", "0"),
        ("cast(1e30 as signed)", "9223372036854775807"),
        ("cast(-1.5 as unsigned)", "0"),
        ("cast(123.456 as decimal(4,2))", "99.99"),
        ("cast('abc' as char(2))", "ab"),
        ("cast('abc' as binary(2))", "0x6162"),
        ("cast('2020-02-30' as date)", None),
        ("cast('x' as datetime)", None),
        ("cast('25:61:00' as time)", None),
        ("cast('900:00:00' as time)", "838:59:59"),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_or_truncated(text: str, lax: str | None) -> None:
    assert result_text(text, LAX) == lax
    with pytest.raises(ScenarioError) as caught:
        value_of(text)
    assert caught.value.value


def test_invalid_dates() -> None:
    any_day = SQLMode(invalid_dates=True)
    assert result_text("cast('2021-02-31' as date)", any_day) == "2021-02-31"
    assert result_text("cast(20210431 as datetime)", any_day) == "2021-04-31 00:00:00"
    for text in ("2021-02-32", "2021-13-01"):
        with pytest.raises(ScenarioError, match="Incorrect date"):
            value_of(f"cast('{text}' as date)", any_day)


def test_zero_dates_are_valid_if_sql_mode_allows_them() -> None:
    zeros = SQLMode(zero_dates=True, zero_in_date=True)
    assert result_text("cast('0000-00-00' as date)", zeros) == "0000-00-00"
    assert result_text("cast('2021-00-10' as date)", zeros) == "2021-00-10"
    for text in ("0000-00-00", "2021-00-10"):
        with pytest.raises(ScenarioError, match="Incorrect date"):
            value_of(f"cast('{text}' as date)")


@pytest.mark.parametrize(
    "text",
    [
        "convert(1, varchar(3))", "convert(1, int)", "cast('[1]' as unsigned array)",
        "convert('a' using gb18030)",
    ],
)  # fmt: skip
def test_other_types_are_refused_by_name(text: str) -> None:
    with pytest.raises(UnsupportedSQL):
        value_of(text)


@pytest.mark.parametrize(
    "text",
    ["cast('{' as json)", "cast('[1,2]' as vector(3))", "cast('[1,nan]' as vector)", "cast(1 as time(7))"],
)
def test_invalid_in_every_sql_mode(text: str) -> None:
    with pytest.raises(ScenarioError):
        value_of(text, LAX)


@pytest.mark.parametrize(
    "text",
    [
        "cast('1' as decimal(a))",
        "cast('1' as char(a))",
        "cast(1 as binary(9000000000))",
        "cast(1 as char(99999999999999999999))",
        "round(1.5, '²')",
        "now('²')",
        "convert_tz('2020-01-01', '+²:00', '+00:00')",
    ],
)
def test_what_is_no_number_of_a_length_or_a_zone_is_no_traceback(text: str) -> None:
    with suppress(ScenarioError):
        value_of(text)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("cast('20200102' as json)", "date", None),
        ("cast('true' as json)", "time", None),
        ("cast('{}' as json)", "datetime", None),
        ("cast(date'2020-01-02' as json)", "time", "00:00:00"),
        ("cast(timestamp'2020-01-02 03:04:05' as json)", "date", "2020-01-02"),
        ("cast(time'10:11:12' as json)", "time", "10:11:12"),
    ],
)
def test_json_is_a_date_by_its_type(value: str, kind: str, text: str | None) -> None:
    """An assignment reads the text of the document instead, in which a number may be a date."""
    script = "set sql_mode = ''; create table t (a varchar(30));"
    expected = None if text is None else text.encode()
    assert rows_of(f"{script} insert into t select cast({value} as {kind})") == [(expected,)]


def test_an_assignment_reads_json_as_text() -> None:
    """JSON's own dates are printed in quotes, which are no date."""
    script = "create table t (d date, t time);"
    insert = """insert into t select cast('20200102' as json), cast('"10:11:12"' as json)"""
    assert rows_of(f"{script} {insert}") == [(b"2020-01-02", b"10:11:12")]
    with pytest.raises(ScenarioError, match="Incorrect date value"):
        rows_of(f"{script} insert into t (d) select cast(date'2020-01-02' as json)")
