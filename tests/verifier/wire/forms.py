"""The tree of a message in each protocol, and the names of its paths."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.protocols.simple_avro_schema import MESSAGE
from tests.verifier.wire import avro_text, binary, craft_text, csv_text, json_text, proto_text
from tests.verifier.wire.json_text import JSONArray, JSONObject
from tests.verifier.wire.tree import Array, Fixed, Literal, Node, Object
from ticdc_producer.protocols.avro.names import head_size, schema_id_of

Part = bytes | None


@dataclass(frozen=True)
class Form:
    """The form of a protocol's messages.

    :param parsed: from key and value to the tree.
    :param written: back to key and value.
    """

    parsed: Callable[[Part, Part], Node]
    written: Callable[[Node], tuple[Part, Part]]


def other_values(node: Node) -> dict[str, Node]:
    """Return the other values that a node may take, by the kind of the change."""
    if isinstance(node, csv_text.Field):
        return csv_text.other_values(node)
    of_json = isinstance(node, JSONObject | JSONArray | Literal)
    return json_text.other_values(node) if of_json else binary.other_values(node)


_ROWS = frozenset({"u", "p", "d", "data", "old", "mysqlType", "sqlType", "before", "after", "record"})
"""The members whose members are named after columns."""


def spelled(names: Sequence[str]) -> str:
    """Return the names on a path as one text, with ``*`` for the name of a column.

    >>> spelled(["value", "data", "[]", "price"])
    'value.data[].*'
    """
    path, parent, of_row = [], "", False
    for name in names:
        if name == "[]":
            path.append(name)
            continue
        of_row = not of_row and (parent in _ROWS or (parent == "payload" and names[0] == "key"))
        path.append("*" if of_row and not name.startswith("_tidb") else name)
        parent = name
    return ".".join(path).replace(".[]", "[]")


def _pair(key: Node, value: Node) -> Object:
    return Object([["key", key], ["value", value]], fixed=True)


def _json(text: Part) -> Node:
    return json_text.parsed(text) if text else text


def _text(node: Node) -> Part:
    return node if node is None or isinstance(node, bytes) else json_text.written(node)


def _two(root: Node) -> tuple[Node, Node]:
    (_, key), (_, value) = root.members
    return key, value


JSON = Form(
    lambda key, value: _pair(_json(key), _json(value)),
    lambda root: (_text(_two(root)[0]), _text(_two(root)[1])),
)
CSV = Form(
    lambda key, value: _pair(key, csv_text.parsed(value or b"")),
    lambda root: (_two(root)[0], csv_text.written(_two(root)[1])),
)
CRAFT = Form(
    lambda key, value: _pair(key, craft_text.parsed(value or b"")),
    lambda root: (_two(root)[0], craft_text.written(_two(root)[1])),
)


CANAL = Form(
    lambda key, value: _pair(key, proto_text.parsed(value or b"")),
    lambda root: (_two(root)[0], proto_text.written(_two(root)[1])),
)
MAXWELL = Form(
    lambda key, value: _pair(_json(key) if key and key[:1] == b"{" else key, _json_texts(value)),
    lambda root: (_text(_two(root)[0]), b"".join(_text(node) or b"" for node in _two(root)[1].elements)),
)


def _json_texts(value: Part) -> Node:
    return Array([*json_text.parsed_all(value or b"")])


def _frames(data: Part) -> list[bytes]:
    frames, position, data = [], 0, data or b""
    while position < len(data):
        end = position + 8 + int.from_bytes(data[position : position + 8], "big")
        frames.append(data[position + 8 : end])
        position = end
    return frames


def _open_parsed(key: Part, value: Part) -> Node:
    keys, values = _frames((key or b"")[8:]), _frames(value)
    events = [_pair(_json(of_key), _json(of_value)) for of_key, of_value in zip(keys, values, strict=True)]
    return Object([["version", Fixed((key or b"")[:8])], ["events", Array(events)]], fixed=True)


def _open_written(root: Node) -> tuple[Part, Part]:
    (_, version), (_, events) = root.members
    parts: tuple[list[Part], list[Part]] = ([version.content], [])
    for event in events.elements:
        for part, node in zip(parts, _two(event), strict=True):
            text = _text(node) or b""
            part.append(len(text).to_bytes(8, "big") + text)
    key, value = (b"".join(filter(None, part)) for part in parts)
    return key, value


OPEN = Form(_open_parsed, _open_written)


def avro_form(schemas: Mapping[int, str]) -> Form:
    """Return the form of Avro messages, with the schemas of the registry by their ids."""

    def parsed(data: Part) -> Node:
        if data is None:
            return None
        head = [["head", Fixed(data[:1])]]
        if data[:1] != b"\0":
            body = json_text.parsed(data[1:]) if data[1:2] == b"{" else Fixed(data[1:])
            return Object([*head, ["body", body]], fixed=True)
        number, start = schema_id_of(data), head_size(data)
        assert number is not None
        record = avro_text.AvroReader(data[start:], json.loads(schemas[number])).root
        return Object([*head, ["id", Fixed(data[1:start])], ["record", record]], fixed=True)

    return Form(
        lambda key, value: _pair(parsed(key), parsed(value)),
        lambda root: (_avro_part(_two(root)[0]), _avro_part(_two(root)[1])),
    )


def _avro_part(node: Node) -> Part:
    if node is None or isinstance(node, bytes):
        return node
    return b"".join(
        _text(child) or b"" if isinstance(child, JSONObject | Literal) else avro_text.written(child)
        for _, child in node.members
    )


SIMPLE_AVRO = Form(
    lambda key, value: _pair(key, _simple(value or b"")),
    lambda root: (_two(root)[0], avro_text.written(_two(root)[1])),
)


def _simple(value: bytes) -> Node:
    record: Any = avro_text.AvroReader(value[1:], MESSAGE).root
    return Object([["branch", Fixed(value[:1])], ["message", record]], fixed=True)
