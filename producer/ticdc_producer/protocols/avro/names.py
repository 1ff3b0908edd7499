"""Converts names to names that Avro allows.

Source: tiflow ``pkg/sink/codec/common/helper.go`` (``SanitizeName``), ``pkg/sink/codec/avro/avro.go``.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from ticdc_producer.model.table import TableInfo

Part: TypeAlias = Literal["key", "value"]

NAMESPACE = "default"
"""The changefeed namespace in classic TiCDC (tiflow), the keyspace in TiCDC new architecture."""
_OUTSIDE = re.compile(r"[^A-Za-z0-9_]")
_DIGIT = re.compile(r"\d")  # a digit of any script, as Go's unicode.IsDigit


def sanitized(name: str) -> str:
    """Replace each character that Avro does not allow with ``_``, and put ``_`` before a leading digit."""
    if _DIGIT.match(name):
        return f"_{name[0]}{_OUTSIDE.sub('_', name[1:])}"
    return _OUTSIDE.sub("_", name)


def namespace(table: TableInfo) -> str:
    """The Avro namespace of the records of a table."""
    return f"{NAMESPACE}.{sanitized(table.schema)}"


def subject(topic: str, part: Part) -> str:
    """The registry subject for the keys or values of a topic."""
    return f"{topic.replace('.', '_')}-{part}"
