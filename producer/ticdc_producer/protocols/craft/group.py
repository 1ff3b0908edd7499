"""Reads column groups: the columns of an image, and their values as canonical text.

Each MySQL type has one binary form; values that do not fit the column's type are rejected. Source of the
forms: tiflow ``message_decoder.go`` (``DecodeTiDBType``), except that it loses VECTOR values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from struct import Struct
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import EventColumn, Image, Value
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
from ticdc_producer.model.values.number_text import narrow, plain_text
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.craft.wire import (
    NEW_VALUES,
    OLD_VALUES,
    ByteReader,
    rejected,
    unzigzag,
    uvarint_at,
)

T = MySQLType
Reader: TypeAlias = Callable[[bytes], bytes]

_BINARY64 = Struct("<d")
# TiCDC's document of the format has dates with slashes; TiDB prints hyphens.
_HYPHENS, _SLASHES = "-[0-9]{2}-", "(?:-[0-9]{2}-|/[0-9]{2}/)"
_TEXT_FORMS = {
    code: (re.compile(spec.form.pattern.replace(_HYPHENS, _SLASHES).encode()), spec.form.expected)
    for code, spec in TYPES.items()
    if spec.form
}


@lru_cache(maxsize=1024)
def reader(code: int, flag: int) -> Reader:
    """Return the function that turns the bytes of a column's values, except NULL, into canonical text.

    It raises ``BadValue`` for bytes that do not have the form of the type.
    """
    if code in INTEGERS or code in NUMBERED:
        return _integer_reader(code, flag)
    if code in FLOATS:
        return _float_reader(code)
    if code in _TEXT_FORMS:
        return _text_reader(*_TEXT_FORMS[code])
    if code in STRINGS or code in LOBS:
        return bytes
    return _json if code == T.JSON else _never


def _integer_reader(code: int, flag: int) -> Reader:
    unsigned = bool(flag & ColumnFlag.UNSIGNED)
    low, high = integer_range(code, unsigned=unsigned)
    zigzag = code == T.YEAR or (code in INTEGERS and not unsigned)

    def read(content: bytes) -> bytes:
        number = _single_uvarint(content)
        if zigzag:
            number = unzigzag(number)
        if not low <= number <= high:
            raise BadValue(f"{low} … {high}")
        return b"%d" % number

    return read


def _single_uvarint(content: bytes) -> int:
    """Return the number that these bytes encode, without any bytes after it."""
    if len(content) == 1 and content[0] < 0x80:
        return content[0]
    try:
        number, end = uvarint_at(content, 0, len(content))
    except DecodeError:
        raise BadValue("a number of 64 bits") from None
    if end < len(content):
        raise BadValue("one number alone")
    return number


def _float_reader(code: int) -> Reader:
    def read(content: bytes) -> bytes:
        if len(content) != _BINARY64.size:
            raise BadValue("8 bytes")
        (number,) = _BINARY64.unpack(content)
        if not isfinite(number) or not _fits(number, code):
            raise BadValue("a finite number of the column's width")
        return plain_text(number, code)

    return read


def _fits(number: float, code: int) -> bool:
    try:
        return narrow(number, code) == number
    except OverflowError:
        return False


def _text_reader(form: re.Pattern[bytes], expected: str) -> Reader:
    def read(content: bytes) -> bytes:
        if form.fullmatch(content) is None:
            raise BadValue(expected)
        return content

    return read


def _json(content: bytes) -> bytes:
    try:
        content.decode()
    except UnicodeDecodeError:
        raise BadValue("UTF-8") from None
    return content


def _never(_content: bytes) -> bytes:
    raise BadValue("NULL")


_SMALLEST_COLUMN = 4  # a name id, a type, a flag and a length
_MAX_FLAG = 0xFFFFFFFF
_SHORT_NAME = 64


@dataclass(frozen=True, slots=True)
class Description:
    """The columns of a group.

    :param encoded: the bytes of this description.
    :param types: the type of each column, one byte each.
    """

    columns: tuple[EventColumn, ...]
    readers: tuple[Reader, ...]
    encoded: bytes
    types: bytes


class GroupReader:
    """A reader of the groups of one message.

    Rows of a table repeat the same bytes as description of their columns; these are parsed once.

    :param terms: the message's dictionary.
    :param named: number of its first terms, which are names of schemas and tables.
    """

    def __init__(self, terms: Sequence[str], named: int) -> None:
        self._terms = terms
        self._used = named
        self._last: Description | None = None

    def read(self, group: ByteReader) -> tuple[int, tuple[EventColumn, ...], Image]:
        """Return the type of the group, its columns, and their values by name.

        :raises DecodeError: if the group is malformed, or has bytes after its content.
        """
        kind, described = self.head(group)
        image = _image(group, described)
        group.finish("CRAFT-GROUPS")
        return kind, described.columns, image

    def head(self, group: ByteReader) -> tuple[int, Description]:
        """Return the type of a group and the description of its columns; the values follow."""
        kind = group.take(1, "CRAFT-GROUPS")[0]
        if kind not in (NEW_VALUES, OLD_VALUES):
            raise rejected("CRAFT-GROUPS", f"a group type 1 or 2, not {kind}", group.position - 1)
        return kind, self._description(group)

    def finish(self, end: int) -> None:
        """Check that every term was used.

        :param end: where the dictionary ends, for the error.
        """
        if self._used < len(self._terms):
            expected = f"{self._used} terms, which are used, not {len(self._terms)}"
            raise rejected("CRAFT-TERM", expected, end)

    def _description(self, group: ByteReader) -> Description:
        last = self._last
        if last is None or not group.data.startswith(last.encoded, group.position, group.end):
            self._last = last = self._new_description(group)
        else:
            group.position += len(last.encoded)
        return last

    def _new_description(self, group: ByteReader) -> Description:
        start = group.position
        count = group.count(_SMALLEST_COLUMN, "CRAFT-GROUPS")
        ids = group.delta_varints(count)
        types, flags = group.uvarints(count), group.uvarints(count)
        if min(ids) < 0 or max(ids) >= len(self._terms):
            raise rejected("CRAFT-TERM", f"name ids of 0 … {len(self._terms) - 1}", start)
        if max(types) > 0xFF or max(flags) > _MAX_FLAG:
            raise rejected("CRAFT-COLUMN", "types of one byte and flags of four", start)
        self._used = used_terms(ids, self._used, start)
        names = [self._terms[id_] for id_ in ids]
        if len(set(names)) < count:
            raise rejected("CRAFT-TERM", "a name for each column of its own", start)
        return Description(
            columns=tuple(map(_column, names, types, flags)),
            readers=tuple(map(reader, types, flags)),
            encoded=group.data[start : group.position],
            types=bytes(types),
        )


def used_terms(ids: Sequence[int], used: int, start: int) -> int:
    """Return the number of terms that are used after some more.

    TiCDC numbers terms in the order of their first use.

    >>> used_terms([0, 1, 0, 2], 1, 0)
    3

    :param used: number of terms used before.
    :param start: position, for the error.
    """
    for id_ in ids:
        if id_ > used:
            raise rejected("CRAFT-TERM", f"terms in the order of their first use: {used} before {id_}", start)
        if id_ == used:
            used += 1
    return used


def _column(name: str, code: int, flag: int) -> EventColumn:
    binary, unsigned = bool(flag & ColumnFlag.BINARY), bool(flag & ColumnFlag.UNSIGNED)
    return EventColumn(name, bare_name(code, binary=binary, unsigned=unsigned), flag)


def _image(group: ByteReader, described: Description) -> dict[str, Value]:
    lengths = group.varints(len(described.columns))
    if min(lengths) >= -1 and sum(lengths) + lengths.count(-1) == group.remaining:
        try:
            return _fast_image(group, described, lengths)
        except BadValue:
            pass  # the loop below finds the column
    image: dict[str, Value] = {}
    for column, read, length in zip(described.columns, described.readers, lengths, strict=True):
        if length == -1:
            image[column.name] = None
            continue
        if length < 0:
            raise rejected("CRAFT-LENGTH", f"a length of -1 or more, not {length}", group.position)
        start = group.position
        content = group.take(length, "CRAFT-LENGTH")
        try:
            image[column.name] = read(content)
        except BadValue as bad:
            name = column.name[:_SHORT_NAME]
            raise rejected("CRAFT-VALUE", f"{bad.expected} in column {name!r}", start) from None
    return image


def _fast_image(group: ByteReader, described: Description, lengths: Sequence[int]) -> dict[str, Value]:
    """Return the values of these lengths, which fill the rest of the group exactly."""
    data, position = group.data, group.position
    image: dict[str, Value] = {}
    for column, read, length in zip(described.columns, described.readers, lengths, strict=True):
        if length < 0:
            image[column.name] = None
        else:
            end = position + length
            image[column.name] = read(data[position:end])
            position = end
    group.position = position
    return image
