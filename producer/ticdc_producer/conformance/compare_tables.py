"""Compares the rows that a testee returned with the rows that a consumer must have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ticdc_producer.conformance.compare import FLOATS, bare_type, display, same_number, sentence
from ticdc_producer.conformance.wire import EventValue, Image

_MAX_ROWS = 5
"""Maximum number of rows per table and kind of difference in a report."""


class ExpectedTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table's rows.

    :param key: columns of the handle key.
    :param types: SQL type of each column, as far as it is visible in the protocol.
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
    expected: Iterable[ExpectedTable],
    actual: Mapping[str, Sequence[Image]],
    floats: frozenset[str] = FLOATS,
) -> list[str]:
    """For each table that differs, a line with counts, then lines of rows; empty if the testee is right.

    Tables that were not requested are ignored.

    :param floats: SQL types whose values are compared as numbers.
    """
    lines: list[str] = []
    for table in expected:
        if table.name in actual:
            lines += _of_table(table, actual[table.name], floats)
        else:
            lines.append(f"table {table.name} is missing, with {len(table.rows)} rows")
    return lines


def _of_table(table: ExpectedTable, actual: Sequence[Image], floats: frozenset[str]) -> Iterator[str]:
    unmatched: defaultdict[tuple[EventValue, ...], list[Image]] = defaultdict(list)
    for row in actual:
        unmatched[_key(table, row)].append(row)
    missing, different = [], []
    for row in table.rows:
        if candidates := unmatched[_key(table, row)]:
            different += [_difference(table, row, _of_row(table, row, candidates.pop(0), floats))]
        else:
            missing.append(display(row))
    extra = [display(row) for rows in unmatched.values() for row in rows]
    found = {"missing": missing, "extra": extra, "different": [text for text in different if text]}
    if any(found.values()):
        counts = ", ".join(f"{len(rows)} {label}" for label, rows in found.items() if rows)
        yield f"table {table.name}: {counts}"
        for label, rows in found.items():
            yield from (f"  {label}: {row}" for row in rows[:_MAX_ROWS])


def _key(table: ExpectedTable, row: Image) -> tuple[EventValue, ...]:
    return tuple(row.get(name) for name in table.key)


def _difference(table: ExpectedTable, row: Image, differences: Iterable[str]) -> str:
    text = "; ".join(differences)
    return text and f"{display({name: row[name] for name in table.key})}: {text}"


def _of_row(table: ExpectedTable, expected: Image, actual: Image, floats: frozenset[str]) -> Iterator[str]:
    for name, value in expected.items():
        kind = bare_type(table.types.get(name, ""))
        if name not in actual:
            yield f"{name} is missing"
        elif value != actual[name] and not same_number(kind if kind in floats else None, value, actual[name]):
            yield sentence(name, actual[name], value)
    yield from (f"{name} is not a column" for name in actual if name not in expected)
