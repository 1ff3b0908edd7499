"""Options of the storage sink: how files are named, when one ends, how CSV writes a row.

TiCDC's names, defaults and places: tiflow ``pkg/config/sink.go`` (``CSVConfig``, ``CloudStorageConfig``),
``pkg/config/replica_config.go``, ``pkg/sink/cloudstorage/config.go``.
"""

from __future__ import annotations

from ticdc_producer.config.option_type import AnyText, Flag, GoDuration, Plain, ValueRule, Whole, Word
from ticdc_producer.config.parameter import STORAGE, Parameter, SinkKind

MIN_INDEX_WIDTH, MAX_INDEX_WIDTH = 6, 20
_MANY = (1 << 63) - 1
_MIB = 1 << 20


def _of_storage(
    name: str, value: ValueRule, default: Plain, effect: str, *, file_key: str = "", in_uri: bool = False
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


def _of_csv(name: str, value: ValueRule, default: Plain, effect: str) -> Parameter:
    return Parameter(
        name=name,
        value=value,
        default=default,
        effect=effect,
        in_uri=False,
        file_key=f"sink.csv.{name}",
        sinks=(SinkKind.STORAGE,),
        protocols=("csv",),
    )


OF_STORAGE = (
    _of_storage("terminator", AnyText(), "\r\n", "Ends every row."),
    _of_storage(
        "date-separator", Word(choices=("none", "year", "month", "day")), "day",
        "Directories by date: of the commit, in time-zone (TiCDC: of the write).",
    ),
    _of_storage(
        "enable-partition-separator", Flag(), True, "A directory for each partition of a partitioned table.",
    ),
    _of_storage(
        "file-index-digit", Whole(0, _MANY), MAX_INDEX_WIDTH,
        "Digits of a file's number; outside of 6 to 20 it is 20.",
    ),
    _of_storage(
        "file-size", Whole(0, _MANY), 64 * _MIB,
        "A file ends with the transaction that fills it to so many bytes: 1 MiB (new: 1 KiB) to 512 MiB.",
        file_key=STORAGE + "file-size", in_uri=True,
    ),
    _of_storage(
        "flush-interval", GoDuration(), None,
        "A file ends at each multiple of it on the commit clock, from 2s (new: 100ms) to 10m; without it "
        "no file ends by time (TiCDC: 5s of its own clock).",
        file_key=STORAGE + "flush-interval", in_uri=True,
    ),
    _of_storage(
        "output-column-id", Flag(), False, "Schema files tell the ids of columns.",
        file_key=STORAGE + "output-column-id",
    ),
    _of_csv("delimiter", AnyText(), ",", "Stands between fields."),
    _of_csv("quote", AnyText(), '"', "Stands around texts; empty: none, and backslashes escape."),
    _of_csv("null", AnyText(), r"\N", "Stands for NULL, never quoted."),
    _of_csv("include-commit-ts", Flag(), False, "Rows tell their commit-ts."),
    _of_csv("output-handle-key", Flag(), False, "Rows tell TiDB's handle."),
    _of_csv("output-field-header", Flag(), False, "Files begin with the names of the fields."),
    _of_csv("binary-encoding-method", Word(choices=("base64", "hex")), "base64", "How bytes are written."),
)  # fmt: skip
