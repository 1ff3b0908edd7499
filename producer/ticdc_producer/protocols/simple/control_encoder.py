"""Encodes DDL, WATERMARK and BOOTSTRAP messages as JSON.

Source: tiflow ``pkg/sink/codec/simple/message.go`` (``newDDLMessage``, ``newResolvedMessage``,
``newBootstrapMessage``).
"""

from __future__ import annotations

from ticdc_producer.model.event import DDLEvent
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import physical
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.simple.event_type import BOOTSTRAP, EXCHANGE_PARTITION, WATERMARK, ddl_type_name
from ticdc_producer.protocols.simple.options import SimpleOptions
from ticdc_producer.protocols.simple.table_schema import table_schema

_DROP_TABLE, _DROP_VIEW = 4, 24


def build_ts(ts: int, options: SimpleOptions) -> int:
    """``buildTs`` of the message of an event, in Unix milliseconds."""
    return physical(ts) if options.build_ts_ms is None else options.build_ts_ms


def watermark(ts: int, options: SimpleOptions) -> bytes:
    """The value of a WATERMARK message: all events up to ``ts`` were sent."""
    return b'{"version":1,"type":"%b","commitTs":%d,"buildTs":%d}' % (
        WATERMARK.encode(),
        ts,
        build_ts(ts, options),
    )


def bootstrap(table: TableInfo, ts: int, options: SimpleOptions) -> bytes:
    """The value of a BOOTSTRAP message, which carries the schema of a table.

    :param ts: commit-ts of the row before which it is sent; it sets ``buildTs`` only.
    """
    return b'{"version":1,"type":"%b","commitTs":0,"buildTs":%d,"tableSchema":%b}' % (
        BOOTSTRAP.encode(),
        build_ts(ts, options),
        table_schema(table, options.profile),
    )


def ddl(event: DDLEvent, table: TableInfo | None, before: TableInfo | None, options: SimpleOptions) -> bytes:
    """The value of a DDL event.

    TiCDC new architecture sends ``preTableSchema`` only for EXCHANGE PARTITION.

    :param table: the table after the DDL.
    :param before: the table before the DDL.
    """
    schemas = []
    described = ddl_schema_table(event, table, before)
    if described is not None:
        schemas.append(b',"tableSchema":' + table_schema(described, options.profile))
    if before is not None and (options.profile == "classic" or event.ddl_type == EXCHANGE_PARTITION):
        schemas.append(b',"preTableSchema":' + table_schema(before, options.profile))
    return b'{"version":1,"type":"%b","sql":%b,"commitTs":%d,"buildTs":%d%b}' % (
        ddl_type_name(event.ddl_type, options.profile).encode(),
        STRINGS.literal(event.query),
        event.commit_ts,
        build_ts(event.commit_ts, options),
        b"".join(schemas),
    )


def ddl_schema_table(event: DDLEvent, table: TableInfo | None, before: TableInfo | None) -> TableInfo | None:
    """The table in ``tableSchema``: the table after the DDL, or before it for DROP TABLE and DROP VIEW."""
    return before if table is None and event.ddl_type in (_DROP_TABLE, _DROP_VIEW) else table
