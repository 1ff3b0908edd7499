"""Names as Avro allows them.

Source: tiflow ``pkg/sink/codec/common/helper.go`` (``SanitizeName``), ``pkg/sink/codec/avro/avro.go``.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from ticdc_producer.model.table import TableInfo

Part: TypeAlias = Literal["key", "value"]

NAMESPACE = "default"
"""Classic TiCDC's namespace of a changefeed, the new program's keyspace."""
_OUTSIDE = re.compile(r"[^A-Za-z0-9_]")
_DIGIT = re.compile(r"\d")  # a digit of any script, as Go's unicode.IsDigit


def sanitized(name: str) -> str:
    """A name with ``_`` for each character that Avro does not take, and before a leading digit."""
    if _DIGIT.match(name):
        return f"_{name[0]}{_OUTSIDE.sub('_', name[1:])}"
    return _OUTSIDE.sub("_", name)


def namespace(table: TableInfo) -> str:
    """Namespace of a table's records."""
    return f"{NAMESPACE}.{sanitized(table.schema)}"


def subject(topic: str, part: Part) -> str:
    """Under which a registry keeps the schemas of one part of a topic's messages."""
    return f"{topic.replace('.', '_')}-{part}"
