"""Rows of CSV files as trees: fields as they are written, with the default options of ``[sink.csv]``."""

from __future__ import annotations

import re

from tests.verifier.wire import json_text
from tests.verifier.wire.tree import Array, Literal, Node, Object

OPTIONS = ("include-commit-ts", "output-old-value", "output-handle-key")
"""The options of ``[sink.csv]`` with which a line has all fields."""
_FIELDS = ("operation", "table", "schema", "commit-ts", "is-update", "handle")
_LINE_END = "\r\n"
_FIELD = re.compile(rf'("(?:[^"]|"")*"|[^,"\r\n]*)(,|{_LINE_END})')


class Field(Literal):
    """The text of a field: quoted, or not."""

    __slots__ = ()


class Line(Object):
    """The fields of a line; their names are not written."""


def parsed(row: bytes) -> Node:
    """Return the lines of a row."""
    lines, fields = [], list[Field]()
    for text, end in _FIELD.findall(row.decode()):
        fields.append(Field(text))
        if end == _LINE_END:
            lines.append(Line([[_name(number), field] for number, field in enumerate(fields)]))
            fields = []
    return Array([*lines])


def _name(number: int) -> str:
    return _FIELDS[number] if number < len(_FIELDS) else f"column {number - len(_FIELDS) + 1}"


def written(lines: Node) -> bytes:
    """Return the row of a tree."""
    return "".join(
        ",".join(field for _, field in line.members) + _LINE_END for line in lines.elements
    ).encode()


def other_values(field: Field) -> dict[str, Node]:
    """Return the other texts that a field may have; most are those of a JSON literal."""
    null, number = Field(r"\N"), Field("1")
    if field == null:
        return {"number": number, "text": Field(rf'"{null}"'), "empty": Field('""'), "no text": Field("")}
    others = {kind: Field(other) for kind, other in json_text.other_values(Literal(field)).items()}
    return others | {"null": null, "no text": Field(""), "without quotes": Field(field.strip('"'))}
