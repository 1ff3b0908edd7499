"""Encoder of Craft."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import DDLEvent, Message, Op
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.craft.messages import ddl_message, messages, resolved_message
from ticdc_producer.protocols.craft.options import CraftOptions
from ticdc_producer.protocols.craft.plan import CraftRowForm, CraftTablePlan, table_plan
from ticdc_producer.protocols.craft.wire import NO_PARTITION
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowStatus
from ticdc_producer.protocols.message_batch import MessageBatch


class CraftEncoder:
    """Encodes events as messages; caches one compiled plan per table version."""

    def __init__(self, options: CraftOptions | None = None) -> None:
        self.options = options or CraftOptions()
        self._plans: dict[TableInfo, CraftTablePlan] = {}
        self._forms: list[CraftRowForm] = []
        self._form_indexes: dict[CraftRowForm, int] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``.

        The names of a row have no ids until it is framed. ``value`` is the value chunk of its first group,
        ``old`` that of an update's old values, and ``form`` the index of the form that frames them.
        """
        plan, rows = self._plan(table), len(batch)
        group = plan.first_group(batch.op)
        value, estimate = group.images(batch.primary_images, rows)
        estimate += group.row_estimate
        old = pa.nulls(rows, pa.binary())
        if batch.op == Op.UPDATE:
            old, more = plan.whole.images(batch.before, rows)
            estimate += more
        columns = {
            "value": value,
            "old": old,
            "commit_ts": batch.commit_ts,
            "form": pa.repeat(self._form_index(CraftRowForm(group, batch.op)), rows),
            "partition": batch.table_id if plan.partitioned else pa.repeat(NO_PARTITION, rows),
            "estimate": pa.array(estimate),
        }
        rejected = () if group.columns else _no_handle_key(table, batch.commit_ts)
        statuses = {row: RowStatus(refusal=refusal) for row, refusal in enumerate(rejected)}
        return EncodedRows(pa.record_batch(columns), statuses)

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Put consecutive rows of one partition into messages."""
        return messages(rows, self._forms, self.options)

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # only some protocols describe tables
        before: TableInfo | None = None,  # noqa: ARG002  # likewise
    ) -> Message:
        return ddl_message(event)

    def resolved(self, ts: int) -> Message:
        return resolved_message(ts)

    @property
    def fidelity(self) -> Fidelity:
        """Besides, Craft does not carry the row id."""
        only_keys = self.options.delete_only_output_handle_key_columns
        return Fidelity(deletes="handle-key" if only_keys else "all")

    def _plan(self, table: TableInfo) -> CraftTablePlan:
        plan = self._plans.get(table)
        if plan is None:
            self._plans[table] = plan = table_plan(table, self.options)
        return plan

    def _form_index(self, form: CraftRowForm) -> int:
        """The index of a form in ``self._forms``; new forms are appended."""
        if form not in self._form_indexes:
            self._form_indexes[form] = len(self._forms)
            self._forms.append(form)
        return self._form_indexes[form]


def _no_handle_key(table: TableInfo, commit_ts: pa.Array) -> Iterator[EncodeError]:
    for ts in commit_ts.to_pylist():
        yield EncodeError(
            "a delete has no handle key columns to show",
            code="CDC:ErrCraftCodecInvalidData",
            table=table.qualified_name,
            commit_ts=ts,
            hint="turn delete-only-output-handle-key-columns off for tables without a handle key",
        )
