"""Functions on columns of many rows: operations, groups of equal keys, maxima in them, and texts of numbers.

Arrow also prints the shortest digits of a float, but with an exponent below 1e-6 and from 1e10.
``model.values.number_text`` prints those few numbers one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.number_text import plain_text

Flags: TypeAlias = npt.NDArray[np.bool_]
Numbers: TypeAlias = npt.NDArray[np.int64]


def operations(existed: Flags, exists: Flags) -> Numbers:
    """Return the operation (``Op``) of each change of a row, by whether the row existed, and exists after it.

    >>> codes = operations(np.array([True, False, True]), np.array([True, True, False]))
    >>> [Op(code).name for code in codes]
    ['UPDATE', 'INSERT', 'DELETE']
    """
    return np.where(existed, np.where(exists, int(Op.UPDATE), int(Op.DELETE)), int(Op.INSERT))


def first_of_groups(rows: pa.RecordBatch, key: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Return whether each row begins a group of equal keys.

    >>> rows = pa.record_batch({"ts": [1, 1, 1, 2], "key": [b"a", b"a", b"b", b"b"]})
    >>> first_of_groups(rows, ("ts", "key")).tolist()
    [True, False, True, True]

    :param rows: any columns, among them those of the key; the rows of a group are consecutive.
    :param key: the columns that are equal in a group.
    :return: one flag per row, in the order of the rows.
    """
    first = np.zeros(rows.num_rows, bool)
    first[:1] = True
    for name in key:
        column = rows.column(name)
        if pa.types.is_integer(column.type):
            values = column.to_numpy(zero_copy_only=False)
            first[1:] |= values[1:] != values[:-1]
        else:
            before = column.slice(0, max(len(column) - 1, 0))
            differs = pc.fill_null(pc.not_equal(column.slice(1), before), False)
            first[1:] |= differs.to_numpy(zero_copy_only=False)
    return first


_NOT_JOINED = 8192
"""As many rows are not copied to join them with those that are held back; fewer cost less than a batch."""


