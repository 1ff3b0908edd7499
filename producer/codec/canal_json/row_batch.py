"""Parts of a batch of rows: those of one operation, or a chosen few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress

from producer.codec.base import RowBatch
from producer.model.event import Op


def by_op(batch: RowBatch) -> Iterator[tuple[Op, list[int], RowBatch]]:
    """The rows of each operation that occurs: the operation, the rows' places in the batch, the rows."""
    for op in Op:
        chosen = [each == op for each in batch.op]
        if all(chosen) and chosen:
            yield op, list(range(len(chosen))), batch
        elif any(chosen):
            yield op, list(compress(range(len(chosen)), chosen)), _chosen(batch, chosen)


def at(batch: RowBatch, places: Sequence[int]) -> RowBatch:
    """The rows at some places of a batch, in its order."""
    wanted = set(places)
    return _chosen(batch, [place in wanted for place in range(len(batch.op))])


def _chosen(batch: RowBatch, chosen: Sequence[bool]) -> RowBatch:
    with_old = [yes for yes, op in zip(chosen, batch.op, strict=True) if op != Op.INSERT]
    with_new = [yes for yes, op in zip(chosen, batch.op, strict=True) if op != Op.DELETE]
    return RowBatch(
        op=list(compress(batch.op, chosen)),
        commit_ts=list(compress(batch.commit_ts, chosen)),
        table_id=list(compress(batch.table_id, chosen)),
        row_id=list(compress(batch.row_id, chosen)),
        before=[list(compress(column, with_old)) for column in batch.before],
        after=[list(compress(column, with_new)) for column in batch.after],
    )
