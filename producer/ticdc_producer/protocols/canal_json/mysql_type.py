"""``mysqlType``: the SQL type of a column as text, without its parameters or with them.

Source: tiflow ``pkg/sink/codec/utils`` (bare form) and tidb ``pkg/parser/types/field_type.go``
(``CompactStr``, the form with parameters).
"""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, WITH_FSP, MySQLType, bare_name, default_length

T = MySQLType
_UNSPECIFIED = -1

_ONE_PARAMETER = INTEGERS | {T.YEAR, T.BIT, T.STRING, T.VARCHAR, T.VAR_STRING}

# Escapes of tidb's OutputFormat inside quotes; a backslash is not escaped.
_ELEMENT = str.maketrans({"'": "''", "\0": "\\0", "\n": "\\n", "\r": "\\r"})


def bare_type(column: ColumnInfo) -> str:
    """``int unsigned zerofill``: the default form."""
    return _name(column) + _attributes(column)


def full_type(column: ColumnInfo) -> str:
    """``int(10) unsigned zerofill``: the content-compatible form."""
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
