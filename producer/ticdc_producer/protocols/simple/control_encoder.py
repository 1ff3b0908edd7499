"""DDL, WATERMARK and BOOTSTRAP messages.

Source: tiflow ``pkg/sink/codec/simple/message.go`` (``newDDLMessage``, ``newResolvedMessage``,
``newBootstrapMessage``).
"""

from __future__ import annotations

from ticdc_producer.model.event import DDLEvent
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import physical
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.simple.event_type import BOOTSTRAP, EXCHANGE_PARTITION, WATERMARK, ddl_word
from ticdc_producer.protocols.simple.options import SimpleOptions
from ticdc_producer.protocols.simple.table_schema import table_schema

_DROP_TABLE, _DROP_VIEW = 4, 24


def build_ts(ts: int, options: SimpleOptions) -> int:
    """``buildTs`` of an event, in Unix milliseconds."""
    return physical(ts) if options.build_ts_ms is None else options.build_ts_ms


def watermark(ts: int, options: SimpleOptions) -> bytes:
    """The value that says that all events up to a time stamp were sent."""
    return b'{"version":1,"type":"%b","commitTs":%d,"buildTs":%d}' % (
        WATERMARK.encode(),
        ts,
        build_ts(ts, options),
    )


def bootstrap(table: TableInfo, ts: int, options: SimpleOptions) -> bytes:
    """The value that describes a table.

    :param ts: commit-ts of the row it is sent for, which the message does not tell.
    """
    return b'{"version":1,"type":"%b","commitTs":0,"buildTs":%d,"tableSchema":%b}' % (
        BOOTSTRAP.encode(),
        build_ts(ts, options),
        table_schema(table, options.profile),
    )


def ddl(event: DDLEvent, table: TableInfo | None, before: TableInfo | None, options: SimpleOptions) -> bytes:
    """The value of a DDL event.

    The new program shows the table before it for EXCHANGE PARTITION alone.

    :param table: the table as the DDL leaves it.
    :param before: the table as the DDL found it.
    """
    schemas = []
    shown = shown_table(event, table, before)
    if shown is not None:
        schemas.append(b',"tableSchema":' + table_schema(shown, options.profile))
    if before is not None and (options.profile == "classic" or event.ddl_type == EXCHANGE_PARTITION):
        schemas.append(b',"preTableSchema":' + table_schema(before, options.profile))
    return b'{"version":1,"type":"%b","sql":%b,"commitTs":%d,"buildTs":%d%b}' % (
        ddl_word(event.ddl_type, options.profile).encode(),
        STRINGS.literal(event.query),
        event.commit_ts,
        build_ts(event.commit_ts, options),
        b"".join(schemas),
    )


def shown_table(event: DDLEvent, table: TableInfo | None, before: TableInfo | None) -> TableInfo | None:
    """The table of ``tableSchema``: as the DDL leaves it; one that is dropped, as it was."""
    return before if table is None and event.ddl_type in (_DROP_TABLE, _DROP_VIEW) else table
