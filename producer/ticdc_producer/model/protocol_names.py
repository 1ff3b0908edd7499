"""The protocols in which TiCDC writes messages to Kafka."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Protocol: TypeAlias = Literal["open-protocol", "craft", "canal-json", "debezium", "simple"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
