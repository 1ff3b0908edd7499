"""Functions of dates and times, by MySQL's manual and TiDB's source. NOW() is 2021-12-20 13:30:49 UTC."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest

from tests.scenario.sql.expressions import LAX, result_text, value_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import SQLMode


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("date('2003-12-31 01:02:03')", "2003-12-31"),
        ("time('2003-12-31 01:02:03.000123')", "01:02:03.000123"),
        ("time('10:11:12')", "10:11:12"),
        ("year('1987-01-01')", "1987"),
        ("month('2008-02-03')", "2"),
        ("day('2007-02-03')", "3"),
        ("dayofmonth(20070203)", "3"),
        ("hour('10:05:03')", "10"),
        ("hour('272:59:59')", "272"),
        ("minute('2008-02-03 10:05:03')", "5"),
        ("second('10:05:03')", "3"),
        ("microsecond('12:00:00.123456')", "123456"),
        ("microsecond('2019-12-31 23:59:59.000010')", "10"),
        ("dayofweek('2007-02-03')", "7"),
        ("dayofyear('2007-02-03')", "34"),
        ("weekday('2008-02-03 22:23:00')", "6"),
        ("week('2008-02-20')", "7"),
        ("week('2008-02-20', 0)", "7"),
        ("week('2008-02-20', 1)", "8"),
        ("week('2008-12-31', 1)", "53"),
        ("week('2000-01-01', 0)", "0"),
        ("week('2000-01-01', 2)", "52"),
        ("weekofyear('2008-02-20')", "8"),
        ("yearweek('1987-01-01')", "198652"),
        ("quarter('2008-04-01')", "2"),
        ("monthname('2008-02-03')", "February"),
        ("dayname('2007-02-03')", "Saturday"),
        ("last_day('2003-02-05')", "2003-02-28"),
        ("last_day('2004-02-05 01:01:01')", "2004-02-29"),
        ("to_days(950501)", "728779"),
        ("to_days('2007-10-07')", "733321"),
        ("to_seconds('2009-11-29 13:43:32')", "63426721412"),
        ("from_days(730669)", "2000-07-03"),
        ("from_days(1)", "0000-00-00"),
        ("datediff('2007-12-31 23:59:59', '2007-12-30')", "1"),
        ("datediff('2010-11-30 23:59:59', '2010-12-31')", "-31"),
        ("time_to_sec('22:23:00')", "80580"),
        ("time_to_sec('-00:00:10')", "-10"),
        ("sec_to_time(2378)", "00:39:38"),
        ("sec_to_time(-1.5)", "-00:00:01.5"),
        ("sec_to_time(3020399)", "838:59:59"),
        ("makedate(2011, 31)", "2011-01-31"),
        ("makedate(2011, 32)", "2011-02-01"),
        ("makedate(2011, 0)", None),
        ("maketime(12, 15, 30)", "12:15:30"),
        ("maketime(-1, 15, 30.25)", "-01:15:30.25"),
        ("maketime(1, 60, 0)", None),
        ("extract(year from '2019-07-02')", "2019"),
        ("extract(year_month from '2019-07-02 01:02:03')", "201907"),
        ("extract(day_minute from '2019-07-02 01:02:03')", "20102"),
        ("extract(microsecond from '2003-01-02 10:30:00.000123')", "123"),
        ("extract(day_microsecond from '2003-01-02 10:30:05.000123')", "2103005000123"),
        ("extract(minute_second from '10:30:05')", "3005"),
        ("extract(hour_microsecond from time'-10:30:05.5')", "-103005500000"),
        ("extract(quarter from '2003-12-02')", "4"),
        ("extract(week from '2003-12-02')", "48"),
        ("unix_timestamp('2015-11-13 10:20:19')", "1447410019"),
        ("unix_timestamp('2015-11-13 10:20:19.012')", "1447410019.012"),
        ("unix_timestamp('1969-01-01')", "0"),
        ("unix_timestamp()", "1640007049"),
        ("from_unixtime(1447430881)", "2015-11-13 16:08:01"),
        ("from_unixtime(1447430881.5)", "2015-11-13 16:08:01.5"),
        ("from_unixtime(1447430881, '%Y %D %M %h:%i:%s %x')", "2015 13th November 04:08:01 2015"),
        ("from_unixtime(-1)", None),
        ("timestamp('2003-12-31')", "2003-12-31 00:00:00"),
        ("timestamp('2003-12-31 12:00:00', '12:00:00')", "2004-01-01 00:00:00"),
        ("timediff('2000-01-01 00:00:00', '2000-01-01 00:00:00.000001')", "-00:00:00.000001"),
        ("timediff('2008-12-31 23:59:59.000001', '2008-12-30 01:01:01.000002')", "46:58:57.999999"),
        ("timediff('12:00:00', '10:00:00')", "02:00:00"),
        ("timediff('2000-01-01 00:00:00', '10:00:00')", None),
        ("addtime('2007-12-31 23:59:59.999999', '1 1:1:1.000002')", "2008-01-02 01:01:01.000001"),
        ("addtime('01:59:59.999999', '02:00:00.999998')", "04:00:00.999997"),
        ("subtime('2007-12-31 23:59:59', '1:1:1')", "2007-12-31 22:58:58"),
        ("period_add(200801, 2)", "200803"),
        ("period_diff(200802, 200703)", "11"),
        ("convert_tz('2004-01-01 12:00:00', '+00:00', '+10:00')", "2004-01-01 22:00:00"),
        ("convert_tz('2004-07-01 12:00:00', 'UTC', 'Europe/Berlin')", "2004-07-01 14:00:00"),
        ("convert_tz('2004-01-01 12:00:00', 'Mars', '+10:00')", None),
        ("date_format('2009-10-04 22:23:00', '%W %M %Y')", "Sunday October 2009"),
        ("date_format('2007-10-04 22:23:00', '%H:%i:%s')", "22:23:00"),
        ("date_format('1900-10-04 22:23:00', '%D %y %a %d %m %b %j')", "4th 00 Thu 04 10 Oct 277"),
        ("date_format('1997-10-04 22:23:00', '%H %k %I %r %T %S %w')", "22 22 10 10:23:00 PM 22:23:00 00 6"),
        ("date_format('1999-01-01', '%X %V')", "1998 52"),
        ("date_format('2020-01-02 03:04:05.6', '%f %% %l %c %e %q')", "600000 % 3 1 2 q"),
        ("date_format('2001-01-11', '%D')", "11th"),
        ("date_format('2001-01-22', '%D')", "22nd"),
        ("time_format('100:00:00', '%H %k %h %I %l')", "100 100 04 04 4"),
        ("str_to_date('01,5,2013', '%d,%m,%Y')", "2013-05-01"),
        ("str_to_date('May 1, 2013', '%M %d,%Y')", "2013-05-01"),
        ("str_to_date('09:30:17', '%h:%i:%s')", "09:30:17"),
        ("str_to_date('12:30:17 am', '%r')", "00:30:17"),
        ("str_to_date('2013-05-01 10:20:30.5', '%Y-%m-%d %H:%i:%s.%f')", "2013-05-01 10:20:30.500000"),
        ("str_to_date('20200102abc', '%Y%m%d')", "2020-01-02"),
        ("date_add('2018-05-01', interval 1 day)", "2018-05-02"),
        ("date_sub('2018-05-01', interval 1 year)", "2017-05-01"),
        ("date_add('2020-12-31 23:59:59', interval 1 second)", "2021-01-01 00:00:00"),
        ("date_add('2018-12-31 23:59:59', interval 1 day)", "2019-01-01 23:59:59"),
        ("date_add('2100-12-31 23:59:59', interval '1:1' minute_second)", "2101-01-01 00:01:00"),
        ("date_sub('2025-01-01 00:00:00', interval '1 1:1:1' day_second)", "2024-12-30 22:58:59"),
        ("date_add('1900-01-01 00:00:00', interval '-1 10' day_hour)", "1899-12-30 14:00:00"),
        ("date_sub('1998-01-02', interval 31 day)", "1997-12-02"),
        ("date_add('1992-12-31 23:59:59.000002', interval '1.999999' second_microsecond)",
         "1993-01-01 00:00:01.000001"),
        ("date_add('2024-03-30', interval 1 month)", "2024-04-30"),
        ("date_add('2024-03-31', interval 1 month)", "2024-04-30"),
        ("adddate('2008-01-02', 31)", "2008-02-02"),
        ("subdate('2008-01-02 12:00:00', 31)", "2007-12-02 12:00:00"),
        ("'2018-12-31 23:59:59' + interval 1 second", "2019-01-01 00:00:00"),
        ("interval 1 day + '2018-12-31'", "2019-01-01"),
        ("'2025-01-01' - interval 1 second", "2024-12-31 23:59:59"),
        ("date'2020-01-31' + interval 1 month + interval 1 day", "2020-03-01"),
        ("date'2020-01-31' + interval 1 hour", "2020-01-31 01:00:00"),
        ("date'2020-01-31' + interval '1-2' year_month", "2021-03-31"),
        ("date'2020-01-31' + interval 1 + 1 week", "2020-02-14"),
        ("date'2020-01-31' + interval 1 quarter", "2020-04-30"),
        ("cast('2020-01-01 00:00:00' as datetime) + interval 5 microsecond", "2020-01-01 00:00:00.000005"),
        ("'2020-01-01' + interval 1.5 second", "2020-01-01 00:00:01.500000"),
        ("time'10:00:00' + interval 90 minute", "11:30:00"),
        ("null + interval 1 day", None),
        ("date'2020-01-01' + interval null day", None),
        ("timestampadd(minute, 1, '2003-01-02')", "2003-01-02 00:01:00"),
        ("timestampadd(sql_tsi_week, 1, date'2003-01-02')", "2003-01-09"),
        ("timestampdiff(month, '2003-02-01', '2003-05-01')", "3"),
        ("timestampdiff(year, '2002-05-01', '2001-01-01')", "-1"),
        ("timestampdiff(minute, '2003-02-01', '2003-05-01 12:05:55')", "128885"),
        ("timestampdiff(month, '2020-01-31', '2020-02-29')", "0"),
        ("timestampdiff(week, '2020-01-01', '2020-01-20')", "2"),
        ("get_format(date, 'USA')", "%m.%d.%Y"),
        ("get_format(timestamp, 'EUR')", "%Y-%m-%d %H.%i.%s"),
        ("get_format(time, 'usa')", ""),
        ("curdate()", "2021-12-20"),
        ("current_date", "2021-12-20"),
        ("curtime()", "13:30:49"),
        ("current_time(3)", "13:30:49.000"),
        ("utc_timestamp", "2021-12-20 13:30:49"),
        ("utc_date()", "2021-12-20"),
        ("utc_time()", "13:30:49"),
        ("sysdate()", "2021-12-20 13:30:49"),
        ("now(6)", "2021-12-20 13:30:49.000000"),
    ],
)  # fmt: skip
def test_datetime(text: str, expected: str | None) -> None:
    assert result_text(text) == expected


def test_now_and_unix_times_use_the_session_time_zone() -> None:
    east = SQLMode(zone=timezone(timedelta(hours=5, minutes=30)))
    assert result_text("now()", east) == "2021-12-20 19:00:49"
    assert result_text("utc_timestamp()", east) == "2021-12-20 13:30:49"
    assert result_text("from_unixtime(0)", east) == "1970-01-01 05:30:00"
    assert result_text("unix_timestamp('1970-01-01 05:30:01')", east) == "1"


@pytest.mark.parametrize(
    "text",
    [
        "year('abc')",
        "dayname('2021-00-01')",
        "date_add('abc', interval 1 day)",
        "date_add('9999-12-31', interval 1 day)",
        "date_add('2020-01-01', interval 'x' day)",
        "date_add('2020-01-01', interval '1 2 3' day_hour)",
        "str_to_date('2020-13-01', '%Y-%m-%d')",
        "str_to_date('abc', '%Y')",
        "str_to_date('366 9999', '%j %Y')",
    ],
)
def test_an_invalid_date_is_null_or_an_error_in_strict_mode(text: str) -> None:
    assert result_text(text, SQLMode(strict=False, zero_in_date=True)) in (None, "2020-01-01")
    with pytest.raises(ScenarioError, match=r"Incorrect .* value"):
        value_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("date_add('2021-12-20', interval 1.5 day)", "2021-12-22"),
        ("date_add('2021-12-20 13:30:49', interval 1.5 month)", "2022-02-20 13:30:49"),
        ("date_sub('2021-12-20 13:30:49', interval 1.4 minute)", "2021-12-20 13:29:49"),
        ("date_add('2021-12-20', interval 1.5 second)", "2021-12-20 00:00:01.500000"),
        ("time_format('-10:11:12', '%H:%i')", "10:11"),
    ],
)
def test_a_number_of_units_is_rounded(text: str, expected: str) -> None:
    assert result_text(text) == expected


def test_an_invalid_interval_is_zero_without_strict_mode() -> None:
    assert result_text("date_add('2020-01-01', interval 'x' day)", LAX) == "2020-01-01"


@pytest.mark.parametrize(
    ("text", "expected"), [("time('xx')", "00:00:00"), ("sec_to_time(99999999)", "838:59:59")]
)
def test_an_invalid_time_is_the_nearest_one_without_strict_mode(text: str, expected: str) -> None:
    assert result_text(text, LAX) == expected
    with pytest.raises(ScenarioError, match="Incorrect time value"):
        value_of(text)


@pytest.mark.parametrize("text", ["hour('xx')", "second(99)", "convert_tz('xx', 'UTC', 'UTC')"])
def test_some_functions_are_null_for_an_invalid_argument_in_every_mode(text: str) -> None:
    assert result_text(text) is None


def test_the_letters_of_dates_mean_themselves_in_the_format_of_a_time() -> None:
    assert result_text("time_format('1:2:3', '%Y-%m %H')") == "Y-m 01"


@pytest.mark.parametrize(
    "text",
    [
        "date_add('2020-01-01', interval 1 fortnight)",
        "now(7)",
        "1 + interval",
        "'2020-01-01' + interval (1) day",
    ],
)
def test_unknown_units_and_fractions_are_errors(text: str) -> None:
    with pytest.raises(ScenarioError):
        value_of(text)


@pytest.mark.parametrize(("text", "week"), [("0000-00-00", "0"), ("2020-00-05", "0"), ("2020-02-31", "9")])
def test_extract_has_a_week_for_every_date_that_is_stored(text: str, week: str) -> None:
    mode = SQLMode(strict=False, zero_dates=True, zero_in_date=True, invalid_dates=True)
    assert result_text(f"extract(week from cast('{text}' as datetime))", mode) == week
