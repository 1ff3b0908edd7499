"""Fields of Protocol Buffers: their bytes, a reader that checks every length, and whole messages as JSON.

A field is a tag (number and wire type), and a number in LEB128 or a length with as many bytes. The numbers of
fields are those of ``CanalProtocol.proto`` and ``EntryProtocol.proto`` of Alibaba canal 1.1.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ticdc_producer.errors import DecodeError

NUMBER, BYTES = 0, 2
_FIXED_SIZES = {1: 8, 5: 4}
_MORE, _BITS = 0x80, 7
_MAX_VARINT = 10
_WRAP = 1 << 64

Field: TypeAlias = tuple[int, int, int]
"""Number of a field, and its bytes from a start to an end; of a number its value and -1."""


def varint(number: int) -> bytes:
    """Encode an integer; a negative one as the 64 bits of its two's complement.

    >>> varint(300).hex(), varint(-7).hex()
    ('ac02', 'f9ffffffffffffffff01')
    """
    number %= _WRAP
    encoded = bytearray()
    while number >= _MORE:
        encoded.append(number & _MORE - 1 | _MORE)
        number >>= _BITS
    return bytes((*encoded, number))


def tag(field: int, wire_type: int) -> bytes:
    """Return the bytes before the content of a field."""
    return varint(field << 3 | wire_type)


def number(field: int, value: int) -> bytes:
    """Return a field with an integer."""
    return tag(field, NUMBER) + varint(value)


def content(field: int, value: bytes) -> bytes:
    """Return a field with bytes.

    >>> content(5, b"UTF-8").hex()
    '2a055554462d38'
    """
    return tag(field, BYTES) + varint(len(value)) + value


def text(field: int, value: str) -> bytes:
    """Return a field with a text, which is omitted if it is empty."""
    return content(field, value.encode()) if value else b""


def fields(data: bytes, start: int, end: int) -> Iterator[Field]:
    """Yield the fields of a message, except those of fixed size, which canal has none of.

    :raises DecodeError: for a truncated or damaged field.
    """
    at = start
    while at < end:
        head, after = _number(data, at, end)
        field, wire_type = head >> 3, head & 7
        if wire_type == NUMBER:
            value, at = _number(data, after, end)
            yield field, value, -1
        elif wire_type == BYTES:
            size, first = _number(data, after, end)
            if size > end - first:
                raise _error("CANALPB-LENGTH", f"a length of at most {end - first}, not {size}", after)
            at = first + size
            yield field, first, at
        elif wire_type in _FIXED_SIZES and _FIXED_SIZES[wire_type] <= end - after:
            at = after + _FIXED_SIZES[wire_type]
        else:
            raise _error("CANALPB-FIELD", "the tag of a field", at)


_Form: TypeAlias = "dict[str, object]"
FIELD_NAMES: dict[str, dict[int, tuple[str, str]]] = {
    "entry": {1: ("header", "header"), 2: ("entryType", ""), 3: ("storeValue", "change")},
    "header": {
        1: ("version", ""), 5: ("serverenCode", ""), 6: ("executeTime", ""), 7: ("sourceType", ""),
        8: ("schemaName", ""), 9: ("tableName", ""), 11: ("eventType", ""), 12: ("props", "pair"),
    },
    "change": {
        2: ("eventType", ""), 10: ("isDdl", ""), 11: ("sql", ""), 12: ("rowDatas", "row"),
        14: ("ddlSchemaName", ""),
    },
    "row": {1: ("beforeColumns", "column"), 2: ("afterColumns", "column")},
    "column": {
        2: ("sqlType", ""), 3: ("name", ""), 4: ("isKey", ""), 5: ("updated", ""), 6: ("isNull", ""),
        8: ("value", ""), 10: ("mysqlType", ""),
    },
    "pair": {1: ("key", ""), 2: ("value", "")},
}  # fmt: skip
"""The fields of each message of an entry by their numbers: their names, and the message that they hold."""


def wire_form(entry: bytes) -> object:
    """Return the content of an entry, with the names of its fields.

    :raises DecodeError: if it is damaged.
    """
    return _form(entry, (0, len(entry)), "entry")


def _form(data: bytes, span: tuple[int, int], kind: str) -> _Form:
    """Return the content of a message; a field that occurs several times has a list."""
    values: dict[str, list[object]] = {}
    for field in fields(data, *span):
        name, below = FIELD_NAMES[kind].get(field[0], (str(field[0]), ""))
        values.setdefault(name, []).append(_field_form(data, field, below))
    return {name: of[0] if len(of) == 1 else of for name, of in values.items()}


def _field_form(data: bytes, field: Field, below: str) -> object:
    _, first, last = field
    if last < 0:
        return first
    if below:
        return _form(data, (first, last), below)
    text_or_bytes = data[first:last]
    try:
        return text_or_bytes.decode()
    except UnicodeDecodeError:
        return {"bytes": text_or_bytes.hex()}


def _number(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return an integer in LEB128, and the position after it."""
    if at < end and (byte := data[at]) < _MORE:
        return byte, at + 1
    value = 0
    for index, byte in enumerate(data[at : min(end, at + _MAX_VARINT)]):
        value |= (byte & _MORE - 1) << _BITS * index
        if byte < _MORE:
            return value % _WRAP, at + index + 1
    raise _error("CANALPB-NUMBER", "a number of up to 10 bytes", at)


def _error(code: str, expected: str, byte: int) -> DecodeError:
    return DecodeError(code, expected, part="value", byte=byte)