def whole_groups(batches: Iterable[pa.RecordBatch], key: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches that end at the end of a group.

    The last group of each batch is held back, so the memory needed is that of a batch and the largest group.

    >>> batches = [pa.record_batch({"key": [1, 2]}), pa.record_batch({"key": [2, 3]})]
    >>> [batch.column("key").to_pylist() for batch in whole_groups(batches, ("key",))]
    [[1], [2, 2], [3]]

    :param batches: any columns, among them those of the key; the rows of a group are consecutive.
    :param key: the columns that are equal in a group.
    :return: the same columns, and the rows in the same order.
    """
    held: list[pa.RecordBatch] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        if held:
            # Whether the batch begins a new group follows from the last row that is held.
            joint = pa.concat_batches([held[-1].slice(held[-1].num_rows - 1).select(key), batch.select(key)])
            starts = np.flatnonzero(first_of_groups(joint, key)[1:])
        else:
            starts = np.flatnonzero(first_of_groups(batch.select(key), key))[1:]
        if not len(starts):
            held.append(batch)
            continue
        first, last = int(starts[0]), int(starts[-1])
        if held and last - first >= _NOT_JOINED:
            yield concatenated([*held, batch.slice(0, first)])
            yield batch.slice(first, last - first)
        else:
            yield concatenated([*held, batch.slice(0, last)])
        held = [batch.slice(last)]
    if held:
        yield concatenated(held)


def filtered(batch: pa.RecordBatch, rows: npt.NDArray[np.bool_]) -> pa.RecordBatch:
    """Return the rows of a batch whose flag is set; if all are set, the batch is not copied."""
    if rows.all():
        return batch
    flags = pa.array(rows)
    columns = (
        _filtered_maps(column, rows) if pa.types.is_map(column.type) else column.filter(flags)
        for column in batch.columns
    )
    return pa.RecordBatch.from_arrays([*columns], schema=batch.schema)


def _filtered_maps(maps: pa.MapArray, rows: npt.NDArray[np.bool_]) -> pa.MapArray:
    """Return the maps whose flag is set; if all others are empty, the entries are not copied.

    >>> maps = pa.array([[("a", 1)], None, [], [("b", 2)]], pa.map_(pa.string(), pa.int8()))
    >>> _filtered_maps(maps, np.array([True, False, True, True])).to_pylist()
    [[('a', 1)], [], [('b', 2)]]
    """
    offsets = maps.offsets.to_numpy()
    if np.diff(offsets)[~rows].any():
        return maps.filter(pa.array(rows))
    absent = maps.is_null().to_numpy(zero_copy_only=False)[rows]
    starts = pa.array(np.append(offsets[:-1][rows], offsets[-1]), mask=np.append(absent, False))
    return pa.MapArray.from_arrays(starts, maps.keys, maps.items)


def concatenated(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the rows of batches of one schema as one batch, in their order; a single batch is not copied."""
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def float_texts(numbers: pa.Array) -> pa.Array:
    """Return the canonical texts of FLOAT (float32) or DOUBLE (float64) values, as binary.

    >>> float_texts(pa.array([0.5, -0.0, 1e-7, None])).to_pylist()
    [b'0.5', b'0', b'0.0000001', None]

    :raises ValueError: for NaN and infinities, which no MySQL column holds.
    """
    if pc.any(pc.invert(pc.is_finite(numbers))).as_py():
        raise ValueError("NaN and infinities have no text in MySQL")
    texts = numbers.cast(pa.string())
    texts = pc.if_else(pc.equal(numbers, 0), pa.scalar("0"), texts)  # minus zero loses its sign
    exponential = pc.fill_null(pc.match_substring(texts, "e"), False)
    code = MySQLType.FLOAT if pa.types.is_float32(numbers.type) else MySQLType.DOUBLE
    plain = [plain_text(number, code).decode() for number in numbers.filter(exponential).to_pylist()]
    return pc.replace_with_mask(texts, exponential, pa.array(plain, pa.string())).cast(pa.binary())


def decimals(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return texts of numbers as decimals.

    Arrow reads a text with too many digits as another number, and crashes at some exponents (26.0), so that
    it gets neither.

    >>> decimals(pa.array(["-1.5", "007.00000", None]), pa.decimal128(5, 2)).to_pylist()
    [Decimal('-1.50'), Decimal('7.00'), None]

    :param kind: of any width, with a scale of 0 or more.
    :raises pa.ArrowInvalid: for a text that is no number without an exponent, or has more digits.
    """
    scale = kind.scale
    plain = rf"^-?{whole_digits(kind)}" + (rf"(\.\d{{1,{scale}}})?$" if scale else "$")
    if not all_match(texts, plain):
        texts = pc.replace_substring_regex(texts, r"^(-?)0+(\d)", r"\1\2")
        texts = pc.replace_substring_regex(texts, rf"(\.\d{{{scale}}})0+$" if scale else r"(\.)0+$", r"\1")
        texts = pc.utf8_rtrim(texts, ".")
        if not all_match(texts, plain):
            raise pa.ArrowInvalid(f"a text that is not a {kind}")
    return texts.cast(kind)


def whole_digits(kind: pa.DataType) -> str:
    """Return a pattern of the digits that a decimal may have before the point.

    >>> whole_digits(pa.decimal128(5, 2)), whole_digits(pa.decimal128(2, 2))
    ('\\\\d{1,3}', '0')
    """
    digits = kind.precision - kind.scale
    return rf"\d{{1,{digits}}}" if digits else "0"


def all_match(texts: pa.Array, pattern: str) -> bool:
    """Return whether all texts match a pattern of RE2; NULL does.

    >>> all_match(pa.array(["1", None]), r"^[0-9]$"), all_match(pa.array(["1", "x"]), r"^[0-9]$")
    (True, False)
    """
    return bool(pc.all(pc.match_substring_regex(texts, pattern), min_count=0).as_py())


def starts_of(*keys: Numbers) -> Flags:
    """Return which rows begin a group of equal keys; the rows of a group are consecutive.

    >>> starts_of(np.array([7, 7, 8, 8]), np.array([1, 1, 1, 2])).tolist()
    [True, False, True, True]
    """
    first = np.zeros(len(keys[0]), bool)
    first[:1] = True
    for key in keys:
        first[1:] |= key[1:] != key[:-1]
    return first


def sorted_groups(keys: Sequence[Numbers], *order_by: Numbers | Flags) -> tuple[Numbers, Flags]:
    """Return the order that brings rows of equal keys together, and which rows in it begin a group.

    >>> order, starts = sorted_groups([np.array([7, 5, 7])], np.array([30, 20, 10]))
    >>> order.tolist(), starts.tolist()
    ([1, 2, 0], [True, True, False])

    :param keys: the groups are in the order of the first key, then of the next one.
    :param order_by: the order in a group, also by the first one, then the next one. Equal rows keep theirs.
    """
    order: Numbers = np.lexsort((*reversed(order_by), *reversed(keys)))
    return order, starts_of(*(key[order] for key in keys))


def highest_before(values: Numbers, starts: Flags) -> tuple[Numbers, Numbers]:
    """Return the highest value before each row in its group, and its row; -1 at the start of a group.

    The last of equal values counts.

    >>> before, row = highest_before(np.array([5, 9, 9, 6, 3, 4]), np.array([1, 0, 0, 0, 1, 0], bool))
    >>> before.tolist(), row.tolist()
    ([-1, 5, 9, 9, -1, 3], [-1, 0, 1, 2, -1, 4])

    :param values: not less than -1.
    """
    if not len(values):
        return values, values
    group = np.cumsum(starts)
    # A step of all ranks from group to group makes the maximum of all rows that of the row's group.
    ranks = np.unique(values, return_inverse=True)[1]
    lifted = ranks + group * (int(ranks.max()) + 1)
    highest = np.maximum.accumulate(lifted)
    newest = np.maximum.accumulate(np.where(lifted == highest, np.arange(len(values)), 0))
    rows = np.where(starts, -1, np.concatenate([[0], newest[:-1]]))
    return np.where(rows < 0, -1, values[rows]), rows


def flat_positions(first: Numbers, counts: Numbers) -> Numbers:
    """Return ``counts`` consecutive positions from each start on, in one array.

    >>> flat_positions(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(counts) - counts
    positions: Numbers = np.arange(int(counts.sum())) + np.repeat(first - before, counts)
    return positions


def fixed_bytes(rows: npt.NDArray[np.uint8]) -> pa.Array:
    """Convert each row of a matrix of bytes to one value.

    >>> fixed_bytes(np.array([[97, 98], [99, 100]], np.uint8)).to_pylist()
    [b'ab', b'cd']
    """
    count, width = rows.shape
    data = pa.py_buffer(np.ascontiguousarray(rows))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), count, [None, data]).cast(pa.binary())


def of_partitions(batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, int], Numbers]]:
    """Yield each partition of a batch with the numbers of its rows, which are ascending.

    >>> batch = pa.record_batch({"topic": ["a", "b", "a"], "partition": [1, 0, 1]})
    >>> [(partition, rows.tolist()) for partition, rows in of_partitions(batch)]
    [(('a', 1), [0, 2]), (('b', 0), [1])]

    :param batch: with the columns ``topic`` and ``partition``.
    """
    if not batch.num_rows:
        return
    topics, partitions = batch.column("topic").dictionary_encode(), batch.column("partition").to_numpy()
    codes = topics.indices.to_numpy().astype(np.int64) << 32 | partitions
    of_one = (codes == codes[0]).all()  # as in most batches of a reader, whose rows need no search
    for code in codes[:1].tolist() if of_one else np.unique(codes).tolist():
        rows = np.arange(len(codes)) if of_one else np.flatnonzero(codes == code)
        yield (topics.dictionary[code >> 32].as_py(), code & 0xFFFFFFFF), rows


