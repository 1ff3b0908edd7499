"""The values that columns have, from those that a reader of Debezium gets without their types.

A DECIMAL arrives as the nearest float64, whose shortest text has the digits of every DECIMAL of up to 15.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import StoredValues
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.values.temporal_text import zone_of
from ticdc_producer.protocols.arrow_text import map_distinct
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.debezium.column_reader import column_reader
from ticdc_producer.protocols.debezium.message_parts import FieldSchema, JSONValue
from ticdc_producer.protocols.debezium.plan import connect_type, logical_name, tidb_type
from ticdc_producer.protocols.member_text import allowed
from ticdc_producer.protocols.row_options import DebeziumOptions

T = MySQLType
_NUMBERS = (T.DATE, T.NEW_DATE, T.DATETIME, T.DURATION)
_TEXTS = (T.TIMESTAMP, T.ENUM, T.SET)


def stored_values(column: ColumnInfo, options: DebeziumOptions) -> StoredValues | None:
    """Return the function from a column's values to those that it has; None: they are equal."""
    if column.type == T.NEW_DECIMAL:
        return partial(map_distinct, function=partial(_decimal, column))
    typed = not options.debezium_disable_schema
    if typed and options.enable_tidb_extension:
        return None
    parse: Callable[[bytes], JSONValue] = bytes.decode
    if (column.type == T.LONGLONG and column.unsigned) or (not typed and column.type in _NUMBERS):
        parse = int
    elif not (column.binary and column.type in STRINGS | LOBS) and (
        typed or not (column.type in _TEXTS or (column.type == T.BIT and column.length > 1))
    ):
        return None
    read = column_reader(_schema(column), zone_of(options.time_zone)).read
    return partial(map_distinct, function=partial(_read, read, parse))


def _schema(column: ColumnInfo) -> FieldSchema:
    parameters = {"length": str(column.length)}
    if column.type in (T.ENUM, T.SET):
        parameters["allowed"] = allowed(column)
    return FieldSchema(
        field=column.name,
        type=connect_type(column),
        name=logical_name(column),
        tidb_type=tidb_type(column),
        parameters=parameters,
    )


def _read(read: Callable[[JSONValue], bytes], parse: Callable[[bytes], JSONValue], value: bytes) -> bytes:
    """Read a value; one that the type does not have, such as the text of a DEFAULT, stays as it is."""
    try:
        return read(parse(value))
    except (BadValue, ValueError):
        return value


def _decimal(column: ColumnInfo, value: bytes) -> bytes:
    """Return the largest DECIMAL for a float64 above it.

    >>> _decimal(ColumnInfo(name="d", type=T.NEW_DECIMAL, length=3, decimal=0), b"-1000")
    b'-999'
    >>> _decimal(ColumnInfo(name="d", type=T.NEW_DECIMAL, length=3, decimal=1), b"100.0")
    b'99.9'
    """
    digits = max(column.length - max(column.decimal, 0), 0)
    whole = value.lstrip(b"-").partition(b".")[0]
    if len(whole.lstrip(b"0")) <= digits:
        return value
    sign = b"-" * value.startswith(b"-")
    fraction = b"." + b"9" * column.decimal if column.decimal > 0 else b""
    return sign + (b"9" * digits or b"0") + fraction
