"""CAST and CONVERT.

Rules: tidb ``pkg/expression/builtin_cast.go``, ``pkg/types/convert.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.model.values.coerce_scalar import as_datetime, as_duration, duration_of_integer, readable
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.collation import weights_of
from ticdc_producer.model.values.duration_text import read_duration
from ticdc_producer.model.values.json_document import (
    JsonScalar,
    check_depth,
    json_of,
    parse_json,
    to_json_text,
)
from ticdc_producer.model.values.number_text import check_integer, is_text, narrow, whole_number
from ticdc_producer.model.values.sql_value import (
    BinaryLiteral,
    ColumnBytes,
    DateTimeValue,
    Duration,
    JsonText,
    Quotient,
    Single,
    SQLMode,
    SQLValue,
    Unsigned,
    VectorText,
    Year,
    display_value,
)
from ticdc_producer.model.values.temporal_text import (
    MAX_DURATION,
    MAX_FSP,
)
from ticdc_producer.model.values.vector import vector_of
from ticdc_producer.scenario.sql.expression.cast_type import CastType

T = MySQLType


def cast(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    """Convert a value to the target type; NULL remains NULL.

    :raises ScenarioError: in strict mode, if the value does not fit.
    """
    return None if value is None else _CASTS[target.name](value, target, mode)


def _fail_if_strict(what: str, value: SQLValue, mode: SQLMode) -> None:
    """Raise an error for a value that does not fit, in strict mode; otherwise TiDB only warns."""
    if mode.strict:
        displayed = display_value(value)
        raise ScenarioError(f"{what}: {displayed!r}", value=displayed)


def _signed(value: SQLValue, _: CastType, mode: SQLMode) -> SQLValue:
    """Cast in two's complement: a number above the signed range, but within 64 bits, becomes negative."""
    number = _integer(value, mode)
    if number >= 1 << 63 and isinstance(value, BinaryLiteral):
        return (number - (1 << 64)) if number < 1 << 64 else -1
    if is_text(value) and not -(1 << 63) <= number < 1 << 64:
        return _text_overflow(value, number, mode)
    is_float = isinstance(value, JsonText) and isinstance(json_of(value), float)
    if 1 << 63 <= number < 1 << 64 and isinstance(value, int | str | bytes) and not is_float:
        return number - (1 << 64)
    return _clamped(value, number, -(1 << 63), (1 << 63) - 1, mode)


def _unsigned(value: SQLValue, _: CastType, mode: SQLMode) -> SQLValue:
    number = _integer(value, mode)
    if is_text(value) and number < -(1 << 63):
        return Unsigned(_text_overflow(value, number, mode) + (1 << 64))
    if -(1 << 63) <= number < 0 and not isinstance(value, Decimal | float):
        return Unsigned(number + (1 << 64))
    return Unsigned(_clamped(value, number, 0, (1 << 64) - 1, mode))


def _text_overflow(value: SQLValue, number: int, mode: SQLMode) -> int:
    """Return the BIGINT of a text beyond 64 bits: the lowest one, or the bits of the largest unsigned one.

    Source: tidb ``builtinCastStringAsIntSig.handleOverflow``.
    """
    _fail_if_strict("Truncated incorrect INTEGER value", value, mode)
    return -(1 << 63) if number < 0 else -1


def _clamped(value: SQLValue, number: int, low: int, high: int, mode: SQLMode) -> int:
    if not low <= number <= high:
        _fail_if_strict("Out of range value for CAST", value, mode)
    return min(max(number, low), high)


def _integer(value: SQLValue, mode: SQLMode) -> int:
    check_integer(value, mode)
    return whole_number(value)


