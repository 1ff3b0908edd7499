"""Reads column groups: the columns of an image, and their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.model.event import EventColumn, Image, Value
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import bare_name
from ticdc_producer.protocols.craft import values
from ticdc_producer.protocols.craft.byte_reader import ByteReader, rejected
from ticdc_producer.protocols.craft.layout import NEW_VALUES, OLD_VALUES

_SMALLEST_COLUMN = 4  # a name id, a type, a flag and a length
_MAX_FLAG = 0xFFFFFFFF
_SHORT_NAME = 64

Reader: TypeAlias = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Description:
    """The columns of a group.

    :param encoded: the bytes of this description.
    """

    columns: tuple[EventColumn, ...]
    readers: tuple[Reader, ...]
    encoded: bytes


class GroupReader:
    """Reads the groups of one message.

    Rows of a table repeat the same bytes as description of their columns; these are parsed once.

    :param terms: the message's dictionary.
    """

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = terms
        self._last: Description | None = None

    def read(self, group: ByteReader) -> tuple[int, tuple[EventColumn, ...], Image]:
        """Type of the group, its columns, and their values by name.

        :raises DecodeError: if the group is malformed, or has bytes after its content.
        """
        kind = group.take(1, "CRAFT-GROUPS")[0]
        if kind not in (NEW_VALUES, OLD_VALUES):
            raise rejected("CRAFT-GROUPS", f"a group type 1 or 2, not {kind}", group.position - 1)
        described = self._description(group)
        image = _image(group, described)
        group.finish("CRAFT-GROUPS")
        return kind, described.columns, image

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
        names = [self._terms[id_] for id_ in ids]
        if len(set(names)) < count:
            raise rejected("CRAFT-TERM", "a name for each column of its own", start)
        return Description(
            columns=tuple(map(_column, names, types, flags)),
            readers=tuple(map(values.reader, types, flags)),
            encoded=group.data[start : group.position],
        )


def _column(name: str, code: int, flag: int) -> EventColumn:
    binary, unsigned = bool(flag & ColumnFlag.BINARY), bool(flag & ColumnFlag.UNSIGNED)
    return EventColumn(name, bare_name(code, binary=binary, unsigned=unsigned), flag)


def _image(group: ByteReader, described: Description) -> dict[str, Value]:
    lengths = group.varints(len(described.columns))
    if min(lengths) >= -1 and sum(lengths) + lengths.count(-1) == group.left:
        try:
            return _fast_image(group, described, lengths)
        except values.BadValue:
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
        except values.BadValue as bad:
            name = column.name[:_SHORT_NAME]
            raise rejected("CRAFT-VALUE", f"{bad.expected} in column {name!r}", start) from None
    return image


def _fast_image(group: ByteReader, described: Description, lengths: Sequence[int]) -> dict[str, Value]:
    """The values of these lengths, which fill the rest of the group exactly."""
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
