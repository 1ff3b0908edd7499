"""ENUM and SET values as text, their lists of allowed members, and DEFAULT values as TiDB stores them.

Source: tidb ``types.ParseEnumValue``, ``types.ParseSetValue``, ``pkg/meta/model/column.go``
(``GetDefaultValue``); tiflow ``pkg/sink/codec/common/helper.go`` (EscapeEnumAndSetOptions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate, count

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import replace_invalid
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo


def member_text(column: ColumnInfo, value: bytes) -> str:
    """Return the text of an ENUM index or SET mask; empty if it is out of range."""
    number = int(value)
    if column.type == MySQLType.ENUM:
        return column.elements[number - 1] if 1 <= number <= len(column.elements) else ""
    if number >> len(column.elements):
        return ""
    return ",".join(name for bit, name in enumerate(column.elements) if number >> bit & 1)


def member_number(column: ColumnInfo, text: bytes) -> bytes:
    """Return the ENUM index or SET mask of a text, the inverse of ``member_text``; 0 if there is none.

    >>> member_number(ColumnInfo(name="s", type=MySQLType.SET, elements=("a", "b")), b"a,b")
    b'3'
    """
    elements, own = column.elements, text.decode("utf-8", "surrogateescape")
    if column.type == MySQLType.ENUM:
        return b"%d" % (elements.index(own) + 1 if own in elements else 0)
    members = {*own.split(",")}
    return b"%d" % sum(1 << bit for bit, name in enumerate(elements) if name in members)


def allowed(column: ColumnInfo) -> str:
    """Return the comma-separated members of a column.

    Commas in ENUM members are escaped; SET members have no commas.
    """
    if column.type == MySQLType.ENUM:
        return ",".join(map(escaped, column.elements))
    return ",".join(column.elements)


def escaped(member: str) -> str:
    """Return a member of an ENUM as the list contains it."""
    return member.replace(",", "\\,").replace("\\'", "'").replace("''", "'")


_BETWEEN_MEMBERS = re.compile(r"(?<!\\),")


def member_indexes(listed: str) -> dict[str, int]:
    """Map the escaped members of an ENUM's list to their indexes, counted from 1.

    A backslash at the end of a member looks like the escape of the comma after it. Members that the list
    does not contain in escaped form are therefore looked up in the list split at every comma.
    """
    escaped_indexes = _first_indexes(zip(_BETWEEN_MEMBERS.split(listed), count(1), strict=False))
    return {**_unescaped_indexes(listed), **escaped_indexes}


def _unescaped_indexes(listed: str) -> dict[str, int]:
    """Map the parts between any two commas to their index, if a member ends just before them."""
    parts = listed.split(",")
    ended = list(accumulate(not part.endswith("\\") for part in parts))
    indexes = [1, 2, *(before + 2 for before in ended)]
    return _first_indexes(zip(parts, indexes, strict=False))


def _first_indexes(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the first index of each text."""
    indexes: dict[str, int] = {}
    for text, index in pairs:
        indexes.setdefault(text, index)
    return indexes


T = MySQLType


def stored_default(column: ColumnInfo) -> str | None:
    """Return the text of a DEFAULT, not for BIT (``stored_bits``); None if the column has no DEFAULT."""
    if column.default_expression:
        return column.default_expression
    if column.default is None:
        return None
    if column.type in (T.ENUM, T.SET):
        return member_text(column, column.default)
    if column.type == T.YEAR and column.default_text is None:
        return f"{int(column.default):04d}"
    # TiDB stores the text as JSON, in which bytes that are not UTF-8 have become U+FFFD.
    return replace_invalid(column.metadata_default or b"").decode()


def stored_bits(column: ColumnInfo) -> bytes:
    """Return the DEFAULT of a BIT column: its bytes, big-endian.

    A literal in binary or hexadecimal digits keeps its leading zero bytes; a number has none.
    """
    if column.default_text is not None:
        return column.default_text
    number = int(column.default or b"0")
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def no_member(
    protocol: str, failed: str, table: TableInfo, members: int, commit_ts: int, value: str
) -> EncodeError:
    """Return TiCDC's refusal of the error value 0 of an ENUM, which has no member.

    :param protocol: ``Avro`` or ``CSV``, as in the error code.
    :param failed: the beginning of the message, which names the step that failed.
    :param members: number of members of the column.
    :param value: column, table and key, as ``RowBatch.value_name``.
    """
    what = f"convert to MySQL enum failed: number 0 overflow enum boundary [1, {members}]"
    return EncodeError(
        f"{failed}: {what}: [types:1265]Data truncated for column '%s' at row %d, {value}",
        code=f"CDC:Err{protocol}EncodeFailed",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint=f"the empty error value of an ENUM has no name in {protocol}",
    )
