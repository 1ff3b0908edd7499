"""What a consumer's rows lack, have too much, and have otherwise: for people who read a failed test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from ticdc_producer.errors import ArgumentError
from ticdc_producer.testing.cell import Cell, Rows
from ticdc_producer.testing.same_value import same

Row: TypeAlias = Mapping[str, Any]
Tables: TypeAlias = Mapping[str, Iterable[Row]]
_MOST = 20
"""Rows of a kind that are shown of one table."""
_LONGEST_VALUE = 60
_ABSENT = object()


@dataclass
class _Compared:
    """One table's rows, compared."""

    missing: list[Row] = field(default_factory=list)
    extra: list[Row] = field(default_factory=list)
    different: list[tuple[Row, Row]] = field(default_factory=list)


def state_diff(
    expected: Mapping[str, Rows],
    actual: Tables | Iterable[Row],
    keys: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The differences between expected and actual rows as text; empty if there are none.

    :param expected: ``SCHEMA.TABLE`` to rows of canonical text.
    :param actual: the same of typed values, in any order; rows alone where one table is expected.
    :param keys: ``SCHEMA.TABLE`` to the columns that tell its rows; by default all of them.
    :raises ArgumentError: if ``actual`` is of another form.
    """
    tables = _tables(expected, actual)
    lines: list[str] = []
    for name in sorted({*expected, *tables}):
        key = (keys or {}).get(name, ())
        lines += _told(name, _compared(expected.get(name, []), tables.get(name, []), key), key)
    return "\n".join(lines)


def _tables(expected: Mapping[str, Rows], actual: Tables | Iterable[Row]) -> dict[str, list[Row]]:
    if not isinstance(actual, Mapping):
        if len(expected) != 1:
            what = f"rows alone do not tell which of {len(expected)} tables they are of"
            raise ArgumentError(what, argument="actual_rows", hint="{'SCHEMA.TABLE': rows, …}")
        actual = dict.fromkeys(expected, actual)
    tables = {str(name): list(rows) for name, rows in actual.items()}
    for name, rows in tables.items():
        if not all(isinstance(row, Mapping) for row in rows):
            what = f"a row of {name} is no mapping of column to value"
            raise ArgumentError(what, argument="actual_rows", hint="[{'id': 1, …}, …]")
    return tables


def _compared(expected: Rows, actual: list[Row], key: Sequence[str]) -> _Compared:
    """Pairs rows of equal keys: those whose keys look the same first, which is quick, then the others."""
    found = _Compared()
    waiting: defaultdict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in actual:
        waiting[_look(row, key)].append(row)
    unpaired: list[dict[str, Cell]] = []
    for wanted in expected:
        alike = waiting[_look(wanted, key)]
        place = _place(wanted, alike, key)
        if place is None:
            unpaired.append(wanted)
        else:
            _judge(found, wanted, alike.pop(place))
    left = [row for rows in waiting.values() for row in rows]
    for wanted in unpaired:
        place = _place(wanted, left, key)
        if place is None:
            found.missing.append(wanted)
        else:
            _judge(found, wanted, left.pop(place))
    found.extra = left
    return found


def _look(row: Row, key: Sequence[str]) -> tuple[str, ...]:
    return tuple(_text(row.get(name)) for name in key or sorted(row))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _place(wanted: Mapping[str, Cell], rows: Sequence[Row], key: Sequence[str]) -> int | None:
    """Where the row with the same key stands."""
    for place, row in enumerate(rows):
        comparable = key or row.keys() == wanted.keys()
        if comparable and all(same(wanted.get(name), row.get(name, _ABSENT)) for name in key or wanted):
            return place
    return None


def _judge(found: _Compared, wanted: Mapping[str, Cell], row: Row) -> None:
    if wanted.keys() != row.keys() or not all(same(value, row[name]) for name, value in wanted.items()):
        found.different.append((wanted, row))


def _told(name: str, found: _Compared, key: Sequence[str]) -> Iterator[str]:
    counts = {
        "missing": len(found.missing), "extra": len(found.extra), "different": len(found.different)
    }  # fmt: skip
    if not any(counts.values()):
        return
    yield f"table {name}: {', '.join(f'{count} {word}' for word, count in counts.items() if count)}"
    for word, rows in (("missing", found.missing), ("extra", found.extra)):
        yield from _shortened(f"  {word:<9}  ", [_shown(row) for row in rows])
    yield from _shortened("  different  ", [_difference(*pair, key) for pair in found.different])


def _shortened(head: str, lines: list[str]) -> Iterator[str]:
    yield from (head + line for line in lines[:_MOST])
    if len(lines) > _MOST:
        yield f"{head}… and {len(lines) - _MOST} more"


def _difference(wanted: Mapping[str, Cell], row: Row, key: Sequence[str]) -> str:
    parts = [
        f"{name} is {_value(row[name]) if name in row else 'absent'}, expected {_value(value)}"
        for name, value in wanted.items()
        if name not in row or not same(value, row[name])
    ]
    parts += [
        f"{name} is {_value(row[name])}, and there is no such column" for name in row if name not in wanted
    ]
    return f"{_shown({name: wanted.get(name) for name in key})}: {'; '.join(parts)}"


def _shown(row: Row) -> str:
    return " ".join(f"{name}={_value(value)}" for name, value in row.items())


def _value(value: object) -> str:
    text = "NULL" if value is None else repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
