"""Columns with one element per event; texts are Arrow arrays, all else is numpy's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, Any, Self, TypeAlias, get_type_hints

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.shuffle_codec import numbered_texts
from ticdc_producer.verifier.fingerprint import Flags, Numbers

TextColumn: TypeAlias = Annotated[pa.Array, pa.string()]
FlagColumn: TypeAlias = Annotated[Flags, pa.bool_()]
Int8Column: TypeAlias = Annotated[Numbers, pa.int8()]
Int32Column: TypeAlias = Annotated[Numbers, pa.int32()]
Int64Column: TypeAlias = Annotated[Numbers, pa.int64()]
"""Columns, each with the type in which it is stored and moved; numpy's numbers have 64 bits."""


@dataclass(frozen=True, kw_only=True)
class EventColumns:
    """Where and when events are; subclasses add columns. Texts are Arrow arrays, all else is numpy's.

    :param position: offset and index in the message in one number, see ``events.positions``.
    :param commit_ts: 0 for none.
    """

    topic: TextColumn
    schema: TextColumn
    table: TextColumn
    partition: Int32Column
    position: Int64Column
    commit_ts: Int64Column

    def __len__(self) -> int:
        return len(self.position)

    def take(self, rows: Numbers | Flags) -> Self:
        """Some of the events, by number or by flag."""
        indexes = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        chosen = pa.array(indexes)
        return type(self)(
            **{
                field.name: column.take(chosen) if isinstance(column, pa.Array) else column[indexes]
                for field in fields(self)
                for column in [getattr(self, field.name)]
            }
        )

    @cached_property
    def topics(self) -> tuple[Numbers, list[str]]:
        """For each event the number of its topic, and the topics in the order of their numbers."""
        return numbered_texts(self.topic)

    @cached_property
    def tables(self) -> tuple[Numbers, list[tuple[str, str]]]:
        """For each event the number of its table, and ``(schema, table)`` by number."""
        return numbered_pairs(self.schema, self.table)

    @classmethod
    def part_of(cls, events: EventColumns, **others: Numbers | Flags) -> Self:
        """These columns of events that have more of them.

        :param others: the columns that ``events`` lack.
        """
        columns: dict[str, Any] = dict(others)
        for field in fields(cls):
            if field.name not in others:
                columns[field.name] = getattr(events, field.name)
        return cls(**columns)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The events of all parts."""
        columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(cls)}
        return cls(
            **{
                name: pa.concat_arrays(arrays) if isinstance(arrays[0], pa.Array) else np.concatenate(arrays)
                for name, arrays in columns.items()
            }
        )

    @classmethod
    def arrow_schema(cls) -> pa.Schema:
        """Return the columns as they are stored and moved, with the types that the annotations declare."""
        if cls not in _SCHEMAS:
            hints = get_type_hints(cls, include_extras=True)
            columns = [pa.field(field.name, hints[field.name].__metadata__[0]) for field in fields(cls)]
            _SCHEMAS[cls] = pa.schema(columns)
        return _SCHEMAS[cls]

    def to_batch(self) -> pa.RecordBatch:
        """Return the events with the columns of ``arrow_schema``."""
        schema = self.arrow_schema()
        columns = [_stored(getattr(self, column.name), column.type) for column in schema]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Self:
        """Return the events of a batch, the inverse of :meth:`to_batch`."""
        schema = cls.arrow_schema()
        columns = zip(schema, batch.columns, strict=True)
        return cls(**{column.name: _read(values, column.type) for column, values in columns})


_SCHEMAS: dict[type[EventColumns], pa.Schema] = {}


def _stored(values: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.Array):
        return values
    return pa.array(values if kind in (pa.int64(), pa.bool_()) else values.astype(kind.to_pandas_dtype()))


def _read(values: pa.Array, kind: pa.DataType) -> Any:
    if pa.types.is_string(kind):
        return values
    if pa.types.is_boolean(kind):
        return values.to_numpy(zero_copy_only=False)
    return values.to_numpy().astype(np.int64, copy=False)


def numbered_pairs(schemas: pa.Array, tables: pa.Array) -> tuple[Numbers, list[tuple[str, str]]]:
    """Numbers of pairs of texts, and the pairs."""
    (of_schema, schema_names), (of_table, table_names) = numbered_texts(schemas), numbered_texts(tables)
    codes, found = np.unique(of_schema * max(len(table_names), 1) + of_table, return_inverse=True)
    pairs = [divmod(code, len(table_names)) for code in codes.tolist()]
    return found, [(schema_names[schema], table_names[table]) for schema, table in pairs]
