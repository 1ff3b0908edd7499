"""All invariants, in the order of docs/stream-semantics.md §11."""

from __future__ import annotations

from ticdc_producer.verifier.invariants import (
    ddl,
    framing,
    order,
    resolved,
    row_state,
    rows,
    transaction,
)
from ticdc_producer.verifier.invariants import (
    order as duplicates,
)
from ticdc_producer.verifier.invariants.invariant import Invariant

INVARIANTS: tuple[Invariant, ...] = (
    framing.FRAME,
    framing.BATCH_SIZE,
    framing.BATCH_KIND,
    framing.BATCH_KEY,
    rows.TS_SANE,
    order.ORDER_TABLE,
    order.ORDER_KEY,
    resolved.RESOLVED,
    resolved.RESOLVED_DDL,
    resolved.RESOLVED_MONO,
    resolved.RESOLVED_BROADCAST,
    resolved.RESOLVED_STALL,
    resolved.COMPLETE,
    ddl.DDL_BROADCAST,
    ddl.DDL_SAME,
    ddl.DDL_ORDER,
    ddl.DDL_BARRIER_BEFORE,
    ddl.DDL_BARRIER_AFTER,
    rows.ROW_PARTITION,
    row_state.KEY_PARTITION,
    rows.TOPIC,
    rows.HANDLE,
    transaction.COLLAPSE,
    rows.KEY_UPDATE_SPLIT,
    transaction.TXN_DELETE_FIRST,
    row_state.DUP_CONTENT,
    duplicates.DUP_ORDER,
    duplicates.DUP_COMPLETE,
    row_state.ROW_STATE,
    row_state.OLD_IMAGE,
    row_state.SCHEMA,
    rows.FLAGS,
)
