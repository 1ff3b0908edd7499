"""Normalizes function calls and aggregate functions, for any syntax and any of sqlglot's nodes.

``TRIM(LEADING 'x' FROM a)``, ``a->'$.b'`` and ``d + INTERVAL 1 DAY`` become calls by name; keywords among
the arguments, such as units, become string literals.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function's name in upper case, and its argument expressions."""

    name: str
    arguments: tuple[exp.Expr, ...] = ()


def normalized_call(node: exp.Expr) -> FunctionCall | None:
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


def _present(*arguments: exp.Expr | None) -> tuple[exp.Expr, ...]:
    return tuple(argument for argument in arguments if argument is not None)


def _word(node: exp.Expr) -> exp.Expr:
    return exp.Literal.string(node.name.upper().removeprefix("SQL_TSI_"))


def _by_name(node: exp.Expr) -> FunctionCall:
    name, arguments = str(node.this).upper(), tuple(node.expressions)
    name = _SYNONYMS.get(name, name)
    if name in ("DATE_ADD", "DATE_SUB") and len(arguments) == 2:
        return _shift(name, *arguments)
    if name in ("TIMESTAMPADD", "TIMESTAMPDIFF") and arguments and isinstance(arguments[0], exp.Column):
        return FunctionCall(name, (_word(arguments[0]), *arguments[1:]))
    return FunctionCall(name, arguments)


def _shift(name: str, moment: exp.Expr, amount: exp.Expr) -> FunctionCall:
    """Normalize ``DATE_ADD(d, INTERVAL n unit)``; a bare number counts days."""
    if not isinstance(amount, exp.Interval):
        return FunctionCall(name, (moment, amount, exp.Literal.string("DAY")))
    unit = amount.args.get("unit")
    if unit is None or amount.this is None:
        raise ScenarioError("SQL does not parse: INTERVAL needs a number and a unit")
    return FunctionCall(name, (moment, amount.this, exp.Literal.string(unit.name.upper())))


def _sum(node: exp.Expr) -> FunctionCall | None:
    left, right = node.this, node.expression
    if isinstance(left, exp.Interval) and isinstance(node, exp.Add):
        moment = right.this if isinstance(right, exp.Interval) and not right.args.get("unit") else right
        return _shift("DATE_ADD", moment, left)
    if isinstance(right, exp.Interval):
        return _shift("DATE_ADD" if isinstance(node, exp.Add) else "DATE_SUB", left, right)
    return None


def _column(node: exp.Expr) -> FunctionCall | None:
    """Normalize a function without parentheses, which sqlglot parses as a column name."""
    name = column_name(node)[0].upper()
    if name not in _BARE_WORDS or node.args.get("table") is not None or node.this.args.get("quoted"):
        return None
    return FunctionCall(name)


def _trim(node: exp.Expr) -> FunctionCall:
    what = node.args.get("expression") or exp.Literal.string(" ")
    return FunctionCall("TRIM", (node.this, what, exp.Literal.string(node.args.get("position") or "BOTH")))


def _weight_string(node: exp.Expr) -> FunctionCall:
    if node.args.get("to"):
        raise UnsupportedSQL("WEIGHT_STRING with AS is not supported")
    return FunctionCall("WEIGHT_STRING", (node.this,))


def _rounding(name: str) -> Callable[[exp.Expr], FunctionCall]:
    return lambda node: FunctionCall(name, _present(node.this, node.args.get("decimals")))


def _char(node: exp.Expr) -> FunctionCall:
    charset = node.args.get("charset")
    return FunctionCall(
        "CHAR", (exp.Literal.string(charset.name if charset else "binary"), *node.expressions)
    )


def _json_extract(node: exp.Expr) -> FunctionCall:
    return FunctionCall("JSON_EXTRACT", (node.this, _path(node.expression)))


def _json_extract_text(node: exp.Expr) -> FunctionCall:
    inner = exp.Anonymous(this="JSON_EXTRACT", expressions=[node.this, _path(node.expression)])
    return FunctionCall("JSON_UNQUOTE", (inner,))


def _path(node: exp.Expr) -> exp.Expr:
    """Return the JSON path as a string literal; sqlglot does not change a path that it cannot parse."""
    if not isinstance(node, exp.JSONPath):
        return node
    return exp.Literal.string("".join(_leg(leg) for leg in node.expressions))


def _leg(leg: exp.Expr) -> str:
    inner = leg.this
    wild = isinstance(inner, exp.JSONPathWildcard)
    if isinstance(leg, exp.JSONPathRoot):
        return "$"
    if isinstance(leg, exp.JSONPathWildcard):
        return "*"
    if isinstance(leg, exp.JSONPathKey) and (wild or isinstance(inner, str)):
        return ".*" if wild else "." + json.dumps(inner, ensure_ascii=False)
    if isinstance(leg, exp.JSONPathSubscript) and (wild or isinstance(inner, int)):
        return "[*]" if wild else f"[{inner}]"
    raise UnsupportedSQL("this JSON path after -> is not supported", hint="JSON_EXTRACT takes any path")


_SYNONYMS = {"ADDDATE": "DATE_ADD", "SUBDATE": "DATE_SUB", "CEILING": "CEIL", "SUBSTR": "SUBSTRING"}
_BARE_WORDS = frozenset({"UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP"})

