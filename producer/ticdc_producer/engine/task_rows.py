"""The output of Spark's tasks: rows of several kinds and a result each, in the columns of one DataFrame."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.serializers import CPickleSerializer
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.engine.dataset import Batches, Part, TaggedFunction

_SERIALIZER: Any = CPickleSerializer()
"""Spark's serializer for objects that workers send to the driver; never used for data from a topic."""
_KIND, _RESULT = "row_kind", "task_result"
ONLY_RESULT = pa.schema([(_RESULT, pa.binary())])
"""The columns of tasks that have no rows."""


def result_row(result: object) -> pa.RecordBatch:
    """Return the row (:data:`ONLY_RESULT`) with the result of a task."""
    return pa.record_batch([pa.array([_SERIALIZER.dumps(result)], pa.binary())], schema=ONLY_RESULT)


def task_results(rows: DataFrame) -> list[object]:
    """Return the results that are among some rows, in the order of their tasks.

    :param rows: has the column of :data:`ONLY_RESULT`.
    """
    column = rows.where(sf.col(_RESULT).isNotNull()).select(_RESULT).toArrow().column(0)
    return [_SERIALIZER.loads(result) for result in column.to_pylist()]


class TaskLayout:
    """The columns of rows of several kinds, stored together.

    Those of the first kind come first. Another kind shares the columns that have its names, and has a struct
    of its own for the rest, so that rows of the first kind have one NULL for it.

    :ivar schema: these columns, the number of the kind, and the result of a task.
    """

    def __init__(self, kinds: Mapping[str, pa.Schema]) -> None:
        self.kinds = dict(kinds)
        self.names = [*kinds]
        first = [*next(iter(kinds.values()))]
        self._shared = {field.name: field.type for field in first}
        structs = [
            pa.field(kind, pa.struct([field for field in schema if field.name not in self._shared]))
            for kind, schema in [*kinds.items()][1:]
        ]
        self._structs = {field.name: field for field in structs if field.type.num_fields}
        fields = [*first, *self._structs.values()]
        self.schema = pa.schema([*fields, pa.field(_KIND, pa.int8()), pa.field(_RESULT, pa.binary())])

    def rows(self, kind: str, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows of a kind in these columns."""
        number = pa.repeat(pa.scalar(self.names.index(kind), pa.int8()), batch.num_rows)
        columns = {_KIND: number, **dict(zip(batch.schema.names, batch.columns, strict=True))}
        if kind in self._structs:
            fields = [*self._structs[kind].type]
            of_kind = [batch.column(field.name).cast(field.type) for field in fields]
            columns = {name: column for name, column in columns.items() if name in (*self._shared, _KIND)}
            columns[kind] = pa.StructArray.from_arrays(of_kind, fields=fields)
        return self._padded(columns, batch.num_rows)

    def result(self, result: object) -> pa.RecordBatch:
        """Return the row with the result of a task."""
        return self._padded({_RESULT: result_row(result).column(0)}, 1)

    def frame(self, rows: DataFrame, kind: str) -> DataFrame:
        """Return the rows of a kind with its own columns."""
        columns = [
            sf.col(field.name)
            if field.name in self._shared
            else sf.col(f"{kind}.{field.name}").alias(field.name)
            for field in self.kinds[kind]
        ]
        return rows.where(sf.col(_KIND) == self.names.index(kind)).select(*columns)

    def _padded(self, columns: Mapping[str, pa.Array], rows: int) -> pa.RecordBatch:
        arrays = [
            columns[field.name].cast(field.type) if field.name in columns else pa.nulls(rows, field.type)
            for field in self.schema
        ]
        return pa.record_batch(arrays, schema=self.schema)


def tagged_rows(
    function: TaggedFunction[object], layout: TaskLayout, part: Part, batches: Batches
) -> Batches:
    """Yield the rows of a function, and the row with its result, in the columns of a layout."""
    return _with_result(function(part, batches), layout)


def _with_result(rows: Generator[tuple[str, pa.RecordBatch], None, object], layout: TaskLayout) -> Batches:
    while True:
        try:
            kind, batch = next(rows)
        except StopIteration as end:
            yield layout.result(end.value)
            return
        if batch.num_rows:
            yield layout.rows(kind, batch)
