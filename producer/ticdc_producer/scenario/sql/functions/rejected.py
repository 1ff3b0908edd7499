"""Functions that there are good reasons not to have."""

from __future__ import annotations

REASONS = {
    "a scenario gives the same rows everywhere, and this function does not": (
        "RAND", "RANDOM_BYTES", "UUID", "UUID_SHORT", "UUID_V4", "UUID_V7",
    ),
    "there is no server or user behind a scenario that could answer": (
        "CONNECTION_ID", "CURRENT_RESOURCE_GROUP", "CURRENT_ROLE", "CURRENT_USER", "DATABASE", "FOUND_ROWS",
        "LAST_INSERT_ID", "LASTVAL", "LOAD_FILE", "NEXTVAL", "ROW_COUNT", "SCHEMA", "SESSION_USER", "SETVAL",
        "SYSTEM_USER", "TIDB_IS_DDL_OWNER", "TIDB_VERSION", "USER", "VERSION",
    ),
    "scenarios run alone, without locks or waiting": (
        "BENCHMARK", "GET_LOCK", "IS_FREE_LOCK", "IS_USED_LOCK", "RELEASE_ALL_LOCKS", "RELEASE_LOCK", "SLEEP",
    ),
    "TiDB does not have it": ("JSON_VALUE", "SOUNDEX"),
    "aggregates need a query, and scenarios have none": (
        "AVG", "BIT_AND", "BIT_OR", "BIT_XOR", "COUNT", "GROUP_CONCAT", "JSON_ARRAYAGG", "JSON_OBJECTAGG",
        "MAX", "MIN", "SUM",
    ),
    "its result cannot be computed exactly as TiDB does": (
        "AES_DECRYPT", "AES_ENCRYPT", "COMPRESS", "DECODE", "ENCODE", "PASSWORD", "UNCOMPRESS",
        "WEIGHT_STRING",
    ),
}  # fmt: skip

REFUSED = {name: reason for reason, names in REASONS.items() for name in names}
"""The reason by the function's name."""
