"""The row changes and DDLs of a binlog, as the rows of a ``changes`` step.

A commit gets the second of its binlog event as its time, or the millisecond after the commit before it. So
commits keep their order, and the same binlog has the same time stamps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TypeAlias, cast

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import RecordingError
from ticdc_producer.model import tso
from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.shapes import EVENT_IMAGE
from ticdc_producer.recording.selection import Accepts
from ticdc_producer.scenario.sql.text.spelling import quoted_name

T = MySQLType
BINLOG_ROWS = pa.schema([
    ("commit_ts", pa.int64()), ("seq", pa.int64()), ("statement", pa.string()), ("op", pa.string()),
    ("schema", pa.string()), ("table", pa.string()), ("before", EVENT_IMAGE), ("after", EVENT_IMAGE),
    ("origin", pa.string()),
])  # fmt: skip
"""The rows of a ``changes`` step: values are texts, and bytes where the column has bytes."""
SYSTEM_DATABASES = ("information_schema", "metrics_schema", "mysql", "performance_schema", "sys")
FULL_METADATA = "SET GLOBAL binlog_row_metadata = 'FULL'"
"""With it the binlog has the names, the signs and the charsets of columns."""

BinlogValue: TypeAlias = (
    "int | float | Decimal | str | bytes | date | datetime | timedelta | set[str] | dict[str, object]"
    " | list[object] | None"
)
"""A value as the library returns it."""
Values: TypeAlias = Mapping[str, BinlogValue]
Cell: TypeAlias = "int | str | list[tuple[str, Value]] | None"

_PARTIAL = {
    "cols bitmap": "SET GLOBAL binlog_row_image = 'FULL'; sessions that are open keep theirs",
    "same with before values": "SET GLOBAL binlog_row_value_options = ''",
}
"""What the library says of a value that is not in the binlog, and the setting with which it is."""
_ZERO_TIMESTAMP = datetime(1970, 1, 1)
_ZERO_YEAR = 1900
"""What the library makes of TIMESTAMP and YEAR zero, neither of which is a value of its type."""
_COMMENT = re.compile(r"/\*(?!!).*?\*/|--\s[^\n]*|#[^\n]*", re.DOTALL)
_OBJECT = re.compile(
    r"\b(TABLE|DATABASE|SCHEMA|INDEX|VIEW|SEQUENCE|USER|ROLE|PROCEDURE|FUNCTION|TRIGGER|EVENT|SERVER|PACKAGE)\b",
    re.IGNORECASE,
)
_SENT = {"TABLE", "DATABASE", "SCHEMA", "INDEX", "VIEW", "SEQUENCE"}
_DDL = {"CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE"}
_DML = {"INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD"}


@dataclass(frozen=True, kw_only=True)
class BinlogColumn:
    """A column of a row event.

    :param digits: of fractions of seconds.
    """

    name: str
    type: MySQLType
    digits: int = 0


@dataclass(frozen=True, kw_only=True)
class BinlogChange:
    """The change of a row.

    :param before: the values before it; None for an insert.
    :param after: the values after it; None for a delete.
    :param unread: by column, why the library cannot read a value, which then is None.
    """

    before: Values | None
    after: Values | None
    unread: Mapping[str, str] = field(default_factory=dict)


@dataclass
class BinlogRows:
    """The state between the events of a binlog.

    :param accepts: the tables whose rows are recorded.
    :param until: the last commit-ts.
    :ivar ended: whether a commit after ``until`` was seen.
    """

    accepts: Accepts
    until: int = tso.MAX_TS
    ended: bool = False
    _milliseconds: int = 0
    _commit_ts: int | None = None
    _position: int = 0
    _database: str = ""

    def statement(self, query: str, database: str, seconds: int, origin: str) -> Iterator[dict[str, Cell]]:
        """Yield the rows of a statement of the binlog: of a DDL that TiCDC sends; there are none of others.

        :param database: the current one.
        :param seconds: the time of the event, since 1970.
        :param origin: its file and position, for errors.
        :raises RecordingError: for a statement that changes rows.
        """
        words = _COMMENT.sub(" ", query).split(None, 1)
        verb = words[0].upper() if words else ""
        if verb == "COMMIT":
            self.commit()
        elif verb == "ROLLBACK" and self._commit_ts is not None:
            what = "a transaction was rolled back after it changed rows of a table without transactions"
            raise RecordingError(what, where=origin, hint="use tables of InnoDB")
        elif verb in _DML:
            what = f"the binlog has a statement, {verb}, and not the rows that it changes"
            raise RecordingError(what, where=origin, hint="SET GLOBAL binlog_format = 'ROW'")
        elif verb in _DDL and _is_sent(query) and database.lower() not in SYSTEM_DATABASES:
            self.commit()
            if database and database != self._database and not _is_of_database(query):
                self._database = database
                yield self._row(seconds, origin, statement=f"USE {quoted_name(database)}")
                self.commit()
            yield self._row(seconds, origin, statement=query)
            self.commit()

    def changes(
        self,
        name: tuple[str, str],
        columns: Sequence[BinlogColumn],
        changes: Sequence[BinlogChange],
        seconds: int,
        origin: str,
    ) -> Iterator[dict[str, Cell]]:
        """Yield the rows of the row changes of an event.

        :param name: database and table.
        :raises RecordingError: for columns without names, and for a value that the library cannot read.
        """
        if name[0].lower() in SYSTEM_DATABASES or not self.accepts(*name):
            return
        if any(column.name.startswith("UNKNOWN_COL") for column in columns):
            what = f"the binlog does not have the names of the columns of {'.'.join(name)}"
            raise RecordingError(what, where=origin, hint=FULL_METADATA)
        by_name = {column.name: column for column in columns}
        for change in changes:
            op = Op.INSERT if change.before is None else Op.DELETE if change.after is None else Op.UPDATE
            images = {
                side: None if values is None else _image(by_name, values, change.unread, name, origin)
                for side, values in (("before", change.before), ("after", change.after))
            }
            names: dict[str, Cell] = {"op": op.label, "schema": name[0], "table": name[1]}
            yield self._row(seconds, origin, **names, **images)

    def commit(self) -> None:
        """End the open transaction."""
        self._commit_ts = None

    def _row(self, seconds: int, origin: str, **cells: Cell) -> dict[str, Cell]:
        if self._commit_ts is None:
            self._milliseconds = max(seconds * 1000, self._milliseconds + 1)
            self._commit_ts = self._milliseconds << tso.LOGICAL_BITS
            self._position = 0
        self.ended |= self._commit_ts > self.until
        self._position += 1
        return {"commit_ts": self._commit_ts, "seq": self._position, "origin": origin, **cells}


def _is_sent(query: str) -> bool:
    """Return whether TiCDC sends a DDL: not those of users and of programs, nor of temporary tables.

    >>> objects = ("OR REPLACE VIEW v AS SELECT 1", "USER u", "TEMPORARY TABLE t (a INT)")
    >>> [_is_sent(f"CREATE {text}") for text in objects]
    [True, False, False]
    """
    text = _COMMENT.sub(" ", query)
    kind = _OBJECT.search(text)
    if kind is None:
        return text.split(None, 1)[0].upper() == "TRUNCATE"
    return kind[1].upper() in _SENT and "TEMPORARY" not in text[: kind.start()].upper()


def _is_of_database(query: str) -> bool:
    kind = _OBJECT.search(_COMMENT.sub(" ", query))
    return kind is not None and kind[1].upper() in ("DATABASE", "SCHEMA")


def _image(
    columns: Mapping[str, BinlogColumn],
    values: Values,
    unread: Mapping[str, str],
    name: tuple[str, str],
    origin: str,
) -> list[tuple[str, Value]]:
    image: list[tuple[str, Value]] = []
    for column, value in values.items():
        reason = unread.get(column, "") if value is None else ""
        if reason in _PARTIAL:
            what = f"the binlog lacks the value of {'.'.join((*name, column))}: rows are not whole"
            raise RecordingError(what, where=origin, hint=_PARTIAL[reason])
        if isinstance(value, timedelta) and value < timedelta(0) and columns[column].digits:
            reason = "a negative TIME with a fraction"  # the library reads it wrong
        elif columns[column].type == T.JSON and (decimal := _inexact(value)) is not None:
            reason = f"the JSON document has the DECIMAL {decimal}, which no DOUBLE of TiDB's JSON equals"
        if reason:
            what = f"the value of {'.'.join((*name, column))} cannot be read: {reason}"
            raise RecordingError(what, where=origin, hint="`table` leaves out a table")
        image.append((column, binlog_value(columns[column].type, value)))
    return image


def binlog_value(code: MySQLType, value: BinlogValue) -> Value:
    """Return a value of a binlog as the text that an INSERT takes; bytes stay.

    >>> binlog_value(T.FLOAT, 1.100000023841858), binlog_value(T.BIT, "0000001010")
    (b'1.1', b'\\x00\\n')
    >>> binlog_value(T.YEAR, 1900), binlog_value(T.TIMESTAMP, datetime(1970, 1, 1))
    (b'0', b'0000-00-00 00:00:00')
    >>> binlog_value(T.DURATION, timedelta(hours=99, seconds=0.5))
    b'99:00:00.500000'
    >>> binlog_value(T.JSON, b"a"), binlog_value(T.JSON, True), binlog_value(T.JSON, [Decimal("1.50")])
    (b'"a"', b'true', b'[1.5]')
    """
    match value:
        case None:
            return None
        case _ if code == T.JSON:
            return json.dumps(_document(value), ensure_ascii=False).encode()
        case bytes():
            return value
        case str() if code == T.BIT:
            return int(value or "0", 2).to_bytes(-(-len(value) // 8) or 1, "big")
        case str():
            return value.encode()
        case set():
            return ",".join(sorted(value)).encode()
        case float() if code == T.FLOAT:
            return str(np.float32(value)).encode()
        case datetime():
            is_zero = code == T.TIMESTAMP and value == _ZERO_TIMESTAMP
            return b"0000-00-00 00:00:00" if is_zero else value.isoformat(" ").encode()
        case timedelta():
            return _time_text(value).encode()
        case int() if code == T.YEAR and value == _ZERO_YEAR:
            return b"0"
    return str(value).encode()


def _time_text(value: timedelta) -> str:
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    seconds, micros = divmod(value // timedelta(microseconds=1), 1_000_000)
    fraction = f".{micros:06}" if micros else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


def _inexact(document: object) -> Decimal | None:
    """Return a DECIMAL of a JSON document that is not a DOUBLE; TiDB's JSON has no other fractions.

    >>> _inexact([Decimal("1.5"), {b"a": Decimal("0.1")}]), _inexact([Decimal("1.00000000000000000001")])
    (None, Decimal('1.00000000000000000001'))

    Source: the types of JSON values in TiDB's documentation (``data-type-json.md``).
    """
    match document:
        case Decimal():
            return None if Decimal(repr(float(document))) == document else document
        case dict():
            members: Iterable[object] = document.values()
        case list():
            members = document
        case _:
            return None
    return next((inner for member in members if (inner := _inexact(member)) is not None), None)


def _document(value: object) -> object:
    """Return a JSON document of the library, whose texts are bytes, with texts."""
    match value:
        case bytes():
            return value.decode()
        case dict():
            return {cast("str", _document(name)): _document(member) for name, member in value.items()}
        case list():
            return [_document(member) for member in value]
        case Decimal():
            return float(value)
        case date() | timedelta():
            return str(value)
    return value
