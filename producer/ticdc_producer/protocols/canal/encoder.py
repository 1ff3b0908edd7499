"""The encoder of Canal, and the fidelity of its messages.

A packet has version 1 and the type MESSAGES. Its body is a list of entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from ticdc_producer.model.event import DDLEvent, Kind, Message
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import physical
from ticdc_producer.protocols.arrow_text import Numbers, concat, lengths, merge_runs, uvarints
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.canal import wire
from ticdc_producer.protocols.canal.decoder import EVENT_TYPE_OF
from ticdc_producer.protocols.canal.row_form import (
    ENTRY_OF_ROWS,
    HEADER_START,
    MYSQL,
    CanalTablePlan,
    table_plan,
)
from ticdc_producer.protocols.canal_json.encoder import CanalJSONFidelity
from ticdc_producer.protocols.canal_json.envelope import ddl_keyword
from ticdc_producer.protocols.encoded_rows import EncodedRows, MessageLimits, batched, encoded_rows
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.worker_options import MAX_ROWS, WorkerOptions

_PACKET = wire.number(2, 1) + wire.number(3, 7) + wire.tag(5, wire.BYTES)
_MOST_LENGTH = 5
"""Bytes of the length of the largest body."""
_HEAD = len(_PACKET) + _MOST_LENGTH + RECORD_OVERHEAD


class CanalEncoder:
    """Encodes events as messages; caches one compiled plan per table version."""

    def __init__(self, options: WorkerOptions | None = None) -> None:
        self.options = options or WorkerOptions()
        self._plans: dict[TableInfo, CanalTablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``. There are no keys."""
        plan = self._plans.get(table)
        if plan is None:
            key_only = self.options.delete_only_output_handle_key_columns
            self._plans[table] = plan = table_plan(table, key_only=key_only)
        return encoded_rows(pa.nulls(len(batch), pa.binary()), plan.entries(batch), batch.commit_ts)

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Yield packets of consecutive rows."""
        options = self.options
        limits = MessageLimits(rows=MAX_ROWS, size=options.max_message_bytes - _HEAD)
        for batch in batched(rows, _sizes, limits, by_batch_key=options.batch_by != "partition"):
            bodies = merge_runs(batch.rows.column("value"), batch.starts)
            heads = uvarints(lengths(bodies).astype(np.uint64))
            yield MessageBatch(
                key=pa.nulls(len(bodies), pa.binary()),
                value=concat((_PACKET, heads, bodies), len(bodies)),
                commit_ts=batch.first("commit_ts"),
                events=pa.array(batch.counts),
            )

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # the message has no columns
        before: TableInfo | None = None,  # noqa: ARG002  # nor those before the DDL
    ) -> Message:
        """Return the packet of a DDL event."""
        event_type, milliseconds = EVENT_TYPE_OF[ddl_keyword(event.ddl_type)], physical(event.commit_ts)
        header = b"".join((
            HEADER_START,
            wire.number(6, milliseconds) if milliseconds else b"",
            MYSQL,
            wire.text(8, event.schema),
            wire.text(9, event.table),
            wire.number(11, event_type),
        ))  # fmt: skip
        change = b"".join((
            wire.number(2, event_type), wire.number(10, 1), wire.text(11, event.query),
            wire.text(14, event.schema),
        ))  # fmt: skip
        entry = wire.content(1, header) + ENTRY_OF_ROWS + wire.content(3, change)
        body = wire.content(2, entry)
        return Message(None, _PACKET + wire.varint(len(body)) + body, Kind.DDL.label, event.commit_ts)

    def resolved(self, ts: int) -> Message | None:  # noqa: ARG002  # the protocol has no such message
        """Return None: Canal has no message for a resolved event."""
        return None

    @property
    def fidelity(self) -> CanalJSONFidelity:
        """The fidelity of Canal: that of Canal-JSON, but texts keep bytes that are not UTF-8."""
        only_keys = self.options.delete_only_output_handle_key_columns
        return CanalJSONFidelity(
            deletes="handle-key" if only_keys else "all",
            table_ids="none",
            commit_ts="milliseconds",
            column_types="bare",
            resolved=False,
        )


def _sizes(rows: EncodedRows) -> Numbers:
    return lengths(rows.column("value"))
