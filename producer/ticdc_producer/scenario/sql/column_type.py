"""Reads column types of DDL, with TiDB's default lengths.

Rules: tidb ``parser.y`` (``Type``), ``pkg/parser/mysql/util.go`` (``GetDefaultFieldLengthAndDecimal``),
``pkg/ddl/add_column.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.coerce_vector import MAX_DIMENSIONS
from ticdc_producer.model.mysql_type import CHARSET_BEARING, MySQLType
from ticdc_producer.scenario.sql.cursor import Cursor

T = MySQLType


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeSpec:
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


_INTEGER_NAMES = {
    "TINYINT": T.TINY, "INT1": T.TINY, "SMALLINT": T.SHORT, "INT2": T.SHORT, "MEDIUMINT": T.INT24,
    "INT3": T.INT24, "MIDDLEINT": T.INT24, "INT": T.LONG, "INTEGER": T.LONG, "INT4": T.LONG,
    "BIGINT": T.LONGLONG, "INT8": T.LONGLONG,
}  # fmt: skip
_SIGNED_WIDTH = {T.TINY: 4, T.SHORT: 6, T.INT24: 9, T.LONG: 11, T.LONGLONG: 20}
_UNSIGNED_WIDTH = {T.TINY: 3, T.SHORT: 5, T.INT24: 8, T.LONG: 10, T.LONGLONG: 20}
_LOB_NAMES = {
    "TINYTEXT": (T.TINY_BLOB, False), "TEXT": (T.BLOB, False), "MEDIUMTEXT": (T.MEDIUM_BLOB, False),
    "LONGTEXT": (T.LONG_BLOB, False), "TINYBLOB": (T.TINY_BLOB, True), "BLOB": (T.BLOB, True),
    "MEDIUMBLOB": (T.MEDIUM_BLOB, True), "LONGBLOB": (T.LONG_BLOB, True),
}  # fmt: skip
_LOB_LENGTH = {T.TINY_BLOB: 255, T.BLOB: 65535, T.MEDIUM_BLOB: 16777215, T.LONG_BLOB: 4294967295}
WIDEST = {"binary": 1, "ascii": 1, "latin1": 1, "gbk": 2, "utf8": 3, "utf8mb4": 4}
MAX_VARCHAR = 65535
_MAX_CHAR = 255


def read_type(cursor: Cursor) -> TypeSpec:
    """Read a column type.

    :raises ScenarioError: for a word that is not a type, or a length that the type cannot have.
    :raises UnsupportedSQL: for a type that this tool does not support.
    """
    name = cursor.word()
    if name in _INTEGER_NAMES:
        cursor.accept(name)
        return _integer(cursor, _INTEGER_NAMES[name])
    if name in _LOB_NAMES:
        cursor.accept(name)
        return _lob(cursor, *_LOB_NAMES[name])
    reader = _READERS.get(name)
    if not name[:1].isalpha():
        raise cursor.error("expected a column type")
    if reader is None:
        raise cursor.unsupported(f"the column type {name or 'here'}")
    cursor.accept(name)
    return reader(cursor)


def _parameters(cursor: Cursor) -> tuple[int, ...]:
    if not cursor.accept("("):
        return ()
    numbers = [cursor.integer()]
    while cursor.accept(","):
        numbers.append(cursor.integer())
    cursor.expect(")")
    return tuple(numbers)


def _sign(cursor: Cursor) -> tuple[bool, bool]:
    """Read UNSIGNED and ZEROFILL; ZEROFILL implies UNSIGNED."""
    unsigned = zerofill = False
    while word := cursor.accept_any("UNSIGNED", "SIGNED", "ZEROFILL"):
        unsigned = unsigned or word != "SIGNED"
        zerofill = zerofill or word == "ZEROFILL"
    return unsigned, zerofill


def _integer(cursor: Cursor, code: MySQLType) -> TypeSpec:
    width = _parameters(cursor)
    if width and width[0] > _MAX_CHAR:
        raise cursor.error(f"a display width is at most {_MAX_CHAR}")
    unsigned, zerofill = _sign(cursor)
    default = (_UNSIGNED_WIDTH if unsigned else _SIGNED_WIDTH)[code]
    length = width[0] if width else default
    return TypeSpec(type=code, length=length, decimal=0, unsigned=unsigned, zerofill=zerofill)


def _bool(_: Cursor) -> TypeSpec:
    return TypeSpec(type=T.TINY, length=1, decimal=0)


def _serial(_: Cursor) -> TypeSpec:
    return TypeSpec(type=T.LONGLONG, length=20, decimal=0, unsigned=True, serial=True)


def _float(cursor: Cursor) -> TypeSpec:
    digits = _parameters(cursor)
    if len(digits) == 1:  # FLOAT(p): p bits of precision choose the type and are not stored
        code = T.FLOAT if digits[0] <= 24 else T.DOUBLE
        return _real(cursor, code, ())
    return _real(cursor, T.FLOAT, digits)


def _double(cursor: Cursor) -> TypeSpec:
    cursor.accept("PRECISION")
    return _real(cursor, T.DOUBLE, _parameters(cursor))


def _real(cursor: Cursor, code: MySQLType, digits: tuple[int, ...]) -> TypeSpec:
    unsigned, zerofill = _sign(cursor)
    default = 12 if code == T.FLOAT else 22
    length, decimal = digits if len(digits) == 2 else (default, -1)
    if decimal > 30 or length > 255 or decimal > length:
        raise cursor.error(f"({length},{decimal}) is not allowed for a floating point type")
    return TypeSpec(type=code, length=length, decimal=decimal, unsigned=unsigned, zerofill=zerofill)


def _decimal(cursor: Cursor) -> TypeSpec:
    digits = _parameters(cursor)
    unsigned, zerofill = _sign(cursor)
    length = digits[0] if digits and digits[0] else 10
    decimal = digits[1] if len(digits) > 1 else 0
    if length > 65 or decimal > 30 or decimal > length:
        raise cursor.error(f"DECIMAL({length},{decimal}) is not allowed: at most (65,30)")
    return TypeSpec(type=T.NEW_DECIMAL, length=length, decimal=decimal, unsigned=unsigned, zerofill=zerofill)


def _bit(cursor: Cursor) -> TypeSpec:
    length = (_parameters(cursor) or (1,))[0] or 1
    if length > 64:
        raise cursor.error("BIT has at most 64 bits")
    return TypeSpec(type=T.BIT, length=length, decimal=0, unsigned=True)


def _year(cursor: Cursor) -> TypeSpec:
    _parameters(cursor)
    return TypeSpec(type=T.YEAR, length=4, decimal=0, unsigned=True, zerofill=True)


def _date(_: Cursor) -> TypeSpec:
    return TypeSpec(type=T.DATE, length=10, decimal=0)


def _with_fsp(code: MySQLType, width: int) -> Callable[[Cursor], TypeSpec]:
    def read(cursor: Cursor) -> TypeSpec:
        fsp = (_parameters(cursor) or (0,))[0]
        if fsp > 6:
            raise cursor.error("a fraction of a second has at most 6 digits")
        return TypeSpec(type=code, length=width + (fsp + 1 if fsp else 0), decimal=fsp)

    return read


def _char(cursor: Cursor) -> TypeSpec:
    if cursor.accept("VARYING"):
        return _varchar(cursor)
    if cursor.accept("BYTE"):
        return _fixed(cursor, binary=True)
    return _fixed(cursor, binary=False)


def _binary(cursor: Cursor) -> TypeSpec:
    return _fixed(cursor, binary=True)


def _fixed(cursor: Cursor, *, binary: bool) -> TypeSpec:
    length = (_parameters(cursor) or (1,))[0]
    if length > _MAX_CHAR:
        raise cursor.error(f"a CHAR or BINARY is at most {_MAX_CHAR} long")
    return TypeSpec(type=T.STRING, length=length, decimal=0, binary=binary)


def _varchar(cursor: Cursor, *, binary: bool = False) -> TypeSpec:
    length = _parameters(cursor)
    if not length or length[0] > MAX_VARCHAR:
        raise cursor.error(f"a VARCHAR or VARBINARY needs a length of at most {MAX_VARCHAR}")
    return TypeSpec(type=T.VARCHAR, length=length[0], decimal=0, binary=binary)


def _varbinary(cursor: Cursor) -> TypeSpec:
    return _varchar(cursor, binary=True)


def _national(cursor: Cursor) -> TypeSpec:
    word = cursor.accept_any("CHAR", "CHARACTER", "VARCHAR")
    if not word:
        raise cursor.error("expected CHAR or VARCHAR")
    return _varchar(cursor) if word == "VARCHAR" else _char(cursor)


def _long(cursor: Cursor) -> TypeSpec:
    binary = cursor.accept_any("VARBINARY", "VARCHAR", "BYTE") in ("VARBINARY", "BYTE")
    return _lob(cursor, T.MEDIUM_BLOB, binary)


def _lob(cursor: Cursor, code: MySQLType, binary: bool) -> TypeSpec:
    requested_length = _parameters(cursor) if code == T.BLOB else ()
    return TypeSpec(
        type=code,
        length=_LOB_LENGTH[code],
        decimal=0,
        binary=binary,
        requested_length=requested_length[0] if requested_length else -1,
    )


def fitted_lob(spec: TypeSpec, charset: str) -> TypeSpec:
    """TEXT(n) and BLOB(n) as the smallest type of the family that can hold n of the widest characters.

    Source: tidb ``pkg/ddl/add_column.go`` (``adjustBlobTypesFlen``).
    """
    if spec.requested_length < 0:
        return spec
    octets = spec.requested_length * WIDEST.get(charset, 4)
    code = next((code for code, most in _LOB_LENGTH.items() if octets <= most), T.LONG_BLOB)
    return replace(spec, type=code, length=_LOB_LENGTH[code])


def _json(_: Cursor) -> TypeSpec:
    return TypeSpec(type=T.JSON, length=4294967295, decimal=0)


def _vector(cursor: Cursor) -> TypeSpec:
    dimensions = _parameters(cursor)
    if dimensions and not 1 <= dimensions[0] <= MAX_DIMENSIONS:
        raise cursor.error(f"a VECTOR has 1 to {MAX_DIMENSIONS} dimensions")
    return TypeSpec(type=T.VECTOR_FLOAT32, length=dimensions[0] if dimensions else -1, decimal=0)


def _members(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect("(")
    names = [cursor.string().rstrip(" ")]
    while cursor.accept(","):
        names.append(cursor.string().rstrip(" "))
    cursor.expect(")")
    return tuple(names)


def _enum(cursor: Cursor) -> TypeSpec:
    names = _members(cursor)
    longest = max(len(name.encode("utf-8", "surrogateescape")) for name in names)
    return TypeSpec(type=T.ENUM, length=longest, decimal=0, elements=names)


def _set(cursor: Cursor) -> TypeSpec:
    names = _members(cursor)
    if len(names) > 64:
        raise cursor.error("a SET has at most 64 members")
    if comma := next((name for name in names if "," in name), None):
        raise ScenarioError(
            f"a SET member must not contain a comma: {comma!r}", line=cursor.line, value=comma
        )
    whole = sum(len(name.encode("utf-8", "surrogateescape")) for name in names) + len(names) - 1
    return TypeSpec(type=T.SET, length=whole, decimal=0, elements=names)


_READERS: dict[str, Callable[[Cursor], TypeSpec]] = {
    "BOOL": _bool, "BOOLEAN": _bool, "SERIAL": _serial, "FLOAT": _float, "FLOAT4": _float,
    "DOUBLE": _double, "FLOAT8": _double, "REAL": _double, "DECIMAL": _decimal, "DEC": _decimal,
    "NUMERIC": _decimal, "FIXED": _decimal, "BIT": _bit, "YEAR": _year, "DATE": _date,
    "DATETIME": _with_fsp(T.DATETIME, 19), "TIMESTAMP": _with_fsp(T.TIMESTAMP, 19),
    "TIME": _with_fsp(T.DURATION, 10), "CHAR": _char, "CHARACTER": _char, "NCHAR": _char,
    "NATIONAL": _national, "BINARY": _binary, "VARCHAR": _varchar, "VARCHARACTER": _varchar,
    "NVARCHAR": _varchar, "VARBINARY": _varbinary, "LONG": _long, "JSON": _json, "ENUM": _enum, "SET": _set,
    "VECTOR": _vector,
}  # fmt: skip
TYPE_NAMES = tuple(sorted({*_READERS, *_INTEGER_NAMES, *_LOB_NAMES}))
