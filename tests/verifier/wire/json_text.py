"""JSON texts as trees that keep every byte: the order of members, twins, and the spelling of literals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tests.verifier.wire.tree import Array, Literal, Node, Object


class JSONObject(Object):
    """An object of JSON."""


class JSONArray(Array):
    """An array of JSON."""


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


def parsed(text: bytes) -> Node:
    """Return the tree of a compact JSON text."""
    tokens = iter(_TOKEN.findall(text.decode("latin-1")))
    return _node(next(tokens), tokens)


def parsed_all(texts: bytes) -> Iterator[Node]:
    """Yield the trees of compact JSON texts that follow each other."""
    tokens = iter(_TOKEN.findall(texts.decode("latin-1")))
    for token in tokens:
        yield _node(token, tokens)


def _node(token: str, tokens: Iterator[str]) -> Node:
    if token == "{":
        return JSONObject([*_members(tokens)])
    if token == "[":
        return JSONArray([*_elements(tokens)])
    return Literal(token)


def _members(tokens: Iterator[str]) -> Iterator[list[Node]]:
    while (token := next(tokens)) != "}":
        if token == ",":
            token = next(tokens)
        next(tokens)  # the colon
        yield [token[1:-1], _node(next(tokens), tokens)]


def _elements(tokens: Iterator[str]) -> Iterator[Node]:
    while (token := next(tokens)) != "]":
        yield _node(next(tokens) if token == "," else token, tokens)


def written(node: Node) -> bytes:
    """Return the text of a tree."""
    return _text(node).encode("latin-1")


def _text(node: Node) -> str:
    match node:
        case Object():
            return "{" + ",".join(f'"{name}":{_text(child)}' for name, child in node.members) + "}"
        case Array():
            return "[" + ",".join(map(_text, node.elements)) + "]"
    return str(node)


NULL, EMPTY = Literal("null"), Literal('""')


def other_values(node: Node) -> dict[str, Node]:
    """Return the other values that a JSON value may take."""
    match node:
        case JSONObject():
            added = JSONObject([*node.members, ["added", Literal("1")]])
            return {"null": NULL, "other type": EMPTY, "added member": added}
        case JSONArray():
            added = JSONArray([*node.elements, NULL])
            return {"null": NULL, "other type": JSONObject([]), "added element": added}
    kind = node[0]
    if kind == '"':
        return {"null": NULL, **_texts(node)}
    if node == "null":
        return {"other type": EMPTY, "number": Literal("1")}
    if node in ("true", "false"):
        other = Literal("false" if node == "true" else "true")
        return {"other value": other, "null": NULL, "other type": Literal("1"), "text": Literal(f'"{node}"')}
    return {"null": NULL, **_numbers(node)}


def _texts(literal: Literal) -> dict[str, Node]:
    text = literal[1:-1]
    escaped = f"\\u{ord(text[0]):04x}{text[1:]}" if text and text[0].isascii() and text[0] != "\\" else ""
    others = {
        "other value": f'"{_other_text(text)}"',
        "trailing text": f'"{text}x"',
        "leading blank": f'" {text}"',
        "other case": f'"{text.swapcase()}"' if "\\" not in text else "",
        "with an escape": f'"{escaped}"' if escaped else "",
        "empty": '""',
        "other type": "[]",
        "number": str(int(text)) if text.lstrip("-").isdigit() else "7",
    }
    return {kind: Literal(other) for kind, other in others.items() if other not in ("", literal)}


def _other_text(text: str) -> str:
    if text.lstrip("-").isdigit():
        return str(int(text) + 1)
    return f"{chr(ord(text[0]) ^ 1)}{text[1:]}" if text[:1].isalnum() else f"y{text}"


def _numbers(literal: Literal) -> dict[str, Node]:
    others = {
        "text": f'"{literal}"',
        "other type": "true",
        "zero": "0",
        "negative": f"-{literal.lstrip('-')}" if literal != "0" else "-1",
    }
    number = json.loads(literal)
    if isinstance(number, int):
        others |= {
            "number + 1": str(number + 1),
            "number - 1": str(number - 1),
            "fraction": f"{literal}.5",
            "other spelling": f"{literal}.0",
            "huge": f"{literal}{'0' * 30}",
        }
    else:
        others |= {"number + 1": repr(number + 1), "other spelling": f"{literal.rstrip('0')}00"}
    return {kind: Literal(other) for kind, other in others.items() if other != literal}
