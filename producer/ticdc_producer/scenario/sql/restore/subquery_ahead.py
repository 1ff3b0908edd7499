"""Whether an opening bracket begins a subquery, found by looking ahead."""

from __future__ import annotations

from ticdc_producer.scenario.sql.cursor import Cursor

SET_OPERATORS = ("UNION", "EXCEPT", "INTERSECT")
_GOES_ON = (*SET_OPERATORS, "ORDER", "LIMIT")


def starts_subquery(cursor: Cursor, *, doubled: bool = True) -> bool:
    """Whether a query in brackets stands here, and not an expression or a join that starts with one.

    :param doubled: whether more brackets around a bracketed query are the query's, too.
    """
    outer = 0
    while cursor.word(outer) == "(":
        outer += 1
    if not outer or cursor.word(outer) not in ("SELECT", "WITH"):
        return False
    ahead = depth = outer
    while outer > 1:  # what follows the inner query's closing bracket says what the bracket around it is
        if cursor.place + ahead >= len(cursor.statement.tokens):
            return False
        depth += (cursor.word(ahead) == "(") - (cursor.word(ahead) == ")")
        ahead += 1
        if depth < outer:
            closes = cursor.word(ahead) == ")" and (doubled or outer > 2)
            if not closes and cursor.word(ahead) not in _GOES_ON:
                return False
            outer = depth
    return True
