"""The collation with which texts are compared: an explicit COLLATE, else that of a column.

Rules: tidb ``pkg/expression/collation.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import reduce
from typing import NamedTuple

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.collation import DEFAULT_COLLATIONS, charset_of, weights_of
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.function_call import FunctionCall, call_of, column_name
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.functions import FUNCTIONS

_BINARY = {"utf8mb4_bin", "utf8_bin", "ascii_bin", "latin1_bin", "gbk_bin"}
_CONVERTIBLE = {"utf8mb4": 3, "utf8": 2, "ascii": 0}
"""Texts are compared in the charset with the higher rank; other charsets cannot hold each other's texts."""

_CHAR = (exp.DType.CHAR, exp.DType.CHARACTER_SET)
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
    if isinstance(node, exp.Cast) and node.to.this in _CHAR:  # not that of the text
        return DEFAULT_COLLATIONS.get(node.to.text("kind").lower() or "utf8mb4", "")
    if isinstance(node, exp.Column) and call_of(node) is None:
        return scope.collation(*column_name(node))
    children = _sources(node)
    explicit = next((child for child in children if isinstance(child, exp.Collate)), None)
    if explicit is not None:
        return collation_of(explicit, scope)
    return reduce(_derived, (name for child in children if (name := collation_of(child, scope))), "")


def _sources(node: exp.Expr) -> Sequence[exp.Expr]:
    """Return the parts of an expression that give it its collation. Source: tidb ``deriveCollation``."""
    if isinstance(node, exp.If | exp.Case):
        branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
        choices = [branch.args["true"] for branch in branches]
        return [*choices, *(node.args[key] for key in ("false", "default") if node.args.get(key) is not None)]
    if isinstance(node, exp.GroupConcat):
        return ()
    call = call_of(node)
    if call is None:
        return list(node.iter_expressions())
    if call.name in _MADE_OF:
        return call.arguments[_MADE_OF[call.name]]
    function = FUNCTIONS.get(call.name)
    return call.arguments if function is None or function.collated else ()


def _derived(left: str, right: str) -> str:
    """Return the collation of a text that is made of two. Source: tidb ``inferCollation``."""
    if not left or not right or left == right:
        return left or right
    charsets = charset_of(left), charset_of(right)
    if charsets[0] == charsets[1]:
        return next((name for name in (left, right) if name in _BINARY), f"{charsets[0]}_bin")
    first, second = (_CONVERTIBLE.get(charset, 1) for charset in charsets)
    return right if second > first else left


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
    sides = [side for side in operands if isinstance(side, exp.Expr)]
    names = {name for side in sides if (name := collation_of(side.unnest(), scope))}
    if len(names) < 2:
        return names.pop() if names else DEFAULT_COLLATION
    derived = _inferred([_derived_or_implicit(side, scope) for side in sides])
    if derived.coercibility is Coercibility.NONE:
        raise _illegal_mix(*sorted(names)[:2])
    return derived.name


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


class Coercibility(IntEnum):
    """The readiness of a text to take another collation; the lowest number prevails."""

    EXPLICIT = 0
    NONE = 1
    """The text is made of texts with different collations."""
    IMPLICIT = 2
    COERCIBLE = 4


class DerivedCollation(NamedTuple):
    """The collation of an expression; the name is empty for numbers, and for calls without texts."""

    name: str
    coercibility: Coercibility


_NO_COLLATION = DerivedCollation("", Coercibility.COERCIBLE)
_MADE_OF: dict[str, slice] = {
    **dict.fromkeys(("CONCAT", "CONCAT_WS", "LOWER", "LCASE", "REVERSE", "UPPER", "UCASE"), slice(None)),
    **dict.fromkeys(("QUOTE", "COALESCE", "GREATEST", "LEAST", "IFNULL"), slice(None)),
    **dict.fromkeys(("LEFT", "RIGHT", "REPEAT", "TRIM", "LTRIM", "RTRIM", "SUBSTR"), slice(1)),
    **dict.fromkeys(("SUBSTRING", "SUBSTRING_INDEX", "REPLACE", "MID"), slice(1)),
    **dict.fromkeys(("ANY_VALUE", "TRANSLATE"), slice(1)),
    **dict.fromkeys(("NAME_CONST", "NULLIF"), slice(1, None)),
    "INSERT": slice(0, 4, 3),
    "REGEXP_REPLACE": slice(3),
    "REGEXP_SUBSTR": slice(2),
    **dict.fromkeys(("LPAD", "RPAD"), slice(0, 3, 2)),
    **dict.fromkeys(("ELT", "EXPORT_SET", "MAKE_SET"), slice(1, None)),
}
"""The arguments that give the text of a call its collation. Source: tidb ``deriveCollation``."""


