"""Encoder of Debezium."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from producer.codec.base import EncodedRow, RowBatch
from producer.codec.debezium import envelope, temporal
from producer.codec.debezium.ddl_message import ddl_message
from producer.codec.debezium.losses import DebeziumLosses, losses_of
from producer.codec.debezium.names import fit_name
from producer.codec.debezium.options import DebeziumOptions
from producer.codec.debezium.plan import Rendered, TablePlan, table_plan
from producer.errors import EncodeError
from producer.model.event import DDLEvent, Kind, Message, Op, Value
from producer.model.table import TableInfo
from producer.model.tso import physical


class DebeziumEncoder:
    """Values in, messages out; keeps one compiled plan per table version it has met."""

    def __init__(self, options: DebeziumOptions | None = None) -> None:
        self.options = options or DebeziumOptions()
        self._plans: dict[TableInfo, TablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> list[EncodedRow]:
        """Encode rows of one table version; see ``codec.base.Encoder``."""
        plan = self._plan(table)
        before, after = _images(table, plan, batch.before), _images(table, plan, batch.after)
        with_old = self.options.output_old_value
        rows = []
        for op, commit_ts in zip(batch.op, batch.commit_ts, strict=True):
            images = [next(before)] if op != Op.INSERT else []
            images += [next(after)] if op != Op.DELETE else []
            shown = images if with_old else images[-1:]
            times = (physical(commit_ts), commit_ts, envelope.build_time(commit_ts, self.options))
            value = plan.value[op] % (*times, *(image.members for image in shown))
            refusal = _refusal(table, commit_ts, shown)
            rows.append(EncodedRow(images[-1].key, value, commit_ts, refusal=refusal))
        return rows

    def messages(self, rows: Iterable[EncodedRow]) -> Iterator[Message]:
        """One message per row."""
        for row in rows:
            if row.refusal is not None:
                raise row.refusal
            yield Message(row.key, row.value, Kind.ROW.word, row.commit_ts)

    def ddl(
        self, event: DDLEvent, table: TableInfo | None = None, before: TableInfo | None = None
    ) -> Message | None:
        """The DDL event; None where DDL is off, and for the types that TiCDC leaves out silently.

        :param table: the table as the DDL leaves it; without it the message says nothing of its columns.
        :param before: the table as the DDL found it; a rename takes the old name from it.
        """
        if not self.options.output_ddl:
            return None
        return ddl_message(event, table, before, self.options)

    def resolved(self, ts: int) -> Message | None:
        """The watermark; None without the extension."""
        options = self.options
        if not options.enable_tidb_extension:
            return None
        source = envelope.source(options.cluster_id, "", "") % (physical(ts), ts)
        key = b'{"payload":{}'
        value = b'{"payload":{"source":%b,"ts_ms":%d,"transaction":null,"op":"m"}' % (
            source,
            envelope.build_time(ts, options),
        )
        if not options.disable_schema:
            prefix = f"{fit_name(options.cluster_id)}.watermark"
            key += b',"schema":%b' % envelope.key_schema(prefix, b"")
            value += b',"schema":%b' % envelope.watermark_schema(prefix)
        return Message(key + b"}", value + b"}", Kind.RESOLVED.word, ts)

    @property
    def losses(self) -> DebeziumLosses:
        return losses_of(self.options)

    def _plan(self, table: TableInfo) -> TablePlan:
        if table not in self._plans:
            self._plans[table] = table_plan(table, self.options)
        return self._plans[table]


class _Image(NamedTuple):
    """One image of one row: the key it has, its members, and the date that TiCDC refuses, if any."""

    key: bytes
    members: bytes
    refused: bytes


def _images(table: TableInfo, plan: TablePlan, image: Sequence[Sequence[Value]]) -> Iterator[_Image]:
    rendered = plan.rendered(image)
    refused = _refused(table, plan, image, rendered)
    return map(_Image, plan.keys(rendered), plan.images(rendered), refused)


def _refused(
    table: TableInfo, plan: TablePlan, image: Sequence[Sequence[Value]], rendered: Rendered
) -> list[bytes]:
    """Per row the first date that cannot be written, else nothing."""
    found = [b""] * len(rendered[0])
    for place in reversed(plan.refusable):
        if temporal.REFUSED in rendered[place]:
            default = table.sent_columns[place].default or b""
            for row, (value, shown) in enumerate(zip(image[place], rendered[place], strict=True)):
                if shown == temporal.REFUSED:
                    found[row] = (value or default)[:10]
    return found


def _refusal(table: TableInfo, commit_ts: int, images: Sequence[_Image]) -> EncodeError | None:
    refused = next((image.refused for image in images if image.refused), b"")
    if not refused:
        return None
    return EncodeError(
        f"debezium encode failed: [types:1292]Incorrect datetime value: '{refused.decode()}'",
        code="CDC:ErrDebeziumEncodeFailed",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="DATETIME values with a zero month or day cannot be sent in this protocol",
    )