_RULES: dict[type[exp.Expr], Callable[[exp.Expr], FunctionCall | None]] = {
    exp.Anonymous: _by_name,
    exp.Add: _sum,
    exp.Sub: _sum,
    exp.Column: _column,
    exp.Trim: _trim,
    exp.Substring: lambda node: FunctionCall(
        "SUBSTRING", _present(node.this, node.args.get("start"), node.args.get("length"))
    ),
    exp.StrPosition: lambda node: FunctionCall("LOCATE", (node.args["substr"], node.this)),
    exp.Extract: lambda node: FunctionCall("EXTRACT", (_word(node.this), node.expression)),
    exp.RegexpLike: lambda node: FunctionCall("REGEXP_LIKE", _present(node.this, node.expression)),
    exp.WeightString: _weight_string,
    exp.Floor: _rounding("FLOOR"),
    exp.Ceil: _rounding("CEIL"),
    exp.Chr: _char,
    exp.JSONExtract: _json_extract,
    exp.JSONExtractScalar: _json_extract_text,
    exp.JSONArrayContains: lambda node: FunctionCall("MEMBER OF", (node.this, node.expression)),
    exp.CurrentTimestamp: lambda _: FunctionCall("NOW"),
    exp.Localtime: lambda _: FunctionCall("NOW"),
    exp.Localtimestamp: lambda _: FunctionCall("NOW"),
    exp.CurrentDate: lambda _: FunctionCall("CURRENT_DATE"),
    exp.CurrentTime: lambda _: FunctionCall("CURRENT_TIME"),
    exp.CurrentUser: lambda _: FunctionCall("CURRENT_USER"),
}


CHOOSING = frozenset({"COALESCE", "GREATEST", "IFNULL", "LEAST"})
"""The functions whose result is one of their arguments, and has the type of all of them."""


def choices_of(node: exp.Expr) -> tuple[exp.Expr, ...]:
    """Return the expressions of which CASE, IF, COALESCE or a similar node takes one; none for others."""
    if isinstance(node, exp.Case):
        return _present(*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default"))
    if isinstance(node, exp.If):
        return _present(node.args["true"], node.args.get("false"))
    call = normalized_call(node)
    return call.arguments if call is not None and call.name in CHOOSING else ()


AGGREGATES = {
    "ANY_VALUE": (1, 1), "AVG": (1, 1), "BIT_AND": (1, 1), "BIT_OR": (1, 1), "BIT_XOR": (1, 1),
    "COUNT": (1, 1), "GROUP_CONCAT": (1, -1), "JSON_ARRAYAGG": (1, 1), "JSON_OBJECTAGG": (2, 2),
    "MAX": (1, 1), "MIN": (1, 1), "SUM": (1, 1),
}  # fmt: skip
"""The smallest and the largest number of arguments of each function; -1 for no limit."""
_DISTINCT = frozenset({"AVG", "COUNT", "GROUP_CONCAT", "MAX", "MIN", "SUM"})


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A call of an aggregate function.

    :param arguments: empty for ``COUNT(*)``.
    :param distinct: whether equal arguments count once.
    :param order: ORDER BY of GROUP_CONCAT.
    :param separator: SEPARATOR of GROUP_CONCAT.
    """

    name: str
    arguments: tuple[exp.Expr, ...]
    distinct: bool = False
    order: tuple[exp.Expr, ...] = ()
    separator: str = ","


def aggregate_of(node: exp.Expr) -> Aggregate | None:
    """Return the aggregate call that a node represents; None if it represents none.

    :raises ScenarioError: for a wrong number of arguments, or DISTINCT where TiDB does not accept it.
    """
    if isinstance(node, exp.GroupConcat):
        return _checked(_group_concat(node))
    if isinstance(node, exp.JSONObjectAgg):
        (pair,) = node.expressions
        return Aggregate("JSON_OBJECTAGG", (pair.this, pair.expression))
    name = str(node.this).upper() if isinstance(node, exp.Anonymous) else ""
    if name not in AGGREGATES:
        return None
    arguments, distinct = _without_distinct(node.expressions)
    if name == "COUNT" and len(arguments) == 1 and isinstance(arguments[0], exp.Star) and not distinct:
        return Aggregate(name, ())
    return _checked(Aggregate(name, arguments, distinct))


def own_nodes(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Iterate over the nodes of an expression, without those inside its subqueries."""
    return tree.walk(prune=lambda node: isinstance(node, exp.Query))


def aggregates_in(tree: exp.Expr) -> Iterator[tuple[exp.Expr, Aggregate]]:
    """Yield the aggregate calls of an expression, without those inside its subqueries."""
    for node in own_nodes(tree):
        call = aggregate_of(node)
        if call is not None:
            yield node, call


def _checked(call: Aggregate) -> Aggregate:
    least, most = AGGREGATES[call.name]
    count = len(call.arguments)
    if call.name == "COUNT" and call.distinct:
        most = -1
    if count < least or 0 <= most < count:
        raise ScenarioError(f"Incorrect parameter count in the call to {call.name}()")
    if call.distinct and call.name not in _DISTINCT:
        raise ScenarioError(f"SQL does not parse: {call.name} does not take DISTINCT")
    return call


def _without_distinct(arguments: list[exp.Expr]) -> tuple[tuple[exp.Expr, ...], bool]:
    if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
        return tuple(arguments[0].expressions), True
    return tuple(arguments), False


def _group_concat(node: exp.GroupConcat) -> Aggregate:
    inner, separator, order = node.this, node.args.get("separator"), ()
    if isinstance(inner, exp.Order):
        inner, order = inner.this, tuple(inner.expressions)
    parts, distinct = _without_distinct([inner])
    # sqlglot turns several arguments into a Concat node; the function CONCAT remains a call by name.
    if len(parts) == 1 and isinstance(parts[0], exp.Concat):
        parts = tuple(parts[0].expressions)
    return Aggregate(
        "GROUP_CONCAT", parts, distinct, order, "," if separator is None else str(separator.this)
    )
