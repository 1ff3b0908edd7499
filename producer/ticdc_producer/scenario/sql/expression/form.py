"""Evaluates, checks and types expressions: one form per kind of node of sqlglot's tree.

A node without a form is refused by name. The modules of the forms are recursive, so they find each other in
``FORMS``, which ``evaluate.py`` fills.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.expression.eval_type import UNKNOWN, EvalType, ExpressionType, fixed_type
from ticdc_producer.scenario.sql.expression.scope import Scope

Evaluate: TypeAlias = Callable[[exp.Expr, Scope], SQLValue]


def child_nodes(node: exp.Expr, _: Scope) -> Iterator[exp.Expr]:
    """Return the parts of a node that has nothing to check itself."""
    return node.iter_expressions()


@dataclass(frozen=True, slots=True)
class Form:
    """One kind of expression.

    :param evaluate: returns its value for the scope's current row.
    :param type: a kind, or a rule.
    :param parts: checks the node itself before any row is changed, and returns the nodes in it to check.
    """

    evaluate: Evaluate
    type: EvalType | Callable[[exp.Expr, Scope], ExpressionType] = lambda *_: UNKNOWN
    parts: Callable[[exp.Expr, Scope], Iterable[exp.Expr]] = child_nodes

    def type_of(self, node: exp.Expr, scope: Scope) -> ExpressionType:
        return fixed_type(self.type) if isinstance(self.type, EvalType) else self.type(node, scope)


FORMS: dict[type[exp.Expr], Form] = {}


def form_of(node: exp.Expr) -> Form:
    """Return the form of a node.

    :raises UnsupportedSQL: for a construct that this tool does not compute.
    """
    form = FORMS.get(type(node))
    if form is None:
        raise UnsupportedSQL(f"{node.sql(dialect='mysql')[:80]!r} ({node.key.upper()}) is not supported")
    return form


def evaluate(node: exp.Expr, scope: Scope) -> SQLValue:
    """Return the value of an expression for the scope's current row.

    :raises UnsupportedSQL: for a construct that this tool does not compute.
    :raises ScenarioError: for an unknown column, a value out of range and similar errors.
    """
    return (FORMS.get(type(node)) or form_of(node)).evaluate(node, scope)


def check_expression(node: exp.Expr, scope: Scope) -> None:
    """Check an expression before any row is changed: each node has a form, and each name a meaning.

    :raises UnsupportedSQL: for a kind of node or function that this tool does not compute.
    :raises ScenarioError: for a column or collation that does not exist, or a wrong number of arguments.
    """
    waiting = [node]
    while waiting:
        part = waiting.pop()
        waiting.extend(form_of(part).parts(part, scope))


def type_of(node: exp.Expr, scope: Scope) -> ExpressionType:
    """Return the type of an expression, inferred from its parts before any row is computed."""
    form = FORMS.get(type(node))
    return UNKNOWN if form is None else form.type_of(node, scope)


def noted_type(node: exp.Expr, scope: Scope) -> ExpressionType:
    """Return the type of an expression, which is inferred once for all rows of a statement."""
    noted = scope.types.get(id(node))
    if noted is None:
        noted = scope.types[id(node)] = node, type_of(node, scope)
    return noted[1]


def equality(left: exp.Expr, right: exp.Expr) -> exp.EQ:
    """Return ``left = right``. The operands remain parts of their own tree, which statements share."""
    node = exp.EQ()
    node.args = {"this": left, "expression": right}
    return node


def is_constant(node: exp.Expr) -> bool:
    """Return whether an expression has the same value for all rows."""
    return node.find(exp.Column, exp.Query) is None


def is_folded(node: exp.Expr) -> bool:
    """Return whether TiDB computes an expression while it plans a statement.

    It computes no user variables before the statement runs, nor some functions.
    """
    if type(node) is exp.Literal or type(node) is exp.Column:
        return type(node) is exp.Literal
    return is_constant(node) and not any(
        isinstance(part, exp.Parameter) or part.name.upper() in _NOT_FOLDED
        for part in node.find_all(exp.Parameter, exp.Anonymous)
    )


_NOT_FOLDED = frozenset(
    {"ANY_VALUE", "FOUND_ROWS", "LASTVAL", "NEXTVAL", "RAND", "SETVAL", "SLEEP", "SYSDATE", "UUID"}
)
"""Functions that TiDB computes for each row. Source: tidb ``unFoldableFunctions``."""
