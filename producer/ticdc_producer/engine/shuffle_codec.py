"""Packs the rows of a part into one row for a shuffle of Spark, and unpacks them.

Spark takes longer for a row than numpy for its content. All rows of a part that a task has read are one
*packed row*: the bytes of their numbers and their distinct texts, or an Arrow stream for other columns.

    topic  key        part  texts       numbers
    t      1    →     1     t           (0, 1), (0, 1025)
    t      1025
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.spool import empty, joined
from ticdc_producer.model.column_functions import Numbers, first_of_codes, first_of_groups, whole_groups

PARTS = 1 << 10
"""The number of parts into which a hash divides rows. A task has several, and at least one in memory."""
PACKED_ROWS = pa.schema(
    [("part", pa.int16()), ("side", pa.int8()), ("texts", pa.string()), ("numbers", pa.binary())]
)
"""Packed rows. ``side`` is the number of the dataset that the rows are from."""
PART = ("part",)
_SEPARATOR = "\0"
_TEXTS = "\0texts"
_PACKED_BYTES = 16 << 20
"""Size of the rows that are packed at once, some 60,000. Fewer rows give small packed rows."""
_PROCESSED_BYTES = 8 << 20
"""Size of the parts that a task processes at once, some 30,000 rows. numpy is slower with fewer."""


def packed(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, by: str, side: int
) -> Iterator[pa.RecordBatch]:
    """Yield rows as packed rows.

    :param by: the column whose hash decides the part of a row.
    :param side: see :data:`PACKED_ROWS`.

    >>> rows = pa.record_batch({"key": [1, 1025, 2], "topic": ["t", "t", "u"]})
    >>> next(packed([rows], rows.schema, "key", 0)).select(["part", "texts"]).to_pydict()
    {'part': [1, 2], 'texts': ['t', 'u']}
    """
    held: list[pa.RecordBatch] = []
    size = 0
    pack = _packed_flat if _is_flat(schema) else _packed_stream
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= _PACKED_BYTES:
            yield pack(joined(held, schema), by, side)
            held, size = [], 0
    if any(batch.num_rows for batch in held):
        yield pack(joined(held, schema), by, side)


def unpacked(
    batches: Iterable[pa.RecordBatch], schemas: Mapping[str, pa.Schema]
) -> Iterator[dict[str, pa.RecordBatch]]:
    """Yield the rows of whole parts, by the name of their side.

    :param batches: packed rows, sorted by part.
    :param schemas: the columns of the rows of each side, in the order of their numbers.

    >>> rows = pa.record_batch({"key": [1, 1025, 2], "topic": ["t", "t", "u"]})
    >>> sides = [*unpacked(packed([rows], rows.schema, "key", 0), {"left": rows.schema})]
    >>> [side["left"].to_pydict() for side in sides]
    [{'key': [1, 1025], 'topic': ['t', 't']}, {'key': [2], 'topic': ['u']}]
    """
    for packed_rows in _whole_parts(batches):
        sides = packed_rows.column("side").to_numpy()
        yield {
            name: _rows(packed_rows.filter(pa.array(sides == number)), schema)
            for number, (name, schema) in enumerate(schemas.items())
        }


def _whole_parts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield slices of whole parts, each of about ``_PROCESSED_BYTES``.

    A slice ends before the first part that begins after a multiple of this size: parts of 5, 5 and 5 MiB
    become slices of 10 and 5 MiB.

    >>> rows = {"part": [1, 2, 3], "texts": ["", "", ""], "numbers": [bytes(5 << 20)] * 3}
    >>> [batch.column("part").to_pylist() for batch in _whole_parts([pa.record_batch(rows)])]
    [[1, 2], [3]]
    """
    for batch in whole_groups(batches, PART):
        sizes = _lengths(batch.column("numbers")) + _lengths(batch.column("texts"))
        starts = np.flatnonzero(first_of_groups(batch.select(PART), PART))
        multiples = (np.cumsum(sizes) - sizes)[starts] // _PROCESSED_BYTES
        first = starts[np.flatnonzero(np.diff(multiples, prepend=-1))]
        for start, end in zip(first, [*first[1:], batch.num_rows], strict=True):
            yield batch.slice(start, end - start)


def _lengths(texts: pa.Array) -> Numbers:
    lengths: Numbers = pc.fill_null(pc.binary_length(texts), 0).to_numpy().astype(np.int64)
    return lengths


def _is_flat(schema: pa.Schema) -> bool:
    """Return whether all columns are texts, integers or flags; these have no NULL."""
    types = pa.types
    return all(
        types.is_string(field.type) or types.is_integer(field.type) or types.is_boolean(field.type)
        for field in schema
    )


