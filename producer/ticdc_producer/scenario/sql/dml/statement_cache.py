"""Cache of parsed statements: statements that differ in their literals alone share one syntax tree.

A statement's *shape* is its SQL with a placeholder for each literal. The tree of a shape is parsed once;
for each statement of this shape its literals are written into the tree.

A test decides whether a literal can be exchanged: the shape is parsed with a marker in place of
each literal. If a marker becomes exactly one literal node, that node is a *slot*. All other literals are
*fixed* (sqlglot may parse the number of an INTERVAL, for example, in another way): their texts are part of
the cache key.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.dml.literal_rows import LiteralInsert, literal_insert
from ticdc_producer.scenario.sql.dml.parsed_statement import ParsedStatement, can_share_plan
from ticdc_producer.scenario.sql.text.clause import parse_modified_dml
from ticdc_producer.scenario.sql.text.dialect import string_text
from ticdc_producer.scenario.sql.text.lexer import PLACEHOLDERS, lexemes
from ticdc_producer.scenario.sql.text.statements import Statement

Parsed: TypeAlias = tuple[str, exp.Expr]
"""A statement's verb and its tree."""
FixedLiterals: TypeAlias = tuple[tuple[int, str], ...]
"""The literals that cannot be exchanged: ordinal among all literals of the statement, and text."""

MAX_STATEMENTS = 256
_LONGEST = 4096
"""Longest shape that is cached, in characters. Long INSERTs rarely repeat with the same number of rows."""
_MARKERS: dict[str, Callable[[int], str]] = {
    "number": lambda ordinal: f"9{ordinal:07d}",
    "string": lambda ordinal: f"'s{ordinal}'",
    "hex": lambda ordinal: f"x'f{ordinal:07d}'",
    "bits": lambda ordinal: f"b'1{ordinal:b}'",
}
_TYPES: dict[str, type[exp.Expr]] = {
    "number": exp.Literal,
    "string": exp.Literal,
    "hex": exp.HexString,
    "bits": exp.BitString,
}
_LITERALS = frozenset(_TYPES.values())
_LiteralNodes: TypeAlias = defaultdict[tuple[type[exp.Expr], str], list[exp.Expr]]
"""The literal nodes of a tree by their type and content."""
_UNDIVIDED = (exp.Interval, exp.DataTypeParam)
"""Nodes that sqlglot may parse differently with another literal."""


@dataclass(frozen=True, slots=True)
class _Template:
    """A parsed tree and its exchangeable literal nodes, by the literal's ordinal."""

    parsed: ParsedStatement
    slots: Mapping[int, exp.Expr]


