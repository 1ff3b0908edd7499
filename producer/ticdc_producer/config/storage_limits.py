"""Bounds of the storage sink's numeric options: TiCDC clamps values that are out of bounds.

Source: tiflow ``pkg/sink/cloudstorage/config.go``, ticdc ``pkg/cloudstorage/config.go``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ticdc_producer.config.storage_parameters import MAX_INDEX_WIDTH, MIN_INDEX_WIDTH
from ticdc_producer.model.option_type import Plain

_LARGEST_FILE = 512 << 20
_SMALLEST_FILE = {"classic": 1 << 20, "new": 1 << 10}
_LONGEST_MS = 600_000
_SHORTEST_MS = {"classic": 2000, "new": 100}
_NO_LIMIT = (1 << 31) - 1


def storage_limits(options: Mapping[str, Plain]) -> dict[str, Plain]:
    """The options that have bounds, with their effective values.

    ``max-message-bytes`` is a limit of Kafka: a row of a file may have any size.
    """
    profile, width = str(options["profile"]), _number(options["file-index-digit"])
    size = min(max(_number(options["file-size"]), _SMALLEST_FILE[profile]), _LARGEST_FILE)
    flush = options["flush-interval"]
    if flush is not None:
        flush = min(max(_number(flush), _SHORTEST_MS[profile]), _LONGEST_MS)
    return {
        "file-index-digit": width if MIN_INDEX_WIDTH <= width <= MAX_INDEX_WIDTH else MAX_INDEX_WIDTH,
        "file-size": size,
        "flush-interval": flush,
        "max-message-bytes": _NO_LIMIT,
    }


def _number(value: Plain) -> int:
    return int(value or 0)
