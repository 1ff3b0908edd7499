"""Options of the storage sink: file names, and when a file ends.

TiCDC's names, defaults and keys: tiflow ``pkg/config/sink.go`` (``CloudStorageConfig``),
``pkg/config/replica_config.go``, ``pkg/sink/cloudstorage/config.go``.

Source: tiflow ``pkg/sink/cloudstorage/config.go``, ticdc ``pkg/cloudstorage/config.go``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ticdc_producer.model.option_type import AnyText, Boolean, Choice, GoDuration, IntRange, OptionType, Plain
from ticdc_producer.model.parameter import STORAGE, Parameter, SinkKind

MIN_INDEX_WIDTH, MAX_INDEX_WIDTH = 6, 20
_INT64_MAX = (1 << 63) - 1
_MIB = 1 << 20


def _of_storage(
    name: str, value: OptionType, default: Plain, effect: str, *, file_key: str = "", in_uri: bool = False
) -> Parameter:
    return Parameter(
        name=name,
        value=value,
        default=default,
        effect=effect,
        in_uri=in_uri,
        file_key=file_key or f"sink.{name}",
        sinks=(SinkKind.STORAGE,),
    )


OF_STORAGE = (
    _of_storage("terminator", AnyText(), "\r\n", "Text after every row."),
    _of_storage(
        "date-separator", Choice(choices=("none", "year", "month", "day")), "day",
        "Directories by date: date of the commit in time-zone (TiCDC: date of the write).",
    ),
    _of_storage(
        "enable-partition-separator", Boolean(), True,
        "A directory for each partition of a partitioned table.",
    ),
    _of_storage(
        "file-index-digit", IntRange(0, _INT64_MAX), MAX_INDEX_WIDTH,
        "Digits of a file's number; values outside of 6 to 20 become 20.",
    ),
    _of_storage(
        "file-size", IntRange(0, _INT64_MAX), 64 * _MIB,
        "Bytes after which a file ends, at the end of a transaction: 1 MiB (new: 1 KiB) to 512 MiB.",
        file_key=STORAGE + "file-size", in_uri=True,
    ),
    _of_storage(
        "flush-interval", GoDuration(), None,
        "A file ends at each multiple of this interval on the commit clock, from 2s (new: 100ms) to 10m; by "
        "default no file ends by time (TiCDC: 5s of its own clock).",
        file_key=STORAGE + "flush-interval", in_uri=True,
    ),
    _of_storage(
        "output-column-id", Boolean(), False, "Schema files contain the ids of columns.",
        file_key=STORAGE + "output-column-id",
    ),
)  # fmt: skip


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
