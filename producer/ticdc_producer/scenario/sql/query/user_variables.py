"""User variables in a statement: TiDB plans it with one type of each, while assignments change the values."""

from __future__ import annotations

from struct import pack, unpack

from sqlglot import exp

from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.sql_value import SQLValue, Unsigned
from ticdc_producer.scenario.sql.expression.eval_type import WHOLE, EvalType, kind_of_value
from ticdc_producer.scenario.sql.expression.evaluate import type_of
from ticdc_producer.scenario.sql.expression.scope import Scope


class PlannedVariables:
    """The types of the variables with which TiDB plans a statement.

    It reads values of other types as values of the planned one: the bits of a DOUBLE as an integer and the
    reverse, and nothing of a DECIMAL or a text. The type of a variable is that before the statement; INSERT …
    SELECT is planned twice, so there it is that of the last assignment.
    Source: tidb ``expressionRewriter.rewriteUserVariable``, ``builtinGetIntVarSig``.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, EvalType | None] = {}
        self._later: dict[int, tuple[exp.Expr, bool]] = {}

    def note(self, node: exp.Expr, value: SQLValue, scope: Scope) -> EvalType | None:
        """Return the planned type of a variable; None if each value is read as it is.

        :param value: the one that it has; the first one of the statement counts.
        """
        name = node.name.lower()
        if name not in self._kinds:
            self._kinds[name] = None  # in its own assignment
            self._kinds[name] = _kind(node, value, scope)
        return self._kinds[name]

    def read(self, node: exp.Expr, value: SQLValue, scope: Scope) -> SQLValue:
        """Return the value that TiDB reads for a variable.

        :param value: the one that it has.
        """
        kind = self.note(node, value, scope)
        if value is None or kind is kind_of_value(value) or self._is_after_assignment(node):
            return value
        if kind is EvalType.UNSIGNED:
            return Unsigned(_bits(value))
        if kind is EvalType.INTEGER:
            return signed(Unsigned(_bits(value)))
        if kind is EvalType.TEXT:
            return to_text(value)
        return _double(value) if kind is EvalType.DOUBLE else value

    def _is_after_assignment(self, node: exp.Expr) -> bool:
        """Return whether an UPDATE or DELETE reads a variable after an assignment, which changes its type."""
        if id(node) not in self._later:
            root = node.root()
            self._later[id(node)] = node, not isinstance(root, exp.Insert) and not _is_first(node, root)
        return self._later[id(node)][1]


def _assignments(root: exp.Expr, name: str) -> list[exp.Expr]:
    return [node for node in root.find_all(exp.PropertyEQ, bfs=False) if node.this.name.lower() == name]


def _kind(node: exp.Expr, value: SQLValue, scope: Scope) -> EvalType | None:
    root = node.root()
    assignments = _assignments(root, node.name.lower()) if isinstance(root, exp.Insert) else []
    if not assignments:
        return kind_of_value(value)
    kind = type_of(assignments[-1].expression, scope).kind
    if kind in WHOLE:
        return EvalType.INTEGER
    return kind if kind in (EvalType.DOUBLE, EvalType.TEXT) else None


def _is_first(node: exp.Expr, root: exp.Expr) -> bool:
    """Return whether a statement names a variable before the end of the first assignment to it."""
    assignments = _assignments(root, node.name.lower())
    if not assignments or any(part is node for part in assignments[0].walk()):
        return True
    order = [part for part in root.walk(bfs=False) if part is node or part is assignments[0]]
    return order[0] is node


def signed(value: SQLValue) -> SQLValue:
    """Return the integer that the bits of an unsigned one are: an assignment in an expression has no sign."""
    return int(value) - (1 << 64) if isinstance(value, int) and value >> 63 > 0 else value


def _bits(value: SQLValue) -> int:
    if isinstance(value, float):
        return int.from_bytes(pack(">d", value), "big")
    return int(value) & ((1 << 64) - 1) if isinstance(value, int) else 0


def _double(value: SQLValue) -> float:
    return float(unpack(">d", _bits(value).to_bytes(8, "big"))[0])
