"""Columns with one element per event in a task, and blocks of many events as Spark moves them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.verifier.fingerprint import Flags, Numbers

BUCKETS = 1 << 10
"""Into how many parts the events of a stream are divided by a hash; a task holds at least one in memory."""
BLOCKS = pa.schema(
    [("bucket", pa.int16()), ("width", pa.int32()), ("texts", pa.string()), ("numbers", pa.binary())]
)
"""Events as Spark moves them, many of one bucket in each row: the bytes of an event's numbers, the different
texts, and the numbers of all events. Spark takes longer for a row than numpy for its content."""
_SEPARATOR = "\0"
_TEXTS = "texts"
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

    def blocks(self, hashes: Numbers) -> pa.RecordBatch:
        """The events by bucket, as Spark moves them (:data:`BLOCKS`).

        :param hashes: of each event; those with equal hashes are in one bucket.
        """
        bucket = buckets(hashes)
        number_type = _number_type(type(self))
        rows = np.empty(len(self), number_type)
        for name in number_type.names or ():
            if name != _TEXTS:
                rows[name] = getattr(self, name)
        codes, texts = self._encoded_texts()
        order = _sorted_by(bucket, codes)
        rows, codes, bucket = rows[order], codes[order], bucket[order]
        new_block = np.diff(bucket, prepend=-1) != 0
        new_text = new_block | (np.diff(codes, prepend=-1) != 0)
        starts, first = np.flatnonzero(new_block), np.flatnonzero(new_text)
        before = np.searchsorted(first, starts)  # different texts before each block
        rows[_TEXTS] = np.cumsum(new_text) - 1 - np.repeat(before, np.diff(starts, append=len(rows)))
        of_blocks = pa.ListArray.from_arrays(
            pa.array(np.append(before, len(first)), pa.int32()), texts.take(pa.array(codes[first]))
        )
        columns = (
            pa.array(bucket[starts], pa.int16()),
            pa.repeat(pa.scalar(number_type.itemsize, pa.int32()), len(starts)),
            pc.binary_join(of_blocks, _SEPARATOR),
            byte_strings(rows, starts),
        )
        return pa.record_batch([*columns], schema=BLOCKS)

    def _encoded_texts(self) -> tuple[Numbers, pa.Array]:
        """For each event the number of its texts, and all different texts in the order of their numbers."""
        columns = [getattr(self, name) for name in _texts(type(self))]
        codes = np.zeros(len(self), np.int64)
        for column in columns:
            encoded = column.dictionary_encode()
            both = codes * len(encoded.dictionary) + encoded.indices.to_numpy()
            codes = pa.array(both).dictionary_encode().indices.to_numpy().astype(np.int64)
        first = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        # A hostile message may have the separator in a name.
        different = [
            pc.replace_substring(column.take(pa.array(first)), _SEPARATOR, "\ufffd") for column in columns
        ]
        numbers, texts = _numbered(pc.binary_join_element_wise(*different, _SEPARATOR))
        return numbers[codes], pa.array(texts, pa.string())

    @property
    def nbytes(self) -> int:
        """Bytes in memory, texts included."""
        texts = (int(getattr(self, name).nbytes) for name in _texts(type(self)))
        return len(self) * self.width() + sum(texts)

    @classmethod
    def width(cls) -> int:
        """Bytes of an event in a block."""
        return _number_type(cls).itemsize

    @classmethod
    def of(cls, blocks: pa.RecordBatch) -> Self:
        """The events of blocks (:data:`BLOCKS`), the inverse of :meth:`blocks`."""
        number_type, numbers = _number_type(cls), blocks.column("numbers").cast(pa.binary())
        lengths = pc.binary_length(numbers).to_numpy()
        content = np.frombuffer(numbers.buffers()[2] or b"", np.uint8)
        start = int(np.frombuffer(numbers.buffers()[1], np.int32)[numbers.offset]) if len(numbers) else 0
        rows = content[start : start + int(lengths.sum())].view(number_type)
        columns: dict[str, Any] = {
            name: rows[name].astype(np.bool_ if rows.dtype[name] == np.bool_ else np.int64)
            for name in number_type.names or ()
        }
        encoded, names = blocks.column("texts").dictionary_encode(), _texts(cls)
        different = [text.split(_SEPARATOR) for text in encoded.dictionary.to_pylist()]
        before = np.cumsum([0, *(len(texts) // len(names) for texts in different)])
        of_block = before[:-1][encoded.indices.to_numpy()] if len(blocks) else before[:0]
        indexes = pa.array(columns.pop(_TEXTS) + np.repeat(of_block, lengths // number_type.itemsize))
        texts = [*chain.from_iterable(different)]
        for number, name in enumerate(names):
            columns[name] = pa.array(texts[number :: len(names)], pa.string()).take(indexes)
        return cls(**columns)


def _texts(columns: type[EventColumns]) -> Collection[str]:
    return tuple(field.name for field in fields(columns) if str(field.type) == "pa.Array")


def _number_type(columns: type[EventColumns]) -> np.dtype[np.void]:
    return np.dtype(
        [
            (_TEXTS, "<i4"),
            *(
                (field.name, "?" if str(field.type) == "Flags" else _SMALL.get(field.name, "<i8"))
                for field in fields(columns)
                if field.name not in _texts(columns)
            ),
        ]
    )


def _sorted_by(bucket: Numbers, codes: Numbers) -> Numbers:
    """The order of rows by bucket, then by code; numpy sorts small integers without comparing them."""
    few = int(codes.max(initial=0)) <= np.iinfo(np.int16).max
    order = np.argsort(codes.astype(np.int16) if few else codes, kind="stable")
    return order[np.argsort(bucket[order].astype(np.int16), kind="stable")]


def buckets(hashes: Numbers) -> Numbers:
    """The bucket of each hash: 0 … ``BUCKETS`` - 1."""
    return hashes % BUCKETS


def byte_strings(rows: npt.NDArray[Any], starts: Numbers) -> pa.Array:
    """The bytes of the rows of a contiguous array, those from each start to the next one as one value."""
    offsets = pa.py_buffer((np.append(starts, len(rows)) * rows.strides[0]).astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(starts), [None, offsets, pa.py_buffer(rows)])


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
