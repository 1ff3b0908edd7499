"""The time of the commit, or a fixed one; ``SYSDATE()`` is ``NOW()``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, timedelta

from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import DateTimeValue, SQLValue
from ticdc_producer.model.temporal_text import datetime_from_python, time_of_day
from ticdc_producer.scenario.sql.functions.datetime_argument import fsp_of
from ticdc_producer.scenario.sql.functions.function import Function


def _local(arguments: Sequence[SQLValue], mode: SQLMode) -> DateTimeValue:
    return datetime_from_python(mode.now.astimezone(mode.zone), fsp_of(arguments[0]) if arguments else 0)


def _utc(arguments: Sequence[SQLValue], mode: SQLMode) -> DateTimeValue:
    return _local(arguments, replace(mode, zone=UTC))


def _date(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    return _day(_local(arguments, mode))


def _utc_date(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    return _day(_utc(arguments, mode))


def _day(now: DateTimeValue) -> DateTimeValue:
    return DateTimeValue(now.year, now.month, now.day, fsp=-1)


def _time(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    now = _local(arguments, mode)
    return time_of_day(now, now.fsp)


def _utc_time(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    now = _utc(arguments, mode)
    return time_of_day(now, now.fsp)


def unix_seconds(mode: SQLMode) -> int:
    """The session's current time in seconds since 1970: ``UNIX_TIMESTAMP()``."""
    return (mode.now - mode.now.fromtimestamp(0, UTC)) // timedelta(seconds=1)


FUNCTIONS = {
    "CURDATE": Function(_date, 0, 0),
    "CURRENT_DATE": Function(_date, 0, 0),
    "CURRENT_TIME": Function(_time, 0, 1),
    "CURRENT_TIMESTAMP": Function(_local, 0, 1),
    "CURTIME": Function(_time, 0, 1),
    "LOCALTIME": Function(_local, 0, 1),
    "LOCALTIMESTAMP": Function(_local, 0, 1),
    "NOW": Function(_local, 0, 1),
    "SYSDATE": Function(_local, 0, 1),
    "UTC_DATE": Function(_utc_date, 0, 0),
    "UTC_TIME": Function(_utc_time, 0, 1),
    "UTC_TIMESTAMP": Function(_utc, 0, 1),
}
