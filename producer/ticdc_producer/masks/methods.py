"""The methods: functions from the canonical values of a column to those that replace them.

A function gets each different value once. Its result depends on the value and the key alone, and not on the
column's length, nullability or table, so that equal values of all columns stay equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import RecordingError
from ticdc_producer.masks.cipher import BIT_BOUNDS, CipherKey, permuted_in, permuted_integers
from ticdc_producer.masks.documents import masked_documents
from ticdc_producer.masks.rules import ColumnMask
from ticdc_producer.masks.symbols import masked_bytes, masked_decimals, masked_texts
from ticdc_producer.masks.temporal import become_zero, masked_times
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.mysql_type import TYPES, MySQLType
from ticdc_producer.scenario.generate.binding.outside_values import seeded_fake

HASH_DIGITS = 32
"""Characters of the hash of a text: 128 bits, so that different texts have different ones."""
_YEARS = (1901, 2156)
_TRIES = 10
_FLOAT_DIGITS = {MySQLType.FLOAT: 6, MySQLType.DOUBLE: 15}
"""Significant digits that every value of the type keeps."""
_FLOAT_LIMITS = {MySQLType.FLOAT: (1e-36, 3.4e38), MySQLType.DOUBLE: (1e-306, 1.79e308)}
"""Where values have all of these digits."""
DATES = (MySQLType.DATE, MySQLType.NEW_DATE, MySQLType.DATETIME, MySQLType.TIMESTAMP)
"""The types that date-shift masks."""


@dataclass(frozen=True)
class MaskedValues:
    """The values that replace those of a column.

    :param values: binary, NULL where the column is NULL.
    :param ambiguous: which values may be those of other values, too.
    """

    values: pa.Array
    ambiguous: Flags


def masked_values(mask: ColumnMask, column: ColumnInfo, values: pa.Array) -> MaskedValues:
    """Mask values of a column.

    :param values: canonical, binary.
    :raises RecordingError: for a value that is none of the type; the text does not contain it.
    """
    if mask.method == "null":
        return MaskedValues(pa.nulls(len(values), pa.binary()), np.zeros(len(values), np.bool_))
    encoded = values.dictionary_encode()
    distinct = encoded.dictionary
    ambiguous = np.zeros(len(distinct), np.bool_)
    if len(distinct):
        try:
            distinct, ambiguous = _masked(mask, column, distinct)
        except (ValueError, OverflowError, pa.ArrowException):
            what = f"a value is not a {column.type_name}, so it cannot be masked"
            raise RecordingError(what, hint="null the column, or leave its table out") from None
    flags = pa.array(ambiguous).take(encoded.indices)
    return MaskedValues(
        distinct.cast(pa.binary()).take(encoded.indices),
        pc.fill_null(flags, False).to_numpy(zero_copy_only=False),
    )


def check_method(mask: ColumnMask, column: ColumnInfo, name: str) -> None:
    """Check that a method can mask a column.

    :param name: of the column, with its table.
    :raises RecordingError: if not.
    """
    what = hint = ""
    is_text = TYPES[column.type].family in ("string", "lob") and not column.binary
    if mask.method == "date-shift" and column.type not in DATES:
        what, hint = "date-shift masks DATE, DATETIME and TIMESTAMP", "give the column another method"
    elif column.type == MySQLType.VECTOR_FLOAT32 and mask.method != "null":
        what, hint = f"{mask.method} does not mask VECTOR", "use null, or keep"
    elif mask.method == "hash" and is_text and 0 <= column.length < HASH_DIGITS:
        what = f"the hash of a text has {HASH_DIGITS} characters, and the column {column.length}"
        hint = "use format"
    if what:
        raise RecordingError(f"{what}: {name} is {column.type_name}", hint=hint)


def _masked(mask: ColumnMask, column: ColumnInfo, values: pa.Array) -> tuple[pa.Array, Flags]:
    """Mask different values."""
    sure = np.zeros(len(values), np.bool_)
    family, key = TYPES[column.type].family, mask.secret
    match family:
        case "integer":
            return _integers(key, values, keeps_digits=mask.method != "hash"), sure
        case "numbered":
            return _numbered(key, column, values), sure
        case "decimal":
            return masked_decimals(key, values.cast(pa.string())), sure
        case "float":
            floats = [_float(key, value, column.type) for value in values.to_pylist()]
            return pa.array(floats, pa.binary()), ~sure
        case "temporal":
            shift, texts = _shift(mask) if mask.method == "date-shift" else 0, values.cast(pa.string())
            return masked_times(key, texts, column.type, shift=shift), become_zero(texts, column.type)
        case "json":
            return _documents(mask, values), ~sure
    if column.binary:
        return masked_bytes(key, values), sure
    texts, ambiguous = _texts(mask, values)
    _check_size(column, texts)
    return texts, ambiguous


def _check_size(column: ColumnInfo, texts: pa.StringArray) -> None:
    """Check that masked texts fit: a letter may become one of more bytes, and the types TEXT count bytes."""
    kind = TYPES[column.type]
    size = column.length if column.length >= 0 else kind.length
    if kind.family == "lob" and pc.max(pc.binary_length(texts)).as_py() > size:
        what = f"a masked value has more bytes than {column.type_name} holds"
        raise RecordingError(what, hint="use hash, or null")


def _valid_texts(values: pa.Array) -> pa.StringArray:
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:  # bytes that are not UTF-8
        return pa.array([value.decode("utf-8", "replace") for value in values.to_pylist()], pa.string())


def _texts(mask: ColumnMask, values: pa.BinaryArray) -> tuple[pa.Array, Flags]:
    """Mask the bytes of different texts."""
    sure = np.zeros(len(values), np.bool_)
    if mask.method == "hash":
        digests = (mask.secret.digest(value, HASH_DIGITS // 2).hex() for value in values.to_pylist())
        return pa.array(digests, pa.string()), sure
    texts = _valid_texts(values)
    if mask.method == "fake":
        fake = seeded_fake(mask.provider, mask.locale)
        return pa.array([_fake(mask.secret, fake, text) for text in texts.to_pylist()], pa.string()), ~sure
    # Spaces at the end stay apart: collations with PAD SPACE ignore them.
    words = pc.utf8_rtrim(texts, " ")
    masked, ambiguous = masked_texts(mask.secret, words)
    return pc.binary_join_element_wise(masked, _spaces(texts, words), ""), ambiguous


def _spaces(texts: pa.StringArray, words: pa.StringArray) -> pa.StringArray:
    """Return the spaces at the end of texts."""
    counts = pc.subtract(pc.binary_length(texts), pc.binary_length(words)).cast(pa.int64())
    return pc.binary_repeat(pa.array([" "] * len(texts)), counts)


def _fake(key: CipherKey, fake: Callable[[int], str], text: str) -> str:
    """Return a fake text with as many characters: one of some tries, else a part of the last."""
    seed = int.from_bytes(key.digest(text.encode(), 8), "little")
    value = ""
    for number in range(_TRIES):
        value = " ".join(fake(seed + number).split())
        if len(value) == len(text):
            return value
    return (f"{value} " * (len(text) // (len(value) + 1) + 1))[: len(text)]


def _integers(key: CipherKey, values: pa.Array, *, keeps_digits: bool) -> pa.Array:
    texts = values.cast(pa.string())
    negative = pc.starts_with(texts, "-")
    magnitudes = pc.utf8_ltrim(texts, "-").cast(pa.uint64()).to_numpy()
    masked = permuted_integers(
        key, magnitudes, negative.to_numpy(zero_copy_only=False), keeps_digits=keeps_digits
    )
    return pc.binary_join_element_wise(pc.if_else(negative, "-", ""), pa.array(masked).cast(pa.string()), "")


def _numbered(key: CipherKey, column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Mask YEAR and BIT. The numbers of the members of ENUM and SET stay, and their names are masked."""
    if column.type in (MySQLType.ENUM, MySQLType.SET):
        return values
    numbers = values.cast(pa.string()).cast(pa.uint64()).to_numpy()
    bounds = (0, 1, *_YEARS) if column.type == MySQLType.YEAR else BIT_BOUNDS
    return pa.array(permuted_in(key, numbers, bounds)).cast(pa.string())


