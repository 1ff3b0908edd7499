"""The rows that a testee tells against those that a consumer must have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ticdc_producer.conformance.compare import FLOATS, bare_type, same_number, sentence, shown
from ticdc_producer.conformance.wire import EventValue, Image

_MOST = 5
"""Rows of a kind that are shown of one table."""


class ExpectedTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table's rows.

    :param key: columns of the handle key.
    :param types: SQL type of each column, as far as the protocol tells it.
    """

    schema: str
    table: str
    key: list[str]
    types: dict[str, str]
    rows: list[Image]

    @property
    def name(self) -> str:
        """As requests and answers have it."""
        return f"{self.schema}.{self.table}"


def table_differences(
    expected: Iterable[ExpectedTable],
    told: Mapping[str, Sequence[Image]],
    floats: frozenset[str] = FLOATS,
) -> list[str]:
    """Per table that differs a line with counts, and behind it rows; none if the testee is right.

    Tables that were not asked are not looked at.

    :param floats: SQL types whose values are compared as numbers.
    """
    lines: list[str] = []
    for table in expected:
        if table.name in told:
            lines += _of_table(table, told[table.name], floats)
        else:
            lines.append(f"table {table.name} is missing, with {len(table.rows)} rows")
    return lines


def _of_table(table: ExpectedTable, told: Sequence[Image], floats: frozenset[str]) -> Iterator[str]:
    waiting: defaultdict[tuple[EventValue, ...], list[Image]] = defaultdict(list)
    for row in told:
        waiting[_key(table, row)].append(row)
    missing, different = [], []
    for row in table.rows:
        if alike := waiting[_key(table, row)]:
            different += [_difference(table, row, _of_row(table, row, alike.pop(0), floats))]
        else:
            missing.append(shown(row))
    extra = [shown(row) for rows in waiting.values() for row in rows]
    found = {"missing": missing, "extra": extra, "different": [text for text in different if text]}
    if any(found.values()):
        counts = ", ".join(f"{len(rows)} {word}" for word, rows in found.items() if rows)
        yield f"table {table.name}: {counts}"
        for word, rows in found.items():
            yield from (f"  {word}: {row}" for row in rows[:_MOST])


def _key(table: ExpectedTable, row: Image) -> tuple[EventValue, ...]:
    return tuple(row.get(name) for name in table.key)


def _difference(table: ExpectedTable, row: Image, differences: Iterable[str]) -> str:
    text = "; ".join(differences)
    return text and f"{shown({name: row[name] for name in table.key})}: {text}"


def _of_row(table: ExpectedTable, right: Image, told: Image, floats: frozenset[str]) -> Iterator[str]:
    for name, value in right.items():
        kind = bare_type(table.types.get(name, ""))
        if name not in told:
            yield f"{name} is missing"
        elif value != told[name] and not same_number(kind if kind in floats else None, value, told[name]):
            yield sentence(name, told[name], value)
    yield from (f"{name} is no column" for name in told if name not in right)
