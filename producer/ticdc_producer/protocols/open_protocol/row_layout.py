"""Column descriptions of rows, parsed once and reused for all rows with the same description."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import EventColumn, Value
from ticdc_producer.model.mysql_type import bare_name
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.open_protocol import values


class ColumnJSON(msgspec.Struct, gc=False):
    """One column of a row."""

    t: int
    v: int | float | str | None
    h: bool | None = None
    f: int | None = None


ColumnsJSON: TypeAlias = dict[str, ColumnJSON]
_Metadata: TypeAlias = tuple[int, int | None, bool | None]

_METADATA = attrgetter("t", "f", "h")
_MAX_CACHED_BYTES = 1 << 18  # larger rows are not cached
_MAX_LAYOUTS = 256


@dataclass(frozen=True, slots=True)
class RowLayout:
    """The columns of an image.

    :param cells: for each column its type code, flag and handle key mark, and the reader of its values.
    :param error: what is expected instead of an invalid column; empty if all columns are valid.
    """

    columns: tuple[EventColumn, ...]
    cells: tuple[tuple[int, int | None, bool | None, values.Reader], ...]
    error: str

    def image(self, columns: ColumnsJSON, start: int) -> dict[str, Value] | None:
        """The values of columns with these names; None if their metadata differ from this layout's.

        :param start: byte offset of the row, for errors.
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
        except BadValue as bad:
            expected = f"{bad.expected} in column {name!r}"
            raise DecodeError(bad.code, expected, part="value", byte=start) from None
        return image


class LayoutCache:
    """Caches the layouts of a decoder's rows.

    A layout depends only on the columns' names and metadata, so that of one row serves the next ones. The
    number of cached layouts and the size of their rows are limited, since messages are not trusted.
    """

    def __init__(self, *, legacy_base64: bool) -> None:
        self._legacy_base64 = legacy_base64
        # A comparison with the latest layout of these names is faster than a lookup by metadata.
        self._latest: dict[tuple[str, ...], RowLayout] = {}

    def read(self, columns: ColumnsJSON, size: int, start: int) -> tuple[RowLayout, dict[str, Value]]:
        """The layout of an image, and its values.

        :param size: bytes of the row.
        :param start: byte offset of the row, for errors.
        :raises DecodeError: for invalid columns, or values that do not fit them.
        """
        names = tuple(columns)
        latest = self._latest.get(names)
        if latest is not None:
            image = latest.image(columns, start)
            if image is not None:
                return latest, image
        layout = self._layout(names, columns, size)
        if layout.error:
            raise DecodeError("OPEN-COLUMN", layout.error, part="value", byte=start)
        return layout, layout.image(columns, start) or {}

    def _layout(self, names: tuple[str, ...], columns: ColumnsJSON, size: int) -> RowLayout:
        metadata = tuple(map(_METADATA, columns.values()))
        if size > _MAX_CACHED_BYTES:
            return _compile(names, metadata, self._legacy_base64)
        layout = _compile_cached(names, metadata, self._legacy_base64)
        if not layout.error:
            if len(self._latest) >= _MAX_LAYOUTS:
                self._latest.clear()
            self._latest[names] = layout
        return layout


def _compile(names: tuple[str, ...], metadata: tuple[_Metadata, ...], legacy_base64: bool) -> RowLayout:
    invalid = next((name for name, column in zip(names, metadata, strict=True) if not _fits(column)), None)
    if invalid is not None:
        return RowLayout((), (), f"a type of one byte in column {invalid!r}")
    cells = [(t, f, h, values.reader(t, f, legacy_base64=legacy_base64)) for t, f, h in metadata]
    return RowLayout(tuple(map(_column, names, metadata)), tuple(cells), "")


_compile_cached = lru_cache(maxsize=_MAX_LAYOUTS)(_compile)


def _fits(metadata: _Metadata) -> bool:
    return 0 <= metadata[0] <= 0xFF and 0 <= (metadata[1] or 0) <= 0xFFFFFFFF


def _column(name: str, metadata: _Metadata) -> EventColumn:
    code, sent, is_handle_key = metadata
    flag = (sent or 0) | (ColumnFlag.HANDLE_KEY if is_handle_key else 0)
    binary, unsigned = bool(flag & ColumnFlag.BINARY), bool(flag & ColumnFlag.UNSIGNED)
    return EventColumn(name, bare_name(code, binary=binary, unsigned=unsigned), int(flag))
