"""The faults of a recording as its file has them, which a user may have edited."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Engine
from ticdc_producer.errors import FolderError
from ticdc_producer.faults.fault_plan import RecordedFaults
from ticdc_producer.faults.traps.messages import Poison
from ticdc_producer.faults.traps.redelivery import DuplicateDDL, DuplicateEvent, ResolvedFallback
from ticdc_producer.model.event import Op
from ticdc_producer.model.shapes import RECORDED_FAULTS
from ticdc_producer.scenario.frames.frame import ParquetFrame

TRAPS = {
    "row": DuplicateEvent.id, "ddl": DuplicateDDL.id, "resolved": ResolvedFallback.id, "damage": Poison.id
}  # fmt: skip
"""The traps of the kinds of faults."""
_EVENTS = ("row", "ddl", "resolved")
_NEEDED = {
    **dict.fromkeys(("kind", "topic", "partition", "offset", "delivered_ts", "delivered_count"), (*TRAPS,)),
    "commit_ts": _EVENTS, "statement": ("ddl",), **dict.fromkeys(("op", "schema", "table"), ("row",)),
}  # fmt: skip
"""The kinds of faults that have a value in a column."""
_LABELS = {"kind": [*TRAPS], "op": [op.label for op in Op]}
_HINT = "record the topic again; `faults` none leaves the recorded faults out"


def recorded_rows(recorded: RecordedFaults, engine: Engine) -> Dataset:
    """Return the faults of a recording (shape ``RECORDED_FAULTS``).

    :raises FolderError: for a column that they lack or that has another type, and for a fault with a value
        that it cannot have.
    """
    frame = ParquetFrame(recorded.location, recorded.file, 0)
    if missing := [name for name in RECORDED_FAULTS.names if name not in frame.names()]:
        raise _error(recorded, f"the recorded faults have no column {missing[0]!r}")
    rows = frame.dataset(engine, RECORDED_FAULTS.names)
    for column, own in zip(RECORDED_FAULTS, rows.schema, strict=True):
        if own.type != column.type:
            what = f"column {column.name!r} of the recorded faults is {own.type}, not {column.type}"
            raise _error(recorded, what)
    return rows.map(partial(_checked, recorded), rows.schema)


def _checked(recorded: RecordedFaults, batches: Batches) -> Batches:
    for batch in batches:
        for name in _NEEDED:
            wrong = batch.filter(pc.invert(_is_right(batch, name)))
            if wrong.num_rows:
                value = wrong.column(name)[0].as_py()
                raise _error(recorded, f"{name!r} of a recorded fault is missing or wrong: {value!r}")
        yield batch


def _is_right(faults: pa.RecordBatch, name: str) -> pa.Array:
    """Return which faults have a value that they can have in a column that all of their kind need."""
    values = faults.column(name)
    if name in _LABELS:
        is_right = pc.is_in(values, pa.array(_LABELS[name]))
    elif name in ("partition", "offset"):
        is_right = pc.fill_null(pc.greater_equal(values, 0), False)
    else:
        is_right = values.is_valid()
    is_needed = pc.is_in(faults.column("kind"), pa.array(_NEEDED[name]))
    return is_right if name == "kind" else pc.or_(is_right, pc.invert(is_needed))


def _error(recorded: RecordedFaults, what: str) -> FolderError:
    return FolderError(what, path=recorded.location, hint=_HINT).about("faults")
