"""The column types of DDL as TiDB stores them, with its default lengths.

Rules: tidb ``pkg/parser/mysql/util.go`` (``GetDefaultFieldLengthAndDecimal``),
``pkg/ddl/add_column.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.mysql_type import CHARSET_BEARING, MySQLType
from ticdc_producer.model.values.vector import MAX_DIMENSIONS
from ticdc_producer.scenario.sql.syntax.column_type import ColumnType

T = MySQLType


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLType:
    """A type without its charset, which may depend on the table's default.

    :param binary: BINARY, VARBINARY and BLOB: the charset is always ``binary``.
    :param serial: SERIAL: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
    :param requested_length: n of TEXT(n) or BLOB(n), which determines the type once the charset is known;
        -1 without it.
    """

    type: MySQLType
    length: int = -1
    decimal: int = -1
    unsigned: bool = False
    zerofill: bool = False
    binary: bool = False
    elements: tuple[str, ...] = ()
    serial: bool = False
    requested_length: int = -1

    @property
    def bears_charset(self) -> bool:
        return self.type in CHARSET_BEARING


_INTEGERS = {
    "TINYINT": T.TINY, "SMALLINT": T.SHORT, "MEDIUMINT": T.INT24, "INT": T.LONG, "BIGINT": T.LONGLONG,
}  # fmt: skip
_SIGNED_WIDTH = {T.TINY: 4, T.SHORT: 6, T.INT24: 9, T.LONG: 11, T.LONGLONG: 20}
_UNSIGNED_WIDTH = {T.TINY: 3, T.SHORT: 5, T.INT24: 8, T.LONG: 10, T.LONGLONG: 20}
_LOBS = {
    "TINYTEXT": (T.TINY_BLOB, False), "TEXT": (T.BLOB, False), "MEDIUMTEXT": (T.MEDIUM_BLOB, False),
    "LONGTEXT": (T.LONG_BLOB, False), "TINYBLOB": (T.TINY_BLOB, True), "BLOB": (T.BLOB, True),
    "MEDIUMBLOB": (T.MEDIUM_BLOB, True), "LONGBLOB": (T.LONG_BLOB, True),
}  # fmt: skip
_LOB_LENGTH = {T.TINY_BLOB: 255, T.BLOB: 65535, T.MEDIUM_BLOB: 16777215, T.LONG_BLOB: 4294967295}
WIDEST = {"binary": 1, "ascii": 1, "latin1": 1, "gbk": 2, "utf8": 3, "utf8mb4": 4}
_MAX_VARCHAR = 65535
_MAX_CHAR = 255


def type_spec(kind: ColumnType) -> SQLType:
    """Return a column type with TiDB's default lengths.

    :raises ScenarioError: for a length that the type cannot have.
    """
    if kind.name in _INTEGERS:
        return _integer(kind, _INTEGERS[kind.name])
    if kind.name in _LOBS:
        return _lob(kind, *_LOBS[kind.name])
    return _MAKERS[kind.name](kind)


def _first(kind: ColumnType, default: int) -> int:
    return kind.digits[0] if kind.digits else default


def _integer(kind: ColumnType, code: MySQLType) -> SQLType:
    width = _first(kind, (_UNSIGNED_WIDTH if kind.unsigned else _SIGNED_WIDTH)[code])
    return SQLType(type=code, length=width, decimal=0, unsigned=kind.unsigned, zerofill=kind.zerofill)


def _serial(_: ColumnType) -> SQLType:
    return SQLType(type=T.LONGLONG, length=20, decimal=0, unsigned=True, serial=True)


def _real(kind: ColumnType) -> SQLType:
    code, default = (T.FLOAT, 12) if kind.name == "FLOAT" else (T.DOUBLE, 22)
    length, decimal = kind.digits if len(kind.digits) == 2 else (default, -1)
    if decimal > 30 or not 0 < length <= 255 or decimal > length:
        raise kind.source.error(f"({length},{decimal}) is not allowed for a floating point type")
    return SQLType(type=code, length=length, decimal=decimal, unsigned=kind.unsigned, zerofill=kind.zerofill)


def _decimal(kind: ColumnType) -> SQLType:
    written = _first(kind, 10)
    length = written or 10
    decimal = kind.digits[1] if len(kind.digits) > 1 else 0
    if length > 65 or decimal > 30 or decimal > written:
        raise kind.source.error(f"DECIMAL({length},{decimal}) is not allowed: at most (65,30)")
    return SQLType(
        type=T.NEW_DECIMAL, length=length, decimal=decimal, unsigned=kind.unsigned, zerofill=kind.zerofill
    )


def _bit(kind: ColumnType) -> SQLType:
    length = _first(kind, 1)
    if not 0 < length <= 64:
        raise kind.source.error("BIT has 1 to 64 bits")
    return SQLType(type=T.BIT, length=length, decimal=0, unsigned=True)


def _year(kind: ColumnType) -> SQLType:
    if _first(kind, 4) != 4:
        raise kind.source.error("Supports only YEAR or YEAR(4) column")
    return SQLType(type=T.YEAR, length=4, decimal=0, unsigned=True, zerofill=True)


def _date(_: ColumnType) -> SQLType:
    return SQLType(type=T.DATE, length=10, decimal=0)


def _with_fsp(code: MySQLType, width: int) -> Callable[[ColumnType], SQLType]:
    def make(kind: ColumnType) -> SQLType:
        fsp = _first(kind, 0)
        if fsp > 6:
            raise kind.source.error("a fraction of a second has at most 6 digits")
        return SQLType(type=code, length=width + (fsp + 1 if fsp else 0), decimal=fsp)

    return make


def _char(kind: ColumnType) -> SQLType:
    length = _first(kind, 1)
    if length > _MAX_CHAR:
        raise kind.source.error(f"a CHAR or BINARY is at most {_MAX_CHAR} long")
    return SQLType(type=T.STRING, length=length, decimal=0, binary=kind.name == "BINARY")


def _varchar(kind: ColumnType) -> SQLType:
    length = _first(kind, -1)
    if length < 0:
        raise kind.source.error("a VARCHAR or VARBINARY needs a length")
    return SQLType(type=T.VARCHAR, length=length, decimal=0, binary=kind.name == "VARBINARY")


def _lob(kind: ColumnType, code: MySQLType, binary: bool) -> SQLType:
    requested = _first(kind, -1) if code == T.BLOB else -1
    return SQLType(type=code, length=_LOB_LENGTH[code], decimal=0, binary=binary, requested_length=requested)


def longest_varchar(charset: str) -> int:
    """Return the number of characters that a VARCHAR column can have."""
    return _MAX_VARCHAR // WIDEST.get(charset, 4)


def fitted_lob(spec: SQLType, charset: str, *, strict: bool) -> SQLType:
    """Return TEXT(n) or BLOB(n) as the smallest type of its family that holds n of the widest characters.

    Without strict mode a VARCHAR that is too long is such a column, too. Source: tidb
    ``pkg/ddl/add_column.go`` (``adjustBlobTypesFlen``, ``checkTooBigFieldLengthAndTryAutoConvert``).
    """
    if spec.type == T.VARCHAR and spec.length > longest_varchar(charset) and not strict:
        spec = replace(spec, requested_length=spec.length)
    if spec.requested_length < 0:
        return spec
    octets = spec.requested_length * WIDEST.get(charset, 4)
    code = next((code for code, most in _LOB_LENGTH.items() if octets <= most), T.LONG_BLOB)
    return replace(spec, type=code, length=_LOB_LENGTH[code])


def _json(_: ColumnType) -> SQLType:
    return SQLType(type=T.JSON, length=4294967295, decimal=0)


def _vector(kind: ColumnType) -> SQLType:
    dimensions = _first(kind, -1)
    if kind.digits and not 1 <= dimensions <= MAX_DIMENSIONS:
        raise kind.source.error(f"a VECTOR has 1 to {MAX_DIMENSIONS} dimensions")
    return SQLType(type=T.VECTOR_FLOAT32, length=dimensions, decimal=0)


def _enum(kind: ColumnType) -> SQLType:
    longest = max(len(name.encode("utf-8", "surrogateescape")) for name in kind.members)
    return SQLType(type=T.ENUM, length=longest, decimal=0, elements=kind.members)


def _set(kind: ColumnType) -> SQLType:
    names = kind.members
    if len(names) > 64:
        raise kind.source.error("a SET has at most 64 members")
    if comma := next((name for name in names if "," in name), None):
        what = f"a SET member must not contain a comma: {comma!r}"
        raise ScenarioError(what, line=kind.source.line, value=comma)
    whole = sum(len(name.encode("utf-8", "surrogateescape")) for name in names) + len(names) - 1
    return SQLType(type=T.SET, length=whole, decimal=0, elements=names)


_MAKERS: dict[str, Callable[[ColumnType], SQLType]] = {
    "SERIAL": _serial, "FLOAT": _real, "DOUBLE": _real, "DECIMAL": _decimal, "BIT": _bit, "YEAR": _year,
    "DATE": _date, "DATETIME": _with_fsp(T.DATETIME, 19), "TIMESTAMP": _with_fsp(T.TIMESTAMP, 19),
    "TIME": _with_fsp(T.DURATION, 10), "CHAR": _char, "BINARY": _char, "VARCHAR": _varchar,
    "VARBINARY": _varchar, "JSON": _json, "ENUM": _enum, "SET": _set, "VECTOR": _vector,
}  # fmt: skip
