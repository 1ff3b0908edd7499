"""ENUM, SET and BIT values back to their numbers."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate, count
from typing import TypeAlias

from producer.codec.debezium.bad_value import BadValue, JSONValue
from producer.codec.debezium.members import escaped

Reader: TypeAlias = Callable[[JSONValue], bytes]
_MOST_BITS = 64
_BETWEEN_MEMBERS = re.compile(r"(?<!\\),")


def enum_reader(parameters: Mapping[str, str]) -> Reader:
    """Reads the text of an ENUM as its index; the error value, an empty text, as 0.

    A backslash at a member's end cannot be told from the escape of the comma after it. Members that are
    not found in the list as escaped are looked up in the list split at every comma.
    """
    listed = _allowed(parameters)
    escaped_places = _first_of_equals(zip(_BETWEEN_MEMBERS.split(listed), count(1), strict=False))
    places = {**_plain_places(listed), **escaped_places}

    def read(json: JSONValue) -> bytes:
        if not isinstance(json, str):
            raise BadValue("a member's text")
        place = places.get(escaped(json), 0 if json == "" else None)
        if place is None:
            raise BadValue("a member of the allowed ones")
        return b"%d" % place

    return read


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


def set_reader(parameters: Mapping[str, str]) -> Reader:
    """Reads the texts of a SET as its bit mask."""
    bits = {member: 1 << place for place, member in enumerate(_allowed(parameters).split(","))}

    def read(json: JSONValue) -> bytes:
        if not isinstance(json, str):
            raise BadValue("members' texts")
        chosen = json.split(",") if json else []
        if len(set(chosen)) < len(chosen) or not bits.keys() >= set(chosen):
            raise BadValue("members of the allowed ones, each once")
        return b"%d" % sum(bits[member] for member in chosen)

    return read


def _allowed(parameters: Mapping[str, str]) -> str:
    if "allowed" not in parameters:
        raise BadValue("the parameter allowed")
    return parameters["allowed"]


def bit_reader(parameters: Mapping[str, str]) -> Reader:
    """Reads the bytes of a BIT, lowest first, as a number."""
    text = parameters.get("length", "")
    if not re.fullmatch(r"[0-9]{1,2}", text) or not 1 <= int(text) <= _MOST_BITS:
        raise BadValue("the parameter length, 1 … 64")
    size, limit = (int(text) + 7) // 8, 1 << int(text)

    def read(json: JSONValue) -> bytes:
        number = int.from_bytes(_decoded(json, size), "little")
        if number >= limit:
            raise BadValue(f"{text} bits")
        return b"%d" % number

    return read


def _decoded(json: JSONValue, size: int) -> bytes:
    try:
        data = b64decode(json, validate=True) if isinstance(json, str) else b""
    except ValueError:
        data = b""
    if len(data) != size:
        raise BadValue(f"Base64 of {size} bytes")
    return data
