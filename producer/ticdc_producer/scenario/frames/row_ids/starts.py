"""The hidden row ids (``_tidb_rowid``) of the rows of a large frame.

TiDB gives each inserted row the next id of its table, and a row that moves to another partition a new one.
If the parts of a frame follow each other and no row moves, inserts get their ids where they are read, from
counts by part. Else the number of ids that are taken before a position follows from counts by range of
commits, which are few, and from the order of the positions in a range. A row retains its id when its handle
key changes: each such change is linked to the change that brought the row to the former key, until all links
end at a known id.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from ticdc_producer.engine.choose import translate_worker_errors
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.frames.frame_changes import FRAME_CHANGES, STARTS
from ticdc_producer.scenario.frames.frame_histories import IN_ORDER, partial_changes
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.frame_rows import frame_rows, located
from ticdc_producer.scenario.frames.row_ids.counters import counting, last_ids, numbered, sums_of
from ticdc_producer.scenario.frames.row_ids.key_changes import links_of, resolved_links
from ticdc_producer.scenario.frames.row_ids.part_counts import PartCounts, counted, part_starts
from ticdc_producer.scenario.frames.row_ids.steps import COUNTED, GROUP, STEPS, columns_read, steps_of
from ticdc_producer.scenario.frames.rows import COLUMNS


@dataclass(frozen=True)
class ChangesWithIds:
    """The changes of a frame, and the ids that they give to rows.

    :param rows: for ``frame_histories.complete`` (shape ``FRAME_CHANGES``).
    :param are_moved: whether the handle key of a row with an id changes.
    """

    rows: Dataset
    are_moved: bool = False


def changes_with_ids(engine: Engine, plan: FramePlan, stack: ExitStack) -> ChangesWithIds:
    """Return the changes of a frame, and the ids that they give to rows.

    :param stack: removes the data stored for them.
    :raises ScenarioError: for rows that do not fit, and if all ids are used.
    """
    rows = frame_rows(engine, plan.frame, plan.columns, COLUMNS, only=columns_read(plan))
    parts = _counts(plan, rows)
    moves = any(part.moves for part in parts)
    last = last_ids(plan, [part.sums for part in parts])
    of_parts = {} if moves or plan.sharing else part_starts(plan.row_ids, parts)
    if of_parts and plan.frame.has_fixed_parts:
        return ChangesWithIds(partial_changes(engine, plan, of_parts))
    steps = located(rows.map(partial(steps_of, plan), STEPS), plan.file, plan.line)
    if moves or plan.sharing:
        steps = stack.enter_context(steps.cached())
    in_order = (steps.map(counting, STEPS) if moves or plan.sharing else steps).select(*COUNTED.names)
    in_order = in_order.shuffle(GROUP, Order((*GROUP, "commit_seq", "row_seq")))
    if plan.sharing:  # the values that changes use count in their order
        with translate_worker_errors():
            last = last_ids(plan, in_order.results(sums_of))
    taken = in_order.map(partial(numbered, last), STEPS)
    starts = taken.map(_starts, FRAME_CHANGES)
    if moves:
        links = resolved_links(engine, links_of(engine, plan, steps, taken), stack)
        starts = starts.union(links.map(_starts, FRAME_CHANGES))
    return ChangesWithIds(partial_changes(engine, plan).union(starts), moves)


def _counts(plan: FramePlan, rows: Dataset) -> list[PartCounts]:
    try:
        with translate_worker_errors():
            return rows.results(partial(counted, plan))
    except ScenarioError as error:
        raise error.at(plan.file, plan.line) from None


def _starts(batches: Batches) -> Batches:
    """Yield rows with ids at their keys as starts (shape ``FRAME_CHANGES``).

    :param batches: with the columns that ``STEPS`` and ``_LINKS`` have.
    """
    for batch in batches:
        count = batch.num_rows
        given = {name: batch.column(name) for name in (*IN_ORDER, "table_version", "row_id")}
        given["op"] = pa.repeat(pa.scalar(STARTS, pa.int8()), count)
        columns = [given.get(field.name, pa.nulls(count)).cast(field.type) for field in FRAME_CHANGES]
        yield pa.record_batch(columns, schema=FRAME_CHANGES)


def with_halves_in_order(batches: Batches) -> Batches:
    """Yield changes with positions that order the halves of one that moves its row: the delete comes first.

    :param batches: shape ``CHANGE_LOG``.
    """
    for batch in batches:
        seq, inserts = batch.column("row_seq").to_numpy(), batch.column("op").to_numpy() == Op.INSERT
        if len(seq) and max(abs(int(seq.min())), abs(int(seq.max()))) >= 1 << 62:
            raise ScenarioError("a position in a transaction is out of range: -2^62 to 2^62", column="seq")
        index = batch.schema.get_field_index("row_seq")
        yield batch.set_column(index, batch.schema.field(index), pa.array(seq * 2 + inserts))
