"""Flink's declaration of a TiDB table, and the rows that must then arrive."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Image, Op, RowEvent
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType

T = MySQLType
DECIMAL_DIGITS = 38  # Flink's DecimalType.MAX_PRECISION
Change: TypeAlias = tuple[str, dict[str, Any]]
"""A row of the changelog with its kind: ``+I``, ``-U``, ``+U`` or ``-D``."""

_CANAL_TYPES = {
    T.TINY: ("TINYINT", "SMALLINT"),
    T.SHORT: ("SMALLINT", "INT"),
    T.INT24: ("INT", "INT"),
    T.LONG: ("INT", "BIGINT"),
    T.LONGLONG: ("BIGINT", "DECIMAL(20, 0)"),
    T.FLOAT: ("FLOAT", "FLOAT"),
    T.DOUBLE: ("DOUBLE", "DOUBLE"),
    T.YEAR: ("INT", "INT"),
    T.DATE: ("DATE", "DATE"),
}
"""Signed and UNSIGNED. BIT, ENUM, SET, TIME, JSON, VECTOR and all strings are STRING."""
_DEBEZIUM_TYPES = {
    T.TINY: ("SMALLINT", "SMALLINT"),
    T.SHORT: ("SMALLINT", "INT"),
    T.INT24: ("INT", "INT"),
    T.LONG: ("INT", "BIGINT"),
    T.LONGLONG: ("BIGINT", "BIGINT"),
    T.FLOAT: ("FLOAT", "FLOAT"),
    T.DOUBLE: ("DOUBLE", "DOUBLE"),
    T.NEW_DECIMAL: ("DOUBLE", "DOUBLE"),
    T.YEAR: ("INT", "INT"),
    T.DATE: ("INT", "INT"),
    T.DATETIME: ("BIGINT", "BIGINT"),
    T.DURATION: ("BIGINT", "BIGINT"),
}
"""Flink does not support Debezium's logical types: dates and times are the numbers that are sent."""


@dataclass(frozen=True)
class Form:
    """How a protocol writes values.

    :param type_of: Flink's type for a column.
    :param text_of: the text of a value in the message.
    """

    type_of: Callable[[ColumnInfo], str]
    text_of: Callable[[ColumnInfo, bytes], str]

    def declared(self, columns: Iterable[ColumnInfo]) -> str:
        """The column definitions of CREATE TABLE."""
        pairs = [(column.name.replace("`", "``"), self.type_of(column)) for column in columns]
        # A DDL or a watermark has no columns, but a table in Flink has one at least.
        return ", ".join(f"`{name}` {kind}" for name, kind in pairs) or "`id` INT"

    def image(self, columns: Iterable[ColumnInfo], image: Image) -> dict[str, Any]:
        """An image in the declared types; columns that were not sent are NULL."""
        return {column.name: self._value(column, image.get(column.name)) for column in columns}

    def sent_image(self, columns: Iterable[ColumnInfo], image: Image) -> dict[str, Any]:
        """An image in the declared types, without columns that were not sent."""
        return {
            column.name: self._value(column, image[column.name]) for column in columns if column.name in image
        }

    def _value(self, column: ColumnInfo, value: bytes | None) -> Any:
        return None if value is None else read(self.type_of(column), self.text_of(column, value))

    def changes(self, columns: Iterable[ColumnInfo], row: RowEvent) -> list[Change]:
        """The changelog's rows of one event."""
        if row.op == Op.DELETE:
            assert row.before is not None
            return [("-D", self.image(columns, row.before))]
        assert row.after is not None
        after = self.image(columns, row.after)
        if row.op == Op.INSERT:
            return [("+I", after)]
        return [("-U", self.image(columns, old_image(row))), ("+U", after)]

    def arrived(self, columns: Iterable[ColumnInfo], rows: list[dict[str, Any]]) -> list[Change]:
        """The rows that Flink returned, with Flink's own notation of some types normalised."""
        return [(row["kind"], self.arrived_image(columns, row["row"])) for row in rows]

    def arrived_image(self, columns: Iterable[ColumnInfo], image: dict[str, Any]) -> dict[str, Any]:
        return {column.name: _plain(self.type_of(column), image[column.name]) for column in columns}


def old_image(row: RowEvent) -> Image:
    """The complete old image: Canal may send only the changed columns, the others equal the new image."""
    return {**(row.after or {}), **(row.before or {})}


def _canal_type(column: ColumnInfo) -> str:
    if column.type == T.NEW_DECIMAL:
        fits = column.length <= DECIMAL_DIGITS
        return f"DECIMAL({column.length}, {column.decimal})" if fits else "STRING"
    if column.type in (T.DATETIME, T.TIMESTAMP):
        return f"TIMESTAMP({max(column.decimal, 0)})"
    return _CANAL_TYPES.get(column.type, ("STRING", "STRING"))[column.unsigned]


def _canal_text(column: ColumnInfo, value: bytes) -> str:
    """Byte strings have one character per byte (ISO 8859-1)."""
    return value.decode("latin-1" if column.type in STRINGS | LOBS and column.binary else "utf-8")


def _debezium_type(column: ColumnInfo) -> str:
    if column.type == T.BIT:
        return "BOOLEAN" if column.length == 1 else "BYTES"
    if column.type in STRINGS | LOBS and column.binary:
        return "BYTES"
    return _DEBEZIUM_TYPES.get(column.type, ("STRING", "STRING"))[column.unsigned]


def _debezium_text(column: ColumnInfo, value: bytes) -> str:
    # Surrogates pass through Java's decoder; a message that it cannot decode gives no text at all.
    return value.decode("utf-8", "surrogatepass")


CANAL = Form(_canal_type, _canal_text)
DEBEZIUM = Form(_debezium_type, _debezium_text)


def read(kind: str, text: str) -> Any:
    """A value of one of Flink's types."""
    readers: dict[str, Callable[[str], Any]] = {
        "DECIMAL": Decimal, "DOUBLE": float, "FLOAT": single, "TIMESTAMP": _without_zeros,
        "BOOLEAN": lambda text: text == "1",
        **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), int),
    }  # fmt: skip
    return readers.get(kind.partition("(")[0], str)(text)


def single(number: str | float) -> float:
    """The nearest float of 32 bits."""
    (nearest,) = struct.unpack("f", struct.pack("f", float(number)))
    return float(nearest)


def _without_zeros(moment: str) -> str:
    return moment.rstrip("0").rstrip(".") if "." in moment else moment


def _plain(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind.startswith("TIMESTAMP"):
        date, _, time = value.partition("T")
        seconds = ":00" if time.count(":") == 1 else ""  # Java leaves out seconds that are 0
        return _without_zeros(f"{date} {time}{seconds}")
    if kind == "FLOAT":
        return single(value)
    return Decimal(value) if kind.startswith("DECIMAL") else value
