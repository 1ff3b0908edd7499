"""The tables of a stream at its times as JSON for the page: each row once, even if several times have it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from ticdc_producer.page.stream_content import exact, row_object

MOST_BYTES = 512 << 10
"""Bytes of the rows as JSON."""


class TableRows(Protocol):
    """The rows of a table at a time."""

    @property
    def rows(self) -> Sequence[Sequence[tuple[str, bytes | None]]]:
        """The first rows: columns with their values."""

    @property
    def total(self) -> int:
        """The number of all rows."""

    @property
    def error(self) -> str:
        """Why the rows are not known, or not exactly; empty: they are."""


def tables_content(
    times: Sequence[int], tables: Mapping[str, Sequence[TableRows]], *, resolved: bool, note: str
) -> dict[str, object]:
    """Return the content of the view: the distinct rows, and their numbers at each time.

    Each table has its share of ``MOST_BYTES``. If it has more, rows of earlier times are left out first.

    :param times: TSOs.
    :param tables: by name, the rows at each of the times.
    :param resolved: whether the times are resolved-ts.
    :param note: what is left out.
    """
    pool = _Pool()
    at: dict[str, list[list[object]]] = {}
    for count, (name, of_times) in enumerate(tables.items()):
        pool.room = (MOST_BYTES - pool.size) // (len(tables) - count)
        newest_first = [[table.total, table.error, [*pool.numbers(table.rows)]] for table in of_times[::-1]]
        at[name] = newest_first[::-1]
    return {
        **exact({"times": [*times]}),
        "resolved": resolved,
        "note": note,
        "rows": [json.loads(text) for text in pool.texts],
        "at": at,
    }


class _Pool:
    """Distinct rows as JSON, with their numbers.

    :ivar size: characters of all of them.
    :ivar room: characters of further ones, at most.
    """

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.size = self.room = 0

    def numbers(self, rows: Sequence[Sequence[tuple[str, bytes | None]]]) -> Iterator[int]:
        """Yield the numbers of the first rows, as many as there is room for."""
        for row in rows:
            text = json.dumps(row_object(row))
            if text not in self.texts:
                if len(text) > self.room:
                    return
                self.room -= len(text)
                self.size += len(text)
            yield self.texts.setdefault(text, len(self.texts))
