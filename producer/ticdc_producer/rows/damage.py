"""Messages that do not decode, and values that their column's type cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import DecodeError, UnreadableValue
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.verifier.fingerprint import Flags

OnError: TypeAlias = Literal["fail", "rows"]
_POSITION = ("topic", "partition", "offset")


def damage(batch: pa.RecordBatch, on_error: OnError) -> Flags:
    """Return which rows of a batch are messages that did not decode.

    :param batch: decoded events (shape ``DECODED``).
    :raises DecodeError: for the first of them, if errors are not rows.
    """
    damaged: Flags = pc.equal(batch.column("kind"), "error").to_numpy(zero_copy_only=False)
    if on_error == "fail" and damaged.any():
        raise damage_error(batch, int(np.argmax(damaged)))
    return damaged


def damage_error(batch: pa.RecordBatch, row: int) -> DecodeError:
    """Return the error of a message that did not decode."""
    code, byte, text = (batch.column(name)[row].as_py() for name in ("error", "error_byte", "error_expected"))
    expected, _, part = text.rpartition(" (")
    error = DecodeError(code, expected, part=part.removesuffix(")"), byte=byte)
    return error.at(*_position(batch, row))


def undamaged(on_error: OnError) -> BatchFunction:
    """Return the function that returns events as they are, and stops at damage if errors are not rows."""

    def checked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            damage(batch, on_error)
            yield batch

    return checked


def rejected_value(batch: pa.RecordBatch, row: int, what: str, hint: str) -> UnreadableValue:
    """Return the error of an event whose row cannot be given.

    :param what: the reason.
    :param hint: how the caller can read it.
    """
    topic, partition, offset = _position(batch, row)
    return UnreadableValue(what, topic=topic, partition=partition, offset=offset, hint=hint)


def _position(batch: pa.RecordBatch, row: int) -> tuple[str, int, int]:
    topic, partition, offset = (batch.column(name)[row].as_py() for name in _POSITION)
    return topic, partition, offset
