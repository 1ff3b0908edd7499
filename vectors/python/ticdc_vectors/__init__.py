"""Messages of TiCDC, and what a consumer must read in them. README.md describes the members of a vector."""

from __future__ import annotations

import json
from base64 import b64decode
from importlib.resources import files
from typing import Any


def load(protocol: str) -> list[dict[str, Any]]:
    """Return the vectors of a protocol. Keys and values of messages, and files, are bytes."""
    return [_vector(json.loads(line)) for line in _text(f"{protocol}.jsonl").split("\n")[:-1]]


def manifest() -> dict[str, Any]:
    """Return the numbers of vectors and messages per protocol, and the digests of the files."""
    content: dict[str, Any] = json.loads(_text("manifest.json"))
    return content


def _text(name: str) -> str:
    return files(__name__).joinpath("data", name).read_text("utf-8")


def _vector(vector: dict[str, Any]) -> dict[str, Any]:
    for message in vector.get("messages", ()):
        for part in ("key", "value"):
            message[part] = None if message[part] is None else b64decode(message[part])
    for path, content in vector.get("files", {}).items():
        vector["files"][path] = b64decode(content)
    return vector
