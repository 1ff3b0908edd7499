"""The list of allowed members of an ENUM or SET column in an Avro or Debezium schema.

Source: tiflow ``pkg/sink/codec/common/helper.go`` (EscapeEnumAndSetOptions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate, count

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType


def allowed(column: ColumnInfo) -> str:
    """The comma-separated members of a column. Commas in ENUM members are escaped; a SET's have none."""
    if column.type == MySQLType.ENUM:
        return ",".join(map(escaped, column.elements))
    return ",".join(column.elements)


def escaped(member: str) -> str:
    """A member of an ENUM as the list contains it."""
    return member.replace(",", "\\,").replace("\\'", "'").replace("''", "'")


_BETWEEN_MEMBERS = re.compile(r"(?<!\\),")


def member_indexes(listed: str) -> dict[str, int]:
    """Maps the escaped members of an ENUM's list to their indexes, counted from 1.

    A backslash at the end of a member looks like the escape of the comma after it. Members that the list
    does not contain in escaped form are therefore looked up in the list split at every comma.
    """
    escaped_indexes = _first_indexes(zip(_BETWEEN_MEMBERS.split(listed), count(1), strict=False))
    return {**_unescaped_indexes(listed), **escaped_indexes}


def _unescaped_indexes(listed: str) -> dict[str, int]:
    """Maps the parts between any two commas to the index they have if a member ends just before them."""
    parts = listed.split(",")
    ended = list(accumulate(not part.endswith("\\") for part in parts))
    indexes = [1, 2, *(before + 2 for before in ended)]
    return _first_indexes(zip(parts, indexes, strict=False))


def _first_indexes(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The first index of each text."""
    indexes: dict[str, int] = {}
    for text, index in pairs:
        indexes.setdefault(text, index)
    return indexes
