"""IF and CASE, and the type of all expressions of which they, COALESCE and similar functions take one.

Rules: tidb ``pkg/expression/builtin_control.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.expression.collation import check_comparable
from ticdc_producer.scenario.sql.expression.eval_type import EvalType, ExpressionType, converted, merged_type
from ticdc_producer.scenario.sql.expression.form import Form, child_nodes, equality, evaluate, type_of
from ticdc_producer.scenario.sql.expression.operators import as_condition
from ticdc_producer.scenario.sql.expression.scope import Scope


def shared_type(
    node: exp.Expr, choices_of: Callable[[exp.Expr], Sequence[exp.Expr]], scope: Scope
) -> ExpressionType:
    """Return the type to which TiDB casts a choice, which is inferred once for all rows of a statement.

    It has no digits but those that mark a FLOAT if one choice alone is not NULL, as TiDB does not cast that.
    Source: tidb ``newBaseBuiltinFuncWithFieldTypes``.

    :param choices_of: gives the expressions of which the node takes one.
    """
    noted = scope.choices.get(id(node))
    if noted is None:
        types = [type_of(choice, scope) for choice in choices_of(node)]
        shared = merged_type(types)
        if shared.kind is not EvalType.TEXT and sum(each.kind is not EvalType.NULL for each in types) < 2:
            shared = ExpressionType(shared.kind, shared.digits if shared.kind is EvalType.DOUBLE else None)
        noted = scope.choices[id(node)] = node, shared
    return noted[1]


def _choices(node: exp.Expr) -> list[exp.Expr]:
    """Return the expressions of which IF or CASE takes one."""
    branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    default = node.args.get("default" if isinstance(node, exp.Case) else "false")
    return [*(branch.args["true"] for branch in branches), *([] if default is None else [default])]


def _choice_type(node: exp.Expr, scope: Scope) -> ExpressionType:
    return merged_type(type_of(choice, scope) for choice in _choices(node))


def _choice(branch: exp.Expr | None, node: exp.Expr, scope: Scope) -> SQLValue:
    """Evaluate a branch, and convert its value to the type of all branches."""
    if branch is None:
        return None
    value = evaluate(branch, scope)
    kind, digits = shared_type(node, _choices, scope)
    return converted(value, kind, scope.mode, None if digits is None else digits.decimals)


def _if(node: exp.Expr, scope: Scope) -> SQLValue:
    branch = node.args["true"] if as_condition(node.this, scope) else node.args.get("false")
    return _choice(branch, node, scope)


def _case(node: exp.Expr, scope: Scope) -> SQLValue:
    branch = node.args.get("default")
    for case in node.args["ifs"]:
        condition = equality(node.this, case.this) if node.this else case.this
        if as_condition(condition, scope):
            branch = case.args["true"]
            break
    return _choice(branch, node, scope)


def _parts(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    if isinstance(node, exp.Case) and node.this is not None:
        for branch in node.args["ifs"]:
            check_comparable([node.this, branch.this], scope)
    return child_nodes(node, scope)


CHOICES: dict[type[exp.Expr], Form] = {
    exp.Case: Form(_case, _choice_type, _parts),
    exp.If: Form(_if, _choice_type, _parts),
}
