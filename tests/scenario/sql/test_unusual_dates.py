"""Functions of dates that Python's calendar lacks, and of values that are no dates, by TiDB's source."""

from __future__ import annotations

import pytest

from tests.scenario.sql.expressions import LAX, result_text, value_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.session.session import Session

ZEROS = SQLMode(zero_dates=True, zero_in_date=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("to_days('0000-03-02')", "61"),
        ("to_seconds('0000-01-02 00:00:07')", "172807"),
        ("datediff('0001-02-01', '0000-02-01')", "365"),
        ("dayname('0000-01-03')", "Monday"),
        ("dayofweek('0000-01-03')", "2"),
        ("weekday('0000-01-03')", "0"),
        ("dayofyear('0000-12-31')", "365"),
        ("week('0000-01-08')", "2"),
        ("yearweek('0000-12-31')", "53"),
        ("yearweek('0000-01-01', 3)", "4294967295"),
        ("last_day('0000-02-05')", "0000-02-29"),
        ("date_format('0000-07-01', '%j %W %X')", "182 Saturday 0000"),
        ("timestampdiff(day, '0000-12-30', '0001-01-01')", "2"),
        ("timediff('0000-01-02 01:00:00', '0000-01-01 00:00:00')", "25:00:00"),
        ("date_add('0001-01-01', interval -1 second)", "0000-00-00 23:59:59"),
        ("addtime('0000-06-01 00:00:00', '01:00:00')", "0000-00-00 01:00:00"),
        ("timestamp('0000-06-01', '01:00:00')", None),
    ],
)
def test_the_year_zero_has_a_leap_day_but_365_days(text: str, expected: str | None) -> None:
    assert result_text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yearweek('2024-05-06', null)", "202418"),
        ("from_days(3652424)", "9999-12-31"),
        ("from_days(3652426)", None),
        ("from_days(3652500)", "0000-00-00"),
        ("hour(240506070809)", "7"),
        ("unix_timestamp('1970-01-01 00:00:00.5')", "0.0"),
        ("unix_timestamp('1970-01-01 00:00:01.5')", "1.5"),
        ("unix_timestamp('3001-01-18 23:59:59')", "32536771199"),
        ("unix_timestamp('3001-01-19')", "0"),
        ("unix_timestamp(20240506070809e0)", "1714979289.000000"),
        ("unix_timestamp(1e300)", "0"),
        ("extract(day_minute from '34:56:07')", "3456"),
        ("extract(day_minute from '2024-05-06 07:08:09')", "60708"),
        ("extract(day_hour from 20240506070809)", "607"),
        ("extract(day_second from 345607)", "345607"),
        ("timestamp('2024-05-06', '2024-05-06 01:00:00')", None),
        ("addtime('01:00:00', 0b1011)", None),
        ("addtime('01:00:00', '20240506070809')", "08:08:09"),
        ("addtime('01:00:00', '2024-05-06 07:08:09')", None),
        ("addtime('x', '1')", None),
        ("addtime('1', 'x')", None),
        ("addtime(date'2024-05-06', '00:00:01.5')", "2024-05-06 00:00:01.500000"),
        ("date_format('2024-05-06', '0')", "0"),
        ("timestampadd(month, 1, '2023-01-31')", "2023-02-28 00:00:00"),
        ("timestampadd(quarter, 1, '2023-01-31')", "2023-05-01 00:00:00"),
        ("timestampadd(year, 1, '2024-02-29')", "2025-03-01 00:00:00"),
        ("timestampadd(hour, '1.5', '2023-01-31')", "2023-01-31 02:00:00"),
    ],
)
def test_unusual_arguments(text: str, expected: str | None) -> None:
    assert result_text(text) == expected


