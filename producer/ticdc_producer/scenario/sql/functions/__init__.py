"""SQL functions by name, grouped by subject. A new function also goes into its module's ``FUNCTIONS``."""

from __future__ import annotations

from ticdc_producer.errors import UnsupportedSQL, nearest
from ticdc_producer.scenario.sql.functions import (
    clock,
    control,
    datetime_format,
    datetime_make,
    datetime_part,
    digest,
    interval,
    json_change,
    json_make,
    json_search,
    network,
    number,
    number_text,
    text,
    text_make,
    text_search,
)
from ticdc_producer.scenario.sql.functions.function import Function
from ticdc_producer.scenario.sql.functions.rejected import REJECTED

MODULES = (
    clock, control, digest, interval, json_change, json_make, json_search, datetime_format, datetime_make,
    datetime_part, network, number, number_text, text, text_make, text_search,
)  # fmt: skip

FUNCTIONS: dict[str, Function] = {
    name: function for module in MODULES for name, function in module.FUNCTIONS.items()
}


def function_named(name: str) -> Function:
    """The function of a name in upper case.

    :raises UnsupportedSQL: if this tool does not have it; the hint has the reason or a similar name.
    """
    function = FUNCTIONS.get(name)
    if function is None:
        reason = REJECTED.get(name, "")
        hint = reason or nearest(name, FUNCTIONS, listed="the page on SQL")
        raise UnsupportedSQL(f"the function {name} is not supported", hint=hint)
    return function


__all__ = ["FUNCTIONS", "MODULES", "Function", "function_named"]
