"""What a consumer of Debezium must see of an event, by the losses that ``debezium.losses`` describes."""

from __future__ import annotations

from base64 import b64encode
from datetime import datetime, timedelta

from producer.codec.debezium import DebeziumOptions
from producer.model.event import DDLEvent, Event, EventColumn, Op, ResolvedEvent, RowEvent, Value
from producer.model.flags import ColumnFlag
from producer.model.float_text import plain_text
from producer.model.mysql_type import LOBS, STRINGS, MySQLType
from producer.model.table import ColumnInfo
from tests.codec.debezium_events import DebeziumDDL
from tests.golden_events import GoldenEvent, GoldenResolved, GoldenRow

T = MySQLType
EPOCH = datetime(1970, 1, 1)
CONNECT_NAMES = {
    T.TINY: "smallint", T.INT24: "int", T.LONGLONG: "bigint", T.DOUBLE: "double", T.NEW_DECIMAL: "double",
    T.JSON: "json", T.DATE: "date", T.DATETIME: "datetime", T.TIMESTAMP: "timestamp", T.DURATION: "time",
    T.YEAR: "year", T.BIT: "bit", T.ENUM: "enum", T.SET: "set", T.VECTOR_FLOAT32: "vector",
}  # fmt: skip


def expected_event(event: GoldenEvent | DebeziumDDL, options: DebeziumOptions) -> Event:
    if isinstance(event, GoldenResolved):
        return ResolvedEvent(commit_ts=event.commit_ts)
    if isinstance(event, DebeziumDDL):
        ddl = event.event
        return DDLEvent(
            commit_ts=ddl.commit_ts, schema=ddl.schema, table=ddl.table, query=ddl.query, ddl_type=0
        )
    assert isinstance(event, GoldenRow)
    return _row(event, options)


def _row(event: GoldenRow, options: DebeziumOptions) -> RowEvent:
    columns = event.table.sent_columns

    def image(values: tuple[Value, ...] | None) -> dict[str, Value] | None:
        if values is None:
            return None
        pairs = zip(columns, values, strict=True)
        return {column.name: expected_value(column, value, options) for column, value in pairs}

    unwanted = event.op == Op.UPDATE and not options.output_old_value
    return RowEvent(
        commit_ts=event.commit_ts,
        schema=event.table.schema,
        table=event.table.name,
        op=event.op,
        columns=tuple(
            EventColumn(
                column.name,
                expected_type(column, options),
                int(ColumnFlag.HANDLE_KEY) if column.name in event.handle_key_columns else 0,
            )
            for column in columns
        ),
        before=None if unwanted else image(event.before),
        after=image(event.after),
    )


def expected_type(column: ColumnInfo, options: DebeziumOptions) -> str:
    if options.disable_schema:
        return ""
    if options.enable_tidb_extension:
        return "decimal" if column.type == T.NEW_DECIMAL else column.type_name
    match column.type:
        case T.SHORT:
            return "int" if column.unsigned else "smallint"
        case T.LONG:
            return "bigint" if column.unsigned else "int"
        case T.FLOAT:
            return "float" if column.decimal == -1 else "double"
    return CONNECT_NAMES.get(column.type, "varchar")


def expected_value(column: ColumnInfo, value: Value, options: DebeziumOptions) -> Value:
    if value is None:
        return _null(column, options)
    shared = _shared(column, value)
    return _untyped(column, value) if shared is None and options.disable_schema else (
        _typed(column, value, options) if shared is None else shared
    )  # fmt: skip


def _null(column: ColumnInfo, options: DebeziumOptions) -> Value:
    """NULL arrives as the DEFAULT."""
    if column.default_expression:
        if column.type == T.TIMESTAMP:
            assert column.nullable
            return None
        return b"0" if options.disable_schema else b"1970-01-01 00:00:00"
    if column.default is None:
        return None
    if column.type == T.YEAR and options.disable_schema:
        return b"%04d" % int(column.default)
    return expected_value(column, column.default, options)


