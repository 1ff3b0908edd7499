"""The collation of a comparison of strings.

Rules: tidb ``pkg/expression/collation.go``, in short: an explicit COLLATE, otherwise a column's collation.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.collation import charset_of
from ticdc_producer.scenario.sql.scope import Scope

_BINARY = {"utf8mb4_bin", "utf8_bin", "ascii_bin", "latin1_bin", "gbk_bin"}
_CONVERTIBLE = {"utf8mb4": 3, "utf8": 2, "ascii": 0}
"""Texts are compared in the charset with the higher rank; other charsets cannot hold each other's texts."""

DEFAULT_COLLATION = "utf8mb4_bin"
SUBQUERIES = (exp.Query, exp.Exists, exp.Any, exp.All)
"""Nodes that contain a query, whose columns are not those of the scope around it."""


def collation_of(node: exp.Expr, scope: Scope) -> str:
    """The collation that this operand gives a comparison; empty if it gives none.

    It is an explicit COLLATE, otherwise the collation of a column; literals have none.
    """
    if isinstance(node, exp.Collate):
        return str(node.expression.name).lower()
    if isinstance(node, exp.Column):
        return scope.collation(node.name, node.text("table"), node.text("db"))
    if isinstance(node, SUBQUERIES):
        return scope.required_context(node).collation(node, scope)
    children = list(node.iter_expressions())
    explicit = next((child for child in children if isinstance(child, exp.Collate)), None)
    if explicit is not None:
        return collation_of(explicit, scope)
    found = [name for child in children if (name := collation_of(child, scope))]
    return next((name for name in found if name in _BINARY), found[0] if found else "")


def shared_collation(node: exp.Expr, scope: Scope) -> str:
    """The collation for comparing the two operands of a node.

    :raises ScenarioError: if TiDB cannot choose one.
    """
    return collation_of_all([node.this, node.expression], scope)


def collation_of_all(operands: Iterable[object], scope: Scope) -> str:
    """The collation for comparing operands with each other; an explicit COLLATE has precedence.

    :raises ScenarioError: if TiDB cannot choose one.
    """
    sides = [side.unnest() for side in operands if isinstance(side, exp.Expr)]
    explicit = list(
        dict.fromkeys(collation_of(side, scope) for side in sides if isinstance(side, exp.Collate))
    )
    if len(explicit) > 1:
        raise _illegal_mix(*explicit[:2])
    implicit = (name for side in sides if (name := collation_of(side, scope)))
    return explicit[0] if explicit else reduce(merged_collation, implicit, "") or DEFAULT_COLLATION


def merged_collation(one: str, other: str) -> str:
    """The collation for two operands without an explicit COLLATE. Source: tidb ``inferCollation``.

    :param one: empty for an operand that gives none.
    :raises ScenarioError: if TiDB cannot choose one.
    """
    if not one or not other or one == other:
        return one or other
    charsets = charset_of(one), charset_of(other)
    if charsets[0] == charsets[1]:
        binary = [name for name in (one, other) if name in _BINARY]
        if not binary:
            raise _illegal_mix(one, other)
        return binary[0]
    ranks = [_CONVERTIBLE.get(charset, 1) for charset in charsets]
    if ranks[0] == ranks[1]:
        raise _illegal_mix(one, other)
    return one if ranks[0] > ranks[1] else other


def _illegal_mix(one: str, other: str) -> ScenarioError:
    what = f"Illegal mix of collations {one} and {other}"
    return ScenarioError(what, hint="add COLLATE to one of the operands")
