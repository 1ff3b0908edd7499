"""Craft messages as trees: the sizes are computed again, everything else is kept."""

from __future__ import annotations

from itertools import pairwise

from tests.verifier.wire.tree import Array, Node, Object, Padded
from ticdc_producer.protocols.craft.decoder import parse_envelope
from ticdc_producer.protocols.craft.wire import ByteReader, uvarint

_ROW, _DDL = 1, 2
_MASK = (1 << 64) - 1
_FIELDS = ("commit ts", "type", "partition", "schema", "table")


def parsed(value: bytes) -> Node:
    """Return the tree of a message that the encoder wrote."""
    message = parse_envelope(value)
    size, header = len(message.sizes), ByteReader(value, 1, len(value))
    columns = [header.delta_uvarints(size), header.uvarints(size)]
    columns += [header.delta_varints(size) for _ in range(3)]
    position, groups, events = header.position, iter(message.groups), []
    for fields, length in zip(zip(*columns, strict=True), message.sizes, strict=True):
        sizes = next(groups) if fields[1] == _ROW else ()
        body = _body(fields[1], ByteReader(value, position, position + length), sizes)
        named = [[name, number] for name, number in zip(_FIELDS, fields, strict=True)]
        events.append(Object([*named, ["body", body]], fixed=True))
        position += length
    terms = Array([term.encode() for term in message.terms])
    return Object([["version", value[0]], ["events", Array(events)], ["terms", terms]], fixed=True)


def _body(kind: int, body: ByteReader, sizes: tuple[int, ...]) -> Node:
    if kind == _ROW:
        return Array([_group(body, size) for size in sizes])
    if kind == _DDL:
        code = body.uvarint()
        query = body.take(body.uvarint(), "")
        return Object([["ddl type", code], ["query", query]], fixed=True)
    return Object([], fixed=True)


def _group(body: ByteReader, size: int) -> Node:
    end = body.position + size
    kind, count = body.take(1, "")[0], body.uvarint()
    names, types, flags = body.delta_varints(count), body.uvarints(count), body.uvarints(count)
    values = [None if length < 0 else body.take(length, "") for length in body.varints(count)]
    assert body.position == end
    cells = zip(names, types, flags, values, strict=True)
    columns = [
        Object([["name", name], ["type", code], ["flag", flag], ["value", value]], fixed=True)
        for name, code, flag, value in cells
    ]
    return Object([["kind", kind], ["columns", Array(columns)]], fixed=True)


def written(root: Node) -> bytes:
    """Return the message of a tree."""
    content = dict(root.members)
    events = [dict(event.members) for event in content["events"].elements]
    columns = [[event[name] for event in events] for name in _FIELDS]
    header = _deltas(columns[0], _unsigned) + b"".join(map(_unsigned, columns[1]))
    header += b"".join(_deltas(column, _signed) for column in columns[2:])
    bodies = [[*map(_group_bytes, _groups(event["body"]))] for event in events]
    terms = content["terms"].elements
    dictionary = uvarint(len(terms)) + b"".join(uvarint(len(term or b"")) for term in terms)
    dictionary = dictionary + b"".join(term or b"" for term in terms) if terms else b""
    tables = _sizes([len(header), len(dictionary)]) + _sizes([sum(map(len, body)) for body in bodies])
    rows = zip(events, bodies, strict=True)
    tables += b"".join(_sizes([*map(len, body)]) for event, body in rows if isinstance(event["body"], Array))
    body = b"".join(b"".join(body) for body in bodies)
    sections = _unsigned(content["version"]) + header + body + dictionary + tables
    return sections + uvarint(len(tables))[::-1]


def _groups(body: Node) -> list[Node]:
    return body.elements if isinstance(body, Array) else [body]


def _group_bytes(group: Node) -> bytes:
    content = dict(group.members)
    if "columns" not in content:
        return b"" if not content else _unsigned(content["ddl type"]) + _prefixed(content["query"])
    columns = [dict(column.members) for column in content["columns"].elements]
    values = [column["value"] for column in columns]
    return b"".join([
        bytes([_number(content["kind"]) & 0xFF]),
        uvarint(len(columns)),
        _deltas([column["name"] for column in columns], _signed),
        *(_unsigned(column[name]) for name in ("type", "flag") for column in columns),
        *(_signed(-1 if value is None else len(value)) for value in values),
        *(value for value in values if value is not None),
    ])  # fmt: skip


def _prefixed(text: bytes | None) -> bytes:
    return uvarint(len(text or b"")) + (text or b"")


def _number(node: Node) -> int:
    return node.number if isinstance(node, Padded) else int(node)


def _unsigned(node: Node) -> bytes:
    encoded = uvarint(_number(node) & _MASK)
    return encoded[:-1] + bytes([encoded[-1] | 0x80, 0]) if isinstance(node, Padded) else encoded


def _signed(node: Node) -> bytes:
    number = _number(node)
    zigzag = number << 1 ^ number >> 63
    return _unsigned(Padded(zigzag) if isinstance(node, Padded) else zigzag)


def _deltas(numbers: list[Node], encode: object) -> bytes:
    steps = [after - before for before, after in pairwise([0, *map(_number, numbers)])]
    nodes = [Padded(step) if isinstance(n, Padded) else step for n, step in zip(numbers, steps, strict=True)]
    return b"".join(map(encode, nodes))  # type: ignore[arg-type]


def _sizes(sizes: list[int]) -> bytes:
    return uvarint(len(sizes)) + _deltas(list(sizes), _signed)
