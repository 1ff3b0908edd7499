"""Parses DML statements and expressions into sqlglot's trees."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import ParseError

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.text.dialect import TiDB, Token, TokenType
from ticdc_producer.scenario.sql.text.dml_tokens import as_insert, check_commas, dml_tokens
from ticdc_producer.scenario.sql.text.tidb_grammar import check_nodes

_SQLGLOT_INTERNALS = re.compile(r" (?:but got <Token|for <class) .*>", re.DOTALL)
"""The part of sqlglot's messages that names its own objects."""


def parse_dml(text: str, line: int) -> tuple[str, exp.Expr]:
    """Parse a DML statement. REPLACE is parsed as INSERT, whose grammar it shares.

    :return: the first word in upper case, and sqlglot's tree.
    :raises ScenarioError: if it does not parse, with the line in the file.
    """
    tokens = dml_tokens(text, line)
    verb = tokens[0].text.upper()
    if verb == "REPLACE":
        tokens[0] = as_insert(tokens[0])
    tree = _tree(tokens, text, line)
    _check_assignments(tree, line)
    if isinstance(tree, exp.Insert):
        _qualify_assigned(tree, tokens)
    return verb, tree


def _qualify_assigned(tree: exp.Insert, tokens: list[Token]) -> None:
    """Give the columns of ``INSERT … SET`` the names before them, which sqlglot drops.

    A name is that of a table, or those of a database and a table.
    """
    kinds = [token.token_type for token in tokens]
    if not isinstance(tree.this, exp.Schema) or TokenType.DOT not in kinds or TokenType.SET not in kinds:
        return
    starts, depth = [kinds.index(TokenType.SET) + 1], 0
    if TokenType.L_PAREN in kinds[: starts[0]]:  # a list of columns: this SET is part of an expression
        return
    for position in range(starts[0], len(tokens)):
        depth += (kinds[position] is TokenType.L_PAREN) - (kinds[position] is TokenType.R_PAREN)
        if depth == 0 and kinds[position] is TokenType.COMMA:
            starts.append(position + 1)
    for column, start in zip([*tree.this.expressions], starts, strict=False):
        end = kinds.index(TokenType.EQ, start)
        *_, table = names = [token.text for token in tokens[start : end - 1 : 2]] or [""]
        if table:
            database = names[0] if len(names) > 1 else None
            column.replace(exp.column(column.copy(), table, database, quoted=True))


def parse_expression(text: str, line: int) -> exp.Expr:
    """Parse a single expression, such as that of a DEFAULT.

    :raises ScenarioError: if it does not parse.
    """
    tree = _tree(dml_tokens("SELECT " + text, line), "SELECT " + text, line)
    expressions = tree.expressions if isinstance(tree, exp.Select) else []
    if len(expressions) != 1:
        raise ScenarioError(f"SQL does not parse: {text!r} is not one expression", line=line)
    expression: exp.Expr = expressions[0]
    return expression


def _check_assignments(tree: exp.Expr, line: int) -> None:
    """Check that each SET, and each ON DUPLICATE KEY UPDATE, has an assignment; sqlglot accepts none.

    :raises ScenarioError: if not.
    """
    conflict = tree.args.get("conflict")
    updates = tree if isinstance(tree, exp.Update) else conflict
    if updates is not None and not updates.expressions:
        raise ScenarioError("SQL does not parse: UPDATE has no assignment", line=line)


def _tree(tokens: list[Token], text: str, line: int) -> exp.Expr:
    check_commas(tokens, line)
    try:
        trees = TiDB().parser().parse(tokens, text)
    except ParseError as error:
        details = error.errors[0] if error.errors else {}
        reason = _SQLGLOT_INTERNALS.sub("", str(details.get("description") or "invalid syntax"))
        reason = reason.replace("Invalid expression / Unexpected token", "unexpected text")
        near = str(details.get("highlight") or "")
        what = f"SQL does not parse: {reason} near {near!r}"
        hint = missing_semicolon(near)
        raise ScenarioError(what, line=line + int(details.get("line") or 1) - 1, hint=hint) from error
    except RecursionError:
        raise ScenarioError("SQL is nested too deeply", line=line) from None
    if len(trees) != 1 or trees[0] is None:
        raise ScenarioError("SQL does not parse: one statement was expected", line=line)
    check_nodes(trees[0], line)
    return trees[0]


_STATEMENT_STARTS = frozenset({"ALTER", "CREATE", "DELETE", "DROP", "INSERT", "TRUNCATE", "UPDATE", "USE"})


def missing_semicolon(word: str) -> str:
    """Return the hint of an error at a word that begins a statement; empty for other words."""
    return f"is a ; missing before {word}?" if word.upper() in _STATEMENT_STARTS else ""
