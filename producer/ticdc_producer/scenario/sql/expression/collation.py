"""The collation with which texts are compared: an explicit COLLATE, else that of a column.

Rules: tidb ``pkg/expression/collation.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.collation import DEFAULT_COLLATIONS, charset_of, weights_of
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.function_call import call_of, column_name
from ticdc_producer.scenario.sql.expression.scope import Scope

_BINARY = {"utf8mb4_bin", "utf8_bin", "ascii_bin", "latin1_bin", "gbk_bin"}
_CONVERTIBLE = {"utf8mb4": 3, "utf8": 2, "ascii": 0}
"""Texts are compared in the charset with the higher rank; other charsets cannot hold each other's texts."""

SUBQUERIES = (exp.Query, exp.Exists, exp.Any, exp.All)
"""Nodes that contain a query, whose columns are not those of the scope around it."""


def collation_of(node: exp.Expr, scope: Scope) -> str:
    """Return the collation that this operand gives a comparison; empty if it gives none.

    It is an explicit COLLATE, otherwise the collation of a column; literals have none.
    """
    if isinstance(node, exp.Collate):
        return str(node.expression.name).lower()
    if isinstance(node, SUBQUERIES):
        return scope.required_context(node).collation(node, scope)
    if isinstance(node, exp.Cast) and node.to.text("kind").lower() == "gbk":
        return DEFAULT_COLLATIONS["gbk"]
    call = call_of(node)
    if call is None and isinstance(node, exp.Column):
        return scope.collation(*column_name(node))
    # The nodes of a call may contain words that are not expressions, such as the unit of TIMESTAMPADD.
    children = list(node.iter_expressions() if call is None else call.arguments)
    explicit = next((child for child in children if isinstance(child, exp.Collate)), None)
    if explicit is not None:
        return collation_of(explicit, scope)
    names = [name for child in children if (name := collation_of(child, scope))]
    return next((name for name in names if name in _BINARY), names[0] if names else "")


def encoded(node: exp.Expr, value: SQLValue, scope: Scope) -> SQLValue:
    """Return a text as the bytes that a binary string has for it: see ``encoded_in``.

    :param node: the expression with this value.
    """
    if not isinstance(value, str) or value.isascii():
        return value
    is_converted = isinstance(node, exp.Cast) and node.to.text("kind").lower() != "gbk"
    return value if is_converted else encoded_in(collation_of(node, scope), value)


def encoded_in(collation: str, value: SQLValue) -> SQLValue:
    """Return a text in GBK as its bytes; texts in other charsets have those of UTF-8.

    Source: tidb ``Datum.GetBinaryStringEncoded``.

    >>> encoded_in("gbk_chinese_ci", "中"), encoded_in("utf8mb4_bin", "中")
    (b'\xd6\xd0', '中')
    """
    if isinstance(value, str) and charset_of(collation) == "gbk":
        return b"".join(map(weights_of("gbk_bin").__getitem__, value))
    return value


def shared_collation(node: exp.Expr, scope: Scope) -> str:
    """Return the collation for comparing the two operands of a node.

    :raises ScenarioError: if TiDB cannot choose one.
    """
    return collation_of_all([node.this, node.expression], scope)


def collation_of_all(operands: Iterable[object], scope: Scope) -> str:
    """Return the collation for comparing operands with each other; an explicit COLLATE has precedence.

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


def merged_collation(left: str, right: str) -> str:
    """Return the collation for two operands without an explicit COLLATE. Source: tidb ``inferCollation``.

    :param left: empty for an operand that gives none.
    :raises ScenarioError: if TiDB cannot choose one.
    """
    if not left or not right or left == right:
        return left or right
    charsets = charset_of(left), charset_of(right)
    if charsets[0] == charsets[1]:
        binary = [name for name in (left, right) if name in _BINARY]
        if not binary:
            raise _illegal_mix(left, right)
        return binary[0]
    ranks = [_CONVERTIBLE.get(charset, 1) for charset in charsets]
    if ranks[0] == ranks[1]:
        raise _illegal_mix(left, right)
    return left if ranks[0] > ranks[1] else right


def _illegal_mix(left: str, right: str) -> ScenarioError:
    what = f"Illegal mix of collations {left} and {right}"
    return ScenarioError(what, hint="add COLLATE to one of the operands")
