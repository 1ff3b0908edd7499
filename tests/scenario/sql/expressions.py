"""Expressions as text, evaluated the way a statement does it: checked first, then computed."""

from __future__ import annotations

from ticdc_producer.model.values.coerce_text import to_bytes
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.eval_type import EvalType, kind_of_value
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate_constant, type_of
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.text.parse import parse_expression

STRICT = SQLMode()
LAX = SQLMode(strict=False)


def value_of(text: str, mode: SQLMode = STRICT) -> SQLValue:
    tree = parse_expression(text, 1)
    check_expression(tree, Scope(mode))
    value = evaluate_constant(tree, mode)
    if value is not None:
        assert type_of(tree, Scope(mode)).kind in (kind_of_value(value), EvalType.UNKNOWN)
    return value


def result_text(text: str, mode: SQLMode = STRICT) -> str | None:
    """What a client would see; binary strings in hexadecimal digits."""
    value = value_of(text, mode)
    if value is None:
        return None
    return "0x" + value.hex() if isinstance(value, bytes) else to_bytes(value).decode()
