"""Encoder of Debezium."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from producer.codec.base import EncodedRow, RowBatch
from producer.codec.compression import compressed
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
        before, after = plan.rendered(batch.before), plan.rendered(batch.after)
        values = self._values(plan, batch, before, after)
        keys = _of_shown_images(batch.op, plan.keys(before), plan.keys(after))
        packed = (map(self._compressed, keys), map(self._compressed, values))
        rows = [EncodedRow(*row) for row in zip(*packed, batch.commit_ts, strict=True)]
        self._refuse(table, plan, batch, before, after, rows)
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
        message = ddl_message(event, table, before, self.options)
        return None if message is None else self._packed(message)

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
            value += b',"schema":%b' % envelope.watermark_schema(prefix, options)
        return self._packed(Message(key + b"}", value + b"}", Kind.RESOLVED.word, ts))

    def _packed(self, message: Message) -> Message:
        """Compressed, key and value apart, where the options say so."""
        key, value = self._compressed(message.key or b""), self._compressed(message.value or b"")
        return Message(key, value, message.type, message.commit_ts)

    def _compressed(self, data: bytes) -> bytes:
        return compressed(data, self.options.large_message_handle_compression)

    @property
    def losses(self) -> DebeziumLosses:
        return losses_of(self.options)

    def _plan(self, table: TableInfo) -> TablePlan:
        if table not in self._plans:
            self._plans[table] = table_plan(table, self.options)
        return self._plans[table]

    def _values(self, plan: TablePlan, batch: RowBatch, before: Rendered, after: Rendered) -> Iterator[bytes]:
        old, new = iter(plan.images(before)), iter(plan.images(after))
        insert, update, delete = (plan.value[op] for op in Op)
        with_old = self.options.output_old_value
        for op, times in zip(batch.op, self._times(batch), strict=True):
            if op == Op.INSERT:
                yield insert % (*times, next(new))
            elif op == Op.DELETE:
                yield delete % (*times, next(old))
            else:
                image = next(old)
                yield update % ((*times, image, next(new)) if with_old else (*times, next(new)))

    def _times(self, batch: RowBatch) -> Iterator[tuple[int, ...]]:
        """Of every row physical commit time, commit-ts, start-ts if it is shown, and build time."""
        commits = [physical(ts) for ts in batch.commit_ts]
        build = self.options.build_ts_ms
        builds = commits if build is None else [build] * len(commits)
        starts = [[ts - 1 for ts in batch.commit_ts]] if self.options.include_start_ts else []
        return zip(commits, batch.commit_ts, *starts, builds, strict=True)

    def _refuse(
        self,
        table: TableInfo,
        plan: TablePlan,
        batch: RowBatch,
        before: Rendered,
        after: Rendered,
        rows: list[EncodedRow],
    ) -> None:
        old, new = _refused(table, plan, batch.before, before), _refused(table, plan, batch.after, after)
        if not any(old) and not any(new):
            return
        olds, news = iter(old), iter(new)
        for row, op in zip(rows, batch.op, strict=True):
            dates = [next(olds)] if op != Op.INSERT else []
            dates += [next(news)] if op != Op.DELETE else []
            if not self.options.output_old_value:
                dates = dates[-1:]
            refused = next(filter(None, dates), b"")
            if refused:
                row.refusal = _refusal(table, row.commit_ts, refused)


def _of_shown_images(ops: Sequence[int], old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    """Of each row the one of its new image, of a delete that of its old one."""
    olds, news = iter(old), iter(new)
    for op in ops:
        before = b"" if op == Op.INSERT else next(olds)
        yield before if op == Op.DELETE else next(news)


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


def _refusal(table: TableInfo, commit_ts: int, refused: bytes) -> EncodeError:
    return EncodeError(
        f"debezium encode failed: [types:1292]Incorrect datetime value: '{refused.decode()}'",
        code="CDC:ErrDebeziumEncodeFailed",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="DATETIME values with a zero month or day cannot be sent in this protocol",
    )