def _as_column(code: MySQLType) -> Callable[[SQLValue, CastType, SQLMode], SQLValue]:
    """Return a cast that stores the value in a column of this type and reads it again."""

    def rule(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
        length, scale = target.decimal_sizes if code == T.NEW_DECIMAL else (-1, -1)
        name = f"CAST AS {target.name}"
        column = ColumnInfo(name=name, type=code, length=length, decimal=scale, unsigned=code == T.YEAR)
        return read(column, coerce(column, value, mode), mode)

    return rule


_STORED_DOUBLE = _as_column(T.DOUBLE)


def _double(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    return _STORED_DOUBLE(float(value) if isinstance(value, Quotient) else value, target, mode)


def _float(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    """Cast to FLOAT, which expressions compute as a DOUBLE; only a column of a query has 32 bits.

    Source: tidb ``ScalarFunction.Eval``, ``evalOneVec``.
    """
    number = _double(value, target, mode)
    return Single(number) if target.is_single and isinstance(number, float) else number


def selected_float(value: SQLValue) -> SQLValue:
    """Return the value of an item of a SELECT list: a CAST to FLOAT has 32 bits."""
    return Single(narrow(value, T.FLOAT)) if isinstance(value, Single) else value


def _char(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    if target.charset == "binary":
        return _binary(value, target, mode)
    if target.charset == "gbk":
        return _gbk(value, target, mode)
    try:
        text = value.decode() if isinstance(value, bytes) else to_text(value)
    except UnicodeDecodeError:
        return None  # TiDB only warns, also in strict mode: builtinInternalFromBinarySig
    if target.charset == "ascii":  # the bytes of latin1 are those of UTF-8 in TiDB
        text = text.encode("ascii", "replace").decode()
    if target.sizes and len(text) > target.sizes[0]:
        _fail_if_strict(f"Data too long (at most {target.sizes[0]} characters)", value, mode)
        return text[: target.sizes[0]]
    return text


def _gbk(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    """Return a text of GBK: other characters become question marks, and bytes that are none NULL."""
    try:
        text = value.decode("gbk") if isinstance(value, bytes) else to_text(value)
    except UnicodeDecodeError:
        return None
    if not text.isascii():
        encoded = weights_of("gbk_bin")
        text = "".join("?" if encoded[character] == b"?" else character for character in text)
    return _char(text, replace(target, charset=""), mode)


def _binary(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    data = to_bytes(value)
    if not target.sizes:
        return ColumnBytes(data, T.STRING)
    length = target.sizes[0]
    if len(data) > length:
        _fail_if_strict(f"Data too long (at most {length} bytes)", value, mode)
    return ColumnBytes(data[:length].ljust(length, b"\0"), T.STRING)


def _date(value: SQLValue, _: CastType, mode: SQLMode) -> SQLValue:
    return _to_datetime(value, -1, "date", mode)


def _datetime(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    return _to_datetime(value, target.sizes[0] if target.sizes else 0, "datetime", mode)


def _to_datetime(value: SQLValue, fsp: int, kind: str, mode: SQLMode) -> DateTimeValue | None:
    plain = _plain(value, mode)
    if isinstance(plain, int | Decimal | float) and 0 <= plain < 1:
        return DateTimeValue(0, 0, 0, fsp=min(fsp, 0))  # no error: ParseTimeFromNum, builtinCastRealAsTimeSig
    if isinstance(plain, Year):
        return DateTimeValue(int(plain), 0, 0, fsp=min(fsp, 0))
    converted = None if plain is None else as_datetime(plain, fsp, mode)
    if converted is None or not readable(converted, mode):
        _fail_if_strict(f"Incorrect {kind} value", value, mode)
        return None
    return converted


def _time(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    fsp = target.sizes[0] if target.sizes else 0
    plain, complete = _plain(value, mode), True
    duration: Duration | None = None
    if is_text(plain):
        duration, complete = read_duration(to_text(plain), fsp)
    elif isinstance(plain, int | BinaryLiteral):
        duration = duration_of_integer(plain, fsp)
    elif plain is not None:
        duration = as_duration(plain, fsp)
    if duration is None or not complete or abs(duration.microseconds) > MAX_DURATION:
        _fail_if_strict("Truncated incorrect time value", value, mode)
        if duration is None or not is_text(plain):
            return None
        return Duration(min(max(duration.microseconds, -MAX_DURATION), MAX_DURATION), fsp)
    return duration


def _plain(value: SQLValue, mode: SQLMode) -> SQLValue:
    """Return the text, date or time that a JSON value is; None for other JSON, any other value unchanged.

    Source: tidb ``builtinCastJSONAsTimeSig``, ``builtinCastJSONAsDurationSig``.
    """
    if isinstance(value, VectorText):
        raise ScenarioError("cannot cast a vector to a date or time", value=display_value(value))
    if not isinstance(value, JsonText):
        return value
    document = json_of(value)
    if not isinstance(document, JsonScalar):
        return document if isinstance(document, str) else None
    if document.kind == "TIME":
        return as_duration(str(document), MAX_FSP)
    return as_datetime(str(document), MAX_FSP, mode) if document.kind in ("DATE", "DATETIME") else None


def _json(value: SQLValue, _: CastType, __: SQLMode) -> SQLValue:
    if isinstance(value, VectorText):
        raise ScenarioError("cannot cast a vector to JSON", value=display_value(value))
    try:
        if isinstance(value, str) and not isinstance(value, JsonText):
            return to_json_text(check_depth(parse_json(value)))
        return to_json_text(json_of(value))
    except ValueError as error:
        raise ScenarioError(f"Invalid JSON text ({error})", value=display_value(value)) from error


def _vector(value: SQLValue, target: CastType, _: SQLMode) -> SQLValue:
    vector = vector_of(value)
    if target.sizes and len(vector.elements) != target.sizes[0]:
        what = f"vector has {len(vector.elements)} dimensions, does not fit VECTOR({target.sizes[0]})"
        raise ScenarioError(what, value=display_value(value))
    return vector


_CASTS: dict[str, Callable[[SQLValue, CastType, SQLMode], SQLValue]] = {
    "SIGNED": _signed,
    "UNSIGNED": _unsigned,
    "DECIMAL": _as_column(T.NEW_DECIMAL),
    "DOUBLE": _double,
    "FLOAT": _float,
    "YEAR": _signed,
    "CHAR": _char,
    "BINARY": _binary,
    "DATE": _date,
    "DATETIME": _datetime,
    "TIME": _time,
    "JSON": _json,
    "VECTOR": _vector,
}
