"""Encoder of Craft."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from producer.codec.base import EncodedRow, RowBatch
from producer.codec.craft.framing import batched
from producer.codec.craft.message import NEW, NO_PARTITION, OLD, CraftRow, ddl_message, resolved_message
from producer.codec.craft.options import CraftOptions
from producer.codec.craft.plan import GroupPlan, TablePlan, table_plan
from producer.errors import EncodeError
from producer.model.event import DDLEvent, Message, Op
from producer.model.losses import Losses
from producer.model.table import TableInfo

_Images = Iterator[tuple[bytes, int]]


class CraftEncoder:
    """Values in, messages out; keeps one compiled plan per table version it has met."""

    def __init__(self, options: CraftOptions | None = None) -> None:
        self.options = options or CraftOptions()
        self._plans: dict[TableInfo, TablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> list[EncodedRow]:
        """Encode rows of one table version; see ``codec.base.Encoder``."""
        plan = self._plan(table)
        rows = list(_rows(plan, batch))
        if not plan.deleted.columns:
            for row in rows:
                if row.plan is plan.deleted:
                    row.refusal = _no_handle_key(table, row.commit_ts)
        return cast(list[EncodedRow], rows)

    def messages(self, rows: Iterable[EncodedRow]) -> Iterator[Message]:
        """Put consecutive rows of one partition, as ``rows`` gave them, into messages."""
        return batched(cast(Iterable[CraftRow], rows), self.options)

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # only Debezium describes tables
        before: TableInfo | None = None,  # noqa: ARG002  # likewise
    ) -> Message:
        return ddl_message(event)

    def resolved(self, ts: int) -> Message:
        return resolved_message(ts)

    @property
    def losses(self) -> Losses:
        """Beside these, Craft has no place for the row id."""
        only_keys = self.options.delete_only_output_handle_key_columns
        return Losses(deletes="handle-key" if only_keys else "all")

    def _plan(self, table: TableInfo) -> TablePlan:
        if table not in self._plans:
            self._plans[table] = table_plan(table, self.options)
        return self._plans[table]


def _rows(plan: TablePlan, batch: RowBatch) -> Iterator[CraftRow]:
    after = plan.whole.images(batch.after)
    before = _before(plan, batch)
    for op, commit_ts, table_id in zip(batch.op, batch.commit_ts, batch.table_id, strict=True):
        shown = plan.deleted if op == Op.DELETE else plan.whole
        value, estimate = next(before) if op == Op.DELETE else next(after)
        old, more = next(before) if op == Op.UPDATE else (b"", 0)
        yield CraftRow(
            b"",
            value,
            commit_ts,
            first=OLD if op == Op.DELETE else NEW,
            plan=shown,
            partition=table_id if plan.partitioned else NO_PARTITION,
            old=old,
            estimate=shown.row_estimate + estimate + more,
        )


def _before(plan: TablePlan, batch: RowBatch) -> _Images:
    """The old images in order, those of deletes reduced to what deletes show."""
    images = plan.whole.images(batch.before)
    if plan.deleted is plan.whole or not plan.deleted.columns:
        return images
    return _chosen(batch, images, plan.deleted)


def _chosen(batch: RowBatch, images: _Images, deleted: GroupPlan) -> _Images:
    kinds = [op for op in batch.op if op != Op.INSERT]
    for op, whole, key in zip(kinds, images, deleted.images(batch.before), strict=True):
        yield key if op == Op.DELETE else whole


def _no_handle_key(table: TableInfo, commit_ts: int) -> EncodeError:
    return EncodeError(
        "a delete has no handle key columns to show",
        code="CDC:ErrCraftCodecInvalidData",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="turn delete-only-output-handle-key-columns off for tables without a handle key",
    )
