"""Calls of window functions in a syntax tree: their windows, and their checks.

Rules: tidb ``pkg/planner/core/logical_plan_builder.go`` (``buildWindowFunctions``, ``mergeWindowSpec``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.expression.aggregate_call import Aggregate, aggregate_call, own_nodes
from ticdc_producer.scenario.sql.expression.eval_type import ExpressionType
from ticdc_producer.scenario.sql.expression.form import Form, is_constant, type_of
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.functions.function import function_type
from ticdc_producer.scenario.sql.functions.window import WINDOW_FUNCTIONS, WindowFunction

Bound: TypeAlias = tuple[str, exp.Expr | None]
"""A bound of a frame: PRECEDING, CURRENT ROW or FOLLOWING, and the distance; None for UNBOUNDED."""
_FIRST: Bound = "PRECEDING", None
_CURRENT: Bound = "CURRENT ROW", None


@dataclass(frozen=True, slots=True)
class Window:
    """A window.

    :param unit: of its frame: ROWS or RANGE; empty for the frame of a window without one.
    """

    partition: tuple[exp.Expr, ...] = ()
    order: tuple[exp.Expr, ...] = ()
    unit: str = ""
    start: Bound = _FIRST
    end: Bound = _CURRENT

    @property
    def distances(self) -> list[exp.Expr]:
        return [distance for _, distance in (self.start, self.end) if distance is not None]


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A call of a window function, or of an aggregate function with OVER."""

    name: str
    arguments: tuple[exp.Expr, ...]
    function: WindowFunction | Aggregate


def window_call(node: exp.Expr) -> WindowCall:
    """Return the call in a node with OVER.

    :raises ScenarioError: for a function that is not a window function, or a wrong number of arguments.
    """
    call = node.this.this if isinstance(node.this, exp.RespectNulls) else node.this
    if (aggregate := aggregate_call(call)) is not None:
        if aggregate.distinct or aggregate.name == "GROUP_CONCAT":
            what = f"{aggregate.name}(DISTINCT)" if aggregate.distinct else aggregate.name
            raise ScenarioError(f"TiDB does not support {what} as a window function", value=what)
        return WindowCall(aggregate.name, aggregate.arguments, aggregate)
    name = str(call.this).upper() if isinstance(call, exp.Anonymous) else call.key.upper()
    function = WINDOW_FUNCTIONS.get(name)
    if function is None:
        raise ScenarioError(f"SQL does not parse: {name} is not a window function", value=name)
    if not function.min_arguments <= len(call.expressions) <= function.max_arguments:
        raise ScenarioError(f"Incorrect parameter count in the call to {name}()")
    return WindowCall(name, tuple(call.expressions), function)


def windows_in(trees: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    """Yield the calls with OVER of expressions, without those inside their subqueries."""
    return (node for tree in trees for node in own_nodes(tree) if isinstance(node, exp.Window))


def named_windows(definitions: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
    """Return the definitions of a WINDOW clause by their names in lower case.

    :raises ScenarioError: for two of one name.
    """
    named: dict[str, exp.Expr] = {}
    for definition in definitions:
        name = definition.this.name
        if named.setdefault(name.lower(), definition) is not definition:
            raise ScenarioError(f"Window '{name}' is defined twice.", value=name)
    return named


def window_of(node: exp.Expr, named: Mapping[str, exp.Expr], around: tuple[str, ...] = ()) -> Window:
    """Return the window that a call, or a definition of WINDOW, describes.

    :param around: the names of the windows that refer to this one.
    :raises ScenarioError: for an unknown window, a circle, or parts that two windows have.
    """
    spec = node.args.get("spec")
    unit, start, end = ("", _FIRST, _CURRENT) if spec is None else _frame(spec)
    order_by = node.args.get("order")
    partition = tuple(node.args.get("partition_by") or ())
    order = () if order_by is None else tuple(order_by.expressions)
    base_name = node.args["alias"].name if node.args.get("alias") else ""
    if not base_name:
        return Window(partition, order, unit, start, end)
    if base_name.lower() not in named:
        raise ScenarioError(f"Window name '{base_name}' is not defined.", value=base_name)
    if base_name.lower() in around:
        raise ScenarioError("There is a circularity in the window dependency graph.")
    base = window_of(named[base_name.lower()], named, (*around, base_name.lower()))
    if not (partition or order or unit):
        return base
    if partition:
        raise ScenarioError("A window which depends on another cannot define partitioning.")
    if base.unit:
        raise ScenarioError(
            f"Window '{base_name}' has a frame definition, so cannot be referenced by another."
        )
    if order and base.order:
        raise ScenarioError(f"Window cannot inherit '{base_name}' since both contain an ORDER BY clause.")
    return Window(base.partition, order or base.order, unit, start, end)


def _frame(spec: exp.Expr) -> tuple[str, Bound, Bound]:
    unit = str(spec.args["kind"]).upper()
    if unit not in ("ROWS", "RANGE") or spec.args.get("exclude"):
        raise ScenarioError("TiDB does not support GROUPS and EXCLUDE in a window frame", value=unit)
    start, end = _bound(spec, "start"), _bound(spec, "end")
    order = ("PRECEDING", "CURRENT ROW", "FOLLOWING")
    is_open = (start == ("FOLLOWING", None)) or (end == ("PRECEDING", None) and spec.args.get("end"))
    if is_open or order.index(start[0]) > order.index(end[0]):
        raise ScenarioError("The bounds of a window frame are in the wrong order")
    return unit, start, end


def _bound(spec: exp.Expr, name: str) -> Bound:
    value, side = spec.args.get(name), str(spec.args.get(f"{name}_side") or "").upper()
    if value is None or str(value).upper() == "CURRENT ROW":
        return _CURRENT
    return side, value if isinstance(value, exp.Expr) else None


def _type(node: exp.Expr, scope: Scope) -> ExpressionType:
    call = window_call(node)
    function = call.function.function if isinstance(call.function, Aggregate) else call.function
    return function_type(function.type, call.arguments, lambda argument: type_of(argument, scope))


def _parts(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    """Check a call; the parts of its window, which may have a name, are checked with the query."""
    call = window_call(node)
    scope.check_window(call.name)
    if any(windows_in(call.arguments)):
        Scope(scope.mode).check_window(call.name)
    position = _CONSTANTS.get(call.name, len(call.arguments))
    for argument in call.arguments[position : position + 1]:
        if isinstance(argument, exp.Binary) or not is_constant(argument):
            raise ScenarioError(f"Incorrect arguments to {call.name.lower()}", value=call.name)
    return call.arguments


_CONSTANTS = {"NTILE": 0, "LEAD": 1, "LAG": 1, "NTH_VALUE": 1}
"""The positions of arguments that are constants. Source: tidb ``NewWindowFuncDesc``, and its grammar."""
WINDOWED = Form(lambda node, scope: scope.window(node), _type, _parts)
"""The form of a call with OVER, whose value the scope has."""
