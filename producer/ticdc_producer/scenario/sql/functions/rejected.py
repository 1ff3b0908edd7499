"""Functions that this tool rejects, with the reasons."""

from __future__ import annotations

REASONS = {
    "a scenario gives the same rows on every run, and this function would not": (
        "RAND", "RANDOM_BYTES", "UUID", "UUID_SHORT", "UUID_V4", "UUID_V7",
    ),
    "a scenario runs without a server and without a user": (
        "CONNECTION_ID", "CURRENT_RESOURCE_GROUP", "CURRENT_ROLE", "CURRENT_USER", "DATABASE", "FOUND_ROWS",
        "LASTVAL", "LOAD_FILE", "NEXTVAL", "SCHEMA", "SESSION_USER", "SETVAL", "SYSTEM_USER",
        "TIDB_IS_DDL_OWNER", "TIDB_VERSION", "USER", "VERSION",
    ),
    "a scenario runs without locks and without waiting": (
        "BENCHMARK", "GET_LOCK", "IS_FREE_LOCK", "IS_USED_LOCK", "RELEASE_ALL_LOCKS", "RELEASE_LOCK", "SLEEP",
    ),
    "TiDB does not have it": ("JSON_VALUE", "SOUNDEX"),
    "its result depends on the order in which TiDB adds up the rows, or is approximate": (
        "APPROX_COUNT_DISTINCT", "APPROX_PERCENTILE", "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP",
        "VARIANCE", "VAR_POP", "VAR_SAMP",
    ),
    "its result cannot be computed exactly as in TiDB": (
        "AES_DECRYPT", "AES_ENCRYPT", "COMPRESS", "DECODE", "ENCODE", "PASSWORD", "UNCOMPRESS",
        "WEIGHT_STRING",
    ),
}  # fmt: skip

REJECTED = {name: reason for reason, names in REASONS.items() for name in names}
"""The reason by the function's name."""
