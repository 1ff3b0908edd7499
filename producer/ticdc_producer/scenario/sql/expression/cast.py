"""CAST and CONVERT.

Rules: tidb ``pkg/expression/builtin_cast.go``, ``pkg/types/convert.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.model.values.coerce_scalar import allowed, as_datetime, as_duration
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.collation import weights_of
from ticdc_producer.model.values.json_document import check_depth, json_of, parse_json, to_json_text
from ticdc_producer.model.values.number_text import check_integer, whole_number
from ticdc_producer.model.values.sql_value import (
    DateTimeValue,
    Duration,
    JsonText,
    SQLMode,
    SQLValue,
    Unsigned,
    VectorText,
    display_value,
)
from ticdc_producer.model.values.temporal_text import MAX_DURATION, MAX_FSP
from ticdc_producer.model.values.vector import vector_of
from ticdc_producer.scenario.sql.expression.eval_type import (
    OF_INTEGER,
    TEMPORALS,
    Digits,
    EvalType,
    ExpressionType,
    temporal_type,
)

E = EvalType
T = MySQLType


@dataclass(frozen=True, slots=True)
class CastType:
    """The target type of a CAST.

    :param sizes: numbers in parentheses.
    :param charset: charset of CHAR and CONVERT … USING; empty if none is given.
    """

    name: str
    sizes: tuple[int, ...] = ()
    charset: str = ""

    @property
    def decimal_sizes(self) -> tuple[int, int]:
        """Precision and scale of a DECIMAL."""
        precision, scale = (*self.sizes, *(10, 0)[len(self.sizes) :])
        return precision, scale

    @property
    def type(self) -> ExpressionType:
        """The type of the CAST."""
        kind = E.BYTES if self.charset == "binary" else _KINDS[self.name]
        if self.name in ("SIGNED", "UNSIGNED"):
            return ExpressionType(kind, OF_INTEGER)
        if self.name == "DECIMAL":
            precision, scale = self.decimal_sizes
            return ExpressionType(kind, Digits(precision - scale, scale))
        return temporal_type(kind, *self.sizes[:1]) if kind in TEMPORALS else ExpressionType(kind)


_SIZE = re.compile("[0-9]{1,12}")
_MOST_BYTES = 64 << 20
"""TiDB's max_allowed_packet, the longest value."""


def target_of(to: exp.DataType) -> CastType:
    """Return the target of a CAST node.

    :raises ScenarioError: for a type that nothing can be cast to, and a length that no value can have.
    """
    written = [str(part.this) for part in to.expressions if isinstance(part, exp.DataTypeParam)]
    sizes = tuple(int(text) for text in written if _SIZE.fullmatch(text))
    charset = to.args.get("kind")
    name = _NAMES.get(to.this)
    if name is None or len(sizes) != len(to.expressions):
        raise UnsupportedSQL(f"CAST AS {to.sql(dialect='mysql')[:40]} is not supported")
    if max(sizes, default=0) > _MOST_BYTES:
        raise ScenarioError(f"a length has at most {_MOST_BYTES}", value=str(max(sizes)))
    if len(sizes) > (2 if name == "DECIMAL" else 1):
        raise ScenarioError(f"SQL does not parse: {name} takes fewer numbers")
    if name in ("DATETIME", "TIME") and sizes and sizes[0] > MAX_FSP:
        raise ScenarioError("a fraction of a second has at most 6 digits", value=str(sizes[0]))
    if charset is not None and charset.name.lower() not in _CHARSETS:
        raise UnsupportedSQL(f"the charset {charset.name} is not supported here")
    return CastType(name, sizes, charset.name.lower() if charset is not None else "")


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
    if 1 << 63 <= number < 1 << 64 and isinstance(value, int | str | bytes):
        return number - (1 << 64)
    return _clamped(value, number, -(1 << 63), (1 << 63) - 1, mode)


def _unsigned(value: SQLValue, _: CastType, mode: SQLMode) -> SQLValue:
    number = _integer(value, mode)
    if -(1 << 63) <= number < 0 and not isinstance(value, Decimal):
        return Unsigned(number + (1 << 64))
    return Unsigned(_clamped(value, number, 0, (1 << 64) - 1, mode))


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
        kind = T.DOUBLE if code == T.FLOAT and target.sizes and target.sizes[0] > 24 else code
        name = f"CAST AS {target.name}"
        column = ColumnInfo(name=name, type=kind, length=length, decimal=scale, unsigned=code == T.YEAR)
        return read(column, coerce(column, value, mode), mode)

    return rule