def _rows(packed_rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if not packed_rows.num_rows:
        return empty(schema)
    return _flat_rows(packed_rows, schema) if _is_flat(schema) else _stream_rows(packed_rows, schema)


def part_numbers(hashes: Numbers) -> Numbers:
    """Return the part of each hash: 0 … ``PARTS`` - 1."""
    return hashes % PARTS


def _packed_stream(rows: pa.RecordBatch, by: str, side: int) -> pa.RecordBatch:
    """Return rows as packed rows that are Arrow streams.

    >>> rows = pa.record_batch({"key": [1025, 2, 1], "values": [[7], [], [8, 9]]})
    >>> packed_rows = _packed_stream(rows, "key", 0)
    >>> packed_rows.column("part").to_pylist()
    [1, 2]
    >>> _stream_rows(packed_rows, rows.schema).to_pydict()
    {'key': [1025, 1, 2], 'values': [[7], [8, 9], []]}
    """
    part = part_numbers(rows.column(by).to_numpy())
    order = np.argsort(part, kind="stable")
    rows, part = rows.take(pa.array(order)), part[order]
    starts = np.flatnonzero(np.diff(part, prepend=-1)).tolist()
    streams = []
    for start, end in zip(starts, [*starts[1:], len(part)], strict=True):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_batch(rows.slice(start, end - start))
        streams.append(sink.getvalue().to_pybytes())
    columns = (
        pa.array(part[starts], pa.int16()),
        pa.repeat(pa.scalar(side, pa.int8()), len(starts)),
        pa.nulls(len(starts), pa.string()),
        pa.array(streams, pa.binary()),
    )
    return pa.record_batch([*columns], schema=PACKED_ROWS)


def _stream_rows(packed_rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    batches: list[pa.RecordBatch] = []
    for stream in packed_rows.column("numbers").to_pylist():
        with pa.ipc.open_stream(stream) as reader:
            batches += reader
    return joined(batches, schema)


def _packed_flat(rows: pa.RecordBatch, by: str, side: int) -> pa.RecordBatch:
    """Return rows as packed rows that are the bytes of a numpy array.

    The array has the number of the texts of each row, which counts the distinct texts of the packed row.

    >>> rows = pa.record_batch({"key": [1025, 2, 1], "topic": ["u", "t", "t"]})
    >>> packed_rows = _packed_flat(rows, "key", 0)
    >>> [text.split(_SEPARATOR) for text in packed_rows.column("texts").to_pylist()]
    [['t', 'u'], ['t']]
    >>> np.frombuffer(packed_rows.column("numbers")[0].as_py(), _number_type(rows.schema)).tolist()
    [(0, 1), (1, 1025)]
    """
    part = part_numbers(rows.column(by).to_numpy())
    numbers = np.empty(rows.num_rows, _number_type(rows.schema))
    for name in numbers.dtype.names or ():
        if name != _TEXTS:
            numbers[name] = rows.column(name).to_numpy(zero_copy_only=False)
    codes, texts = _encoded_texts(rows)
    order = _sorted_by(part, codes)
    numbers, codes, part = numbers[order], codes[order], part[order]
    new_part = np.diff(part, prepend=-1) != 0
    new_text = new_part | (np.diff(codes, prepend=-1) != 0)
    starts, first = np.flatnonzero(new_part), np.flatnonzero(new_text)
    before = np.searchsorted(first, starts)  # distinct texts before each packed row
    numbers[_TEXTS] = np.cumsum(new_text) - 1 - np.repeat(before, np.diff(starts, append=len(numbers)))
    of_parts = pa.ListArray.from_arrays(
        pa.array(np.append(before, len(first)), pa.int32()), texts.take(pa.array(codes[first]))
    )
    columns = (
        pa.array(part[starts], pa.int16()),
        pa.repeat(pa.scalar(side, pa.int8()), len(starts)),
        pc.binary_join(of_parts, _SEPARATOR),
        byte_strings(numbers, starts),
    )
    return pa.record_batch([*columns], schema=PACKED_ROWS)


def _flat_rows(packed_rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the rows of packed rows, the inverse of :func:`_packed_flat`.

    >>> rows = pa.record_batch({"key": [1025, 2, 1], "topic": ["u", "t", "t"]})
    >>> packed_rows = _packed_flat(rows, "key", 0)
    >>> _flat_rows(packed_rows, rows.schema).to_pydict()
    {'key': [1, 1025, 2], 'topic': ['t', 'u', 't']}
    >>> _flat_rows(packed_rows.slice(1), rows.schema).to_pydict()
    {'key': [2], 'topic': ['t']}
    """
    number_type, numbers = _number_type(schema), packed_rows.column("numbers").cast(pa.binary())
    lengths = pc.binary_length(numbers).to_numpy()
    content = np.frombuffer(numbers.buffers()[2] or b"", np.uint8)
    start = int(np.frombuffer(numbers.buffers()[1], np.int32)[numbers.offset]) if len(numbers) else 0
    rows = content[start : start + int(lengths.sum())].view(number_type)
    columns: dict[str, Any] = {
        name: pa.array(np.ascontiguousarray(rows[name])) for name in number_type.names or () if name != _TEXTS
    }
    names = _texts(schema)
    if names:
        encoded = packed_rows.column("texts").dictionary_encode()
        different = [text.split(_SEPARATOR) for text in encoded.dictionary.to_pylist()]
        before = np.cumsum([0, *(len(texts) // len(names) for texts in different)])
        of_part = before[:-1][encoded.indices.to_numpy()]
        indexes = pa.array(rows[_TEXTS] + np.repeat(of_part, lengths // number_type.itemsize))
        texts = [*chain.from_iterable(different)]
        for number, name in enumerate(names):
            columns[name] = pa.array(texts[number :: len(names)], pa.string()).take(indexes)
    return pa.record_batch([columns[field.name] for field in schema], schema=schema)


def _encoded_texts(rows: pa.RecordBatch) -> tuple[Numbers, pa.Array]:
    """Return the number of the texts of each row, and all distinct texts in the order of their numbers.

    >>> rows = pa.record_batch({"topic": ["t", "t", "s"], "table": ["b", "b", "a"]})
    >>> numbers, texts = _encoded_texts(rows)
    >>> numbers.tolist(), [text.split(_SEPARATOR) for text in texts.to_pylist()]
    ([1, 1, 0], [['s', 'a'], ['t', 'b']])
    """
    columns = [rows.column(name) for name in _texts(rows.schema)]
    if not columns:
        return np.zeros(rows.num_rows, np.int64), pa.array([""], pa.string())
    codes = np.zeros(rows.num_rows, np.int64)
    for column in columns:
        encoded = column.dictionary_encode()
        both = codes * len(encoded.dictionary) + encoded.indices.to_numpy()
        codes = pa.array(both).dictionary_encode().indices.to_numpy().astype(np.int64)
    first = pa.array(first_of_codes(codes))
    # A hostile message may have the separator in a name.
    different = [pc.replace_substring(column.take(first), _SEPARATOR, "\ufffd") for column in columns]
    numbers, texts = numbered_texts(pc.binary_join_element_wise(*different, _SEPARATOR))
    return numbers[codes], pa.array(texts, pa.string())


def numbered_texts(texts: pa.Array) -> tuple[Numbers, list[str]]:
    """Return numbers of texts, in the order of the texts, and the texts.

    >>> numbers, names = numbered_texts(pa.array(["b", "a", "b"]))
    >>> numbers.tolist(), names
    ([1, 0, 1], ['a', 'b'])
    """
    encoded = texts.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    ranks = np.empty(len(names), np.int64)
    ranks[order] = np.arange(len(names))
    codes: Numbers = ranks[encoded.indices.to_numpy(zero_copy_only=False)] if names else np.zeros(0, np.int64)
    return codes, [names[number] for number in order]


def _texts(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if pa.types.is_string(field.type)]


def _number_type(schema: pa.Schema) -> np.dtype[np.void]:
    texts = _texts(schema)
    numbers = [(field.name, field.type.to_pandas_dtype()) for field in schema if field.name not in texts]
    return np.dtype([(_TEXTS, "<i4"), *numbers])


def _sorted_by(part: Numbers, codes: Numbers) -> Numbers:
    """Return the order of rows by part, then by code.

    numpy sorts integers of 16 bits by radix, without comparisons.

    >>> _sorted_by(np.array([2, 1, 2]), np.array([5, 7, 4])).tolist()
    [1, 2, 0]
    """
    few = int(codes.max(initial=0)) <= np.iinfo(np.int16).max
    order = np.argsort(codes.astype(np.int16) if few else codes, kind="stable")
    return order[np.argsort(part[order].astype(np.int16), kind="stable")]


def byte_strings(rows: npt.NDArray[np.generic], starts: Numbers) -> pa.Array:
    """Return the bytes of the rows of a contiguous array; each value has the rows from a start to the next.

    >>> byte_strings(np.array([1, 2, 3], np.uint8), np.array([0, 2])).to_pylist()
    [b'\\x01\\x02', b'\\x03']
    """
    offsets = pa.py_buffer((np.append(starts, len(rows)) * rows.strides[0]).astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(starts), [None, offsets, pa.py_buffer(rows)])
