"""The parts of messages around the columns: ``source``, and the schemas of keys and values.

Source: tiflow ``debezium/codec.go`` (EncodeKey, EncodeValue, EncodeCheckpointEvent, writeSourceSchema),
``pkg/sink/codec/common/helper.go`` (SanitizeName, SanitizeTopicName).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ticdc_producer.model.tso import physical
from ticdc_producer.protocols.arrow_text import Fragment, Fragments
from ticdc_producer.protocols.debezium.schemas import TRANSACTION_SCHEMA, compact, fields, source_schema
from ticdc_producer.protocols.debezium.values import string
from ticdc_producer.protocols.row_options import DebeziumOptions


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
        """Return the ``source`` object of one event."""
        return b"%b%d%b%d%b" % (self.head, physical(ts), self.middle, ts, self.tail)


def source(cluster: str, schema: str, table: str) -> DebeziumSource:
    name, db, tbl = map(string, (cluster, schema, table))
    return DebeziumSource(
        head=b'{"version":"2.4.0.Final","connector":"TiCDC","name":' + name + b',"ts_ms":',
        middle=b',"snapshot":"false","db":' + db + b',"table":' + tbl
        + b',"server_id":0,"gtid":null,"file":"","pos":0,"row":0,"thread":0,"query":null,"commit_ts":',
        tail=b',"cluster_id":' + name + b"}",
    )  # fmt: skip


_OUTSIDE_NAME = re.compile(r"[^A-Za-z0-9_]")
_OUTSIDE_TABLE = re.compile(r"[^A-Za-z0-9_.]")


def schema_prefix(cluster: str, schema: str, table: str) -> str:
    """Return ``cluster.schema.table``, sanitized. It precedes ``.Key``, ``.Value`` or ``.Envelope``."""
    return f"{fit_name(cluster)}.{fit_name(schema)}.{_OUTSIDE_TABLE.sub('_', table)}"


def fit_name(name: str) -> str:
    """Sanitize the name of a cluster or database for use in the name of a schema."""
    name = _OUTSIDE_NAME.sub("_", name)
    return f"_{name}" if name[:1].isdigit() else name


def _common_fields(options: DebeziumOptions, *, of_rows: bool) -> list[bytes]:
    listed = source_schema(options, of_rows=of_rows), *fields("op:string ts_ms:int64?"), TRANSACTION_SCHEMA
    return list(map(compact, listed))


def key_schema(prefix: str, columns: bytes) -> bytes:
    """Return the schema of the key of a row or watermark.

    :param columns: the column schemas, joined by commas.
    """
    return b'{"type":"struct","name":"%b.Key","optional":false,"fields":[%b]}' % (prefix.encode(), columns)


def row_schema(prefix: str, columns: bytes, options: DebeziumOptions) -> bytes:
    """Return the schema of the value of a row. It always lists both images."""
    images = [
        b'{"type":"struct","optional":true,"name":"%b.Value","field":"%b","fields":[%b]}'
        % (prefix.encode(), image, columns)
        for image in (b"before", b"after")
    ]
    return _envelope(prefix, images + _common_fields(options, of_rows=True))


def watermark_schema(prefix: str, options: DebeziumOptions) -> bytes:
    """Return the schema of the value of a watermark."""
    return _envelope(prefix, _common_fields(options, of_rows=False))


def _envelope(prefix: str, listed: list[bytes]) -> bytes:
    return b'{"type":"struct","optional":false,"name":"%b.Envelope","version":1,"fields":[%b]}' % (
        prefix.encode(),
        b",".join(listed),
    )