def _float(key: CipherKey, value: bytes, kind: MySQLType) -> bytes:
    """Mask a floating-point number: sign and size stay, and at most the digits that every value keeps.

    Numbers that the type does not hold with all of these digits become zero.
    """
    digits = _FLOAT_DIGITS[kind]
    least, greatest = _FLOAT_LIMITS[kind]
    text = value.decode()
    sign, number = text[: text.startswith("-")], text.removeprefix("-")
    whole, _, fraction = number.partition(".")
    plain = (whole + fraction).lstrip("0")
    if not plain:
        return value
    if abs(float(number)) < least:
        return b"0"
    zeros = len(whole + fraction) - len(plain)
    stream = int.from_bytes(key.digest(value, 32), "little")
    masked_digits = [str(1 + stream % 9)]
    for _ in range(min(len(plain), digits) - 1):
        stream //= 10
        masked_digits.append(str(stream % 10))
    masked = "0" * zeros + "".join(masked_digits).ljust(len(plain), "0")
    if abs(float(f"{masked[: len(whole)]}.{masked[len(whole) :]}")) > greatest:
        masked = "10" + masked[2:]
    head, tail = masked[: len(whole)], masked[len(whole) :].rstrip("0")
    return f"{sign}{head}{f'.{tail}' if tail else ''}".encode()


def _shift(mask: ColumnMask) -> int:
    number = int.from_bytes(mask.secret.digest(b"shift", 8), "little")
    days = 1 + number % mask.days
    return days if number >> 63 else -days


def _documents(mask: ColumnMask, values: pa.Array) -> pa.Array:
    """Mask JSON: a hash is a string; otherwise texts and numbers in documents are masked, and names stay."""
    if mask.method == "hash":
        digests = (mask.secret.digest(value, HASH_DIGITS // 2).hex() for value in values.to_pylist())
        return pa.array([f'"{digest}"' for digest in digests], pa.string())
    return masked_documents(
        values,
        lambda texts: _texts(mask, texts)[0].to_pylist(),
        lambda numbers: _integers(mask.secret, numbers, keeps_digits=True).to_pylist(),
        lambda number: _float(mask.secret, number, MySQLType.DOUBLE),
    )
