"""``source``, names, and the schemas that are the same for every table.

Source: tiflow ``pkg/sink/codec/common/helper.go`` (SanitizeName, SanitizeTopicName).

Source: tiflow ``debezium/codec.go`` (EncodeKey, EncodeValue, EncodeCheckpointEvent, writeSourceSchema).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ticdc_producer.model.tso import physical
from ticdc_producer.protocols.arrow_text import Fragment, Fragments
from ticdc_producer.protocols.debezium import text
from ticdc_producer.protocols.debezium.options import DebeziumOptions

_OUTSIDE_NAME = re.compile(r"[^A-Za-z0-9_]")
_OUTSIDE_TABLE = re.compile(r"[^A-Za-z0-9_.]")


def schema_prefix(cluster: str, schema: str, table: str) -> str:
    """``cluster.schema.table``, sanitized; the caller appends ``.Key``, ``.Value`` or ``.Envelope``."""
    return f"{fit_name(cluster)}.{fit_name(schema)}.{_OUTSIDE_TABLE.sub('_', table)}"


def fit_name(name: str) -> str:
    """Sanitize the name of a cluster or database for use in the name of a schema."""
    name = _OUTSIDE_NAME.sub("_", name)
    return f"_{name}" if name[:1].isdigit() else name


Schema = dict[str, Any]


def compact(schema: Schema) -> bytes:
    """The schema as JSON without spaces; its names are ASCII."""
    return json.dumps(schema, separators=(",", ":")).encode()


def _field(kind: str, name: str, *, optional: bool = False) -> Schema:
    return {"type": kind, "optional": optional, "field": name}


_SNAPSHOT = {
    "type": "string",
    "optional": True,
    "name": "io.debezium.data.Enum",
    "version": 1,
    "parameters": {"allowed": "true,last,false,incremental"},
    "default": "false",
    "field": "snapshot",
}

_SOURCE_FIELDS = [
    _field("string", "version"),
    _field("string", "connector"),
    _field("string", "name"),
    _field("int64", "ts_ms"),
    _SNAPSHOT,
    _field("string", "db"),
    _field("string", "sequence", optional=True),
    _field("string", "table", optional=True),
    _field("int64", "server_id"),
    _field("string", "gtid", optional=True),
    _field("string", "file"),
    _field("int64", "pos"),
    _field("int32", "row"),
    _field("int64", "thread", optional=True),
    _field("string", "query", optional=True),
]

_TRANSACTION_SCHEMA: Schema = {
    "type": "struct",
    "fields": [
        _field("string", "id"),
        _field("int64", "total_order"),
        _field("int64", "data_collection_order"),
    ],
    "optional": True,
    "name": "event.block",
    "version": 1,
    "field": "transaction",
}


def source_schema(options: DebeziumOptions, *, of_rows: bool = False) -> Schema:
    """The schema of ``source``.

    TiCDC new architecture also lists TiCDC's own fields, if its options enable them.
    """
    fields = [*_SOURCE_FIELDS]
    if options.profile == "new" and options.enable_tidb_extension:
        fields += [_field("int64", "commit_ts"), _field("string", "cluster_id")]
    if options.debezium_include_start_ts and of_rows:
        fields.append(_field("int64", "start_ts"))
    return {
        "type": "struct",
        "fields": fields,
        "optional": False,
        "name": "io.debezium.connector.mysql.Source",
        "field": "source",
    }


def _common_fields(options: DebeziumOptions, *, of_rows: bool) -> list[bytes]:
    fields = [
        source_schema(options, of_rows=of_rows),
        _field("string", "op"),
        _field("int64", "ts_ms", optional=True),
        _TRANSACTION_SCHEMA,
    ]
    return [compact(field) for field in fields]


@dataclass(frozen=True, slots=True)
class DebeziumSource:
    """The ``source`` object of a table.

    The fields of Debezium's binlog position are empty. ``commit_ts``, ``start_ts`` and ``cluster_id`` are
    TiCDC's.

    :param head: JSON before ``ts_ms``, the commit time in Unix milliseconds.
    :param middle: JSON between ``ts_ms`` and ``commit_ts``, the commit TSO.
    :param tail: JSON after ``commit_ts`` and ``start_ts``.
    """

    head: bytes
    middle: bytes
    tail: bytes

    def fragments(self, ts_ms: Fragment, commit_ts: Fragment, start_ts: Fragment | None = None) -> Fragments:
        start = () if start_ts is None else (b',"start_ts":', start_ts)
        return self.head, ts_ms, self.middle, commit_ts, *start, self.tail

    def text(self, ts: int) -> bytes:
        """The ``source`` object of one event."""
        return b"%b%d%b%d%b" % (self.head, physical(ts), self.middle, ts, self.tail)


def source(cluster: str, schema: str, table: str) -> DebeziumSource:
    name, db, tbl = map(text.string, (cluster, schema, table))
    return DebeziumSource(
        head=b'{"version":"2.4.0.Final","connector":"TiCDC","name":' + name + b',"ts_ms":',
        middle=b',"snapshot":"false","db":' + db + b',"table":' + tbl
        + b',"server_id":0,"gtid":null,"file":"","pos":0,"row":0,"thread":0,"query":null,"commit_ts":',
        tail=b',"cluster_id":' + name + b"}",
    )  # fmt: skip


def key_schema(prefix: str, columns: bytes) -> bytes:
    """The schema of the key of a row or watermark.

    :param columns: the column schemas, joined by commas.
    """
    return b'{"type":"struct","name":"%b.Key","optional":false,"fields":[%b]}' % (prefix.encode(), columns)


def row_schema(prefix: str, columns: bytes, options: DebeziumOptions) -> bytes:
    """The schema of the value of a row. It always lists both images."""
    images = [
        b'{"type":"struct","optional":true,"name":"%b.Value","field":"%b","fields":[%b]}'
        % (prefix.encode(), image, columns)
        for image in (b"before", b"after")
    ]
    return _envelope(prefix, images + _common_fields(options, of_rows=True))


def watermark_schema(prefix: str, options: DebeziumOptions) -> bytes:
    """The schema of the value of a watermark."""
    return _envelope(prefix, _common_fields(options, of_rows=False))


def _envelope(prefix: str, fields: list[bytes]) -> bytes:
    return b'{"type":"struct","optional":false,"name":"%b.Envelope","version":1,"fields":[%b]}' % (
        prefix.encode(),
        b",".join(fields),
    )


def build_time(commit_ts: int, options: DebeziumOptions) -> int:
    """``ts_ms`` of the payload: the time at which the message was built, in Unix milliseconds."""
    return physical(commit_ts) if options.build_ts_ms is None else options.build_ts_ms
