"""Packets of Canal as trees: the fields of Protocol Buffers by their names, in their order."""

from __future__ import annotations

from tests.verifier.wire.tree import Array, Node, Object, Padded
from ticdc_producer.protocols.canal.wire import (
    BYTES,
    FIELD_NAMES,
    NUMBER,
    content,
    fields,
    number,
    tag,
    varint,
)

_FIELDS = {
    "packet": {2: ("version", ""), 3: ("type", ""), 4: ("compression", ""), 5: ("body", "messages")},
    "messages": {1: ("batchId", ""), 2: ("messages", "entry")},
    **FIELD_NAMES,
}
"""The fields of each message by their numbers: their names, and the message that they hold."""
_UNKNOWN = 30
"""A number that no message has."""


def parsed(value: bytes) -> Node:
    """Return the tree of a packet; its entries are in an array."""
    packet = _message(value, 0, len(value), "packet")
    body = next(child for name, child in packet.members if name == "body")
    entries = [child for name, child in body.members if name == "messages"]
    head = [member for member in packet.members if member[0] != "body"]
    rest = [member for member in body.members if member[0] != "messages"]
    members = [["head", Object(head)], ["rest", Object(rest)], ["events", Array(entries)]]
    return Object(members, fixed=True)


def _message(data: bytes, start: int, end: int, kind: str) -> Object:
    members: list[list[Node]] = []
    for field, first, last in fields(data, start, end):
        name, below = _FIELDS[kind][field]
        if last < 0:
            members.append([name, first])
        elif below:
            members.append([name, _message(data, first, last, below)])
        else:
            members.append([name, data[first:last]])
    return Object(members)


def written(root: Node) -> bytes:
    """Return the packet of a tree."""
    head, rest, events = (child for _, child in root.members)
    body = _bytes(rest, "messages") + b"".join(
        content(2, _bytes(entry, "entry")) for entry in events.elements
    )
    return _bytes(head, "packet") + content(5, body)


def _bytes(message: Node, kind: str) -> bytes:
    if not isinstance(message, Object):
        return message or b""
    known = {name: (field, below) for field, (name, below) in _FIELDS[kind].items()}
    return b"".join(_field(*known.get(name, (_UNKNOWN, "")), child) for name, child in message.members)


def _field(field: int, below: str, node: Node) -> bytes:
    match node:
        case None:
            return b""
        case int():
            return number(field, node)
        case Padded():
            encoded = varint(node.number)
            return tag(field, NUMBER) + encoded[:-1] + bytes([encoded[-1] | 0x80, 0])
        case Object():
            return tag(field, BYTES) + _length(inner := _bytes(node, below or "pair")) + inner
    return content(field, node)


def _length(inner: bytes) -> bytes:
    return varint(len(inner))
