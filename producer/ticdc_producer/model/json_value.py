"""Converts canonical values to and from JSON, for the files of a golden folder.

A string where the text is UTF-8, ``{"b64": …}`` where it is not, null for NULL.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from ticdc_producer.model.event import Value

# Many text readers treat these characters as line ends.
_LINE_ENDS = str.maketrans({0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"})


# json.dumps makes an encoder for each call.
_encode = json.JSONEncoder(ensure_ascii=False).encode


def json_line(content: Mapping[str, Any]) -> str:
    """One line of a ``.jsonl`` file, without line end; Unicode line ends in it are escaped."""
    text = _encode(content)
    return text if text.isascii() else text.translate(_LINE_ENDS)


def to_json(value: Value) -> Any:
    """Convert one value to JSON."""
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"b64": b64encode(value).decode("ascii")}


def from_json(value: Any) -> Value:
    """Convert JSON to a value.

    :raises ValueError: for JSON that is not a value.
    """
    match value:
        case None:
            return None
        case str():
            return value.encode()
        case {"b64": str() as text}:
            return b64decode(text, validate=True)
    raise ValueError('a string, null or {"b64": "…"}')
