"""All invariants: those of docs/stream-semantics.md §11 in its order, then those of other packages."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint

from ticdc_producer.errors import ProducerError
from ticdc_producer.installation import INVARIANTS as POINTS
from ticdc_producer.installation import installed
from ticdc_producer.verifier.invariants import ddl, events, order, resolved, row_state
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.violations import Invariant

INVARIANTS: tuple[Invariant, ...] = (
    events.FRAME,
    events.CHECKSUM,
    events.BATCH_SIZE,
    events.BATCH_KIND,
    events.BATCH_KEY,
    events.TS_SANE,
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
    events.ROW_PARTITION,
    row_state.KEY_PARTITION,
    events.TOPIC,
    events.HANDLE,
    order.COLLAPSE,
    events.KEY_UPDATE_SPLIT,
    order.TXN_DELETE_FIRST,
    row_state.DUP_CONTENT,
    order.DUP_ORDER,
    order.DUP_COMPLETE,
    row_state.ROW_STATE,
    row_state.OLD_IMAGE,
    row_state.SCHEMA,
    events.FLAGS,
)
"""The invariants of this package."""


@cache
def invariants() -> tuple[Invariant, ...]:
    """Return all invariants; those of other packages are registered as entry points.

    :raises ProducerError: for a registered object that cannot be loaded, or is not an invariant.
    """
    points = (point for of_name in installed(POINTS).values() for point in of_name)
    return (*INVARIANTS, *map(_loaded, points))


def enabled_invariants(options: VerifyOptions) -> list[Invariant]:
    """Return the invariants that the options enable."""
    return [invariant for invariant in invariants() if invariant.enabled(options)]


def _loaded(point: EntryPoint) -> Invariant:
    where = f"entry point {point.name} = {point.value}"
    try:
        invariant = point.load()
    except Exception as error:
        what = f"a registered invariant cannot be loaded: {type(error).__name__}: {error}"
        raise ProducerError(what, where=where) from error
    if not isinstance(invariant, Invariant):
        raise ProducerError("a registered invariant must be an Invariant", where=where)
    return invariant
