"""Decides by lookahead whether an opening bracket starts a subquery."""

from __future__ import annotations

from ticdc_producer.scenario.sql.text.cursor import Cursor

SET_OPERATORS = ("UNION", "EXCEPT", "INTERSECT")
_AFTER_SELECT = (*SET_OPERATORS, "ORDER", "LIMIT")


def starts_subquery(cursor: Cursor, *, allow_nested: bool = True) -> bool:
    """Return whether a query in brackets comes next, not an expression or a join that starts with one.

    :param allow_nested: whether further brackets around a query in brackets belong to the query.
    """
    outer = 0
    while cursor.word(outer) == "(":
        outer += 1
    if not outer or cursor.word(outer) not in ("SELECT", "WITH"):
        return False
    ahead = depth = outer
    while outer > 1:  # the token after the inner query shows the role of the bracket around it
        if cursor.position + ahead >= len(cursor.statement.tokens):
            return False
        depth += (cursor.word(ahead) == "(") - (cursor.word(ahead) == ")")
        ahead += 1
        if depth < outer:
            closes = cursor.word(ahead) == ")" and (allow_nested or outer > 2)
            if not closes and cursor.word(ahead) not in _AFTER_SELECT:
                return False
            outer = depth
    return True
