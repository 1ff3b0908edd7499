"""Reads ENUM, SET and BIT values as their numbers."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import TypeAlias

from ticdc_producer.protocols.allowed_members import escaped, member_indexes
from ticdc_producer.protocols.debezium.bad_value import BadValue, JSONValue

Reader: TypeAlias = Callable[[JSONValue], bytes]
_MOST_BITS = 64


def enum_reader(parameters: Mapping[str, str]) -> Reader:
    """Make the reader of an ENUM: text to index; the error value, an empty text, to 0."""
    indexes = member_indexes(_allowed(parameters))

    def read(json: JSONValue) -> bytes:
        if not isinstance(json, str):
            raise BadValue("a member's text")
        index = indexes.get(escaped(json), 0 if json == "" else None)
        if index is None:
            raise BadValue("a member of the allowed ones")
        return b"%d" % index

    return read


def set_reader(parameters: Mapping[str, str]) -> Reader:
    """Make the reader of a SET: comma-separated texts to bit mask."""
    bits = {member: 1 << index for index, member in enumerate(_allowed(parameters).split(","))}
    single = {**{member: b"%d" % bit for member, bit in bits.items()}, "": b"0"}

    def read(json: JSONValue) -> bytes:
        if not isinstance(json, str):
            raise BadValue("members' texts")
        if json in single:
            return single[json]
        chosen = json.split(",")
        if len(set(chosen)) < len(chosen) or not bits.keys() >= set(chosen):
            raise BadValue("members of the allowed ones, each once")
        return b"%d" % sum(bits[member] for member in chosen)

    return read


def _allowed(parameters: Mapping[str, str]) -> str:
    if "allowed" not in parameters:
        raise BadValue("the parameter allowed")
    return parameters["allowed"]


def bit_reader(parameters: Mapping[str, str]) -> Reader:
    """Make the reader of a BIT: Base64 of bytes, lowest first, to number."""
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
