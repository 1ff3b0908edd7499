"""SQL functions by name, grouped by subject. A new function also goes into its module's ``FUNCTIONS``."""

from __future__ import annotations

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.hints import nearest
from ticdc_producer.scenario.sql.functions import (
    control,
    digest,
    encryption,
    json_change,
    json_make,
    json_search,
    network,
    number,
    regexp,
    text,
    text_make,
    text_search,
    vector,
)
from ticdc_producer.scenario.sql.functions.datetime import format as datetime_format
from ticdc_producer.scenario.sql.functions.datetime import interval
from ticdc_producer.scenario.sql.functions.datetime import make as datetime_make
from ticdc_producer.scenario.sql.functions.datetime import part as datetime_part
from ticdc_producer.scenario.sql.functions.function import Function

MODULES = (
    control, digest, encryption, interval, json_change, json_make, json_search, datetime_format,
    datetime_make, datetime_part, network, number, regexp, text, text_make, text_search,
    vector,
)  # fmt: skip

FUNCTIONS: dict[str, Function] = {
    name: function for module in MODULES for name, function in module.FUNCTIONS.items()
}


REASONS: dict[str, tuple[str, ...]] = {
    "a scenario runs without a server and without a user": (
        "CONNECTION_ID", "CURRENT_RESOURCE_GROUP", "CURRENT_ROLE", "CURRENT_USER", "LOAD_FILE",
        "SESSION_USER", "SYSTEM_USER", "TIDB_CURRENT_TSO", "TIDB_IS_DDL_OWNER", "TIDB_ROW_CHECKSUM",
        "TIDB_VERSION", "USER", "VERSION",
    ),
    "a scenario runs without locks and without waiting": (
        "GET_LOCK", "IS_FREE_LOCK", "IS_USED_LOCK", "RELEASE_ALL_LOCKS", "RELEASE_LOCK",
    ),
    "TiDB does not support it": ("JSON_VALUE", "SOUNDEX", "UUID_SHORT"),
    "its result is approximate": ("APPROX_COUNT_DISTINCT", "APPROX_PERCENTILE"),
    "its result cannot be computed exactly as in TiDB": (
        "COERCIBILITY", "COMPRESS", "DECODE", "ENCODE", "JSON_SCHEMA_VALID", "JSON_SUM_CRC32", "TIDB_SHARD",
        "VALIDATE_PASSWORD_STRENGTH", "VITESS_HASH",
    ),
}  # fmt: skip

REJECTED = {name: reason for reason, names in REASONS.items() for name in names}
"""Functions that this tool rejects: the reason by name."""


def function_named(name: str) -> Function:
    """Return the function with a name in upper case.

    :raises UnsupportedSQL: if this tool does not support it; the hint has the reason or a similar name.
    """
    function = FUNCTIONS.get(name)
    if function is None:
        reason = REJECTED.get(name, "")
        hint = reason or nearest(name, FUNCTIONS, listed="the page on SQL")
        raise UnsupportedSQL(f"the function {name} is not supported", hint=hint)
    return function


__all__ = ["FUNCTIONS", "MODULES", "REASONS", "Function", "function_named"]