def _char(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    if target.charset == "binary":
        return _binary(value, target, mode)
    if target.charset == "gbk":
        return _gbk(value, target, mode)
    text = to_text(value)
    if isinstance(value, bytes):
        text = _decoded(value)
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


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise ScenarioError(
            "Cannot convert string from binary to utf8mb4", value=display_value(value)
        ) from None


def _binary(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    data = to_bytes(value)
    if not target.sizes:
        return data
    length = target.sizes[0]
    if len(data) > length:
        _fail_if_strict(f"Data too long (at most {length} bytes)", value, mode)
    return data[:length].ljust(length, b"\0")


def _date(value: SQLValue, _: CastType, mode: SQLMode) -> SQLValue:
    return _to_datetime(value, -1, "date", mode)


def _datetime(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    return _to_datetime(value, target.sizes[0] if target.sizes else 0, "datetime", mode)


def _to_datetime(value: SQLValue, fsp: int, kind: str, mode: SQLMode) -> DateTimeValue | None:
    converted = as_datetime(_plain_text(value), fsp, mode)
    if converted is None or not allowed(converted, mode):
        _fail_if_strict(f"Incorrect {kind} value", value, mode)
        return None
    return converted


def _time(value: SQLValue, target: CastType, mode: SQLMode) -> SQLValue:
    fsp = target.sizes[0] if target.sizes else 0
    duration = as_duration(_plain_text(value), fsp)
    if duration is None:
        _fail_if_strict("Incorrect time value", value, mode)
        return None
    if abs(duration.microseconds) > MAX_DURATION:
        _fail_if_strict("Truncated incorrect time value", value, mode)
        return Duration(MAX_DURATION if duration.microseconds > 0 else -MAX_DURATION, fsp)
    return duration


def _plain_text(value: SQLValue) -> SQLValue:
    """Return a JSON string without its quotes, and any other value unchanged."""
    return str(json_of(value)) if isinstance(value, JsonText) else value


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


_CHARSETS = ("utf8mb4", "utf8", "utf8mb3", "binary", "ascii", "latin1", "gbk")

# sqlglot parses REAL as FLOAT, too, although REAL is DOUBLE in MySQL.
_NAMES: dict[exp.DType, str] = {
    exp.DType.BIGINT: "SIGNED",
    exp.DType.UBIGINT: "UNSIGNED",
    exp.DType.DECIMAL: "DECIMAL",
    exp.DType.DOUBLE: "DOUBLE",
    exp.DType.FLOAT: "FLOAT",
    exp.DType.CHAR: "CHAR",
    exp.DType.NCHAR: "CHAR",
    exp.DType.CHARACTER_SET: "CHAR",
    exp.DType.BINARY: "BINARY",
    exp.DType.DATE: "DATE",
    exp.DType.DATETIME: "DATETIME",
    exp.DType.TIME: "TIME",
    exp.DType.YEAR: "YEAR",
    exp.DType.JSON: "JSON",
    exp.DType.VECTOR: "VECTOR",
}
_KINDS: Mapping[str, EvalType] = MappingProxyType({
    "SIGNED": E.INTEGER, "UNSIGNED": E.UNSIGNED, "DECIMAL": E.DECIMAL, "DOUBLE": E.DOUBLE, "FLOAT": E.DOUBLE,
    "YEAR": E.UNSIGNED, "CHAR": E.TEXT, "BINARY": E.BYTES, "DATE": E.DATE, "DATETIME": E.DATETIME,
    "TIME": E.TIME, "JSON": E.JSON, "VECTOR": E.UNKNOWN,
})  # fmt: skip
_CASTS: dict[str, Callable[[SQLValue, CastType, SQLMode], SQLValue]] = {
    "SIGNED": _signed,
    "UNSIGNED": _unsigned,
    "DECIMAL": _as_column(T.NEW_DECIMAL),
    "DOUBLE": _as_column(T.DOUBLE),
    "FLOAT": _as_column(T.FLOAT),
    "YEAR": _as_column(T.YEAR),
    "CHAR": _char,
    "BINARY": _binary,
    "DATE": _date,
    "DATETIME": _datetime,
    "TIME": _time,
    "JSON": _json,
    "VECTOR": _vector,
}
