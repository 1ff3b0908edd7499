"""The two TiCDC programs, and the protocols in which they write messages to Kafka."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Profile: TypeAlias = Literal["classic", "new"]


Protocol: TypeAlias = Literal["open-protocol", "canal-json", "debezium", "craft", "simple", "avro"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
WITHOUT_AVRO: tuple[Protocol, ...] = tuple(name for name in PROTOCOLS if name != "avro")
