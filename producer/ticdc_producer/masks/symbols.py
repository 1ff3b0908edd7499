"""Keyed permutations of texts that keep their form, on columns.

A text is a row of symbols, each of an alphabet: digits, letters, ideographs. Other characters stay, and are
the form of the text together with the alphabets of the symbols. The texts of one form are permuted by a
Feistel network whose halves are the symbols at even and odd positions. Upper and lower case of a letter are
one symbol, and the case stays: texts that a collation distinguishes stay different, and others stay equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.masks.cipher import CipherKey, Words
from ticdc_producer.model.column_functions import Flags, Numbers

_ROUNDS = 10
_FIRST_IDEOGRAPH, _IDEOGRAPHS = 0x4E00, 20902
_FIRST_LETTER, _LETTERS = 0xC0, 64  # of Latin-1
_FIXED = 0
"""The radix of characters that stay."""


@dataclass(frozen=True)
class Symbols:
    """The characters of some texts, one text after the other.

    :param lengths: number of characters of each text.
    :param values: by character its symbol; of a character that stays its code point.
    :param radices: by character the size of its alphabet; 0: the character stays.
    :param bases: by character the code point of the first symbol.
    """

    lengths: Numbers
    values: Words
    radices: Words
    bases: Words

    @property
    def codes(self) -> Words:
        """The code points of the characters."""
        return self.values + self.bases

    def permuted(self, key: CipherKey) -> Symbols:
        """Permute the symbols of each text.

        >>> symbols, _ = text_symbols(pa.array(["Ann-12"]))
        >>> symbol_texts(symbols.permuted(CipherKey(bytes(16)))).to_pylist()
        ['Gbd-53']
        """
        rows = np.repeat(np.arange(len(self.lengths)), self.lengths)
        positions = (np.arange(len(rows)) - np.repeat(_starts(self.lengths), self.lengths)).astype(np.uint64)
        # To the form belong code points of characters that stay, and alphabets of others, without case.
        alphabets = np.where(self.bases == ord("A"), np.uint64(ord("a")), self.bases)
        forms = np.where(self.radices == _FIXED, self.values, alphabets << np.uint64(24) | self.radices)
        form = _sums(key.hashes(positions, forms), self.lengths) + self.lengths.astype(np.uint64)
        moving = np.flatnonzero(self.radices != _FIXED)
        numbers = np.bincount(rows[moving], minlength=len(self.lengths)).astype(np.int64)
        order = np.arange(len(moving)) - np.repeat(_starts(numbers), numbers)
        values = self.values.copy()
        halves = [_Half.of(moving[order % 2 == side], rows, positions) for side in range(2)]
        for number in range(_ROUNDS):
            half, other = halves[number % 2], halves[1 - number % 2]
            digests = form + _sums(
                key.hashes(values[other.at], other.positions << np.uint64(8) | np.uint64(number)),
                other.numbers(len(form)),
            )
            added = key.hashes(digests[half.rows], half.positions << np.uint64(8) | np.uint64(number))
            radices = self.radices[half.at]
            values[half.at] = (values[half.at] + added % radices) % radices
        return Symbols(self.lengths, values, self.radices, self.bases)


@dataclass(frozen=True)
class _Half:
    at: Numbers
    rows: Numbers
    positions: Words

    @classmethod
    def of(cls, at: Numbers, rows: Numbers, positions: Words) -> _Half:
        return cls(at, rows[at], positions[at])

    def numbers(self, texts: int) -> Numbers:
        """Return the number of symbols of each text."""
        return np.bincount(self.rows, minlength=texts).astype(np.int64)


def _starts(lengths: Numbers) -> Numbers:
    starts: Numbers = np.cumsum(lengths) - lengths
    return starts


def _sums(parts: Words, lengths: Numbers) -> Words:
    """Return the sum of the parts of each text.

    >>> _sums(np.array([1, 2, 4], np.uint64), np.array([2, 0, 1])).tolist()
    [3, 0, 4]
    """
    totals = np.concatenate([np.zeros(1, np.uint64), np.cumsum(parts, dtype=np.uint64)])
    starts = _starts(lengths)
    sums: Words = totals[starts + lengths] - totals[starts]
    return sums


def text_symbols(texts: pa.StringArray) -> tuple[Symbols, Flags]:
    """Return the symbols of texts, and which texts have characters that others may become, too.

    An ideograph becomes another one. A letter of Latin-1 becomes one of 64, and any other character that is
    not ASCII an ideograph; both may be equal for different characters.

    >>> symbols, ambiguous = text_symbols(pa.array(["b7-", "é"]))
    >>> symbols.lengths.tolist(), symbols.values.tolist(), symbols.radices.tolist()
    ([3, 1], [1, 7, 45, 41], [26, 10, 0, 64])
    >>> symbols.bases.tolist(), ambiguous.tolist()
    ([97, 48, 0, 192], [False, True])

    :param texts: without NULLs.
    """
    codes, lengths = _code_points(texts)
    values, radices, bases = codes.copy(), np.zeros_like(codes), np.zeros_like(codes)
    for first, size in ((ord("0"), 10), (ord("a"), 26), (ord("A"), 26), (_FIRST_IDEOGRAPH, _IDEOGRAPHS)):
        own = (codes >= first) & (codes < first + size)
        values[own], radices[own], bases[own] = codes[own] - np.uint64(first), size, first
    latin = (codes >= 0x80) & (codes < 0x100)
    other = (codes >= 0x80) & (radices == _FIXED) & ~latin
    for own, first, size in ((latin, _FIRST_LETTER, _LETTERS), (other, _FIRST_IDEOGRAPH, _IDEOGRAPHS)):
        values[own], radices[own], bases[own] = codes[own] % np.uint64(size), size, first
    ambiguous = _sums((latin | other).astype(np.uint64), lengths) > 0
    return Symbols(lengths, values, radices, bases), ambiguous


def _code_points(texts: pa.StringArray) -> tuple[Words, Numbers]:
    joined = "".join(texts.to_pylist()).encode("utf-32-le", "surrogatepass")
    lengths = pc.utf8_length(texts).to_numpy().astype(np.int64)
    return np.frombuffer(joined, np.uint32).astype(np.uint64), lengths


def symbol_texts(symbols: Symbols) -> pa.StringArray:
    """Return the texts of symbols.

    >>> symbol_texts(text_symbols(pa.array(["b7-", "é"]))[0]).to_pylist()
    ['b7-', 'é']
    """
    text = symbols.codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass").encode()
    codes = symbols.codes
    widths = 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)
    ends = np.concatenate([[0], np.cumsum(widths)])
    offsets = ends[np.concatenate([[0], np.cumsum(symbols.lengths)])]
    buffers = [None, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_string(), len(symbols.lengths), buffers).cast(pa.string())


def masked_texts(key: CipherKey, texts: pa.StringArray) -> tuple[pa.StringArray, Flags]:
    """Permute texts, and return which may become equal to others (see ``text_symbols``).

    >>> masked, _ = masked_texts(CipherKey(bytes(16)), pa.array(["Ann-12", "ANN-12"]))
    >>> masked[0].as_py().upper() == masked[1].as_py(), masked[0].as_py()[3]
    (True, '-')
    """
    symbols, ambiguous = text_symbols(texts)
    return symbol_texts(symbols.permuted(key)), ambiguous


def masked_decimals(key: CipherKey, texts: pa.StringArray) -> pa.StringArray:
    """Permute DECIMALs among those with the same sign and as many digits before and after the point.

    A zero with a sign stays, and nothing becomes one.

    >>> masked_decimals(CipherKey(bytes(16)), pa.array(["-12.50", "907", "-0.0"])).to_pylist()
    ['-24.60', '198', '-0.0']
    """
    codes, lengths = _code_points(texts)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    digit = (codes >= ord("0")) & (codes <= ord("9"))
    first = digit & (np.concatenate([[True], rows[1:] != rows[:-1]]) | np.roll(codes == ord("-"), 1))
    leading_zero = first & (codes == ord("0"))
    moving = digit & ~leading_zero
    bases = np.where(moving, ord("0") + first.astype(np.int64), 0).astype(np.uint64)
    radices = np.where(moving, 10 - first.astype(np.int64), _FIXED).astype(np.uint64)
    symbols = Symbols(lengths, codes - bases, radices, bases)
    signed = pc.starts_with(texts, "-").to_numpy(zero_copy_only=False)
    stays = signed & _are_zero(symbols)
    result = symbols.permuted(key)
    while (rest := signed & ~stays & _are_zero(result)).any():
        again = np.repeat(rest, lengths)
        result = Symbols(lengths, np.where(again, result.permuted(key).values, result.values), radices, bases)
    values = np.where(np.repeat(stays, lengths), symbols.values, result.values)
    result = Symbols(lengths, values, radices, bases)
    return symbol_texts(result)


def _are_zero(symbols: Symbols) -> Flags:
    codes = symbols.codes
    zero: Flags = _sums(((codes > ord("0")) & (codes <= ord("9"))).astype(np.uint64), symbols.lengths) == 0
    return zero


def masked_bytes(key: CipherKey, values: pa.BinaryArray) -> pa.BinaryArray:
    """Permute byte strings of the same length.

    >>> masked_bytes(CipherKey(bytes(16)), pa.array([b"ab", b"", b"ab"])).to_pylist()
    [b'\\x98x', b'', b'\\x98x']

    :param values: without NULLs.
    """
    lengths = pc.binary_length(values).to_numpy().astype(np.int64)
    data = np.frombuffer(b"".join(values.to_pylist()), np.uint8).astype(np.uint64)
    radices = np.full(len(data), 256, np.uint64)
    symbols = Symbols(lengths, data, radices, np.zeros(len(data), np.uint64)).permuted(key)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(symbols.values.astype(np.uint8).tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(lengths), buffers)