def check_comparable(operands: Iterable[exp.Expr], scope: Scope) -> None:
    """Check whether texts have a collation in which they can be compared, before any row is computed.

    :raises ScenarioError: if TiDB cannot choose one.
    """
    derived = [_derive(operand, scope) for operand in operands]
    if all(each.name for each in derived):
        collation = _inferred(derived)
        if collation.coercibility is Coercibility.NONE:
            raise _illegal_mix(*[each.name for each in derived][:2])


def check_call(call: FunctionCall, scope: Scope) -> None:
    """Check the collations of the arguments of a call.

    :raises ScenarioError: if TiDB cannot choose one for comparing them, or for the text that they make.
    """
    part = _MADE_OF.get(call.name)
    if part is not None:
        _inferred([_derive(argument, scope) for argument in call.arguments[part]])
    elif call.function.collated:
        check_comparable(call.arguments, scope)


def _derive(node: exp.Expr, scope: Scope) -> DerivedCollation:
    """Return the collation of an expression as TiDB derives it."""
    node = node.unnest()
    if isinstance(node, exp.Collate):
        return DerivedCollation(collation_of(node, scope), Coercibility.EXPLICIT)
    if isinstance(node, exp.Literal):
        return (
            DerivedCollation(DEFAULT_COLLATION, Coercibility.COERCIBLE) if node.is_string else _NO_COLLATION
        )
    is_text = isinstance(node, exp.Cast) and node.to.this in _CHAR
    if is_text or isinstance(node, exp.Column | exp.Subquery):
        return DerivedCollation(collation_of(node, scope), Coercibility.IMPLICIT)
    call = call_of(node)
    if not isinstance(node, exp.If) and (call is None or call.name not in _MADE_OF):
        return _NO_COLLATION
    return _inferred([_derive(source, scope) for source in _sources(node)])


def _derived_or_implicit(node: exp.Expr, scope: Scope) -> DerivedCollation:
    """Return the collation of an expression, that of its columns if TiDB's rule for it is not listed."""
    derived = _derive(node, scope)
    return derived if derived.name else DerivedCollation(collation_of(node, scope), Coercibility.IMPLICIT)


def _inferred(collations: Sequence[DerivedCollation]) -> DerivedCollation:
    """Return the collation of several texts together. Source: tidb ``inferCollation``.

    :raises ScenarioError: for two explicit ones.
    """
    return reduce(_inferred_of_two, collations, _NO_COLLATION)


def _inferred_of_two(left: DerivedCollation, right: DerivedCollation) -> DerivedCollation:
    if not left.name or not right.name or left.name == right.name:
        return min((each for each in (left, right) if each.name), key=_coercibility, default=_NO_COLLATION)
    if left.coercibility != right.coercibility:
        return min(left, right, key=_coercibility)
    if charset_of(left.name) != charset_of(right.name):
        return DerivedCollation(merged_collation(left.name, right.name), left.coercibility)
    if left.coercibility is Coercibility.EXPLICIT:
        raise _illegal_mix(left.name, right.name)
    binary = next((each for each in (left, right) if each.name in _BINARY), None)
    return binary or DerivedCollation(f"{charset_of(left.name)}_bin", Coercibility.NONE)


def _coercibility(collation: DerivedCollation) -> Coercibility:
    return collation.coercibility


def _illegal_mix(left: str, right: str) -> ScenarioError:
    what = f"Illegal mix of collations {left} and {right}"
    return ScenarioError(what, hint="add COLLATE to one of the operands")
