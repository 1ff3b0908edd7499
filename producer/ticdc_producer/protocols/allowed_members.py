"""The members of ENUM and SET columns as schemas list them.

Source: tiflow ``pkg/sink/codec/common/helper.go`` (EscapeEnumAndSetOptions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate, count

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType


def allowed(column: ColumnInfo) -> str:
    """The schema's list of members; a comma is escaped in those of an ENUM (a SET's cannot hold one)."""
    if column.type == MySQLType.ENUM:
        return ",".join(map(escaped, column.elements))
    return ",".join(column.elements)


def escaped(member: str) -> str:
    """A member of an ENUM as it stands in the list."""
    return member.replace(",", "\\,").replace("\\'", "'").replace("''", "'")


_BETWEEN_MEMBERS = re.compile(r"(?<!\\),")


def places_of(listed: str) -> dict[str, int]:
    """The members of an ENUM's list, as they stand there, to their indexes from 1.

    A backslash at a member's end cannot be told from the escape of the comma after it. Members that are
    not found in the list as escaped are looked up in the list split at every comma.
    """
    escaped_places = _first_of_equals(zip(_BETWEEN_MEMBERS.split(listed), count(1), strict=False))
    return {**_plain_places(listed), **escaped_places}


def _plain_places(listed: str) -> dict[str, int]:
    """Pieces between any commas to the index they have if a member ends just before them."""
    pieces = listed.split(",")
    ended = list(accumulate(not piece.endswith("\\") for piece in pieces))
    indexes = [1, 2, *(before + 2 for before in ended)]
    return _first_of_equals(zip(pieces, indexes, strict=False))


def _first_of_equals(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    places: dict[str, int] = {}
    for piece, place in pairs:
        places.setdefault(piece, place)
    return places