class StatementCache:
    """Least-recently-used cache of syntax trees, by statement shape.

    :param parse: parses a statement that is not cached.
    :param max_trees: number of trees in the cache.
    :param read_insert: reads the shape of an INSERT of literals, with their number; None for other shapes.
    """

    def __init__(
        self,
        parse: Callable[[Statement], Parsed],
        max_trees: int = MAX_STATEMENTS,
        read_insert: Callable[[str, int], LiteralInsert | None] = lambda *_: None,
    ) -> None:
        self._parse, self._read_insert = parse, read_insert
        self._insert = lru_cache(maxsize=max_trees)(self._make_insert)
        self._fixed_literals = lru_cache(maxsize=max_trees)(self._find_fixed_literals)
        self._template = lru_cache(maxsize=max_trees)(self._make_template)

    def parsed(self, statement: Statement) -> ParsedStatement:
        """Return the parsed statement. The next call may change the tree, so use it before.

        :raises ScenarioError: if the statement does not parse.
        """
        literals, is_long = statement.literals, len(statement.shape) > _LONGEST
        try:
            insert = (self._make_insert if is_long else self._insert)(statement.shape, len(literals))
            if insert is not None:
                insert[1].fill(literals)
                return insert[0]
            if is_long:
                return ParsedStatement(*self._parse(statement))
            fixed = self._fixed_literals(statement.shape)
            template = self._template(
                statement.shape, tuple([(ordinal, literals[ordinal][1]) for ordinal in fixed])
            )
        except ScenarioError:
            return ParsedStatement(
                *self._parse(statement)
            )  # so that the message shows the user's text and line
        for ordinal, node in template.slots.items():
            node.args["this"] = _value(*literals[ordinal])
        return template.parsed

    def _make_insert(self, shape: str, literals: int) -> tuple[ParsedStatement, LiteralInsert] | None:
        insert = self._read_insert(shape, literals)
        return None if insert is None else (ParsedStatement(insert.verb, insert.tree, shared=True), insert)

    def _find_fixed_literals(self, shape: str) -> tuple[int, ...]:
        """Return the ordinals of the literals that are not slots."""
        kinds = _kinds(shape)
        try:
            slots = self._template(shape, ()).slots  # in most shapes every literal is a slot
        except ScenarioError:
            slots = {}
        return tuple(ordinal for ordinal in range(len(kinds)) if ordinal not in slots)

    def _make_template(self, shape: str, fixed: FixedLiterals) -> _Template:
        kinds = _kinds(shape)
        texts = {ordinal: _MARKERS[kind](ordinal) for ordinal, kind in enumerate(kinds)} | dict(fixed)
        sql = _filled(shape, texts)
        verb, tree = self._parse(
            Statement(sql, sql, 1, shape, tuple(zip(kinds, texts.values(), strict=True)))
        )
        known, nodes = {ordinal for ordinal, _ in fixed}, _literal_nodes(tree)
        return _Template(ParsedStatement(verb, tree, can_share_plan(tree)), {
            ordinal: slot
            for ordinal, kind in enumerate(kinds)
            if ordinal not in known and (slot := _slot(nodes, kind, texts[ordinal])) is not None
        })  # fmt: skip


def _kinds(shape: str) -> list[str]:
    return [kind for kind, _, _ in lexemes(shape) if kind in PLACEHOLDERS]


def _filled(shape: str, texts: Mapping[int, str]) -> str:
    """Return the SQL of a shape with these literals.

    >>> _filled("SELECT 0, ''", {0: "7", 1: "'a'"})
    "SELECT 7, 'a'"
    """
    filled, ordinal = [], 0
    for kind, text, _ in lexemes(shape):
        if kind in PLACEHOLDERS:
            text, ordinal = texts[ordinal], ordinal + 1
        filled.append(text)
    return "".join(filled)


def _literal_nodes(tree: exp.Expr) -> _LiteralNodes:
    nodes: _LiteralNodes = defaultdict(list)
    for node in tree.walk():
        if type(node) in _LITERALS:
            nodes[type(node), node.args["this"]].append(node)
    return nodes


def _slot(nodes: _LiteralNodes, kind: str, marker: str) -> exp.Expr | None:
    """Return the literal node that a marker became; None unless it is exactly one, of the same kind."""
    candidates = nodes.get((_TYPES[kind], _value(kind, marker)), ())
    if len(candidates) != 1 or isinstance(candidates[0].parent, _UNDIVIDED):
        return None
    # If sqlglot turned a number into a string (or the reverse), an exchanged literal would change its type.
    return candidates[0] if candidates[0].is_string == (kind == "string") else None


def _value(kind: str, text: str) -> str:
    """Return the content of a literal's node."""
    if kind == "number":
        return text
    if kind == "string":
        return string_text(text) if "\\" in text else text[1:-1].replace(text[0] * 2, text[0])
    return text[2:].removesuffix("'")


def shared_statements(max_trees: int = MAX_STATEMENTS) -> StatementCache:
    """Create a cache of parsed DML statements, for sessions of one thread.

    :param max_trees: number of syntax trees in it.
    """
    return StatementCache(parse_modified_dml, max_trees, literal_insert)


class _Thread(threading.local):
    """The cache of each thread: no two statements that run at a time may share a tree."""

    def __init__(self) -> None:
        self.statements = shared_statements()


_THREAD = _Thread()


def statements_of_thread() -> StatementCache:
    """Return the cache of parsed DML statements that the sessions of this thread share."""
    return _THREAD.statements
