"""Texts and numbers that are dates and times: those with few separators, with many, and with more text."""

from __future__ import annotations

import pytest

from tests.scenario.sql.expressions import LAX, STRICT, result_text, value_of
from tests.scenario.sql.script_results import rows_of
from ticdc_producer.errors import ScenarioError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'21123'", "2021-12-03 00:00:00"),  # YYMMD
        ("'2112039'", "2021-12-03 09:00:00"),  # YYMMDDh
        ("'211203045'", "2021-12-03 04:05:00"),  # YYMMDDhhm
        ("'2112030405'", "2021-12-03 04:05:00"),
        ("'21120304056'", "2021-12-03 04:05:06"),  # YYMMDDhhmms
        ("'2112030405.06'", "2021-12-03 04:05:06"),  # the fraction is the seconds
        ("'20211203.0405'", "2021-12-03 04:05:00"),  # the fraction is the time
        ("'211203.4'", "2021-12-03 04:00:00"),
        ("'211203.x'", "2021-12-03 00:00:00"),
        ("'2021-12-03 04:05:06 am'", "2021-12-03 04:05:06"),
        ("'2021-12-03 04:05:06.7 noon'", "2021-12-03 04:05:07"),
        ("'2021--12//03  04::05'", "2021-12-03 04:05:00"),
        ("'2021-12-03 04.05'", "2021-12-03 04:05:00"),
        ("'2021-12-03T04:05:06+02'", "2021-12-03 02:05:06"),
        ("'2021-12-03 04:05:06-0130'", "2021-12-03 05:35:06"),
        ("20211203.9", "2021-12-03 00:00:00"),  # the fraction of a number that is a date is no time
        ("20211203040506.7", "2021-12-03 04:05:07"),
    ],
)
def test_texts_of_datetimes(text: str, expected: str) -> None:
    assert result_text(f"cast({text} as datetime)") == expected


def test_a_date_after_the_last_second_is_the_next_one() -> None:
    assert result_text("cast('2021-12-31 23:59:59.5' as date)") == "2022-01-01"


@pytest.mark.parametrize(
    "text",
    ["2021", "2021-12", "2021x12-03", "2021-12-03 25", "20211203-02", "2021-12-03 04:05:06+15:00", "211399"],
)
def test_other_texts_are_no_datetimes(text: str) -> None:
    assert value_of(f"cast('{text}' as datetime)", LAX) is None
    with pytest.raises(ScenarioError):
        value_of(f"cast('{text}' as datetime)", STRICT)


def test_a_column_takes_the_same_texts() -> None:
    script = "create table t (a datetime); insert into t values ('2021-12-03 04:05:06 am'), ('2112039')"
    assert rows_of(script) == [(b"2021-12-03 04:05:06",), (b"2021-12-03 09:00:00",)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'4:05:06x'", "04:05:06"),
        ("'4:05:'", "00:00:04"),
        ("'4 : 05'", "04:05:00"),
        ("'2 4'", "52:00:00"),
        ("'1000:00:00'", "838:59:59"),
        ("'4:05:06 in the night'", None),  # too long for a TIME and more
        ("'4:60:00'", None),
        ("8400000", None),
        ("20211203040506", "04:05:06"),
        ("211203040506", "04:05:06"),
        ("20000000000", None),
    ],
)
def test_casts_to_time_without_strict_mode(text: str, expected: str | None) -> None:
    assert result_text(f"cast({text} as time)", LAX) == expected


@pytest.mark.parametrize("text", ["'4:05:06x'", "'1000:00:00'", "8400000"])
def test_strict_mode_rejects_what_is_not_all_of_a_time(text: str) -> None:
    with pytest.raises(ScenarioError):
        value_of(f"cast({text} as time)")


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("timestamp'2021-12-03 4'", "2021-12-03 04:00:00"),
        ("timestamp'2021@12@03 04.5'", "2021-12-03 04:05:00.0"),
        ("timestamp'2021-12-03 04:05:06.5+02:00'", "2021-12-03 02:05:06.500000"),
        ("date'21#12#3'", "2021-12-03"),
        ("time'30 4'", "724:00:00"),
    ],
)
def test_literals(literal: str, expected: str) -> None:
    assert result_text(literal) == expected


@pytest.mark.parametrize(
    "literal",
    [
        "date'21123'", "date'2021-12-03 04:05'", "date'2021-00-03'", "timestamp'2021-12-03'",
        "timestamp'20211203040506'", "timestamp'2021-12-03 04:05:06+0200'", "time'2021-12-03 04:05:06'",
    ],
)  # fmt: skip
def test_literals_take_fewer_texts(literal: str) -> None:
    with pytest.raises(ScenarioError):
        value_of(literal)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("time'10:59:59.5'", "110000"), ("timestamp'2021-12-31 23:59:59.5'", "20220101000000")],
)
def test_the_integer_of_a_time_is_that_of_the_rounded_time(value: str, expected: str) -> None:
    assert result_text(f"cast({value} as signed)") == expected
    script = f"create table t (a bigint); insert into t values ({value})"
    assert rows_of(script) == [(expected.encode(),)]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("extract(day_second from time'49:05:06')", "490506"),
        ("extract(day_minute from '-49:05:06')", "-4905"),
        ("extract(day_hour from '2021-12-03 04:05:06')", "304"),
        ("from_unixtime(11/4)", "1970-01-01 00:00:02.7500"),
        ("'2021-12-03' + interval 1 << 4 hour", "2021-12-03 16:00:00"),
        ("date_add('2021-12-03', interval '+2' day)", "2021-12-05"),
        ("dayname('2021-12-03') + 0", "4"),
        ("concat(dayname('2021-12-03'))", "Friday"),
        ("greatest(date'2021-12-03', '20211204')", "2021-12-04"),
        ("least(time'10:00:00', date'2021-12-03', 5)", "10:00:00"),
    ],
)
def test_functions(call: str, expected: str) -> None:
    assert result_text(call) == expected


def test_the_sql_mode_of_str_to_date_is_no_zero_date() -> None:
    script = (
        "create table t (a varchar(20)); set sql_mode = '{}'; insert into t values (str_to_date('3', '%m'))"
    )
    assert rows_of(script.format("NO_ZERO_IN_DATE")) == [(b"0000-03-00",)]
    assert rows_of(script.format("NO_ZERO_DATE")) == [(None,)]
