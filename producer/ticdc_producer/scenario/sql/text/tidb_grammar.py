"""Rejects what sqlglot accepts, and TiDB's grammar does not have (tidb ``pkg/parser/parser.y``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.text.dialect import Token, TokenType
from ticdc_producer.scenario.sql.text.reserved_words import is_reserved, quoting_hint
from ticdc_producer.scenario.sql.text.spelling import FUNCTION_WORDS

_STRING = "'"
"""Represents a string literal among words."""
_CAST_LITERALS = (
    "BIGINT", "CHAR", "CHARACTER", "DATETIME", "DECIMAL", "DOUBLE", "FLOAT", "NUMERIC", "REAL", "SIGNED",
    "UNSIGNED", "YEAR",
)  # fmt: skip
"""Types that sqlglot reads before a string as a cast."""
_PAIRS = frozenset({
    ("IS", "DISTINCT"), ("NOT", "DISTINCT"), ("NULLS", "FIRST"), ("NULLS", "LAST"), ("INTO", "TABLE"),
    ("(", "FROM"), ("MODE", "NOWAIT"), ("MODE", "SKIP"),
    *((before, kind) for before in ("AS", ",") for kind in ("BIGINT", "LONG", "NUMERIC")),
    *((kind, _STRING) for kind in _CAST_LITERALS),
})  # fmt: skip
"""Words of which the second one never follows the first one in a statement that changes rows."""
_FUNCTIONS = ("IF", "ISNULL", "NOTNULL")
"""Words that sqlglot reads without brackets, too."""
_AGGREGATES = frozenset({
    "AVG", "BIT_AND", "BIT_OR", "BIT_XOR", "COUNT", "GROUP_CONCAT", "JSON_ARRAYAGG", "MAX", "MIN",
    "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "SUM", "VARIANCE", "VAR_POP", "VAR_SAMP",
})  # fmt: skip
"""Functions whose argument may follow ALL. That of JSON_OBJECTAGG may, too, which sqlglot does not read."""


_BEFORE_NAME = frozenset({"INTO", "INSERT", "REPLACE", "IGNORE", "WITH", "RECURSIVE"})
"""Words before a name that a bracket may follow."""
_GENERIC = ("MID", "SYSDATE")
"""Function words that are called as other functions, too."""


def is_function(word: str, token: Token, following: Token | None) -> bool:
    """Return whether a word is a function by the bracket that follows it directly, and no name.

    :param word: the token's, in upper case.
    """
    return (
        word in FUNCTION_WORDS
        and following is not None
        and following.token_type is TokenType.L_PAREN
        and following.start == token.end + 1
    )


def check_tokens(tokens: Sequence[Token], text: str, line: int) -> None:
    """Check the words of a statement.

    :param text: the statement.
    :param line: line of the file at which it starts.
    :raises ScenarioError: for the first word that TiDB's grammar does not have.
    """
    words = [_QUOTED.get(token.token_type, token.text.upper()) for token in tokens]
    neighbours = zip(
        tokens, ["", "", *words], ["", *words], words, [*words[1:], ""], [*tokens[1:], None], strict=False
    )
    for token, earlier, before, word, following, next_token in neighbours:
        if token.token_type in _LITERALS:
            foreign = _is_foreign_literal(text[token.start : token.end + 1])
        elif word in FUNCTION_WORDS and following == "(" and before != ".":
            is_call = is_function(word, token, next_token)
            foreign = is_call if before in _BEFORE_NAME else not is_call and word not in _GENERIC
        elif word in _FUNCTIONS:
            foreign = before not in (".", "@") and following != "("
        elif word == "ALL" and before == "(":
            foreign = earlier not in _AGGREGATES
        else:
            foreign = word in ("==", "::") or (word, following) in _PAIRS
        if foreign:
            near = text[token.start : token.start + 60].partition("\n")[0]
            raise ScenarioError(f"SQL does not parse near {near!r}", line=line + token.line - 1)


_QUOTED = {TokenType.STRING: _STRING, TokenType.IDENTIFIER: ""}
_LITERALS = (TokenType.HEX_STRING, TokenType.BIT_STRING)


def _is_foreign_literal(literal: str) -> bool:
    """Return whether a hexadecimal or binary literal is none of TiDB's.

    >>> [_is_foreign_literal(literal) for literal in ("0x1F", "0X1F", "x'0f'", "x'f'")]
    [False, True, False, True]
    """
    if literal[:2] in ("0X", "0B"):
        return True
    return literal[:1] in "xX" and len(literal) % 2 == 0


def check_nodes(tree: exp.Expr, line: int) -> None:
    """Check the nodes of a statement.

    :raises ScenarioError: for a reserved word as a name, and for the first part that TiDB's grammar does not
        have.
    """
    node: exp.Expr
    for node in tree.find_all(*_CHECKS):
        for what, hint in _CHECKS[type(node)](node):
            raise ScenarioError(f"SQL does not parse: {what}", line=line, hint=hint)


_Faults = Iterator[tuple[str, str]]
"""What is wrong, and what to do about it."""


def _name(node: Any) -> _Faults:
    if not node.quoted and is_reserved(node.name) and not _may_be_reserved(node):
        yield f"expected a name near {node.name!r}", quoting_hint(node.name)


def _may_be_reserved(name: exp.Identifier) -> bool:
    """Return whether a name comes after that of its table or database, or sqlglot makes a word one."""
    node = name.parent
    if node is None or name.name.upper() in _READ_AS_NAMES.get(type(node), ()):
        return True
    qualifier = _QUALIFIERS.get(type(node))
    return qualifier is not None and name.arg_key != qualifier and bool(node.args.get(qualifier))


_QUALIFIERS: Mapping[type, str] = {exp.Column: "table", exp.Table: "db", exp.Dot: "this"}
_READ_AS_NAMES: Mapping[type, tuple[str, ...]] = {
    exp.Column: ("DEFAULT",),
    exp.Table: ("DUAL",),
    exp.Collate: ("BINARY",),
    exp.IndexTableHint: ("PRIMARY",),
}
"""Reserved words that sqlglot reads as names, by the node of the name."""


def _path(node: Any) -> _Faults:
    if not isinstance(node.this, exp.Column):
        yield "expected a column before ->", "call JSON_EXTRACT for other values"


def _join(node: Any) -> _Faults:
    if node.method not in ("", "NATURAL"):
        yield f"there is no {node.method} JOIN", ""
    if node.kind in ("INNER", "CROSS") and (node.method or node.side):
        yield f"{node.kind} after {node.side or node.method}", ""
    if node.kind == "OUTER" and not node.side:
        yield "OUTER without LEFT or RIGHT", ""


def _alias(node: Any) -> _Faults:
    if not isinstance(node.this, exp.Identifier | None):
        yield "expected a name after the table", ""
    if node.args.get("columns") and not isinstance(node.parent, exp.CTE):
        yield "columns after an alias", "name the columns in the subquery"


def _without(*arguments: str) -> Callable[[Any], _Faults]:
    """Return the check that a node has none of some arguments."""

    def check(node: Any) -> _Faults:
        for name in arguments:
            if node.args.get(name):
                yield f"unexpected {name.rstrip('_').upper()}", ""

    return check


def _if(node: Any) -> _Faults:
    if not isinstance(node.parent, exp.Case) and node.args.get("false") is None:
        yield "IF has three arguments", ""


def _delete(node: Any) -> _Faults:
    if not isinstance(node.this, exp.Table):
        yield "DELETE without the name of a table after FROM", ""
    elif node.this.args.get("joins") and not (node.args.get("tables") or node.args.get("using")):
        yield "DELETE FROM several tables", "name the tables before FROM, or after it, with USING"


def _table(node: Any) -> _Faults:
    if node.args.get("indexed") is not None:
        yield "unexpected INDEXED", "write USE INDEX, FORCE INDEX or IGNORE INDEX"


def _lock(node: Any) -> _Faults:
    if node.args.get("key"):
        yield "unexpected KEY", ""
    if not node.args.get("update"):
        yield "unexpected SHARE", "leave it out: TiDB rejects it unless tidb_enable_noop_functions is on"
    if node.args.get("wait") is False:
        yield "unexpected SKIP LOCKED", "leave it out: TiDB rejects it"


def _select(node: Any) -> _Faults:
    if node.args.get("offset") and not node.args.get("limit"):
        yield "OFFSET without LIMIT", ""


_CHECKS: Mapping[type, Callable[[Any], _Faults]] = {
    exp.Identifier: _name,
    exp.JSONExtract: _path,
    exp.JSONExtractScalar: _path,
    exp.Join: _join,
    exp.TableAlias: _alias,
    exp.If: _if,
    exp.Select: _select,
    exp.Delete: _delete,
    exp.Table: _table,
    exp.Star: _without("except_", "replace", "rename"),
    exp.Distinct: _without("on"),
    exp.Between: _without("symmetric"),
    exp.CTE: _without("materialized"),
    exp.Limit: _without("limit_options", "expressions"),
    exp.Lock: _lock,
    exp.Cast: _without("format"),
}
