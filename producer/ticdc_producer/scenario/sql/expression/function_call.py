"""Function calls in a syntax tree, in any syntax.

``TRIM(LEADING 'x' FROM a)``, ``a->'$.b'`` and ``d + INTERVAL 1 DAY`` are calls, too. The descriptor of a
function has its syntax.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlglot import exp

from ticdc_producer.scenario.sql.functions import FUNCTIONS, Function, function_named


class FunctionCall(NamedTuple):
    """A function's name in upper case, and its argument expressions."""

    name: str
    arguments: Sequence[exp.Expr] = ()

    @property
    def function(self) -> Function:
        """The descriptor of the function.

        :raises UnsupportedSQL: if this tool does not support it.
        """
        return function_named(self.name)


def call_of(node: exp.Expr) -> FunctionCall | None:
    """Return the function call that a node represents; None if it represents none.

    :raises UnsupportedSQL: for a JSON path or INTERVAL that sqlglot's tree does not contain as a whole.
    """
    rule = _RULES.get(type(node))
    return None if rule is None else rule(node)


def column_name(node: exp.Expr) -> tuple[str, str, str]:
    """Return the name of a column, of its table and of its database; those that are not written are empty."""
    word = node.args["this"]
    if "table" not in node.args and type(word) is exp.Identifier:
        return word.args["this"], "", ""
    return node.name, node.text("table"), node.text("db")


def _by_name(node: exp.Expr) -> FunctionCall:
    name = str(node.this).upper()
    function = FUNCTIONS.get(name)
    if function is None or function.arguments is None:
        return FunctionCall(name, node.expressions)
    return FunctionCall(name, function.arguments(node.expressions))


def _by_syntax(
    name: str, of: Sequence[str] | Callable[[exp.Expr], Sequence[exp.Expr] | None]
) -> Callable[[exp.Expr], FunctionCall | None]:
    def rule(node: exp.Expr) -> FunctionCall | None:
        parts = of(node) if callable(of) else [part for key in of if (part := node.args.get(key)) is not None]
        return None if parts is None else FunctionCall(name, parts)

    return rule


_RULES: dict[type[exp.Expr], Callable[[exp.Expr], FunctionCall | None]] = {
    exp.Anonymous: _by_name,
    **{
        kind: _by_syntax(name, parts)
        for name, function in FUNCTIONS.items()
        for kind, parts in (function.syntax or {}).items()
    },
}
CALL_NODES = frozenset(_RULES)
"""The kinds of nodes that are, or may be, calls."""
