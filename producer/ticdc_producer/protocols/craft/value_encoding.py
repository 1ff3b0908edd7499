"""Column values as Craft's bytes, whole columns at a time.

Texts are copied, whatever their charset; numbers are binary. Source: tiflow
``message_encoder.go`` (``EncodeTiDBType``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.mysql_type import INTEGERS, NUMBERED, MySQLType
from ticdc_producer.protocols.arrow_text import Fragment, fixed_width
from ticdc_producer.protocols.varint_columns import ONE_BYTE, uvarints, varints, zigzag

Renderer: TypeAlias = Callable[[pa.Array], pa.Array]

T = MySQLType
_NEVER_SENT = frozenset({T.UNSPECIFIED, T.NULL, T.GEOMETRY})


def renderer(code: MySQLType, *, unsigned: bool) -> Renderer:
    """The function that encodes the values of a column; NULL stays null.

    :param unsigned: UnsignedFlag. YEAR is signed although it carries the flag.
    """
    if code == T.YEAR or (code in INTEGERS and not unsigned):
        return _signed
    if code in INTEGERS or code in NUMBERED:
        return _unsigned
    if code == T.FLOAT:
        return _floats
    if code == T.DOUBLE:
        return _doubles
    return _nulls if code in _NEVER_SENT else _copy


def sizes(column: pa.Array) -> np.ndarray:
    """Bytes of each value (int32), -1 for NULL."""
    found: np.ndarray = pc.fill_null(pc.binary_length(column), -1).to_numpy()
    return found


def lengths_chunk(columns: Sequence[np.ndarray]) -> Iterator[Fragment]:
    """The sizes of each row's values, as varints of the nullable chunk.

    Adjacent columns of short values become one fragment, since each fragment costs time per row.
    """
    lengths = [zigzag(column).view(np.uint32) for column in columns]
    for short, run in groupby(lengths, key=lambda column: column.max(initial=0) < ONE_BYTE):
        if short:
            block = np.stack([column.astype(np.uint8) for column in run], axis=1)
            yield fixed_width(block.tobytes(), block.shape[1])
        else:
            yield from map(uvarints, run)


def _copy(values: pa.Array) -> pa.Array:
    return values


def _nulls(values: pa.Array) -> pa.Array:
    return pa.nulls(len(values), pa.binary())


def _signed(values: pa.Array) -> pa.Array:
    return _with_nulls(values, varints(_numbers(values, pa.int64())))


def _unsigned(values: pa.Array) -> pa.Array:
    return _with_nulls(values, uvarints(_numbers(values, pa.uint64())))


def _doubles(values: pa.Array) -> pa.Array:
    return _with_nulls(values, _binary64(_numbers(values, pa.float64())))


def _floats(values: pa.Array) -> pa.Array:
    """A FLOAT is sent as 64 bits, after rounding to the column's 32 bits."""
    return _with_nulls(values, _binary64(_numbers(values, pa.float64()).astype(np.float32)))


def _binary64(numbers: np.ndarray) -> pa.Array:
    return fixed_width(numbers.astype("<f8").tobytes(), 8)


def _numbers(values: pa.Array, kind: pa.DataType) -> np.ndarray:
    """Canonical texts as numbers, 0 for NULL."""
    numbers: np.ndarray = pc.fill_null(values.cast(pa.string()).cast(kind), 0).to_numpy()
    return numbers


def _with_nulls(values: pa.Array, encoded: pa.Array) -> pa.Array:
    """The encoded values, null where the values are NULL."""
    return pc.if_else(values.is_null(), None, encoded) if values.null_count else encoded
