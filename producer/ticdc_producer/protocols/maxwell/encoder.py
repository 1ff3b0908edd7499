"""The encoder of Maxwell, and the fidelity of its messages."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import DDLEvent, Message, Value
from ticdc_producer.model.fidelity import AsHashed, Fidelity, ValueProjection
from ticdc_producer.model.mysql_type import LOBS, STRINGS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import Numbers, lengths, merge_runs
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.encoded_rows import EncodedRows, MessageLimits, batched, encoded_rows
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD
from ticdc_producer.protocols.maxwell.ddl import ddl_message
from ticdc_producer.protocols.maxwell.ddl_types import OF_DATABASES, action_code, type_text
from ticdc_producer.protocols.maxwell.decoder import VERSION
from ticdc_producer.protocols.maxwell.row_form import ALWAYS_OLD, MaxwellTablePlan, holds_bytes, table_plan
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.worker_options import MAX_ROWS, WorkerOptions

_HEAD = len(VERSION) + RECORD_OVERHEAD


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxwellFidelity(Fidelity):
    """The fidelity of Maxwell: rows have neither types nor flags, and byte strings arrive as Base64.

    The message of a DDL has the whole commit-ts. It is read to the second, like that of rows, so that both
    can be compared.
    """

    def visible_type(self, column: ColumnInfo, flag: int) -> str:  # noqa: ARG002  # rows have no types
        return ""

    def visible_flag(self, flag: int) -> int:  # noqa: ARG002  # rows have no flags
        return 0

    def visible_ddl_type(self, action: int) -> int:
        """Return TiDB's action code; 0 if Maxwell's name has several."""
        return action_code(type_text(action)) or 0

    def ddl_skip_reason(self, action: int) -> str:
        return "TiCDC's Maxwell encoder panics on a DDL of a database" if action in OF_DATABASES else ""

    def value_projection(self, column: ColumnInfo) -> ValueProjection | None:
        return _base64 if holds_bytes(column) else None

    @property
    def hashed_types(self) -> Mapping[str, AsHashed]:
        """None: a text may be Base64."""
        return {}


def _base64(value: Value) -> Value:
    return None if value is None else b64encode(value)


class MaxwellEncoder:
    """Encodes events as messages; caches one compiled plan per table version."""

    def __init__(self, options: WorkerOptions | None = None) -> None:
        self.options = options or WorkerOptions()
        self._plans: dict[TableInfo, MaxwellTablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``. Only messages have a key."""
        plan = self._plans.get(table)
        if plan is None:
            key_only = self.options.delete_only_output_handle_key_columns
            self._plans[table] = plan = table_plan(table, key_only=key_only)
        no_keys = pa.nulls(len(batch), pa.binary())
        return encoded_rows(no_keys, plan.texts(batch), batch.commit_ts, plan.panics(batch))

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Yield messages of consecutive rows: their JSON, one after the other.

        :raises EncodeError: for the first row that TiCDC rejects.
        """
        options = self.options
        limits = MessageLimits(rows=MAX_ROWS, size=options.max_message_bytes - _HEAD)
        for batch in batched(rows, _sizes, limits, by_batch_key=options.batch_by != "partition"):
            starts = batch.starts
            yield MessageBatch(
                key=pa.repeat(pa.scalar(VERSION, pa.binary()), len(starts)),
                value=merge_runs(batch.rows.column("value"), starts),
                commit_ts=batch.first("commit_ts"),
                events=pa.array(batch.counts),
            )

    def ddl(
        self, event: DDLEvent, table: TableInfo | None = None, before: TableInfo | None = None
    ) -> Message | None:
        """Return the message of a DDL event; None for a DDL of a database."""
        return ddl_message(event, table, before)

    def resolved(self, ts: int) -> Message | None:  # noqa: ARG002  # the protocol has no such message
        """Return None: Maxwell has no message for a resolved event."""
        return None

    @property
    def fidelity(self) -> MaxwellFidelity:
        only_keys = self.options.delete_only_output_handle_key_columns
        return MaxwellFidelity(
            sorted_columns=True,
            old_values="updated",
            always_old=ALWAYS_OLD,
            deletes="handle-key" if only_keys else "all",
            sql_types=False,
            flags=False,
            table_ids="none",
            commit_ts="seconds",
            resolved=False,
            damaged_text=STRINGS | LOBS,
        )


def _sizes(rows: EncodedRows) -> Numbers:
    return lengths(rows.column("value"))
