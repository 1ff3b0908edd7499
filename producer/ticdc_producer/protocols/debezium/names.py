"""Names of Kafka Connect schemas. Debezium allows fewer characters in them than TiDB allows in names.

Source: tiflow ``pkg/sink/codec/common/helper.go`` (SanitizeName, SanitizeTopicName).
"""

from __future__ import annotations

import re

_OUTSIDE_NAME = re.compile(r"[^A-Za-z0-9_]")
_OUTSIDE_TABLE = re.compile(r"[^A-Za-z0-9_.]")


def schema_prefix(cluster: str, schema: str, table: str) -> str:
    """``cluster.schema.table``, sanitized; the caller appends ``.Key``, ``.Value`` or ``.Envelope``."""
    return f"{fit_name(cluster)}.{fit_name(schema)}.{_OUTSIDE_TABLE.sub('_', table)}"


def fit_name(name: str) -> str:
    """Sanitize the name of a cluster or database for use in the name of a schema."""
    name = _OUTSIDE_NAME.sub("_", name)
    return f"_{name}" if name[:1].isdigit() else name
