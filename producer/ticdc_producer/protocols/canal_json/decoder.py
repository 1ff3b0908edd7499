"""Strict decoder of Canal-JSON: every malformed message raises a ``DecodeError`` with its byte offset.

The decoder also accepts what classic TiCDC (tiflow) never writes: members in any order, unknown members,
several objects in one message (as in a storage file) or several rows (as Alibaba canal sends them), and
the forms of older and newer versions: deletes that repeat ``data`` in ``old``, ``mysqlType`` of null,
``_tidb.rowkey``.
"""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import DDLEvent, Event, ResolvedEvent
from ticdc_producer.model.tso import compose
from ticdc_producer.protocols.canal_json.envelope import Envelope, parse_envelope
from ticdc_producer.protocols.canal_json.event_type import DDL_KEYWORDS, OPS, WATERMARK, action_code
from ticdc_producer.protocols.canal_json.row_reader import row_events
from ticdc_producer.protocols.compression import plain


class CanalJSONDecoder:
    """Decodes messages to events."""

    def events(
        self,
        key: bytes | None,  # noqa: ARG002  # the protocol has no keys
        value: bytes | None,
    ) -> Iterator[Event]:
        """The events of one message, in order.

        :param key: ignored.
        :raises DecodeError: if this is not a message of the protocol.
        """
        text = plain(value or b"", "value")
        start, end = 0, -1
        while end:
            message, columns, end = parse_envelope(text, start)
            if message.type in OPS and not message.is_ddl:
                yield from row_events(message, columns, start)
            else:
                yield _other(message, start)
            start = end


def _other(message: Envelope, start: int) -> Event:
    if message.is_ddl:
        return _ddl(message, start)
    if message.type == WATERMARK:
        return _watermark(message, start)
    known = ", ".join([*OPS, WATERMARK])
    raise DecodeError("CANAL-TYPE", f"a type of {known}", part="value", byte=start)


def _ddl(message: Envelope, start: int) -> DDLEvent:
    if message.type not in DDL_KEYWORDS:
        known = ", ".join(sorted(DDL_KEYWORDS))
        raise DecodeError("CANAL-TYPE", f"a DDL type of {known}", part="value", byte=start)
    return DDLEvent(
        commit_ts=_commit_ts(message),
        schema=message.database,
        table=message.table,
        query=message.sql,
        ddl_type=action_code(message.type),
    )


def _watermark(message: Envelope, start: int) -> ResolvedEvent:
    if message.tidb is None or not message.tidb.watermark_ts:
        raise DecodeError("CANAL-WATERMARK", "a watermarkTs in _tidb", part="value", byte=start)
    return ResolvedEvent(commit_ts=message.tidb.watermark_ts)


def _commit_ts(message: Envelope) -> int:
    """The commit-ts; without the TiDB extension the first TSO of the millisecond ``es``."""
    return message.tidb.commit_ts if message.tidb and message.tidb.commit_ts else compose(message.es)
