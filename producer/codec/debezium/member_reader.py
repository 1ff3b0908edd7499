"""ENUM, SET and BIT values back to their numbers."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import TypeAlias

from producer.codec.debezium.bad_value import BadValue, JSONValue
from producer.codec.debezium.members import escaped

Reader: TypeAlias = Callable[[JSONValue], bytes]
_MOST_BITS = 64
_BETWEEN_MEMBERS = re.compile(r"(?<!\\),")


def enum_reader(parameters: Mapping[str, str]) -> Reader:
    """Reads the text of an ENUM as its index; the error value, an empty text, as 0.

    A member that ends with a backslash cannot be told from the escape of the comma after it, so where
    the list as escaped has no such member, the list split at every comma may have it.
    """
    listed = _allowed(parameters)
    places = _places(_BETWEEN_MEMBERS.split(listed))
    for place, member in _plain_places(listed).items():
        places.setdefault(place, member)

    def read(json: JSONValue) -> bytes:
        if not isinstance(json, str):
            raise BadValue("a member's text")
        place = places.get(escaped(json), 0 if json == "" else None)
        if place is None:
            raise BadValue("a member of the allowed ones")
        return b"%d" % place

    return read


def _places(members: list[str]) -> dict[str, int]:
    """Members to index, the first of equals."""
    return {member: place for place, member in reversed(list(enumerate(members, 1)))}


def _plain_places(listed: str) -> dict[str, int]:
    """Pieces between any commas to the index they have if no other comma is part of a member."""
    places: dict[str, int] = {}
    start = 0
    for piece in listed.split(","):
        before = listed[:start].removesuffix(",")
        count = len(_BETWEEN_MEMBERS.split(before)) if start else 0
        places.setdefault(piece, count + 1)
        start += len(piece) + 1
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
