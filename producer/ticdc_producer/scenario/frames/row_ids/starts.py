"""The hidden row ids (``_tidb_rowid``) of the rows of a large frame.

TiDB gives each inserted row the next id of its table, and a row that moves to another partition a new one.
The number of ids that are taken before a position follows from counts by range of commits, which are few,
and from the order of the positions in a range. A row retains its id when its handle key changes: each such
change is linked to the change that brought the row to the former key, until all links end at a known id.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from ticdc_producer.engine.choose import translate_worker_errors
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, Part
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.frames.frame_changes import FRAME_CHANGES, STARTS
from ticdc_producer.scenario.frames.frame_histories import IN_ORDER, partial_changes
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.frame_rows import frame_rows, located, positions
from ticdc_producer.scenario.frames.row_ids.counters import (
    check_last_ids,
    counted,
    counting,
    last_ids,
    numbered,
    sums_of,
)
from ticdc_producer.scenario.frames.row_ids.key_changes import links_of, resolved_links
from ticdc_producer.scenario.frames.row_ids.part_ids import PartCounts, PartStarts, part_starts
from ticdc_producer.scenario.frames.row_ids.steps import (
    COUNTED,
    GROUP,
    STEPS,
    columns_read,
    moves_rows,
    steps_of,
)
from ticdc_producer.scenario.frames.rows import COLUMNS
from ticdc_producer.scenario.frames.version_rows import rows_by_version


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
    if plan.in_order and not plan.sharing and plan.frame.has_fixed_parts:
        of_parts = _part_starts(plan, rows)
        if of_parts:
            return ChangesWithIds(partial_changes(engine, plan, of_parts))
    steps = located(rows.map(partial(steps_of, plan), STEPS), plan.file, plan.line)
    steps = stack.enter_context(steps.cached())
    with translate_worker_errors():
        counts = steps.results(counted)
        moves = any(each.moves for each in counts)
        counted_steps = steps.map(counting, STEPS) if moves or plan.sharing else steps
        in_order = counted_steps.select(*COUNTED.names)
        in_order = in_order.shuffle(GROUP, Order((*GROUP, "commit_seq", "row_seq")))
        # Without values the sum of changes does not depend on their order.
        sums = in_order.results(sums_of) if plan.sharing else [each.sums for each in counts]
    taken = in_order.map(partial(numbered, last_ids(plan, sums)), STEPS)
    starts = taken.map(_starts, FRAME_CHANGES)
    if moves:
        links = resolved_links(engine, links_of(engine, plan, steps, taken), stack)
        starts = starts.union(links.map(_starts, FRAME_CHANGES))
    return ChangesWithIds(partial_changes(engine, plan).union(starts), moves)


def _part_starts(plan: FramePlan, rows: Dataset) -> PartStarts:
    """Return the ids before the parts of a frame; none if they do not follow from the number of inserts."""
    try:
        with translate_worker_errors():
            starts, last = part_starts(plan.row_ids, rows.results(partial(_part_counts, plan)))
    except ScenarioError as error:
        raise error.at(plan.file, plan.line) from None
    check_last_ids(plan, last)
    return starts


def _part_counts(plan: FramePlan, _part: Part, batches: Batches) -> PartCounts:
    """Count the ids that the rows of a part take.

    :param batches: rows of the frame, with the columns of ``frame_rows.frame_rows``.
    """
    counts = PartCounts()
    for batch in batches:
        at = positions(plan.columns.number, batch)
        counts.sizes.add(*(column.to_numpy() for column in at))
        for changes in rows_by_version(plan, batch):
            number = changes.table.table_id
            if number in plan.row_ids:
                inserts = int((changes.ops == Op.INSERT).sum())
                counts.taken[number] = counts.taken.get(number, 0) + inserts
                counts.moves = counts.moves or moves_rows(plan, changes)
    return counts


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
