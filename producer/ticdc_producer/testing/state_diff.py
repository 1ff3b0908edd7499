"""The differences between a consumer's rows and the expected rows, as text for a failed test.

Expected values are canonical text. The type of the consumer's value decides how the text is parsed: numbers
are compared as numbers, dates as dates, JSON documents as documents.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from ticdc_producer.errors import ArgumentError
from ticdc_producer.hints import shortened
from ticdc_producer.model.event import Value

Cell: TypeAlias = str | bytes | None
"""Canonical text of a value; bytes if it is not UTF-8; None for NULL."""
Rows: TypeAlias = list[dict[str, Cell]]


def cell(value: Value) -> Cell:
    """Return the cell of a value of the event stream."""
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def same(expected: Cell, actual: object) -> bool:
    """Return whether both are the same value.

    :param expected: canonical text; bytes if it is not UTF-8; None for NULL.
    :param actual: None, str, bytes, bool, int, float, Decimal, date, datetime (its time zone is ignored),
        time, timedelta, dict or list; other types are compared by their ``str``.
    """
    if expected is None or actual is None:
        return expected is None and actual is None
    if isinstance(actual, bytes | bytearray | memoryview):
        return bytes(actual) == _bytes(expected)
    if isinstance(expected, bytes):
        return False
    if isinstance(actual, str):
        return expected == actual
    for kind, read in _READERS.items():
        if isinstance(actual, kind):
            with suppress(ValueError, InvalidOperation, RecursionError):
                return bool(read(expected) == _plain(actual))
            return False
    return expected == str(actual)


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _plain(actual: object) -> object:
    return actual.replace(tzinfo=None) if isinstance(actual, datetime | time) else actual


def _clock(text: str) -> time:
    """Parse a TIME from 00:00:00 to 23:59:59."""
    return time.fromisoformat(text)


def _span(text: str) -> timedelta:
    """Parse a TIME in the form ``[-]HHH:MM:SS[.ffffff]``."""
    hours, minutes, seconds = text.removeprefix("-").split(":")
    span = timedelta(hours=int(hours), minutes=int(minutes), microseconds=int(Decimal(seconds) * 1_000_000))
    return -span if text.startswith("-") else span


# A datetime is also a date, and a bool also an int: the first matching type is used.
_READERS: dict[type | tuple[type, ...], Callable[[str], Any]] = {
    (int, Decimal): Decimal,
    float: float,
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    time: _clock,
    timedelta: _span,
    (dict, list): json.loads,
}


Row: TypeAlias = Mapping[str, object]
Tables: TypeAlias = Mapping[str, Iterable[Row]]
Spelling: TypeAlias = Callable[[object], str]
_MAX_ROWS = 20
"""Maximum number of rows per table and kind of difference in the text."""
_LONGEST_VALUE = 60
_ABSENT = object()


@dataclass
class _Compared:
    """One table's rows, compared."""

    missing: list[Row] = field(default_factory=list)
    extra: list[Row] = field(default_factory=list)
    different: list[tuple[Mapping[str, Cell], Row]] = field(default_factory=list)


def state_diff(
    expected: Mapping[str, Rows],
    actual: Tables | Iterable[Row],
    keys: Mapping[str, Sequence[str]] | None = None,
    *,
    spell: Spelling = repr,
) -> str:
    """Return the differences between expected and actual rows as text; empty if there are none.

    :param expected: ``SCHEMA.TABLE`` → rows of canonical text.
    :param actual: ``SCHEMA.TABLE`` → rows of typed values, in any order; if one table is expected, its rows
        suffice.
    :param keys: ``SCHEMA.TABLE`` → the columns that identify its rows; default: all columns.
    :param spell: returns the text of a value that is not NULL.
    :raises ArgumentError: if ``actual`` has another form.
    """
    tables = _tables(expected, actual)
    lines: list[str] = []
    for name in sorted({*expected, *tables}):
        key = (keys or {}).get(name, ())
        lines += _table_lines(name, _compared(expected.get(name, []), tables.get(name, []), key), key, spell)
    return "\n".join(lines)


