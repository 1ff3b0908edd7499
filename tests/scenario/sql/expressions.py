"""Expressions as text, evaluated the way a statement does it: checked first, then computed."""

from __future__ import annotations

from ticdc_producer.model.coerce_text import to_bytes
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import SQLValue
from ticdc_producer.scenario.sql.dialect import parse_expression
from ticdc_producer.scenario.sql.evaluate import check_expression, evaluate_constant
from ticdc_producer.scenario.sql.scope import Scope

STRICT = SQLMode()
LAX = SQLMode(strict=False)


def value_of(text: str, mode: SQLMode = STRICT) -> SQLValue:
    tree = parse_expression(text, 1)
    check_expression(tree, Scope(mode))
    return evaluate_constant(tree, mode)


def result_text(text: str, mode: SQLMode = STRICT) -> str | None:
    """What a client would see; binary strings in hexadecimal digits."""
    value = value_of(text, mode)
    if value is None:
        return None
    return "0x" + value.hex() if isinstance(value, bytes) else to_bytes(value).decode()
