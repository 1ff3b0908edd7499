"""Known limits of consumers: which messages they refuse, decided from the event alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.golden_events import GoldenResolved, GoldenRow
from tests.peers.golden_cases import Case
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Image, Op, Value
from ticdc_producer.model.mysql_type import MySQLType

T = MySQLType
FLAT, FLINK_CANAL = "canal-flat-message", "flink-canal-json"
CONNECT, UNWRAP, FLINK_DEBEZIUM = "connect-json", "debezium-unwrap", "flink-debezium-json"
CANAL_CONSUMERS = (FLAT, FLINK_CANAL)
DATED = (T.DATE, T.DATETIME, T.TIMESTAMP)
DEBEZIUM_CONSUMERS = (CONNECT, UNWRAP, FLINK_DEBEZIUM)


@dataclass(frozen=True)
class Limit:
    """A kind of message that a consumer refuses.

    :param applies: whether a case is of the kind.
    :param answer: the beginning of the consumer's error message.
    """

    consumers: tuple[str, ...]
    what: str
    answer: str
    why: str
    applies: Callable[[Case], bool]


def refusal(consumer: str, case: Case) -> Limit | None:
    """The limit because of which a consumer must refuse a message; the first that applies is reported."""
    limits = (limit for limit in LIMITS if consumer in limit.consumers and limit.applies(case))
    return next(limits, None)


def watermark(case: Case) -> bool:
    return isinstance(case.event, GoldenResolved)


def ddl(case: Case) -> bool:
    return case.row is None and not watermark(case)


def _ddl_of_another_kind(case: Case) -> bool:
    return ddl(case) and json.loads(case.golden.value or b"")["type"] != "CREATE"


def zero_date(case: Case) -> bool:
    columns = {column.name: column for column in case.columns}
    return any(is_zero_date(columns[name], value) for image in case.images() for name, value in image.items())


def is_zero_date(column: ColumnInfo, value: Value) -> bool:
    """A date, with a time or without, whose month or day is 0."""
    return column.type in DATED and value is not None and b"00" in (value[5:7], value[8:10])


def not_utf8(case: Case) -> bool:
    return any(_readable(value) is None for image in case.images() for value in image.values() if value)


def _readable(value: bytes) -> str | None:
    """Text as Jackson decodes it: strict, except that it accepts surrogates in three bytes each."""
    try:
        return value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def lone_surrogate(image: Image) -> bool:
    """Whether Java prints a text of the image with ``?``, because UTF-8 cannot encode a lone surrogate."""
    texts = [_readable(value) or "" for value in image.values() if value]
    return any("\ud800" <= char <= "\udfff" for text in texts for char in text)


def _without_schema(case: Case) -> bool:
    value = case.golden.value or (case.ours and case.ours.value) or b""
    return b'"schema":{' not in value


def _described_twice(case: Case) -> bool:
    event = case.event
    newer = case.variant.startswith("new-")
    return newer and isinstance(event, GoldenRow) and len(event.table.columns) > len(case.columns)


def _without_old_image(case: Case) -> bool:
    return case.row is not None and case.row.op == Op.UPDATE and case.row.before is None


LIMITS = (
    Limit(
        (FLINK_CANAL,),
        "a DDL other than CREATE",
        'Unknown "type" value "',
        "the format has rows only and skips CREATE; `ignore-parse-errors` skips the others too, "
        "but then zero dates arrive as NULL",
        _ddl_of_another_kind,
    ),
    Limit(
        (FLINK_CANAL,),
        "a watermark (`enable-tidb-extension`)",
        'Unknown "type" value "TIDB_WATERMARK"',
        "an event of TiDB's extension; `ignore-parse-errors` skips it",
        watermark,
    ),
    Limit(
        (FLINK_CANAL,),
        "a date with month 0 or day 0",
        "Invalid value for ",
        "Java has no such date; declare the column STRING",
        zero_date,
    ),
    Limit(
        (CONNECT, UNWRAP),
        "a message without schema (`debezium-disable-schema`)",
        'JsonConverter with schemas.enable requires "schema" and "payload"',
        "set `schemas.enable=false`; but then a DOUBLE or DECIMAL of 2⁶³ or more, written in plain digits, "
        "wraps around",
        _without_schema,
    ),
    Limit(
        (CONNECT, UNWRAP),
        "a row of a table with virtual columns, from TiCDC's new architecture",
        "Cannot create field because of field name duplication",
        "the message's schema contains these columns twice",
        _described_twice,
    ),
    Limit(
        DEBEZIUM_CONSUMERS,
        "text that is not UTF-8",
        "Invalid UTF-8 ",
        "TiCDC copies the bytes, so the message is not valid JSON; `invalid-utf8=replace` avoids that",
        not_utf8,
    ),
    Limit(
        (UNWRAP,),
        "a DDL",
        "not an envelope: io.debezium.connector.mysql.SchemaChangeValue",
        "the transform passes it on unchanged, to a sink that expects rows",
        ddl,
    ),
    Limit(
        (UNWRAP,),
        "a watermark (`enable-tidb-extension`)",
        "Unknown field: after",
        "TiCDC names it an envelope, but it has no row",
        watermark,
    ),
    Limit(
        (FLINK_DEBEZIUM,),
        "a DDL",
        'Cannot invoke "Object.toString()"',
        "it has no `op`; `ignore-parse-errors` skips it",
        ddl,
    ),
    Limit(
        (FLINK_DEBEZIUM,),
        "a watermark (`enable-tidb-extension`)",
        'Unknown "op" value "m"',
        "an event of TiDB's extension; `ignore-parse-errors` skips it",
        watermark,
    ),
    Limit(
        (FLINK_DEBEZIUM,),
        "an update without its old row (`output-old-value=false`)",
        'The "before" field of UPDATE message is null',
        "Flink retracts the old row before it adds the new one",
        _without_old_image,
    ),
)
