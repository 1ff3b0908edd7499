"""Arguments that are dates and times, and results that are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.coerce_temporal import allowed, to_moment, to_span
from ticdc_producer.model.coerce_text import to_text
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import JsonText, Moment, Span, SQLValue
from ticdc_producer.model.temporal_text import MAX_FSP, MAX_SPAN, span_of
from ticdc_producer.scenario.sql.functions.function import Function, whole, wrong_value

DAY = 24 * 3600 * 1_000_000
"""Microseconds of a day."""

_CLOCK = re.compile(r"\d[T ]+\d|^\d{9,}|:", re.ASCII)


def fraction_digits(value: SQLValue) -> int:
    """Digits behind the point, at most 6: the fsp of a string or a number."""
    return min(len(to_text(value).partition(".")[2].rstrip("Z")), MAX_FSP)


def names_clock(value: SQLValue) -> bool:
    """Whether a value has a time of day, be it midnight."""
    if isinstance(value, Moment):
        return value.fsp >= 0
    return isinstance(value, Span) or _CLOCK.search(to_text(value).strip()) is not None


def moment(value: SQLValue, mode: SQLMode) -> Moment | None:
    """An argument as a moment with the fraction that it has; None if it is none.

    :raises ScenarioError: for what is none, in strict mode.
    """
    if isinstance(value, Moment):
        return value if value.fsp >= 0 else replace(value, fsp=0)
    text = _unquoted(value)
    found = to_moment(text, 0 if isinstance(value, Span) else fraction_digits(text), mode)
    if found is None or not allowed(found, mode):
        wrong_value("datetime", value, mode)
        return None
    return found


def real_moment(value: SQLValue, mode: SQLMode) -> Moment | None:
    """As ``moment``, but nothing that no calendar has, such as month 0."""
    found = moment(value, mode)
    if found is not None and not _is_real(found):
        wrong_value("datetime", value, mode)
        return None
    return found


def _is_real(found: Moment) -> bool:
    try:
        found.naive()
    except ValueError:
        return False
    return True


def span(value: SQLValue, mode: SQLMode) -> Span | None:
    """An argument as a time, cut to the range of TIME; None if it is none.

    :raises ScenarioError: for what is none, in strict mode.
    """
    if isinstance(value, Moment):
        return span_of(value, max(value.fsp, 0))
    text = _unquoted(value)
    found = value if isinstance(value, Span) else to_span(text, fraction_digits(text))
    if found is None:
        wrong_value("time", value, mode)
        return None
    return clipped(found.microseconds, found.fsp)


def clipped(microseconds: int, fsp: int) -> Span:
    """A TIME of at most 838:59:59."""
    return Span(min(max(microseconds, -MAX_SPAN), MAX_SPAN), fsp)


def fsp_of(value: SQLValue) -> int:
    """An argument that says how many digits a fraction has.

    :raises ScenarioError: if that is more than 6.
    """
    digits = whole(value)
    if not 0 <= digits <= MAX_FSP:
        raise ScenarioError("a fraction of a second has at most 6 digits", value=str(digits))
    return digits


def of_date(found: date) -> Moment:
    return Moment(found.year, found.month, found.day, fsp=-1)


def on_moment(run: Callable[[Moment], SQLValue], *, real: bool = False) -> Function:
    """A function of one date or moment."""
    read = real_moment if real else moment

    def call(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
        found = read(arguments[0], mode)
        return None if found is None else run(found)

    return Function(call, 1, 1)


def on_span(run: Callable[[Span], SQLValue]) -> Function:
    """A function of one time."""

    def call(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
        found = span(arguments[0], mode)
        return None if found is None else run(found)

    return Function(call, 1, 1)


def _unquoted(value: SQLValue) -> SQLValue:
    return value.strip('"') if isinstance(value, JsonText) else value
