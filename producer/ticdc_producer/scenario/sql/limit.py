"""The numbers of LIMIT and OFFSET."""

from __future__ import annotations

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL


def row_count(node: exp.Expr) -> int:
    """The number of LIMIT or OFFSET.

    :raises ScenarioError: for anything but a whole number.
    """
    count = node.expression
    if (
        not isinstance(node, exp.Limit | exp.Offset)
        or node.args.get("offset")
        or type(count) is not exp.Literal
    ):
        raise UnsupportedSQL(f"{node.sql(dialect='mysql')!r} is not supported as a LIMIT")
    if count.is_string or not str(count.this).isdigit():
        raise ScenarioError(f"LIMIT needs a whole number, not {count.this!r}", value=str(count.this))
    return int(str(count.this)[:20])
