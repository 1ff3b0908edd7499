"""The compiled plan of one table version: names, types and renderers of its columns.

``mysqlType`` is the type of a column as text, ``sqlType`` its code of ``java.sql.Types``. Source: tiflow
``pkg/sink/codec/utils`` (bare form) and tidb ``pkg/parser/types/field_type.go`` (``CompactStr``, the form
with parameters).

TiCDC uses easyjson for rows, goccy/go-json for DDLs and watermarks. Both differ from Go's
``encoding/json`` only in two characters: backspace and form feed have no short form.
This was measured with the real libraries.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.mysql_type import (
    INTEGERS,
    LOBS,
    STRINGS,
    WITH_FSP,
    MySQLType,
    bare_name,
    default_length,
)
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    Fragments,
    Renderer,
    contents,
    map_values,
    quoted,
)
from ticdc_producer.protocols.canal_json.envelope import PROMOTIONS, jdbc_code
from ticdc_producer.protocols.go_json import JSONStrings
from ticdc_producer.protocols.row_options import CanalJSONOptions

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


_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_LONG = {chr(code): f"\\u{code:04x}" for code in (*range(0x20), *b"<>&", 0x2028, 0x2029)}

JSON_STRINGS = JSONStrings({**_LONG, **_SHORT}, bad_byte="\\ufffd")
_CHARACTERS = [JSON_STRINGS.literal(chr(code))[1:-1] for code in range(0x100)]


def latin1_strings(values: pa.Array) -> Fragments:
    """Return the JSON literals of byte strings, with each byte as the character of its number (ISO-8859-1).

    >>> from ticdc_producer.protocols.arrow_text import concat
    >>> concat(latin1_strings(pa.array([b"a\\xe9"])), 1).to_pylist()[0].decode()
    '"aé"'
    """
    if contents(values).isascii():
        return JSON_STRINGS.literals(values)
    return quoted(map_values(values, lambda value: b"".join(map(_CHARACTERS.__getitem__, value))))


def string(text: str) -> bytes:
    """Return the JSON literal of a text."""
    return JSON_STRINGS.literal(text)


@dataclass(frozen=True, slots=True)
class CanalJSONColumnPlan:
    """One column: its index in the image, and its texts in a message.

    :param image_index: index into the row image.
    :param name: the column's name as JSON.
    :param mysql_type: its type text as JSON.
    :param render: formats values as JSON.
    """

    image_index: int
    name: bytes
    sql_type: JDBCType
    mysql_type: bytes
    render: Renderer
    handle_key: bool
    primary_key: bool


@dataclass(frozen=True, slots=True)
class CanalJSONTablePlan:
    """One table version.

    :param head: the message up to its operation.
    :param columns: in table order.
    """

    head: bytes
    columns: tuple[CanalJSONColumnPlan, ...]

    @property
    def handle_key(self) -> tuple[CanalJSONColumnPlan, ...]:
        return tuple(column for column in self.columns if column.handle_key)


def table_plan(table: TableInfo, options: CanalJSONOptions) -> CanalJSONTablePlan:
    """Compile the plan of one table version."""
    described = zip(table.sent_columns, table.sent_flags, strict=True)
    columns = tuple(
        _column_plan(index, column, flag, options) for index, (column, flag) in enumerate(described)
    )
    keys = b",".join(column.name for column in columns if column.primary_key)
    head = b'{"id":0,"database":%b,"table":%b,"pkNames":[%b],"isDdl":false,"type":' % (
        string(table.schema),
        string(table.name),
        keys,
    )
    return CanalJSONTablePlan(head, columns)


def _column_plan(index: int, column: ColumnInfo, flag: int, options: CanalJSONOptions) -> CanalJSONColumnPlan:
    text = full_type(column) if options.content_compatible else bare_type(column)
    return CanalJSONColumnPlan(
        image_index=index,
        name=string(column.name),
        sql_type=sql_type(column),
        mysql_type=string(text),
        render=_renderer(column),
        handle_key=bool(flag & ColumnFlag.HANDLE_KEY),
        primary_key=bool(flag & ColumnFlag.PRIMARY_KEY),
    )


def _renderer(column: ColumnInfo) -> Renderer:
    if column.type in STRINGS | LOBS:
        return latin1_strings if column.binary else JSON_STRINGS.literals
    return JSON_STRINGS.literals if column.type == MySQLType.JSON else quoted
