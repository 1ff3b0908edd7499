"""Sums of row digests: equal rows in any order have equal sums.

A row that occurs twice counts twice, so a repeated row is noticed. The digest of a row has two independent
halves of 64 bits, and each is summed modulo 2⁶⁴. The manifest of a golden folder has the sums of the expected
rows of each table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Self

import numpy as np
import pyarrow as pa

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fingerprint import MULTIPLIER, Hashes, mixed, value_hashes
from ticdc_producer.verifier.consumer_state.typed_columns import MAX_DECIMAL, typed_texts

FORM = 1
"""Increases if equal rows have other sums than before."""
_ROWS = 1 << 14
"""Rows whose digests are computed at once, in the caches of a processor."""
_WORD = 1 << 64
_SHIFT = np.uint64(32)
_FACTORS = (MULTIPLIER, np.uint64(0xBF58476D1CE4E5B9))
_STARTS = (np.uint64(0x5851F42D4C957F2D), np.uint64(0x14057B7EF767814F))
"""One for each half of a digest."""


@dataclass(frozen=True)
class RowSums:
    """The number of rows, and the sums of both halves of their digests.

    >>> RowSums(1, 2, 3) + RowSums(1, (1 << 64) - 1, 1)
    RowSums(rows=2, hash=1, check=4)
    """

    rows: int = 0
    hash: int = 0
    check: int = 0

    def __add__(self, other: RowSums) -> RowSums:
        sums = self.hash + other.hash, self.check + other.check
        return RowSums(self.rows + other.rows, sums[0] % _WORD, sums[1] % _WORD)

    def to_text(self) -> str:
        """Return three numbers in hexadecimal digits.

        >>> RowSums.of_text(RowSums(1, 255, 3).to_text())
        RowSums(rows=1, hash=255, check=3)
        """
        return f"{self.rows:x}-{self.hash:016x}-{self.check:016x}"

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Return the sums of ``to_text``.

        :raises ValueError: for another text.
        """
        rows, *sums = (int(number, 16) for number in text.split("-"))
        if len(sums) != 2:
            raise ValueError(text)
        return cls(rows, *sums)


def total(sums: Iterable[RowSums]) -> RowSums:
    """Return the sums of all rows."""
    return reduce(add, sums, RowSums())


def row_sums(columns: Sequence[pa.Array], rows: int) -> RowSums:
    """Return the sums of some rows.

    >>> sums = row_sums([pa.array([1, 2]), pa.array(["a", None])], 2)
    >>> sums == row_sums([pa.array([2, 1]), pa.array([None, "a"])], 2)
    True
    >>> sums == row_sums([pa.array([2, 1]), pa.array(["a", None])], 2)
    False

    :param columns: integers of 64 bits, floats, DECIMALs of 128 bits, dates, times, binary or strings.
    """
    starts = range(0, rows, _ROWS)
    return total(_sums_of([column.slice(start, _ROWS) for column in columns]) for start in starts)


def sums_of_images(columns: Sequence[ColumnInfo], images: pa.Array) -> RowSums | None:
    """Return the sums of row images; None if a value has no typed form, such as a zero date.

    :param images: shape ``IMAGE``.
    """
    values, width = images.flatten(), len(columns)
    try:
        typed = [
            typed_texts(column, values.take(pa.array(np.arange(at, len(values), width))))
            for at, column in enumerate(columns)
        ]
    except pa.ArrowInvalid:
        return None
    return row_sums(typed, len(images))


def sums_json(sums: RowSums) -> dict[str, object]:
    """Return the sums of a file as the manifest has them, but for the sha256 of the file."""
    return {"form": FORM, "sums": sums.to_text()}


def sums_of_folder(file: str, manifest: Mapping[str, object]) -> RowSums | None:
    """Return the sums of the rows of a file; None if the manifest has none of its content.

    :param file: path of the file in the folder.
    """
    of_files, files = manifest.get("row_sums"), manifest.get("files")
    entry = of_files.get(file) if isinstance(of_files, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(files, Mapping):
        return None
    if entry.get("form") != FORM or entry.get("sha256") != files.get(file):
        return None
    try:
        return RowSums.of_text(str(entry.get("sums")))
    except ValueError:
        return None


def _sums_of(columns: Sequence[pa.Array]) -> RowSums:
    words = _null_words(columns) + [word for column in columns for word in _words(column)]
    with np.errstate(over="ignore"):
        halves = [
            int(_digests(words, factor, start).sum()) for factor, start in zip(_FACTORS, _STARTS, strict=True)
        ]
    return RowSums(len(columns[0]), *halves)


def _digests(words: Sequence[Hashes], factor: np.uint64, start: np.uint64) -> Hashes:
    """Return a digest of the words of each row; their order counts.

    Each step gives different states for different words, and for different states before it.
    """
    states = np.full(1, start, np.uint64)
    for word in words:
        states = states ^ word
        states *= factor
        states ^= states >> _SHIFT
    return mixed(states)


def _words(column: pa.Array) -> list[Hashes]:
    """Return the 64 bits of each value, or 128; those of NULL are 0."""
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_string(kind):
        return [_without_null(value_hashes(column), column)]
    width = kind.bit_width // 8
    if pa.types.is_decimal128(kind):
        halves = np.frombuffer(column.buffers()[1], np.uint64)[2 * column.offset :][: 2 * len(column)]
        used = (0,) if kind.precision <= MAX_DECIMAL else (0, 1)
        return [_without_null(halves[half::2], column) for half in used]
    data = np.frombuffer(column.buffers()[1], f"u{width}")[column.offset :][: len(column)]
    return [_without_null(data.astype(np.uint64, copy=False), column)]


def _without_null(words: Hashes, column: pa.Array) -> Hashes:
    if not column.null_count:
        return words
    return np.where(column.is_valid().to_numpy(zero_copy_only=False), words, np.uint64(0))


def _null_words(columns: Sequence[pa.Array]) -> list[Hashes]:
    """Return a bit for each column and row: whether the value is NULL. It has one element without NULL."""
    words = []
    for start in range(0, len(columns), 64):
        bits: Hashes = np.zeros(1, np.uint64)
        for bit, column in enumerate(columns[start : start + 64]):
            if column.null_count:
                null = column.is_null().to_numpy(zero_copy_only=False).astype(np.uint64)
                bits = bits | null << np.uint64(bit)
        words.append(bits)
    return words