def row_codes(columns: Sequence[pa.Array]) -> Numbers:
    """Return a number for each row that equal rows share, and only they: all from 0 to the highest.

    >>> row_codes([pa.array(["x", None, "x"]), pa.array(["a", "a", "b"])]).tolist()
    [0, 2, 1]
    """
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        encoded = column.dictionary_encode()
        values = pc.fill_null(encoded.indices, len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        codes = ranks(codes * (len(encoded.dictionary) + 1) + values)
    return codes


def ranks(numbers: Numbers) -> Numbers:
    """Return the rank of each number among the different ones, which no sort finds if they are small.

    >>> ranks(np.array([7, 5, 7])).tolist(), ranks(np.array([7, 5, 1 << 40])).tolist()
    ([1, 0, 1], [1, 0, 2])

    :param numbers: not below 0.
    """
    most = int(numbers.max(initial=0))
    if most > _SMALL + len(numbers):
        return np.unique(numbers, return_inverse=True)[1]
    occurs = np.zeros(most + 1, np.int64)
    occurs[numbers] = 1
    of_numbers: Numbers = (np.cumsum(occurs) - 1)[numbers]
    return of_numbers


_SMALL = 1024
"""Numbers below this, or below their count, have a table of ranks."""


def distinct_rows(columns: Sequence[pa.Array]) -> tuple[Numbers, Numbers]:
    """Return the numbers of the first of equal rows, and for each row the position of its own among them.

    >>> first, positions = distinct_rows([pa.array(["y", "x", "y"]), pa.array([1, 1, 1])])
    >>> first.tolist(), positions.tolist()
    ([0, 1], [0, 1, 0])
    """
    codes = row_codes(columns)
    return first_of_codes(codes), codes


def first_of_codes(codes: Numbers) -> Numbers:
    """Return the number of the first row with each code.

    >>> first_of_codes(np.array([1, 0, 1, 2])).tolist()
    [1, 0, 3]

    :param codes: of rows: all numbers from 0 to the highest.
    """
    first = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of equal codes, the last assignment counts
    return first


def coded(texts: pa.Array, codes: Mapping[str, int]) -> Numbers:
    """Return the number of each text; 0 for NULL.

    >>> coded(pa.array(["ddl", None, "row"]), {"row": 1, "ddl": 2}).tolist()
    [2, 0, 1]
    """
    numbers = pc.index_in(texts, pa.array([*codes], pa.string()))
    values = np.array([0, *codes.values()], np.int64)
    of_texts: Numbers = values[pc.fill_null(numbers, -1).to_numpy(zero_copy_only=False) + 1]
    return of_texts
