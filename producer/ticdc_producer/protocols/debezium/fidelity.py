"""The fidelity of Debezium: the properties of events that its messages do not preserve."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import AsHashed, Fidelity, StoredValues, ValueProjection
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, STRINGS, MySQLType, type_names
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.model.values.temporal_text import two_digit_year, zone_of
from ticdc_producer.protocols.debezium.column_reader import type_name
from ticdc_producer.protocols.debezium.ddl import has_message
from ticdc_producer.protocols.debezium.plan import (
    connect_type,
    logical_name,
    reads_as_zero,
    replaces_null_by_expression,
    text_default,
    tidb_type,
)
from ticdc_producer.protocols.debezium.stored_values import stored_values
from ticdc_producer.protocols.debezium.temporal import (
    FIRST_TIMESTAMP,
    REFUSED,
    date_json,
    datetime_json,
    time_json,
    timestamp_json,
)
from ticdc_producer.protocols.member_text import escaped, member_text, stored_default
from ticdc_producer.protocols.row_options import DebeziumOptions

T = MySQLType

_Projection = Callable[[bytes], Value]
_EPOCH_TEXT = {T.DATE: b"1970-01-01", T.DATETIME: b"1970-01-01 00:00:00"}
# Types whose values are decoded to the text that TiCDC hashes for dispatch.
_NUMBERS = INTEGERS | {T.YEAR, T.BIT}
_WITHOUT_EXTENSION = sorted(type_names(_NUMBERS - {T.LONGLONG}))
_WITH_EXTENSION = sorted(type_names(_NUMBERS | STRINGS - {T.VAR_STRING} | LOBS, unsigned=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumFidelity(Fidelity):
    """The fidelity of Debezium. The exactness of column types depends on the options:

    - with the TiDB extension: the SQL type without parameters (DECIMAL without UNSIGNED);
    - without it: Kafka Connect's type. Integers have the smallest type that fits (a large BIGINT UNSIGNED
      stays negative); CHAR, TEXT and byte strings have the same type, byte strings as Base64;
    - without a schema: no type, only the JSON values. Dates are numbers, ENUM and SET members are texts.

    Values that arrive changed with any options:

    - NULL in a column with a DEFAULT: as the DEFAULT (``CURRENT_TIMESTAMP``: 0 in a DATETIME, NULL in a
      TIMESTAMP column);
    - DECIMAL: as the nearest float64, without its scale;
    - DATE and DATETIME with a year below 100: in 1970 … 2069. The zero date (DATE: any impossible date): as
      NULL, or as 1970-01-01 if the column is NOT NULL;
    - DATETIME and TIME: without trailing zeros of the fraction; the zero TIMESTAMP: without its fraction;
    - a TIMESTAMP before 1970-01-01 00:00:01 in the changefeed's time zone: as the zero TIMESTAMP;
    - a TIMESTAMP whose wall time occurs twice in that time zone: as one of the two instants;
    - an empty ENUM member and the empty error value: as the same value, and so members that differ only in
      ``''`` and ``'``. Members after a member that ends with a backslash: possibly as an earlier member;
    - a SET mask beyond the members: as 0.

    Events: DDLs arrive without their type; rows arrive without row id and physical table id.
    """

    options: DebeziumOptions

    @classmethod
    def of(cls, options: DebeziumOptions) -> DebeziumFidelity:
        """Return the fidelity of an encoder with these options."""
        return cls(
            # Updates without an old image still have the op of an update.
            old_values="all" if options.output_old_value else "none",
            sql_types=options.enable_tidb_extension and not options.debezium_disable_schema,
            float_decimals=True,
            table_ids="none",
            resolved=options.enable_tidb_extension,
            damaged_text=STRINGS | LOBS if options.invalid_utf8 == "replace" else frozenset(),
            options=options,
        )

    def visible_flag(self, flag: int, /) -> int:
        """Return the flag of the handle key for the columns of the message key; no other flag is visible."""
        return int(flag & ColumnFlag.HANDLE_KEY)

    def visible_type(self, column: ColumnInfo, _flag: int, /) -> str:
        if self.options.debezium_disable_schema:
            return ""
        if self.options.enable_tidb_extension:
            return tidb_type(column)
        return type_name(connect_type(column), logical_name(column))

    def visible_ddl_type(self, _action: int, /) -> int:
        return 0

    def ddl_skip_reason(self, action: int) -> str:
        return "" if has_message(action) else "TiCDC's Debezium encoder has no message for such a DDL"

    def value_projection(self, column: ColumnInfo) -> ValueProjection | None:
        projection = _projection(column, self.options)
        null = _null(column, self.options, projection)
        if projection is None and null is None:
            return None

        def reduce(value: Value) -> Value:
            if value is None:
                return null
            return projection(value) if projection else value

        return reduce

    def stored_values(self, column: ColumnInfo) -> StoredValues | None:
        return stored_values(column, self.options)

    @property
    def hashed_types(self) -> Mapping[str, AsHashed]:
        """The types whose values can be hashed as in TiCDC.

        Without the extension a text may be Base64, and a negative number may be a large unsigned one.
        """
        if self.options.debezium_disable_schema:
            return {}
        if self.options.enable_tidb_extension:
            return dict.fromkeys(_WITH_EXTENSION, "always")
        return {**dict.fromkeys(_WITHOUT_EXTENSION, "always"), "bigint": "unless negative"}


def _null(column: ColumnInfo, options: DebeziumOptions, projection: _Projection | None) -> Value:
    """Return the observed value for NULL: the DEFAULT, if the column has one."""
    if column.default_expression:
        if replaces_null_by_expression(column):
            return column.default_expression.encode()
        if column.type != T.DATETIME:
            return None
        return b"0" if options.debezium_disable_schema else _EPOCH_TEXT[T.DATETIME]
    default = text_default(column)
    if default is None:
        return None
    if options.profile == "new" and reads_as_zero(column):
        return b"00:00:00" if column.type == T.DURATION and not options.debezium_disable_schema else b"0"
    if column.type == T.TIMESTAMP and default.startswith(b"0000"):
        return None
    if column.type == T.YEAR:
        as_text = options.debezium_disable_schema and options.profile == "classic"
        return (stored_default(column) or "").encode() if as_text else b"%d" % int(default)
    return projection(default) if projection else default


def _projection(column: ColumnInfo, options: DebeziumOptions) -> _Projection | None:
    if column.type == T.NEW_DECIMAL:
        return lambda value: plain_text(float(value), T.DOUBLE)
    if options.debezium_disable_schema:
        return _untyped(column, zone_of(options.time_zone))
    return _typed(column, exact=options.enable_tidb_extension)


def _typed(column: ColumnInfo, *, exact: bool) -> _Projection | None:
    match column.type:
        case T.DATE | T.NEW_DATE:
            return partial(_date, column)
        case T.DATETIME:
            return partial(_datetime, column)
        case T.DURATION:
            return _without_zeros
        case T.TIMESTAMP:
            return _timestamp
        case T.ENUM:
            return partial(_member, column)
        case T.SET:
            return lambda value: value if member_text(column, value) else b"0"
        case T.LONGLONG if column.unsigned and not exact:
            return _wrapped
    return b64encode if _is_bytes(column) and not exact else None


def _untyped(column: ColumnInfo, zone: tzinfo) -> _Projection | None:
    match column.type:
        case T.DATE | T.NEW_DATE | T.DATETIME:
            return partial(_since_1970, column)
        case T.DURATION:
            return time_json
        case T.TIMESTAMP:
            return lambda value: timestamp_json(value, zone).strip(b'"')
        case T.ENUM | T.SET:
            return lambda value: member_text(column, value).encode()
        case T.BIT if column.length > 1:
            return lambda value: b64encode(int(value).to_bytes((column.length + 7) // 8, "little"))
        case T.LONGLONG if column.unsigned:
            return _wrapped
    return b64encode if _is_bytes(column) else None


def _is_bytes(column: ColumnInfo) -> bool:
    return column.type in STRINGS | LOBS and column.binary


def _since_1970(column: ColumnInfo, value: bytes) -> Value:
    if column.type == T.DATETIME:
        json = datetime_json(value, column.decimal, REFUSED, REFUSED)
    else:
        json = date_json(value, REFUSED)
    return json if json != REFUSED else None if column.nullable else b"0"


def _date(column: ColumnInfo, value: bytes) -> Value:
    parsed = _parse_datetime(value)
    return _of_invalid_date(column) if parsed is None else str(parsed.date()).encode()


def _timestamp(value: bytes) -> Value:
    return b"0000-00-00 00:00:00" if value[:19] < FIRST_TIMESTAMP else value


def _datetime(column: ColumnInfo, value: bytes) -> Value:
    parsed = _parse_datetime(value)
    if parsed is None:
        return _of_invalid_date(column)
    return _without_zeros(parsed.isoformat(" ", "microseconds").encode())


def _parse_datetime(value: bytes) -> datetime | None:
    """Return the date and time, with two-digit years expanded; None for an invalid date."""
    try:
        return datetime.fromisoformat(f"{two_digit_year(int(value[:4])):04d}{value[4:].decode()}")
    except ValueError:
        return None


def _of_invalid_date(column: ColumnInfo) -> Value:
    if column.nullable:
        return None
    return _EPOCH_TEXT[T.DATETIME if column.type == T.DATETIME else T.DATE]


def _without_zeros(value: bytes) -> bytes:
    return value.rstrip(b"0").rstrip(b".") if b"." in value else value


def _member(column: ColumnInfo, value: bytes) -> bytes:
    """Return the index of the first member with the same unescaped text; the error value is an empty text."""
    number = int(value)
    texts = [_unescaped(member) for member in column.elements]
    text = _unescaped(column.elements[number - 1]) if 1 <= number <= len(texts) else ""
    return b"%d" % (texts.index(text) + 1 if text in texts else 0)


def _unescaped(member: str) -> str:
    return escaped(member).replace("\\,", ",")


def _wrapped(value: bytes) -> bytes:
    """Return an unsigned 64-bit number as the signed number with the same bits."""
    number = int(value)
    return b"%d" % (number - (1 << 64) if number >= 1 << 63 else number)
