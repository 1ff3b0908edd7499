"""Columns with one element per event, in a task and as Spark moves them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.verifier.fingerprint import Flags, Numbers

_SEPARATOR = "\0"
_SMALL = {"kind": "i1", "op": "i1", "rule": "i1", "effect": "i1", "partition": "<i4", "slice": "<i4"}


@dataclass(frozen=True, kw_only=True)
class EventColumns:
    """Where and when events are; subclasses add columns. Texts are Arrow arrays, all else is numpy's.

    :param position: offset and index in the message in one number, see ``events.positions``.
    :param commit_ts: 0 for none.
    """

    topic: pa.Array
    schema: pa.Array
    table: pa.Array
    partition: Numbers
    position: Numbers
    commit_ts: Numbers

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
        return _numbered(self.topic)

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

    def packed(self) -> tuple[pa.Array, pa.Array]:
        """All texts of an event as one text, and all numbers as one binary value.

        Each field of a row costs Spark some time.
        """
        number_type = _number_type(type(self))
        rows = np.empty(len(self), number_type)
        for name in number_type.names or ():
            rows[name] = getattr(self, name)
        size = number_type.itemsize
        offsets = np.arange(0, (len(self) + 1) * size, size, dtype=np.int32)
        numbers = pa.Array.from_buffers(
            pa.binary(), len(self), [None, pa.py_buffer(offsets), pa.py_buffer(rows)]
        )
        # A hostile message may have the separator in a name.
        parts = [
            pc.replace_substring(getattr(self, name), _SEPARATOR, "\ufffd") for name in _texts(type(self))
        ]
        return pc.binary_join_element_wise(*parts, _SEPARATOR), numbers

    @classmethod
    def packed_size(cls) -> int:
        """Bytes of the numbers of one event."""
        return _number_type(cls).itemsize

    @classmethod
    def unpacked(cls, texts: pa.Array, numbers: pa.Array) -> Self:
        """The inverse of :meth:`packed`."""
        number_type, encoded = _number_type(cls), texts.dictionary_encode()
        content = np.frombuffer(numbers.buffers()[2] or b"", np.uint8)
        start = numbers.offset * number_type.itemsize
        rows = content[start : start + len(numbers) * number_type.itemsize].view(number_type)
        columns: dict[str, Any] = {
            name: rows[name].astype(np.bool_ if rows.dtype[name] == np.bool_ else np.int64)
            for name in number_type.names or ()
        }
        distinct = [text.split(_SEPARATOR) for text in encoded.dictionary.to_pylist()]
        for number, name in enumerate(_texts(cls)):
            values = pa.array([one[number] for one in distinct], pa.string())
            columns[name] = values.take(encoded.indices)
        return cls(**columns)


def _texts(columns: type[EventColumns]) -> Collection[str]:
    return tuple(field.name for field in fields(columns) if str(field.type) == "pa.Array")


def _number_type(columns: type[EventColumns]) -> np.dtype[np.void]:
    return np.dtype(
        [
            (field.name, "?" if str(field.type) == "Flags" else _SMALL.get(field.name, "<i8"))
            for field in fields(columns)
            if field.name not in _texts(columns)
        ]
    )


def _numbered(texts: pa.Array) -> tuple[Numbers, list[str]]:
    """Numbers of texts, in the order of the texts, and the texts."""
    encoded = texts.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    ranks = np.empty(len(names), np.int64)
    ranks[order] = np.arange(len(names))
    codes: Numbers = ranks[encoded.indices.to_numpy(zero_copy_only=False)] if names else np.zeros(0, np.int64)
    return codes, [names[number] for number in order]


def numbered_pairs(schemas: pa.Array, tables: pa.Array) -> tuple[Numbers, list[tuple[str, str]]]:
    """Numbers of pairs of texts, and the pairs."""
    (of_schema, schema_names), (of_table, table_names) = _numbered(schemas), _numbered(tables)
    codes, found = np.unique(of_schema * max(len(table_names), 1) + of_table, return_inverse=True)
    pairs = [divmod(code, len(table_names)) for code in codes.tolist()]
    return found, [(schema_names[schema], table_names[table]) for schema, table in pairs]
