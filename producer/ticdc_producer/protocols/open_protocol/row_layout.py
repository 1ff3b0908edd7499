"""What a message says of its columns, understood once for all rows that say the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import EventColumn, Value
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import bare_name
from ticdc_producer.protocols.open_protocol import values


class ColumnJSON(msgspec.Struct, gc=False):
    """One column of a row."""

    t: int
    v: int | float | str | None
    h: bool | None = None
    f: int | None = None


ColumnsJSON: TypeAlias = dict[str, ColumnJSON]
_Facts: TypeAlias = tuple[int, int | None, bool | None]

_FACTS = attrgetter("t", "f", "h")
_LARGEST_KEPT = 1 << 18  # bytes of a row whose shape is worth remembering
_MOST_KEPT = 256


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of an image.

    :param cells: of each column what the message tells, and its reader.
    :param fault: what no column can be, empty if there is nothing of the kind.
    """

    columns: tuple[EventColumn, ...]
    cells: tuple[tuple[int, int | None, bool | None, values.Reader], ...]
    fault: str

    def image(self, columns: ColumnsJSON, start: int) -> dict[str, Value] | None:
        """The values of columns that have these names; None if the message tells something else of them.

        :param start: byte of the row, for errors.
        :raises DecodeError: for a value that does not fit its column.
        """
        image: dict[str, Value] = {}
        name = ""
        try:
            for (name, column), (code, flag, is_handle_key, read) in zip(
                columns.items(), self.cells, strict=True
            ):
                if column.t != code or column.f != flag or column.h != is_handle_key:
                    return None
                value = column.v
                image[name] = None if value is None else read(value)
        except values.BadValue as bad:
            expected = f"{bad.expected} in column {name!r}"
            raise DecodeError(bad.code, expected, part="value", byte=start) from None
        return image


class Shapes:
    """The shapes that a decoder has met.

    Names and facts are all that a shape follows from, so that of one row serves for the next ones; how many
    are kept, and of how long rows, is limited, since a message may say anything.
    """

    def __init__(self, *, legacy_base64: bool) -> None:
        self._legacy_base64 = legacy_base64
        # To compare with the latest of these names is quicker than to look for one of these facts.
        self._latest: dict[tuple[str, ...], Shape] = {}

    def read(self, columns: ColumnsJSON, size: int, start: int) -> tuple[Shape, dict[str, Value]]:
        """The shape of an image, and its values.

        :param size: bytes of the row.
        :raises DecodeError: for columns that cannot be, or values that do not fit them.
        """
        names = tuple(columns)
        latest = self._latest.get(names)
        if latest is not None:
            image = latest.image(columns, start)
            if image is not None:
                return latest, image
        shape = self._shape(names, columns, size)
        if shape.fault:
            raise DecodeError("OPEN-COLUMN", shape.fault, part="value", byte=start)
        return shape, shape.image(columns, start) or {}

    def _shape(self, names: tuple[str, ...], columns: ColumnsJSON, size: int) -> Shape:
        facts = tuple(map(_FACTS, columns.values()))
        if size > _LARGEST_KEPT:
            return _compiled(names, facts, self._legacy_base64)
        shape = _remembered(names, facts, self._legacy_base64)
        if not shape.fault:
            if len(self._latest) >= _MOST_KEPT:
                self._latest.clear()
            self._latest[names] = shape
        return shape


def _compiled(names: tuple[str, ...], facts: tuple[_Facts, ...], legacy_base64: bool) -> Shape:
    fault = next((name for name, fact in zip(names, facts, strict=True) if not _fits(fact)), None)
    if fault is not None:
        return Shape((), (), f"a type of one byte in column {fault!r}")
    cells = [(t, f, h, values.reader(t, f, legacy_base64=legacy_base64)) for t, f, h in facts]
    return Shape(tuple(map(_column, names, facts)), tuple(cells), "")


_remembered = lru_cache(maxsize=_MOST_KEPT)(_compiled)


def _fits(facts: _Facts) -> bool:
    return 0 <= facts[0] <= 0xFF and 0 <= (facts[1] or 0) <= 0xFFFFFFFF


def _column(name: str, facts: _Facts) -> EventColumn:
    code, sent, is_handle_key = facts
    flag = (sent or 0) | (ColumnFlag.HANDLE_KEY if is_handle_key else 0)
    binary, unsigned = bool(flag & ColumnFlag.BINARY), bool(flag & ColumnFlag.UNSIGNED)
    return EventColumn(name, bare_name(code, binary=binary, unsigned=unsigned), int(flag))
