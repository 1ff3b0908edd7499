"""``mysqlType`` and ``sqlType``: the type of a column as text, and its code of ``java.sql.Types``.

Source: tiflow ``pkg/sink/codec/utils`` (bare form) and tidb ``pkg/parser/types/field_type.go``
(``CompactStr``, the form with parameters).
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import (
    INTEGERS,
    WITH_FSP,
    MySQLType,
    bare_name,
    default_length,
)
from ticdc_producer.protocols.arrow_text import Fragment
from ticdc_producer.protocols.canal_json.envelope import PROMOTIONS, jdbc_code

T = MySQLType
_UNSPECIFIED = -1

_ONE_PARAMETER = INTEGERS | {T.YEAR, T.BIT, T.STRING, T.VARCHAR, T.VAR_STRING}

# Escapes of tidb's OutputFormat inside quotes; a backslash is not escaped.
_ELEMENT = str.maketrans({"'": "''", "\0": "\\0", "\n": "\\n", "\r": "\\r"})


def bare_type(column: ColumnInfo) -> str:
    """Return the type in the default form: ``int unsigned zerofill``."""
    return _name(column) + _attributes(column)


def full_type(column: ColumnInfo) -> str:
    """Return the type in the content-compatible form: ``int(10) unsigned zerofill``."""
    return _name(column) + _parameters(column) + _attributes(column)


def _name(column: ColumnInfo) -> str:
    return bare_name(column.type, binary=column.binary, unsigned=False)


def _attributes(column: ColumnInfo) -> str:
    attributes = column.type_name.removeprefix(_name(column))
    return f"{attributes} zerofill" if column.zerofill and column.type != T.YEAR else attributes


def _parameters(column: ColumnInfo) -> str:
    code, scale = column.type, column.decimal
    length = default_length(code) if column.length == _UNSPECIFIED else column.length
    if code in (T.ENUM, T.SET):
        return "('{}')".format("','".join(element.translate(_ELEMENT) for element in column.elements))
    if code in _ONE_PARAMETER or (code == T.VECTOR_FLOAT32 and length != _UNSPECIFIED):
        return f"({length})"
    if code == T.NEW_DECIMAL:
        return f"({length},{max(scale, 0)})"
    if scale <= 0:
        return ""
    if code in WITH_FSP:
        return f"({scale})"
    return f"({length},{scale})" if code in (T.FLOAT, T.DOUBLE) else ""


@dataclass(frozen=True, slots=True)
class JDBCType:
    """The code of one column, as JSON number.

    :param code: code of values up to ``limit``, and of NULL.
    :param limit: the largest value with this code; empty if all values have it.
    :param promoted: code of larger values.
    """

    code: bytes
    limit: bytes = b""
    promoted: bytes = b""

    def codes(self, values: pa.Array) -> Fragment:
        """Return the code of every value of a column.

        Values are compared as text: a longer text of digits is a larger number.

        >>> values = pa.array([b"9", b"127", b"128", None])
        >>> JDBCType(b"-6", b"127", b"5").codes(values).to_pylist()
        [b'-6', b'-6', b'5', b'-6']
        """
        if not self.limit:
            return self.code
        digits = pc.binary_length(values)
        longer, as_long = pc.greater(digits, len(self.limit)), pc.equal(digits, len(self.limit))
        promoted = pc.or_(longer, pc.and_(as_long, pc.greater(values, self.limit)))
        if not pc.any(promoted).as_py():
            return self.code
        return pc.if_else(pc.fill_null(promoted, False), _binary(self.promoted), _binary(self.code))


def _binary(code: bytes) -> pa.Scalar:
    return pa.scalar(code, pa.binary())


def sql_type(column: ColumnInfo) -> JDBCType:
    """Return the code of a column."""
    code = jdbc_code(column.type, binary=column.binary)
    if column.unsigned and column.type in PROMOTIONS:
        limit, promoted = PROMOTIONS[column.type]
        return JDBCType(b"%d" % code, limit, b"%d" % promoted)
    return JDBCType(b"%d" % code)
