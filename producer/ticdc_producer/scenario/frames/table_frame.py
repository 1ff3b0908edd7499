"""A large frame whose rows are changes of one table, as rows of a frame with several tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Engine
from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.model.event import OP_OF_LABEL, Op
from ticdc_producer.scenario.data_steps import Changes
from ticdc_producer.scenario.frames.frame import Frame
from ticdc_producer.scenario.frames.frame_rows import checked_integers
from ticdc_producer.scenario.frames.plain_table import plain_schema, plain_table, values_of_row
from ticdc_producer.scenario.frames.rows import text_of
from ticdc_producer.scenario.generate.table_spec import MOST_EVENTS


@dataclass(frozen=True)
class TableColumns:
    """The columns of a frame of one table.

    :param table: its name, which may have a database.
    :param op: column of the operation.
    :param order: column of the number of the transaction, and possibly that of the position in it.
    :param before: column of the row before an update; empty: there is none.
    :param image: the columns that may be those of the table.
    """

    table: str
    op: str
    order: tuple[str, ...]
    before: str
    image: tuple[str, ...]
    number: str = "txn"

    @classmethod
    def of(cls, spec: Changes, names: Sequence[str], columns: Sequence[str]) -> TableColumns:
        """Return the columns of a frame.

        :param names: those of the frame.
        :param columns: those of the table.
        :raises ScenarioError: for a missing and for a duplicate column.
        """

        def actual(name: str) -> str:
            matches = [each for each in names if each.lower() == name.lower()]
            if len(matches) != 1:
                words = (
                    f"column {name!r} is not unique" if matches else f"the DataFrame has no column {name!r}"
                )
                raise ScenarioError(words, column=name, hint="" if matches else nearest(name, names))
            return matches[0]

        order, op = tuple(map(actual, spec.order or ())), actual(spec.op)
        before = "" if spec.before is None else actual(spec.before)
        known = {name.lower() for name in columns}
        others = {name for name in (*order, op) if name.lower() not in known}
        image = tuple(actual(name) for name in names if name not in others and name != before)
        return cls(spec.table or "", op, order, before, image)

    def rows(self, engine: Engine, frame: Frame, only: Collection[str] | None = None) -> Dataset:
        """Return the rows with the columns of a frame with several tables, in no order.

        :param only: the columns of the table that are needed, in lower case; None: all.
        """
        plain = plain_schema(frame.dataset(engine, self._names).schema)
        self._check_types(plain)
        if only is not None:
            needed = tuple(name for name in self.image if name.lower() in only)
            return replace(self, image=needed or self.image[:1])._rows(engine, frame, plain)
        return self._rows(engine, frame, plain)

    @property
    def _names(self) -> list[str]:
        """The names of the columns that are read."""
        return list(dict.fromkeys(filter(None, (*self.order, self.op, self.before, *self.image))))

    def _rows(self, engine: Engine, frame: Frame, plain: pa.Schema) -> Dataset:
        rows = frame.dataset(engine, self._names)
        kind = pa.struct([plain.field(name) for name in self.image])
        integers = [("txn", pa.int64()), ("seq", pa.int64())]
        texts = [(name, pa.string()) for name in ("op", "schema", "table")]
        schema = pa.schema([*integers, *texts, ("before", kind), ("after", kind)])
        return rows.map(partial(_rows, self, schema), schema)

    def _check_types(self, schema: pa.Schema) -> None:
        kind = schema.field(self.op).type
        if not (pa.types.is_string(kind) or pa.types.is_null(kind)):
            raise ScenarioError(f"the operation must be text, not {kind}", column=self.op)
        if not self.before:
            return
        old = schema.field(self.before).type
        if not pa.types.is_struct(old):
            raise ScenarioError(f"{self.before!r} is {old} and not a struct", column=self.before)
        names = {old.field(index).name.lower() for index in range(old.num_fields)}
        if different := names ^ {name.lower() for name in self.image}:
            what = f"{self.before!r} and the rows must have the same columns: only one has"
            raise ScenarioError(f"{what} {min(different)!r}", column=min(different))


def _rows(columns: TableColumns, schema: pa.Schema, batches: Batches) -> Batches:
    for batch in batches:
        rows = plain_table(pa.Table.from_batches([batch]))
        (plain,) = rows.to_batches() or [pa.RecordBatch.from_pylist([], rows.schema)]
        yield _of_batch(columns, schema, plain)


def _of_batch(columns: TableColumns, schema: pa.Schema, rows: pa.RecordBatch) -> pa.RecordBatch:
    numbers = [checked_integers(name, rows.column(name)) for name in columns.order]
    if rows.num_rows and not 0 <= pc.min(numbers[0]).as_py() <= pc.max(numbers[0]).as_py() < MOST_EVENTS:
        wrong = pc.or_(pc.less(numbers[0], 0), pc.greater_equal(numbers[0], MOST_EVENTS))
        raise _error(f"{columns.order[0]!r} counts transactions from 0 to {MOST_EVENTS - 1}", rows, wrong)
    labels = rows.column(columns.op).cast(pa.string())
    index = pc.index_in(pc.utf8_lower(labels), pa.array([*OP_OF_LABEL]))
    if index.null_count:
        raise _error("the operation must be insert, update or delete", rows, index.is_null())
    ops = np.array([*map(int, OP_OF_LABEL.values())])[index.to_numpy()]
    image = pa.StructArray.from_arrays(
        [rows.column(name) for name in columns.image], fields=[*schema.field("after").type]
    )
    deleted = pa.array(ops == Op.DELETE)
    before = pc.if_else(deleted, image, None)
    if columns.before:
        old, updated = rows.column(columns.before), pa.array(ops == Op.UPDATE)
        if pc.any(wrong := pc.not_equal(old.is_valid(), updated)).as_py():
            what = "is NULL for an update, or is not for an insert or a delete"
            raise _error(f"{columns.before!r} {what}", rows, wrong)
        before = pc.if_else(updated, _like(old, image.type), before)
    schema_name, _, table = columns.table.rpartition(".")
    count = rows.num_rows
    given = {
        "txn": numbers[0],
        "seq": numbers[1] if len(numbers) > 1 else pa.repeat(pa.scalar(0, pa.int64()), count),
        "op": labels,
        "schema": pa.repeat(schema_name, count),
        "table": pa.repeat(table, count),
        "before": before,
        "after": pc.if_else(deleted, None, image),
    }
    return pa.record_batch([given[field.name] for field in schema], schema=schema)


def _like(old: pa.StructArray, kind: pa.StructType) -> pa.StructArray:
    """Return structs with the fields of another type, in its order."""
    of_name = {old.type.field(index).name.lower(): index for index in range(old.type.num_fields)}
    fields = [kind.field(index) for index in range(kind.num_fields)]
    try:
        columns = [pc.struct_field(old, of_name[field.name.lower()]).cast(field.type) for field in fields]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:  # no such value, or no such cast
        raise ScenarioError(f"the row before has another type than the row: {error}") from None
    return pa.StructArray.from_arrays(columns, fields=fields, mask=old.is_null())


def _error(what: str, rows: pa.RecordBatch, wrong: pa.Array) -> ScenarioError:
    """Return an error with the content of the first of some rows."""
    return ScenarioError(f"{what}: {text_of(values_of_row(rows.filter(wrong).slice(0, 1)))}")
