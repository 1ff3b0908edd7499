"""The encoder of Debezium."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import DDLEvent, Kind, Message, Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import Fragment, Fragments, concat, integers
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.compression import all_compressed, compressed
from ticdc_producer.protocols.debezium.ddl import ddl_message
from ticdc_producer.protocols.debezium.envelope import fit_name, key_schema, source, watermark_schema
from ticdc_producer.protocols.debezium.fidelity import DebeziumFidelity
from ticdc_producer.protocols.debezium.plan import (
    DebeziumTablePlan,
    Rendered,
    table_plan,
)
from ticdc_producer.protocols.debezium.temporal import REFUSED
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowStatus, encoded_rows
from ticdc_producer.protocols.message_batch import MessageBatch, one_message_per_row
from ticdc_producer.protocols.row_options import DebeziumOptions


class DebeziumEncoder:
    """An encoder of values to messages. It caches one compiled plan per table version."""

    def __init__(self, options: DebeziumOptions | None = None) -> None:
        self.options = options or DebeziumOptions()
        self._plans: dict[TableInfo, DebeziumTablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``."""
        if table not in self._plans:
            self._plans[table] = table_plan(table, self.options)
        plan, has_old = self._plans[table], batch.op != Op.UPDATE or self.options.output_old_value
        before, after = plan.rendered(batch.before) if has_old else (), plan.rendered(batch.after)
        forms = DebeziumRowMessages(plan, batch, self.options, before, after)
        notes = {
            index: RowStatus(refusal=_refusal(table, batch, index, table.sent_columns[column].name, date))
            for index, (column, date) in forms.rejected().items()
        }
        return encoded_rows(forms.keys(), forms.values(), batch.commit_ts, notes)

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Return one message per row."""
        return (one_message_per_row(part, keyed=True) for part in rows)

    def ddl(
        self, event: DDLEvent, table: TableInfo | None = None, before: TableInfo | None = None
    ) -> Message | None:
        """Return the message of a DDL event; None if DDL events are off, and for types that TiCDC skips.

        :param table: the table after the DDL; without it the message has no columns.
        :param before: the table before the DDL; RENAME TABLE takes the old name from it.
        """
        if not self.options.output_ddl:
            return None
        message = ddl_message(event, table, before, self.options)
        return None if message is None else self._packed(message)

    def resolved(self, ts: int) -> Message | None:
        """Return the watermark message; None without the TiDB extension."""
        options = self.options
        if not options.enable_tidb_extension:
            return None
        key = b'{"payload":{}'
        value = b'{"payload":{"source":%b,"ts_ms":%d,"transaction":null,"op":"m"}' % (
            source(options.cluster_id, "", "").text(ts),
            options.ts_ms(ts),
        )
        if not options.debezium_disable_schema:
            prefix = f"{fit_name(options.cluster_id)}.watermark"
            key += b',"schema":%b' % key_schema(prefix, b"")
            value += b',"schema":%b' % watermark_schema(prefix, options)
        return self._packed(Message(key + b"}", value + b"}", Kind.RESOLVED.label, ts))

    def _packed(self, message: Message) -> Message:
        """Compress key and value separately, if the options enable compression."""
        method = self.options.large_message_handle_compression
        key, value = (compressed(part or b"", method) for part in (message.key, message.value))
        return Message(key, value, message.type, message.commit_ts)

    @property
    def fidelity(self) -> DebeziumFidelity:
        return DebeziumFidelity.of(self.options)


def _refusal(table: TableInfo, batch: RowBatch, index: int, column: str, date: bytes) -> EncodeError:
    """Return TiCDC's error, and what it does not name: the column and the key of the row."""
    what = f"debezium encode failed: [types:1292]Incorrect datetime value: '{date.decode()}'"
    return EncodeError(
        f"{what}, {batch.value_name(table, index, column)}",
        code="CDC:ErrDebeziumEncodeFailed",
        table=table.qualified_name,
        commit_ts=batch.commit_ts[index].as_py(),
        hint="DATETIME values with a zero month or day cannot be sent in this protocol",
    )


@dataclass(frozen=True, slots=True)
class DebeziumRowMessages:
    """The rows of one batch, with their values as JSON.

    :param before: old images as JSON; empty if the messages have none.
    :param after: new images as JSON; empty if the messages have none.
    """

    plan: DebeziumTablePlan
    batch: RowBatch
    options: DebeziumOptions
    before: Rendered
    after: Rendered

    def keys(self) -> pa.Array:
        """Return the key of every row. It has no columns if the table has no handle key."""
        images = self.before if self.batch.op == Op.DELETE else self.after
        members = self.plan.key_members(images)
        return self._packed([b'{"payload":{', *members, self.plan.key_tail])

    def values(self) -> pa.Array:
        """Return the value of every row."""
        head, tail = b'{"payload":{"source":', self.plan.value_tail
        return self._packed([head, *self._times(), b',"transaction":null,', *self._row(), tail])

    def _times(self) -> Iterator[Fragment]:
        """Yield ``source`` and ``ts_ms``."""
        commits = self.batch.commit_ts
        millis, given = integers(pc.shift_right(commits, LOGICAL_BITS)), self.options.build_ts_ms
        start = integers(pc.subtract(commits, 1)) if self.options.debezium_include_start_ts else None
        yield from self.plan.source.fragments(millis, integers(commits), start)
        yield b',"ts_ms":'
        yield millis if given is None else b"%d" % given

    def _row(self) -> list[Fragment]:
        """Return ``op``, ``before`` and ``after``; updates have no ``before`` if old values are not sent."""
        old, new = (self.plan.members(image) for image in (self.before, self.after))
        if self.batch.op == Op.INSERT:
            return [b'"op":"c","before":null,"after":{', *new, b"}"]
        if self.batch.op == Op.DELETE:
            return [b'"op":"d","after":null,"before":{', *old, b"}"]
        if not self.before:
            return [b'"op":"u","after":{', *new, b"}"]
        return [b'"op":"u","before":{', *old, b'},"after":{', *new, b"}"]

    def _packed(self, fragments: Sequence[Fragment]) -> pa.Array:
        method = self.options.large_message_handle_compression
        return all_compressed(concat(fragments, len(self.batch)), method)

    def rejected(self) -> dict[int, tuple[int, bytes]]:
        """Return the map from row index to the first column, and its date, that TiCDC refuses to encode."""
        dates: dict[int, tuple[int, bytes]] = {}
        for image, rendered in ((self.batch.after, self.after), (self.batch.before, self.before)):
            columns = [*zip(self.plan.columns, image, rendered, strict=False)]
            for number, (column, values, fragments) in reversed([*enumerate(columns)]):
                for index in _refused_indexes(fragments) if column.may_be_refused else ():
                    dates[index] = number, (values[index].as_py() or column.default)[:10]
        return dates


def _refused_indexes(fragments: Fragments) -> list[int]:
    """Return the indexes of the rows whose value is refused.

    >>> _refused_indexes((pa.array([b"1", REFUSED, None]),))
    [1]
    """
    (texts,) = (fragment for fragment in fragments if isinstance(fragment, pa.Array))
    rejected = pc.fill_null(pc.equal(texts, REFUSED), False)
    return [int(index) for index in np.flatnonzero(rejected.to_numpy(zero_copy_only=False))]
