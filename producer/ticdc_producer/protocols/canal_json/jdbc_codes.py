"""The codes of ``java.sql.Types`` in ``sqlType``.

Source: tiflow ``pkg/sink/codec/internal/java.go`` (``MySQLType2JavaType``) and ``canal/canal_entry.go``
(``getJavaSQLType``).
"""

from __future__ import annotations

from functools import lru_cache

from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.protocols.value_parsers import parsed_type

T = MySQLType

_BLOB, _CLOB, _VARCHAR = 2004, 2005, 12
_CODES = {
    T.TINY: -6, T.SHORT: 5, T.INT24: 4, T.LONG: 4, T.LONGLONG: -5, T.FLOAT: 7, T.DOUBLE: 8,
    T.NEW_DECIMAL: 3, T.DATE: 91, T.NEW_DATE: 91, T.DURATION: 92, T.DATETIME: 93, T.TIMESTAMP: 93,
    T.YEAR: 12, T.ENUM: 4, T.SET: -7, T.BIT: -7, T.STRING: 1, T.NULL: 0, T.GEOMETRY: -2,
}  # fmt: skip

PROMOTIONS = {
    T.TINY: (b"127", 5),
    T.SHORT: (b"32767", 4),
    T.LONG: (b"2147483647", -5),
    T.LONGLONG: (b"9223372036854775807", 3),
}
"""Largest value of the signed type, and the code of the next wider type. MEDIUMINT always fits into INT."""


def jdbc_code(code: MySQLType, *, binary: bool) -> int:
    """Return the code of a type.

    :param binary: whether the charset of the column is ``binary``.
    """
    if binary and code in STRINGS | LOBS:
        return _BLOB
    if code in LOBS:
        return _CLOB
    return _CODES.get(code, _VARCHAR)


@lru_cache(maxsize=1024)
def codes_of(mysql_type: str) -> tuple[int, ...]:
    """Return the codes that ``sqlType`` can have for a column with this ``mysqlType``.

    An unsigned integer has the code of the next wider type if its value requires it.

    >>> codes_of("int unsigned"), codes_of("varchar(16)"), codes_of("blob")
    ((4, -5), (12,), (2004,))

    :raises BadValue: if it is not a MySQL type.
    """
    code, binary, unsigned = parsed_type(mysql_type)
    promoted = (PROMOTIONS[code][1],) if unsigned and code in PROMOTIONS else ()
    return jdbc_code(code, binary=binary), *promoted
