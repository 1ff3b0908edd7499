"""``sqlType``: the ``java.sql.Types`` code of a column, which may depend on the value.

Source: tiflow ``pkg/sink/codec/internal/java.go`` (``MySQLType2JavaType``) and
``canal/canal_entry.go`` (``getJavaSQLType``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from producer.model.event import Value
from producer.model.mysql_type import LOBS, STRINGS, MySQLType
from producer.model.table import ColumnInfo

T = MySQLType
_BLOB, _CLOB, _VARCHAR = 2004, 2005, 12
_CODES = {
    T.TINY: -6, T.SHORT: 5, T.INT24: 4, T.LONG: 4, T.LONGLONG: -5, T.FLOAT: 7, T.DOUBLE: 8,
    T.NEW_DECIMAL: 3, T.DATE: 91, T.NEW_DATE: 91, T.DURATION: 92, T.DATETIME: 93, T.TIMESTAMP: 93,
    T.YEAR: 12, T.ENUM: 4, T.SET: -7, T.BIT: -7, T.STRING: 1, T.NULL: 0, T.GEOMETRY: -2,
}  # fmt: skip

# Largest value of the signed type, and the code of the next wider type; MEDIUMINT fits into INT as it is.
_PROMOTIONS = {
    T.TINY: (b"127", 5),
    T.SHORT: (b"32767", 4),
    T.LONG: (b"2147483647", -5),
    T.LONGLONG: (b"9223372036854775807", 3),
}


@dataclass(frozen=True, slots=True)
class SQLType:
    """Code of one column.

    :param code: as JSON number, also that of NULL.
    :param limit: the largest value that has this code; empty where the value does not matter.
    :param promoted: code of the values above.
    """

    code: bytes
    limit: bytes = b""
    promoted: bytes = b""

    def codes(self, values: Sequence[Value]) -> list[bytes]:
        """The code of every value of a column."""
        code, limit, promoted, digits = self.code, self.limit, self.promoted, len(self.limit)
        return [
            code
            if value is None or len(value) < digits or (len(value) == digits and value <= limit)
            else promoted
            for value in values
        ]


def sql_type(column: ColumnInfo) -> SQLType:
    """The code of a column."""
    code = _code(column.type, column.binary)
    if column.unsigned and column.type in _PROMOTIONS:
        limit, promoted = _PROMOTIONS[column.type]
        return SQLType(b"%d" % code, limit, b"%d" % promoted)
    return SQLType(b"%d" % code)


def _code(code: MySQLType, binary: bool) -> int:
    if binary and code in STRINGS | LOBS:
        return _BLOB
    if code in LOBS:
        return _CLOB
    return _CODES.get(code, _VARCHAR)