def _tables(expected: Mapping[str, Rows], actual: Tables | Iterable[Row]) -> dict[str, list[Row]]:
    if not isinstance(actual, Mapping):
        if len(expected) != 1:
            what = f"rows without a table name, but {len(expected)} tables are expected"
            raise ArgumentError(what, argument="actual_rows", hint="{'SCHEMA.TABLE': rows, …}")
        actual = dict.fromkeys(expected, actual)
    tables = {str(name): list(rows) for name, rows in actual.items()}
    for name, rows in tables.items():
        if not all(isinstance(row, Mapping) for row in rows):
            what = f"a row of {name} is not a mapping of column to value"
            raise ArgumentError(what, argument="actual_rows", hint="[{'id': 1, …}, …]")
    return tables


def _compared(expected: Rows, actual: list[Row], key: Sequence[str]) -> _Compared:
    """Match rows by key: first by the keys' text, which is fast, then by comparing values."""
    compared = _Compared()
    unmatched: defaultdict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in actual:
        unmatched[_key_text(row, key)].append(row)
    unpaired: list[dict[str, Cell]] = []
    for expected_row in expected:
        candidates = unmatched[_key_text(expected_row, key)]
        index = _index_of(expected_row, candidates, key)
        if index is None:
            unpaired.append(expected_row)
        else:
            _compare_rows(compared, expected_row, candidates.pop(index))
    unmatched_rows = [row for rows in unmatched.values() for row in rows]
    for expected_row in unpaired:
        index = _index_of(expected_row, unmatched_rows, key)
        if index is None:
            compared.missing.append(expected_row)
        else:
            _compare_rows(compared, expected_row, unmatched_rows.pop(index))
    compared.extra = unmatched_rows
    return compared


def _key_text(row: Row, key: Sequence[str]) -> tuple[str, ...]:
    return tuple(_text(row.get(name)) for name in key or sorted(row))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _index_of(expected: Mapping[str, Cell], rows: Sequence[Row], key: Sequence[str]) -> int | None:
    """Return the index of the row with the same key."""
    for index, row in enumerate(rows):
        comparable = key or row.keys() == expected.keys()
        if comparable and all(same(expected.get(name), row.get(name, _ABSENT)) for name in key or expected):
            return index
    return None


def _compare_rows(compared: _Compared, expected: Mapping[str, Cell], actual: Row) -> None:
    if expected.keys() != actual.keys() or not all(
        same(value, actual[name]) for name, value in expected.items()
    ):
        compared.different.append((expected, actual))


def _table_lines(name: str, compared: _Compared, key: Sequence[str], spell: Spelling) -> Iterator[str]:
    counts = {
        "missing": len(compared.missing), "extra": len(compared.extra), "different": len(compared.different)
    }  # fmt: skip
    if not any(counts.values()):
        return
    yield f"table {name}: {', '.join(f'{count} {label}' for label, count in counts.items() if count)}"
    for label, rows in (("missing", compared.missing), ("extra", compared.extra)):
        yield from _shortened(f"  {label:<9}  ", [_row_text(row, spell) for row in rows])
    yield from _shortened("  different  ", [_difference(*pair, key, spell) for pair in compared.different])


def _shortened(head: str, lines: list[str]) -> Iterator[str]:
    yield from (head + line for line in lines[:_MAX_ROWS])
    if len(lines) > _MAX_ROWS:
        yield f"{head}… and {len(lines) - _MAX_ROWS} more"


def _difference(expected: Mapping[str, Cell], actual: Row, key: Sequence[str], spell: Spelling) -> str:
    parts = [
        f"{name} is {_value(actual[name], spell) if name in actual else 'absent'}, "
        f"expected {_value(value, spell)}"
        for name, value in expected.items()
        if name not in actual or not same(value, actual[name])
    ]
    parts += [
        f"{name} is {_value(actual[name], spell)}, and there is no such column"
        for name in actual
        if name not in expected
    ]
    return f"{_row_text({name: expected.get(name) for name in key}, spell)}: {'; '.join(parts)}"


def _row_text(row: Row, spell: Spelling) -> str:
    return " ".join(f"{name}={_value(value, spell)}" for name, value in row.items())


def _value(value: object, spell: Spelling) -> str:
    return shortened("NULL" if value is None else spell(value), _LONGEST_VALUE)
