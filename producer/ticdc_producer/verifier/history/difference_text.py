"""Describes the first difference of a row key from the two events, read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ticdc_producer.model.event import Value
from ticdc_producer.model.event_line import DecodedRow, RowImage, event_content, to_json
from ticdc_producer.verifier.event_layouts import DescribedColumn
from ticdc_producer.verifier.history.history_comparison import DifferenceKind, FirstDifference
from ticdc_producer.verifier.history.history_rows import TableName
from ticdc_producer.verifier.history.outcome import HistoryDifference
from ticdc_producer.verifier.history.sides import ColumnProjections, KnownSide, readable
from ticdc_producer.verifier.violations import EventID

_MAX_TEXT = 200


@dataclass(frozen=True)
class DifferenceTexts:
    """Describes differences.

    :param sides: A and B.
    :param events: of A and B, the decoded events of the differences.
    """

    sides: Sequence[KnownSide]
    events: Sequence[Mapping[EventID, DecodedRow]]

    def described(
        self, table: TableName, keys: Sequence[tuple[str, ...]], first: FirstDifference
    ) -> HistoryDifference:
        """Return a difference as text.

        :param keys: the handle keys that rows of the table have.
        """
        rows = [
            None if position is None else self.events[side].get(position)
            for side, position in enumerate((first.a, first.b))
        ]
        some = next(row for row in rows if row is not None)
        difference = HistoryDifference(
            table=".".join(table),
            kind=str(first.kind),
            key=self._key_text(keys, some, deletes=first.deletes),
            before=first.number,
            **{f"position_{side}": _position(row) for side, row in zip("ab", rows, strict=True)},
            **{f"event_{side}": _text(row) for side, row in zip("ab", rows, strict=True)},
        )
        a, b = rows
        if a is None or b is None:
            return difference
        match first.kind:
            case DifferenceKind.COMMIT_TS | DifferenceKind.ORDER:
                return replace(difference, a=str(a["commit_ts"] or ""), b=str(b["commit_ts"] or ""))
            case DifferenceKind.OPERATION:
                return replace(difference, a=a["op"], b=b["op"])
            case DifferenceKind.VALUES:
                for column, values in self._different_values(table, a, b):
                    return replace(difference, column=column, a=values[0], b=values[1])
        return difference

    def _key_text(self, keys: Sequence[tuple[str, ...]], row: DecodedRow, *, deletes: bool) -> str:
        """Return the row key; an update that changes it deletes the row with the old key."""
        image = self._common_names(row["after"])
        if deletes:
            image |= self._common_names(row["before"])
        for key in keys:
            if key and image.keys() >= {*key}:
                return " ".join(f"{name}={_value_text(image[name])}" for name in key)
        return ""

    def _common_names(self, image: RowImage | None) -> dict[str, Value]:
        return {self.sides[0].form.name(name): value for name, value in dict(image or ()).items()}

    def _different_values(
        self, table: TableName, a: DecodedRow, b: DecodedRow
    ) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield the columns with different values, new values first; a value that is not sent is empty."""
        for name in ("after", "before"):
            images = [self._common_names(row[name]) for row in (a, b)]
            if not all(images):
                continue
            if name == "before":  # columns that are not sent did not change
                images = [
                    self._common_names(row["after"]) | image
                    for row, image in zip((a, b), images, strict=True)
                ]
            columns = dict.fromkeys((*self._in_order(a), *images[0], *images[1]))
            for column in columns:
                present = [column in image for image in images]
                if not any(present):
                    continue
                common = [
                    self._common(table, row, side, column, image.get(column))
                    for side, (row, image) in enumerate(zip((a, b), images, strict=True))
                ]
                if common[0] != common[1] or present[0] != present[1]:
                    texts = [_value_text(image[column]) if column in image else "" for image in images]
                    suffix = " before" if name == "before" and a["op"] != "delete" else ""
                    yield f"{column}{suffix}", (texts[0], texts[1])

    def _in_order(self, row: DecodedRow) -> Iterator[str]:
        for column in row["columns"] or ():
            yield self.sides[0].form.name(column["name"])

    def _common(self, table: TableName, row: DecodedRow, side: int, name: str, value: Value) -> Value:
        """Return a value in the form in which it is compared."""
        known = self.sides[side]
        columns = {
            known.form.name(column["name"]): DescribedColumn(**column) for column in row["columns"] or ()
        }
        names = [*columns] or [*self._common_names(row["after"] or row["before"])]
        times = np.array([row["commit_ts"] or 0], np.int64)
        ((definition, _),) = known.definitions.of_rows(table, names, times, known.form.ticks)
        column = columns.get(name, DescribedColumn(name, "", 0))
        projection, is_compared = ColumnProjections(known).of(table, column, definition)
        if not is_compared:
            return None
        return value if projection is None else readable(projection, value)


def _position(row: DecodedRow | None) -> str:
    return "" if row is None else f"{row['topic']}/{row['partition']}@{row['offset']}[{row['index']}]"


def _text(row: DecodedRow | None) -> str:
    if row is None:
        return ""
    text = event_content(row)
    text = f"{row['commit_ts']} {text}" if row["commit_ts"] else text
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"


def _value_text(value: Value) -> str:
    """Return a value as text: ``NULL``, the text itself, or hexadecimal digits."""
    if value is None:
        return "NULL"
    text = to_json(bytes(value))
    shortened = text if isinstance(text, str) else f"x'{bytes(value).hex()}'"
    return shortened if len(shortened) <= _MAX_TEXT else f"{shortened[:_MAX_TEXT]}…({len(value)} bytes)"
