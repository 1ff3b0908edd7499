"""Other values of the leaves of a binary format."""

from __future__ import annotations

from typing import Any

from tests.verifier.wire.tree import Array, Fixed, Node, Object, Padded


def other_values(node: Node) -> dict[str, Node]:
    """Return the other values that a leaf of a binary format may take."""
    match node:
        case Object() | Array():
            return {}
        case None:
            return {"other value": b"1"}
        case bool():
            return {"other value": not node}
        case int():
            return {"number + 1": node + 1, "number - 1": node - 1, "zero": 0, "in more bytes": Padded(node)}
        case bytes():
            return {**_bytes(node), "null": None}
        case Fixed():
            return {
                "other value": Fixed(bytes(byte ^ 1 for byte in node.content)),
                "zero": Fixed(bytes(len(node.content))),
            }
    return {}


def _bytes(text: bytes) -> dict[str, Any]:
    others = {
        "other value": bytes([text[0] ^ 1]) + text[1:] if text else b"y",
        "trailing text": text + b"x",
        "shorter": text[:-1],
        "other case": text.swapcase(),
        "empty": b"",
    }
    return {kind: other for kind, other in others.items() if other != text}
