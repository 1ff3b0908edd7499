"""What a message says of its columns, understood once for all rows that say the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import TypeAlias

import msgspec

from producer.codec.open import values
from producer.model.event import EventColumn
from producer.model.flags import ColumnFlag
from producer.model.mysql_type import bare_name


class ColumnJSON(msgspec.Struct):
    """One column of a row."""

    t: int
    v: int | float | str | None
    h: bool | None = None
    f: int | None = None


ColumnsJSON: TypeAlias = dict[str, ColumnJSON]
_Facts: TypeAlias = tuple[int, int | None, bool | None]

_FACTS = attrgetter("t", "f", "h")
_LARGEST_KEPT = 1 << 18  # bytes of a row whose shape is worth remembering


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of an image.

    :param fault: what no column can be, empty if there is nothing of the kind.
    """

    columns: tuple[EventColumn, ...]
    readers: tuple[values.Reader, ...]
    fault: str


def shape_of(columns: ColumnsJSON, legacy_base64: bool, size: int) -> Shape:
    """The shape of an image.

    Names and facts are all that it follows from, so that of one row serves for the next ones; how many are
    kept, and of how long rows, is limited, since a message may say anything.

    :param size: bytes of the row.
    """
    compile_shape = _remembered if size <= _LARGEST_KEPT else _compiled
    return compile_shape(tuple(columns), tuple(map(_FACTS, columns.values())), legacy_base64)


def _compiled(names: tuple[str, ...], facts: tuple[_Facts, ...], legacy_base64: bool) -> Shape:
    readers = tuple([values.reader(t, f, legacy_base64=legacy_base64) for t, f, _ in facts])
    fault = next((name for name, fact in zip(names, facts, strict=True) if not _fits(fact)), None)
    if fault is not None:
        return Shape((), readers, f"a type of one byte in column {fault!r}")
    return Shape(tuple(map(_column, names, facts)), readers, "")


_remembered = lru_cache(maxsize=256)(_compiled)


def _fits(facts: _Facts) -> bool:
    return 0 <= facts[0] <= 0xFF and 0 <= (facts[1] or 0) <= 0xFFFFFFFF


def _column(name: str, facts: _Facts) -> EventColumn:
    code, sent, is_handle_key = facts
    flag = (sent or 0) | (ColumnFlag.HANDLE_KEY if is_handle_key else 0)
    binary, unsigned = bool(flag & ColumnFlag.BINARY), bool(flag & ColumnFlag.UNSIGNED)
    return EventColumn(name, bare_name(code, binary=binary, unsigned=unsigned), int(flag))