@pytest.mark.parametrize(
    ("text", "layout", "expected"),
    [
        ("2024-05-06 09:08:07 PM", "%Y-%m-%d %H:%i:%s %p", None),
        ("2024-05-06 09:08:07 PM", "%Y-%m-%d %h:%i:%s %p", "2024-05-06 21:08:07"),
        ("2024-05-06 12 am", "%Y-%m-%d %I %p", "2024-05-06 00:00:00"),
        ("09", "%H %p", None),
        ("9:08:07", "%r", "09:08:07"),
        ("9 :08: 07pm", "%r", "21:08:07"),
        ("9: 08", "%r", "09:08:00"),
        ("9:08:07 x", "%r", None),
        ("21 : 08:07 06", "%T %d", None),
        ("21 : 08:07 06/05/2024", "%T %d/%m/%Y", "2024-05-06 21:08:07"),
        ("21:", "%T", "21:00:00"),
        ("21-", "%T", None),
        ("2024 127", "%Y %j", None),
        ("6th 05 2024", "%D %m %Y", None),
        ("Mon 2024-05-06", "%a %Y-%m-%d", None),
        ("%a 2024-05-06", "%a %Y-%m-%d", "2024-05-06"),
        ("", "%H", "00:00:00"),
    ],
)
def test_str_to_date_has_the_specifiers_of_tidb(text: str, layout: str, expected: str | None) -> None:
    assert result_text(f"str_to_date('{text}', '{layout}')", LAX) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time'10:11:12' + interval 1 day", "2021-12-21 10:11:12"),
        ("date_sub(time'-01:00:00', interval 2 week)", "2021-12-05 23:00:00"),
        ("date_add(time'10:11:12', interval '1:1' day_minute)", "2021-12-20 11:12:12"),
        ("date_add(time'10:11:12', interval '1 1' day_microsecond)", "10:11:13.100000"),
        ("date_add(time'800:00:00', interval 100 hour)", "900:00:00"),
        ("date_add(time'10:11:12', interval 839 hour)", None),
        ("date_add(time'10:11:12', interval 3020399000 microsecond)", "11:01:32.399000"),
        ("date_add(time'10:11:12', interval 3020399001 microsecond)", None),
    ],
)
def test_a_time_and_an_interval(text: str, expected: str | None) -> None:
    assert result_text(text, LAX) == expected


@pytest.mark.parametrize(
    "text",
    [
        "date_add('2024-05-06', interval 999999999999999 day)",
        "date_sub(time'10:11:12', interval 1e30 week)",
        "timestampadd(microsecond, 1e300, '2024-05-06')",
        "timestampadd(year, '-1e400', '2024-05-06')",
    ],
)
def test_a_sum_without_a_date_is_null(text: str) -> None:
    assert result_text(text, LAX) is None


def test_an_interval_that_is_longer_than_a_time_is_an_error() -> None:
    with pytest.raises(ScenarioError, match="Datetime function: time field overflow"):
        value_of("date_add(time'10:11:12', interval 839 hour)")


@pytest.mark.parametrize("mode", [SQLMode(zero_dates=True), SQLMode(zero_in_date=True), LAX, ZEROS])
def test_more_sql_modes_allow_zero_parts_in_expressions_than_in_columns(mode: SQLMode) -> None:
    assert result_text("year('2024-00-06')", mode) == "2024"
    assert result_text("cast('2024-05-00' as date)", mode) == "2024-05-00"
    with pytest.raises(ScenarioError, match="Incorrect datetime value: '2024-00-06'"):
        value_of("year('2024-00-06')")


def test_dates_with_zero_parts_have_no_format_but_a_time_difference() -> None:
    assert result_text("date_format('2024-05-00', '%Y')", LAX) is None
    assert result_text("timediff('2024-05-00 12:00:00', '2024-05-01 12:00:00')", LAX) == "-24:00:00"


@pytest.mark.parametrize("text", ["year('20240-05-06')", "date('99999-01-01 00:00:00')", "quarter(100)"])
def test_years_of_five_digits_and_small_numbers_are_no_dates(text: str) -> None:
    assert result_text(text, LAX) is None
    with pytest.raises(ScenarioError, match="Incorrect datetime value"):
        value_of(text)


@pytest.mark.parametrize("unit", ["day_hour", "year_month"])
def test_timestampadd_has_no_units_of_several_parts(unit: str) -> None:
    with pytest.raises(ScenarioError, match=f"expected a name near '{unit}'"):
        value_of(f"timestampadd({unit}, 1, '2024-05-06')")


@pytest.mark.parametrize(
    "text", ["now(null)", "now(1.0)", "curtime('2')", "utc_timestamp(1 + 1)", "sysdate(-1)"]
)
def test_the_digits_of_the_current_time_are_a_whole_number(text: str) -> None:
    with pytest.raises(ScenarioError, match="SQL does not parse"):
        value_of(text)


@pytest.mark.parametrize("attribute", ["default now", "default (now) on update now()", "on update now"])
def test_now_has_brackets_in_a_definition(attribute: str) -> None:
    with pytest.raises(ScenarioError, match="after NOW"):
        Session().run(f"create table t (at timestamp {attribute})")


def test_extract_of_a_text_that_is_no_time_is_an_error_of_every_sql_mode() -> None:
    with pytest.raises(ScenarioError, match="Incorrect time value: 'x'"):
        value_of("extract(day_hour from 'x')", LAX)
