"""The DEFAULT expression that TiDB stores in a table's metadata.

It differs from DDL text: keywords and charsets are in lower case, and binary operators have blanks around
them. Source: tidb ``restoreFuncCall``.
"""

from __future__ import annotations

import re

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.expression import read_expression
from ticdc_producer.scenario.sql.statements import split_statements

_PRINTED = re.compile(
    r"(?P<quoted>'(?:[^']|'')*'|`(?:[^`]|``)*`)"
    r"|(?P<operator>(?<=[\w'`)])(?:<=>|<<|>>|[!<>]=|[-+*/%^&|<>=]))"
    r"|(?P<other>.)",
    re.DOTALL,
)


def print_default(expression: str) -> str:
    """The text that TiDB stores for ``DEFAULT (expression)``.

    :param expression: SQL text, in any number of brackets.
    :raises ScenarioError: if the expression does not parse.
    :raises UnsupportedSQL: for syntax that this tool does not print.
    """
    (statement,) = split_statements(expression)
    cursor = Cursor(statement)
    brackets = 0
    while cursor.accept("("):
        brackets += 1
    text = read_expression(cursor)
    for _ in range(brackets):
        cursor.expect(")")
    cursor.end()
    return _PRINTED.sub(_as_stored, text)


def _as_stored(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "quoted":
            return found[0].replace(r"\\", "\\")  # not escaped, as DDL text is
        case "operator":
            return f" {found[0]} "
    return found[0].lower()
