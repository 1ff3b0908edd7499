"""The ids of rows whose handle keys change.

Each such change is linked to the change that brought the row to the former key, until all links end at
a known id.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.choose import translate_worker_errors
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, Part, Sides
from ticdc_producer.model.column_functions import first_of_groups
from ticdc_producer.model.xx_hash import xx_hash
from ticdc_producer.scenario.frames.frame_histories import IN_ORDER, ROW, rows_before
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.row_ids.steps import AT, LEAVES, STEPS, TAKES

_LINKS = pa.schema([*AT, ("table_version", pa.int32()), ("row_id", pa.int64()), ("from_commit", pa.int64()),
                    ("from_seq", pa.int64())])  # fmt: skip
"""Changes of a key, at the new key: the id of the row, or the position of the change that brought it to the
former key."""
_HASH = pa.field("position", pa.int64())


def links_of(engine: Engine, plan: FramePlan, steps: Dataset, taken: Dataset) -> Dataset:
    """Return the changes of keys (shape ``_LINKS``).

    :param steps: shape ``STEPS``, like ``taken``, of which the ids are known.
    """
    before = rows_before(engine, plan).map(partial(_steps_before, plan), STEPS)
    all_steps = taken.union(steps.map(_moving, STEPS), before)
    by_row = all_steps.shuffle(ROW, Order((*IN_ORDER, "step")))
    return by_row.map_groups(_linked, ROW, _LINKS)


def _moving(batches: Batches) -> Batches:
    return (batch.filter(pc.not_equal(batch.column("step"), TAKES)) for batch in batches)


def _steps_before(plan: FramePlan, batches: Batches) -> Batches:
    """Yield the rows before the frame as steps with ids.

    :param batches: shape ``FRAME_CHANGES``.
    """
    for batch in batches:
        own = np.isin(batch.column("table_version").to_numpy(), plan.versions_with_row_ids)
        rows = batch.filter(pa.array(own))
        given = {name: rows.column(name) for name in (*IN_ORDER, "table_version", "row_id")}
        given |= {"step": pa.repeat(pa.scalar(TAKES, pa.int8()), rows.num_rows)}
        columns = [given.get(field.name, pa.nulls(rows.num_rows)).cast(field.type) for field in STEPS]
        yield pa.record_batch(columns, schema=STEPS)


def _linked(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the changes that move rows away from keys, with what brought the rows there.

    >>> from ticdc_producer.scenario.frames.row_ids.steps import ENTERS
    >>> at = {"table_id": [1] * 4, "row_key": [b"a"] * 4, "commit_seq": [3, 4, 5, 6], "row_seq": [0] * 4}
    >>> steps = at | {"table_version": [1] * 4, "step": [TAKES, LEAVES, ENTERS, LEAVES]}
    >>> steps |= {"row_id": [7, None, None, None], "new_key": [None, b"b", None, b"c"]}
    >>> linked = _linked(pa.record_batch(steps)).select(["row_key", "row_id", "from_commit"])
    >>> [[*row.values()] for row in linked.to_pylist()]
    [[b'b', 7, None], [b'c', None, 5]]

    :param rows: the steps of whole keys, in their order.
    """
    steps = rows.column("step").to_numpy()
    numbers, leaves = np.arange(len(steps)), np.flatnonzero(steps == LEAVES)
    group = np.maximum.accumulate(np.where(first_of_groups(rows, ROW), numbers, 0))
    brought = np.maximum.accumulate(np.where(steps == LEAVES, -1, numbers))[leaves]
    unknown = brought < group[leaves]  # a row that does not exist, which is an error of its change
    source = rows.take(pa.array(np.where(unknown, 0, brought)))
    ids = pc.if_else(pa.array(unknown), pa.scalar(0, pa.int64()), source.column("row_id").cast(pa.int64()))
    linked = rows.take(pa.array(leaves))
    follows = ids.is_null()
    columns = {
        **{name: linked.column(name) for name in ("table_id", "commit_seq", "row_seq", "table_version")},
        "row_key": linked.column("new_key"),
        "row_id": ids,
        "from_commit": pc.if_else(follows, source.column("commit_seq"), None),
        "from_seq": pc.if_else(follows, source.column("row_seq"), None),
    }
    return pa.record_batch([columns[field.name].cast(field.type) for field in _LINKS], schema=_LINKS)


def resolved_links(engine: Engine, links: Dataset, stack: ExitStack) -> Dataset:
    """Follow the links until all ids are known; each round doubles the number of links that are followed.

    :param links: shape ``_LINKS``, like the result.
    """
    while True:
        links = stack.enter_context(links.cached())
        with translate_worker_errors():
            if not any(links.results(_is_open)):
                return links
        sides = {
            "links": links.map(partial(_with_position, ("from_commit", "from_seq")), _LINKS.append(_HASH)),
            "known": links.map(partial(_with_position, ("commit_seq", "row_seq")), _LINKS.append(_HASH)),
        }
        links = engine.grouped(sides, _HASH.name).map(_followed, _LINKS)


def _is_open(_part: Part, batches: Batches) -> bool:
    return any(batch.column("row_id").null_count for batch in batches)


def _with_position(names: tuple[str, str], batches: Batches) -> Batches:
    for batch in batches:
        position = [pc.fill_null(batch.column(name), 0) for name in ("table_id", *names)]
        hashes = xx_hash(batch.num_rows, *position)
        yield batch.append_column(_HASH, pa.array(hashes.view(np.int64)))


def _followed(groups: Iterator[Sides]) -> Batches:
    """Yield links that are followed once more (shape ``_LINKS``)."""
    for sides in groups:
        links, known = (sides[name].select(_LINKS.names) for name in ("links", "known"))
        is_open = links.column("row_id").is_null()
        yield links.filter(pc.invert(is_open))
        yield _joined(links.filter(is_open), known)


def _joined(links: pa.RecordBatch, known: pa.RecordBatch) -> pa.RecordBatch:
    """Return links with the ends of the links at which they begin.

    >>> def links(commits, ids, sources):
    ...     columns = {"table_id": [1] * len(ids), "row_key": [b"k"] * len(ids), "commit_seq": commits}
    ...     columns |= {"row_seq": [0] * len(ids), "table_version": [1] * len(ids), "row_id": ids}
    ...     columns |= {"from_commit": sources, "from_seq": [0 if each else None for each in sources]}
    ...     return pa.RecordBatch.from_pydict(columns, schema=_LINKS)
    >>> joined = _joined(links([8, 9], [None] * 2, [6, 7]), links([6, 7], [3, None], [None, 5]))
    >>> joined.sort_by("commit_seq").select(["commit_seq", "row_id", "from_commit"]).to_pydict()
    {'commit_seq': [8, 9], 'row_id': [3, None], 'from_commit': [None, 5]}
    """
    own = pa.table(links.drop_columns(["row_id"]))
    ends = pa.table({
        "table_id": known.column("table_id"), "from_commit": known.column("commit_seq"),
        "from_seq": known.column("row_seq"), "row_id": known.column("row_id"),
        "next_commit": known.column("from_commit"), "next_seq": known.column("from_seq"),
    })  # fmt: skip
    at = ["table_id", "from_commit", "from_seq"]
    joined = own.join(ends, at, join_type="inner", use_threads=False).drop_columns(at[1:])
    joined = joined.rename_columns({"next_commit": "from_commit", "next_seq": "from_seq"}).select(
        _LINKS.names
    )
    (batch,) = joined.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], _LINKS)]
    return batch.cast(_LINKS)
