"""Avro records as trees: read with their schema, written without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.verifier.wire.tree import Array, Fixed, Node, Object, Padded

_FIXED = {"float": 4, "double": 8}
_PRIMITIVES = {"null", "boolean", "int", "long", "float", "double", "string", "bytes"}


class AvroReader:
    """Reads one datum.

    :param schema: parsed from JSON.
    """

    def __init__(self, data: bytes, schema: Any) -> None:
        self._data, self._position = data, 0
        self._named = dict(_named(schema, ""))
        self.root = self._node(schema)
        assert self._position == len(data)

    def _long(self) -> int:
        number = shift = 0
        while True:
            byte = self._take(1)[0]
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number >> 1 ^ -(number & 1)

    def _take(self, count: int) -> bytes:
        self._position += count
        return self._data[self._position - count : self._position]

    def _node(self, schema: Any) -> Node:
        if isinstance(schema, list):
            branch = self._long()
            return Object([["branch", branch], ["value", self._node(schema[branch])]], fixed=True)
        if isinstance(schema, str):
            return self._primitive(schema) if schema in _PRIMITIVES else self._node(self._named[schema])
        return self._complex(schema)

    def _primitive(self, name: str) -> Node:
        if name == "null":
            return None
        if name == "boolean":
            return bool(self._take(1)[0])
        if name in _FIXED:
            return Fixed(self._take(_FIXED[name]))
        return self._long() if name in ("int", "long") else self._take(self._long())

    def _complex(self, schema: dict[str, Any]) -> Node:
        kind = schema["type"]
        if kind == "record":
            members = [[field["name"], self._node(field["type"])] for field in schema["fields"]]
            return Object(members, fixed=True)
        if kind == "enum":
            return self._long()
        if kind in ("array", "map"):
            return Array([*self._elements(schema)])
        return self._node(kind)

    def _elements(self, schema: dict[str, Any]) -> Any:
        while count := self._long():
            for _ in range(count):
                if schema["type"] == "array":
                    yield self._node(schema["items"])
                else:
                    key = self._take(self._long())
                    yield Object([["key", key], ["value", self._node(schema["values"])]], fixed=True)


def _named(schema: Any, namespace: str) -> Iterator[tuple[str, Any]]:
    """Yield the named types in a schema, with and without their namespace."""
    if isinstance(schema, list):
        for branch in schema:
            yield from _named(branch, namespace)
    elif isinstance(schema, dict):
        namespace = schema.get("namespace", namespace)
        if isinstance(schema["type"], str) and "name" in schema:
            yield schema["name"], schema
            yield f"{namespace}.{schema['name']}", schema
        children = [field["type"] for field in schema.get("fields", ())]
        children += [schema[name] for name in ("type", "items", "values") if name in schema]
        for child in children:
            yield from _named(child, namespace)


def written(node: Node) -> bytes:
    """Return the datum of a tree."""
    match node:
        case Object():
            return b"".join(written(child) for _, child in node.members)
        case Array():
            elements = b"".join(map(written, node.elements))
            return _long(len(node.elements)) + elements + b"\0" if node.elements else b"\0"
        case None:
            return b""
        case bool():
            return bytes([node])
        case Fixed():
            return node.content
        case bytes():
            return _long(len(node)) + node
        case Padded():
            encoded = _long(node.number)
            return encoded[:-1] + bytes([encoded[-1] | 0x80, 0])
    return _long(node)


def _long(number: int) -> bytes:
    number = number << 1 ^ number >> 63
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])
