"""Trees for reuse: a statement is parsed once per shape, and the literals of each put into the tree.

Which literals can be exchanged is found out, not assumed: the shape is parsed with a marker for each
literal, and one that comes back as a literal of its own is a slot. The others, such as a JSON path of
which sqlglot makes a node of another kind, stay part of what the tree is known by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.dialect import string_text
from ticdc_producer.scenario.sql.lexer import pieces
from ticdc_producer.scenario.sql.statements import PLACEHOLDERS, Statement

Parsed: TypeAlias = tuple[str, exp.Expr]
"""A statement's verb and its tree."""
Fixed: TypeAlias = tuple[tuple[int, str], ...]
"""The literals that belong to a tree: their places among all of the statement, and their texts."""

MOST_SHAPES = 256
_LONGEST = 4096
"""Characters of a shape. Nearly every INSERT of many rows has another one: it would never come back."""
_MARKERS: dict[str, Callable[[int], str]] = {
    "number": lambda place: f"9{place:07d}",
    "string": lambda place: f"'$.s{place}'",  # a JSON path, too, so that one is recognized as such
    "hex": lambda place: f"x'f{place:07d}'",
    "bits": lambda place: f"b'1{place:b}'",
}
_TYPES: dict[str, type[exp.Expr]] = {
    "number": exp.Literal,
    "string": exp.Literal,
    "hex": exp.HexString,
    "bits": exp.BitString,
}
_UNDIVIDED = (exp.Interval, exp.DataTypeParam)
"""Nodes that sqlglot may read in another way with another literal."""


@dataclass(frozen=True, slots=True)
class _Form:
    """A tree with the literals, by their places, that are exchanged."""

    parsed: Parsed
    slots: Mapping[int, exp.Expr]


class Shapes:
    """The trees of the shapes that were used last.

    :param parse: gives the tree of any statement.
    :param most: how many trees are kept.
    """

    def __init__(self, parse: Callable[[Statement], Parsed], most: int = MOST_SHAPES) -> None:
        self._parse = parse
        self._fixed_places = lru_cache(maxsize=most)(self._find_fixed_places)
        self._form = lru_cache(maxsize=most)(self._make_form)

    def parsed(self, statement: Statement) -> Parsed:
        """The statement's verb and tree. The tree is good until the next call.

        :raises ScenarioError: if it does not parse.
        """
        literals = statement.literals
        if len(statement.shape) > _LONGEST:
            return self._parse(statement)
        try:
            places = self._fixed_places(statement.shape)
            form = self._form(statement.shape, tuple([(place, literals[place][1]) for place in places]))
        except ScenarioError:
            return self._parse(statement)  # for the message, which shows the text and its line
        for place, node in form.slots.items():
            node.args["this"] = _value(*literals[place])
        return form.parsed

    def _find_fixed_places(self, shape: str) -> tuple[int, ...]:
        """The literals of a shape that are no slots."""
        kinds = _kinds(shape)
        try:
            slots = self._make_form(shape, ()).slots
        except ScenarioError:
            slots = {}
        return tuple(place for place in range(len(kinds)) if place not in slots)

    def _make_form(self, shape: str, fixed: Fixed) -> _Form:
        kinds = _kinds(shape)
        texts = {place: _MARKERS[kind](place) for place, kind in enumerate(kinds)} | dict(fixed)
        sql = _filled(shape, texts)
        parsed = self._parse(Statement(sql, sql, 1, shape, tuple(zip(kinds, texts.values(), strict=True))))
        known = {place for place, _ in fixed}
        return _Form(parsed, {
            place: slot
            for place, kind in enumerate(kinds)
            if place not in known and (slot := _slot(parsed[1], kind, texts[place])) is not None
        })  # fmt: skip


def _kinds(shape: str) -> list[str]:
    return [kind for kind, _, _ in pieces(shape) if kind in PLACEHOLDERS]


def _filled(shape: str, texts: Mapping[int, str]) -> str:
    filled, place = [], 0
    for kind, text, _ in pieces(shape):
        if kind in PLACEHOLDERS:
            text, place = texts[place], place + 1
        filled.append(text)
    return "".join(filled)


def _slot(tree: exp.Expr, kind: str, marker: str) -> exp.Expr | None:
    """The one literal that a marker has become; None if it is not one, or not as it was."""
    value = _value(kind, marker)
    found = [node for node in tree.find_all(_TYPES[kind]) if node.args["this"] == value]
    if len(found) != 1 or isinstance(found[0].parent, _UNDIVIDED):
        return None
    # A number that became a string, or the other way round, would not be read as what it is.
    return found[0] if found[0].is_string == (kind == "string") else None


def _value(kind: str, text: str) -> str:
    """What a literal's node holds."""
    if kind == "number":
        return text
    if kind == "string":
        return string_text(text) if "\\" in text else text[1:-1].replace(text[0] * 2, text[0])
    return text[2:].removesuffix("'")
