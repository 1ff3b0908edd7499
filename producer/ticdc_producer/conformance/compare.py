"""Compares the events and the rows that a testee returned with those of a case."""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import msgspec

from ticdc_producer.conformance.wire import Event, EventValue, Image
from ticdc_producer.protocols.registry import fidelity

FLOATS = frozenset({"float", "double"})
_ALWAYS = ("kind", "commit_ts", "schema", "table", "op", "query", "handle_key_only")
_OPTIONAL = ("columns", "table_id", "ddl_type")
_LONGEST = 80


@cache
def float_types(protocol: str) -> frozenset[str]:
    """Return the SQL types that arrive as floating point numbers; with Debezium also DECIMAL."""
    return FLOATS | {"decimal"} if fidelity(protocol, {}).float_decimals else FLOATS


def differences(
    expected: Sequence[Event], actual: Sequence[Event], floats: frozenset[str] = FLOATS
) -> list[str]:
    """Return one sentence per difference; empty if the testee is right.

    Columns, table ids and DDL types that the testee leaves out are not compared.

    :param floats: SQL types whose values are compared as numbers, so that ``1e21`` equals its digits.
    """
    sentences = [
        f"event {index}: {text}"
        for index, (expected_event, actual_event) in enumerate(zip(expected, actual, strict=False))
        for text in _of_event(expected_event, actual_event, floats)
    ]
    if len(expected) != len(actual):
        sentences.append(f"{len(actual)} events, expected {len(expected)}")
    return sentences


def _of_event(expected: Event, actual: Event, floats: frozenset[str]) -> Iterator[str]:
    for name in _ALWAYS:
        value, answered = getattr(expected, name), getattr(actual, name)
        if (value or None) != (answered or None):  # a DDL of a database has no table, or an empty table
            yield sentence(name, answered, value)
    for name in _OPTIONAL:
        value, answered = getattr(expected, name), getattr(actual, name)
        if None not in (value, answered) and _by_name(value) != _by_name(answered):
            yield sentence(name, answered, value)
    numbers = {name: bare_type(kind) for name, kind, _ in expected.columns or () if bare_type(kind) in floats}
    yield from _of_image("before", expected.before, actual.before, numbers)
    yield from _of_image("after", expected.after, actual.after, numbers)


def bare_type(kind: str) -> str:
    """Return a type without its parameters and without UNSIGNED."""
    return kind.partition(" ")[0].partition("(")[0]


def _by_name(part: object) -> object:
    """Sort columns by name, because a consumer may store them in an unordered map."""
    return sorted(part) if isinstance(part, list) else part


def _of_image(
    name: str, expected: Image | None, actual: Image | None, numbers: Mapping[str, str]
) -> Iterator[str]:
    """Yield the differences of an image.

    :param numbers: SQL type of the columns whose values are compared as numbers.
    """
    if expected is None or actual is None:
        if expected is not actual:
            yield sentence(name, actual, expected)
        return
    for column in [*expected, *(column for column in actual if column not in expected)]:
        label = f"{name}[{json.dumps(column, ensure_ascii=False)}]"
        if column not in actual:
            yield f"{label} is missing"
        elif column not in expected:
            yield f"{label} is not in the message"
        elif expected[column] != actual[column] and not same_number(
            numbers.get(column), expected[column], actual[column]
        ):
            yield sentence(label, actual[column], expected[column])


def same_number(kind: str | None, expected: EventValue, actual: EventValue) -> bool:
    """Return whether two values are the same number.

    :param kind: SQL type of a column whose values are compared as numbers; None for other columns.
    """
    if kind is None or not isinstance(expected, str) or not isinstance(actual, str):
        return False
    try:
        number, answered = float(expected), float(actual)
        return number == answered or (kind == "float" and _single(number) == _single(answered))
    except (ValueError, OverflowError):
        return False


def _single(number: float) -> bytes:
    return struct.pack("<f", number)


def sentence(name: str, actual: object, expected: object) -> str:
    """Return the sentence for one difference."""
    return f"{name} is {display(actual)}, expected {display(expected)}{_rounding(actual, expected)}"


_ROUNDED = " (only rounded to a float64, which holds integers up to 2^53: read it as a 64-bit integer"


def _rounding(actual: object, expected: object) -> str:
    """Return the reason if two values differ only as a float64 rounds an integer; else nothing."""
    try:
        answered, number = int(str(actual)), int(str(expected))
        rounded = answered != number and float(answered) == float(number)
    except (ValueError, OverflowError):
        return ""
    if not rounded:
        return ""
    return f'{_ROUNDED}, and answer "{number}" as text)' if isinstance(expected, int) else f"{_ROUNDED})"


def display(value: object) -> str:
    """Return a value as JSON. A long one is cut."""
    text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


_MAX_ROWS = 5
"""Maximum number of rows per table and kind of difference in a report."""


class ExpectedRows(msgspec.Struct, frozen=True, kw_only=True):
    """A table's rows.

    :param key: columns of the handle key.
    :param types: SQL type of each column, if it is visible in the protocol.
    """

    schema: str
    table: str
    key: list[str]
    types: dict[str, str]
    rows: list[Image]

    @property
    def name(self) -> str:
        """The table's name in requests and answers."""
        return f"{self.schema}.{self.table}"


def table_differences(
    expected: Iterable[ExpectedRows],
    actual: Mapping[str, Sequence[Image]],
    floats: frozenset[str] = FLOATS,
) -> list[str]:
    """Return for each table that differs a line with counts, then lines of rows.

    The result is empty if the testee is right. Tables that were not requested are ignored.

    :param floats: SQL types whose values are compared as numbers.
    """
    lines: list[str] = []
    for table in expected:
        if table.name in actual:
            lines += _of_table(table, actual[table.name], floats)
        else:
            lines.append(f"table {table.name} is missing, with {len(table.rows)} rows")
    return lines


def _of_table(table: ExpectedRows, actual: Sequence[Image], floats: frozenset[str]) -> Iterator[str]:
    unmatched: defaultdict[tuple[EventValue, ...], list[Image]] = defaultdict(list)
    for row in actual:
        unmatched[_key(table, row)].append(row)
    missing, different = [], []
    for row in table.rows:
        if candidates := unmatched[_key(table, row)]:
            candidate = candidates.pop(0)
            if candidate != row:
                different += [_difference(table, row, _of_row(table, row, candidate, floats))]
        else:
            missing.append(display(row))
    extra = [display(row) for rows in unmatched.values() for row in rows]
    differing = {"missing": missing, "extra": extra, "different": [text for text in different if text]}
    if any(differing.values()):
        counts = ", ".join(f"{len(rows)} {label}" for label, rows in differing.items() if rows)
        yield f"table {table.name}: {counts}"
        for label, rows in differing.items():
            yield from (f"  {label}: {row}" for row in rows[:_MAX_ROWS])


def _key(table: ExpectedRows, row: Image) -> tuple[EventValue, ...]:
    return tuple(row.get(name) for name in table.key)


def _difference(table: ExpectedRows, row: Image, differences: Iterable[str]) -> str:
    text = "; ".join(differences)
    return text and f"{display({name: row[name] for name in table.key})}: {text}"


def _of_row(table: ExpectedRows, expected: Image, actual: Image, floats: frozenset[str]) -> Iterator[str]:
    for name, value in expected.items():
        kind = bare_type(table.types.get(name, ""))
        if name not in actual:
            yield f"{name} is missing"
        elif value != actual[name] and not same_number(kind if kind in floats else None, value, actual[name]):
            yield sentence(name, actual[name], value)
    yield from (f"{name} is not a column" for name in actual if name not in expected)