def _shared(column: ColumnInfo, value: bytes) -> bytes | None:
    """Values that arrive alike with a schema and without."""
    if column.type == T.NEW_DECIMAL:
        return plain_text(float(value), T.DOUBLE)
    bytes_or_member = column.type in {T.ENUM, T.SET, T.BIT} or (
        column.type in STRINGS | LOBS and column.binary
    )
    differing = {T.DATE, T.DATETIME, T.TIMESTAMP, T.DURATION}
    if bytes_or_member or column.type in differing or (column.type == T.LONGLONG and column.unsigned):
        return None
    return value


def _typed(column: ColumnInfo, value: bytes, options: DebeziumOptions) -> Value:
    match column.type:
        case T.DATE:
            day = _moment(value)
            return _of_invalid(column, b"1970-01-01") if day is None else day.strftime("%Y-%m-%d").encode()
        case T.DATETIME:
            moment = _moment(value)
            if moment is None:
                return _of_invalid(column, b"1970-01-01 00:00:00")
            return _without_zeros(moment.strftime("%Y-%m-%d %H:%M:%S.%f").encode())
        case T.DURATION:
            return _without_zeros(value)
        case T.TIMESTAMP:
            return b"0000-00-00 00:00:00" if value.startswith(b"0000") else value
        case T.ENUM:
            same = [member.replace("''", "'") for member in column.elements]
            member = _members(column, value)
            return b"%d" % (same.index(member.replace("''", "'")) + 1 if member in column.elements else 0)
        case T.SET:
            return value if int(value) < 1 << len(column.elements) else b"0"
        case T.BIT:
            return value
        case T.LONGLONG:
            return value if options.enable_tidb_extension else _wrapped(value)
    return value if options.enable_tidb_extension else b64encode(value)


def _untyped(column: ColumnInfo, value: bytes) -> Value:
    match column.type:
        case T.DATE | T.DATETIME:
            moment = _moment(value)
            if moment is None:
                return _of_invalid(column, b"0")
            if column.type == T.DATE:
                return b"%d" % (moment - EPOCH).days
            unit = timedelta(milliseconds=1) if column.decimal <= 3 else timedelta(microseconds=1)
            return b"%d" % ((moment - EPOCH) // unit)
        case T.DURATION:
            return _micros(value)
        case T.TIMESTAMP:
            if value.startswith(b"0000"):
                return b"1970-01-01T00:00:00Z"
            return value.replace(b" ", b"T") + b"Z"
        case T.ENUM | T.SET:
            return _members(column, value).encode()
        case T.BIT if column.length == 1:
            return value
        case T.BIT:
            return b64encode(int(value).to_bytes((column.length + 7) // 8, "little"))
        case T.LONGLONG:
            return _wrapped(value)
    return b64encode(value)


def _moment(value: bytes) -> datetime | None:
    """The date and time, years of two digits full; None for what is none."""
    year = int(value[:4])
    full = year + 2000 if year < 70 else year + 1900 if year < 100 else year
    try:
        return datetime.fromisoformat(f"{full:04d}{value[4:].decode()}")
    except ValueError:
        return None


def _of_invalid(column: ColumnInfo, not_null: bytes) -> Value:
    return None if column.nullable else not_null


def _without_zeros(value: bytes) -> bytes:
    return value.rstrip(b"0").rstrip(b".") if b"." in value else value


def _micros(value: bytes) -> bytes:
    hours, minutes, seconds = value.lstrip(b"-").split(b":")
    total = int(hours) * 3_600_000_000 + int(minutes) * 60_000_000 + round(float(seconds) * 1_000_000)
    return b"%d" % (-total if value.startswith(b"-") else total)


def _members(column: ColumnInfo, value: bytes) -> str:
    number = int(value)
    if column.type == T.ENUM:
        return column.elements[number - 1] if number else ""
    return ",".join(member for place, member in enumerate(column.elements) if number & 1 << place)


def _wrapped(value: bytes) -> bytes:
    number = int(value)
    return b"%d" % (number - (1 << 64) if number >= 1 << 63 else number)
