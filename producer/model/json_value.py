"""Canonical values as JSON, in the files of a golden folder.

A string where the text is UTF-8, ``{"b64": …}`` where it is not, null for NULL.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from producer.model.event import Value


def to_json(value: Value) -> Any:
    """The JSON form of one value."""
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"b64": b64encode(value).decode("ascii")}


def from_json(value: Any) -> Value:
    """The value behind its JSON form.

    :raises ValueError: for anything else.
    """
    match value:
        case None:
            return None
        case str():
            return value.encode()
        case {"b64": str() as text}:
            return b64decode(text, validate=True)
    raise ValueError('a string, null or {"b64": "…"}')
