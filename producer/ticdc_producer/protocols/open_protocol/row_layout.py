"""The columns of rows: their descriptions, and their values as canonical text.

A description is parsed once and reused for all rows that have the same description. Each MySQL type has one
form of ``v`` (spec "Value forms"); every other value is rejected.
"""

from __future__ import annotations

import math
import re
from binascii import a2b_base64
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import attrgetter
from typing import TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import EventColumn, Value
from ticdc_producer.model.mysql_type import (
    FLOATS,
    INTEGERS,
    LOBS,
    NUMBERED,
    STRINGS,
    TYPES,
    MySQLType,
    bare_name,
    integer_range,
)
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.protocols import bytes_in_json as go_quote
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.value_parsers import DATES, DATETIMES, DECIMALS, TIMES, matches_pattern


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
    :param error: a description of a valid column; empty if all columns are valid.
    """

    columns: tuple[EventColumn, ...]
    cells: tuple[tuple[int, int | None, bool | None, Reader], ...]
    error: str

    def image(self, columns: ColumnsJSON, start: int) -> dict[str, Value] | None:
        """Return the values of columns with these names; None if their metadata differ from this layout's.

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
    """A cache of the layouts of a decoder's rows.

    A layout depends only on the columns' names and metadata, so the layout of one row is reused. The number
    of cached layouts and the size of their rows are limited, since messages are not trusted.
    """

    def __init__(self, *, legacy_base64: bool) -> None:
        self._legacy_base64 = legacy_base64
        # A comparison with the latest layout of these names is faster than a lookup by metadata.
        self._latest: dict[tuple[str, ...], RowLayout] = {}

    def read(self, columns: ColumnsJSON, size: int, start: int) -> tuple[RowLayout, dict[str, Value]]:
        """Return the layout of an image, and its values.

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
    for name, column in zip(names, metadata, strict=True):
        if not _fits(column):
            return RowLayout((), (), f"a type of one byte in column {name!r}")
        if not _agrees(column):
            return RowLayout((), (), f"h and the handle key flag of f to agree in column {name!r}")
    cells = [(t, f, h, reader(t, f, legacy_base64=legacy_base64)) for t, f, h in metadata]
    return RowLayout(tuple(map(_column, names, metadata)), tuple(cells), "")


_compile_cached = lru_cache(maxsize=_MAX_LAYOUTS)(_compile)


def _fits(metadata: _Metadata) -> bool:
    return 0 <= metadata[0] <= 0xFF and 0 <= (metadata[1] or 0) <= 0xFFFFFFFF


def _agrees(metadata: _Metadata) -> bool:
    """Return whether ``h`` agrees with ``f``.

    Old producers send no ``f``. TiCDC new architecture sends 0 for columns that it does not know.
    """
    _, flag, is_handle_key = metadata
    return not flag or bool(flag & ColumnFlag.HANDLE_KEY) == bool(is_handle_key)


def _column(name: str, metadata: _Metadata) -> EventColumn:
    code, sent, is_handle_key = metadata
    flag = (sent or 0) | (ColumnFlag.HANDLE_KEY if is_handle_key else 0)
    binary, unsigned = bool(flag & ColumnFlag.BINARY), bool(flag & ColumnFlag.UNSIGNED)
    return EventColumn(name, bare_name(code, binary=binary, unsigned=unsigned), int(flag))


JSONValue: TypeAlias = int | float | str | None
Reader: TypeAlias = Callable[[JSONValue], bytes]

T = MySQLType
digits = msgspec.json.Encoder().encode  # of an integer, three times as fast as %d
_MAX_FLOAT32 = 3.4028235677973366e38  # the first number that rounds to infinity
_TEXT_FORMS = {
    code: (re.compile(spec.form.pattern), spec.form.expected) for code, spec in TYPES.items() if spec.form
}
_FAST_PATTERNS = {
    T.NEW_DECIMAL: DECIMALS, T.DATE: DATES, T.NEW_DATE: DATES, T.DATETIME: DATETIMES,
    T.TIMESTAMP: DATETIMES, T.DURATION: TIMES,
}  # fmt: skip


@lru_cache(maxsize=1024)
def reader(code: int, flag: int | None, *, legacy_base64: bool = False) -> Reader:
    """Return the function that turns a column's values, except NULL, into canonical text.

    It raises ``BadValue`` for a value that does not have the form of the type.

    :param code: MySQL type code.
    :param flag: column flag; None if the producer is too old to send one.
    :param legacy_base64: whether VARCHAR and CHAR are Base64.
    """
    if code in INTEGERS or code in NUMBERED:
        return _integer_reader(code, flag)
    if code in FLOATS:
        return _float_reader(code)
    if code in _TEXT_FORMS:
        return _text_reader(T(code))
    is_binary = bool((flag or 0) & ColumnFlag.BINARY)
    if code in STRINGS:
        return _quoted if is_binary else _lob if legacy_base64 else _text
    if code in LOBS:
        return _lob
    return _text if code == T.JSON else partial(_never, code)


def _never(code: int, _value: JSONValue) -> bytes:
    raise BadValue(f"null for type {code}", "OPEN-COLUMN")


def _integer_reader(code: int, flag: int | None) -> Reader:
    if not flag:  # signed or unsigned; TiCDC new architecture sends 0 for columns that it does not know
        low, high = integer_range(code, unsigned=False)[0], integer_range(code, unsigned=True)[1]
    else:
        low, high = integer_range(code, unsigned=bool(flag & ColumnFlag.UNSIGNED))

    def read(value: JSONValue) -> bytes:
        if not isinstance(value, int):
            raise BadValue("an integer", "OPEN-COLUMN")
        if not low <= value <= high:
            raise BadValue(f"{low} … {high}", "OPEN-RANGE")
        return digits(value)

    return read


def _float_reader(code: int) -> Reader:
    limit = _MAX_FLOAT32 if code == T.FLOAT else math.inf

    def read(value: JSONValue) -> bytes:
        number = value if isinstance(value, float) else _whole_number(value)
        if not -limit < number < limit:
            raise BadValue("a finite number of the column's width", "OPEN-RANGE")
        return plain_text(number, code)

    return read


def _whole_number(value: JSONValue) -> float:
    if not isinstance(value, int):
        raise BadValue("a number", "OPEN-COLUMN")
    try:
        return float(value)
    except OverflowError:
        raise BadValue("a 64-bit float", "OPEN-RANGE") from None


def _text_reader(code: MySQLType) -> Reader:
    usual = _FAST_PATTERNS.get(code, frozenset())
    form, expected = _TEXT_FORMS[code]

    def read(value: JSONValue) -> bytes:
        if not isinstance(value, str):
            raise BadValue("a string", "OPEN-COLUMN")
        content = value.encode()
        if not matches_pattern(content, usual) and form.fullmatch(value) is None:
            raise BadValue(expected, "OPEN-COLUMN")
        return content

    return read


def _text(value: JSONValue) -> bytes:
    if not isinstance(value, str):
        raise BadValue("a string", "OPEN-COLUMN")
    return value.encode()


def _lob(value: JSONValue) -> bytes:
    if not isinstance(value, str):
        raise BadValue("a string", "OPEN-COLUMN")
    try:
        return a2b_base64(value, strict_mode=True)
    except ValueError:
        raise BadValue("Base64 with padding", "OPEN-BASE64") from None


def _quoted(value: JSONValue) -> bytes:
    if not isinstance(value, str):
        raise BadValue("a string", "OPEN-COLUMN")
    try:
        return go_quote.unquote(value)
    except ValueError as error:
        raise BadValue(f"Go-quoted bytes (at character {error})", "OPEN-QUOTE") from None
