"""The row changes in the rows of a large frame, by the version of the table that they change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column_functions import Flags, Numbers, operations
from ticdc_producer.model.event import OP_OF_LABEL, Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.frames.frame_plan import NO_TABLE, FramePlan
from ticdc_producer.scenario.frames.frame_rows import table_names, without_resolved
from ticdc_producer.scenario.frames.plain_table import values_of_row
from ticdc_producer.scenario.frames.rows import qualified_hint, text_of


def _row_changes(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the row changes of a batch, and check the rows that are statements."""
    if "statement" not in batch.schema.names or batch.column("statement").null_count == batch.num_rows:
        return batch
    is_statement = batch.column("statement").is_valid()
    for name in ("before", "after", "op"):
        if name in batch.schema.names:
            also = pc.and_(is_statement, batch.column(name).is_valid())
            if pc.any(also).as_py():
                raise _error("a row has either a statement or a row change", batch, also)
    return batch.filter(pc.invert(is_statement))


@dataclass(frozen=True)
class VersionRows:
    """The row changes of one version of a table in a batch.

    :param existed: whether a change has a row before, and ``exists`` one after it.
    :param before: the images of the rows before, like ``after``.
    :param row_ids: the hidden ids of the rows; 0 for those that are not given.
    :param image_rows: the numbers of the changes' images among these; None: they are those of the changes.
    """

    table: TableInfo
    ops: Numbers
    existed: Flags
    exists: Flags
    before: pa.Array
    after: pa.Array
    commits: Numbers
    seq: Numbers
    row_ids: Numbers
    image_rows: Numbers | None = None


def rows_by_version(plan: FramePlan, rows: pa.RecordBatch) -> Iterator[VersionRows]:
    """Yield the row changes of each version of a table.

    >>> from types import SimpleNamespace
    >>> from ticdc_producer.scenario.frames.frame_plan import Numbering
    >>> tables = SimpleNamespace(table=["t", "t after ADD COLUMN"])
    >>> versions_at = lambda name, commits: np.where(commits < 7, 0, 1)
    >>> numbers = {"columns": SimpleNamespace(number="txn"), "numbering": Numbering("txn", (0,), (4,))}
    >>> plan = SimpleNamespace(versions=tables, versions_at=versions_at, **numbers)
    >>> columns = {"txn": [2, 3, 2], "before": [None, "{}", "{}"], "after": ["{}", None, "{}"]}
    >>> for rows in rows_by_version(plan, pa.record_batch({"table": ["t"] * 3, **columns})):
    ...     print(rows.table, rows.commits.tolist(), [Op(code).name for code in rows.ops])
    t [6, 6] ['INSERT', 'UPDATE']
    t after ADD COLUMN [7] ['DELETE']

    :param rows: with the columns of ``frame_rows.frame_rows``.
    :raises ScenarioError: for a row that does not say what it does.
    """
    batch = _row_changes(without_resolved(rows))
    if not batch.num_rows:
        return
    numbers = batch.column(plan.columns.number).to_numpy()
    statements = np.array(plan.numbering.statements, np.int64)
    if (shared := np.isin(numbers, statements)).any():
        what = (
            f"a row change has the {plan.numbering.column} of a statement, which is a transaction of its own"
        )
        raise _error(what, batch, pa.array(shared))
    commits, versions = plan.numbering.commits(numbers), _versions(plan, batch)
    seq = batch.column("seq").to_numpy() if "seq" in batch.schema.names else np.zeros(len(numbers), np.int64)
    given = pc.fill_null(batch.column("row_id"), 0) if "row_id" in batch.schema.names else None
    row_ids = np.zeros(len(numbers), np.int64) if given is None else given.to_numpy()
    before, after = (_images(batch, name) for name in ("before", "after"))
    existed, exists = (images.is_valid().to_numpy(zero_copy_only=False) for images in (before, after))
    ops = _operations(batch, existed, exists)
    different = np.unique(versions).tolist()
    if len(different) == 1:
        yield VersionRows(
            plan.versions.table[different[0]], ops, existed, exists, before, after, commits, seq, row_ids
        )
        return
    for version in different:
        at = np.flatnonzero(versions == version)
        yield VersionRows(
            plan.versions.table[version], ops[at], existed[at], exists[at], before, after,
            commits[at], seq[at], row_ids[at], at,
        )  # fmt: skip


def _images(batch: pa.RecordBatch, name: str) -> pa.Array:
    return batch.column(name) if name in batch.schema.names else pa.nulls(batch.num_rows)


def _versions(plan: FramePlan, batch: pa.RecordBatch) -> Numbers:
    """Return the version of the table that each row changes."""
    if "table" not in batch.schema.names or batch.column("table").null_count:
        lacking = batch.column("table").is_null() if "table" in batch.schema.names else None
        raise _error("the row has neither a statement nor a table", batch, lacking)
    coded = table_names(batch).dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False)
    commits = plan.numbering.commits(batch.column(plan.columns.number).to_numpy())
    versions = np.full(batch.num_rows, NO_TABLE)
    for code, text in enumerate(coded.dictionary.to_pylist()):
        schema, _, name = text.partition("\0")
        own = codes == code
        versions[own] = plan.versions_at((schema, name), commits[own])
    if (unknown := versions == NO_TABLE).any():
        row = int(np.flatnonzero(unknown)[0])
        schema, _, name = coded[row].as_py().partition("\0")
        what = f"Table '{f'{schema}.' if schema else ''}{name}' doesn't exist at this time"
        raise _error(what, batch, pa.array(unknown), qualified_hint(name))
    return versions


def _operations(batch: pa.RecordBatch, existed: Flags, exists: Flags) -> Numbers:
    """Return the operation of each row change: the given one, or the one that its images show.

    >>> batch = pa.record_batch({"op": [None, "insert", "delete"]})
    >>> existed, exists = np.array([True, False, True]), np.array([True, True, False])
    >>> [Op(code).name for code in _operations(batch, existed, exists)]
    ['UPDATE', 'INSERT', 'DELETE']
    """
    if (neither := ~existed & ~exists).any():
        raise _error("the row has neither before nor after", batch, pa.array(neither))
    implied = operations(existed, exists)
    if "op" not in batch.schema.names or batch.column("op").null_count == batch.num_rows:
        return implied
    labels = batch.column("op").cast(pa.string())
    index = pc.index_in(pc.utf8_lower(labels), pa.array([*OP_OF_LABEL]))
    if pc.any(unknown := pc.and_(labels.is_valid(), index.is_null())).as_py():
        raise _error("the operation must be insert, update or delete", batch, unknown)
    codes = np.array([*map(int, OP_OF_LABEL.values())])
    given = labels.is_valid().to_numpy(zero_copy_only=False)
    ops = np.where(given, codes[pc.fill_null(index, 0).to_numpy()], implied)
    wrong = (ops != implied) & ~((ops == Op.UPDATE) & ~existed)
    if wrong.any():
        raise _error("the operation does not fit before and after", batch, pa.array(wrong))
    return ops


def _error(what: str, batch: pa.RecordBatch, rows: pa.Array | None, hint: str = "") -> ScenarioError:
    """Return an error with the content of the first of some rows."""
    first = batch.slice(0, 1) if rows is None else batch.filter(rows).slice(0, 1)
    content = {name: value for name, value in values_of_row(first).items() if value is not None}
    return ScenarioError(f"{what}: {text_of(content)}", hint=hint)
