"""The JSON object of a message. Every member is checked before it is used.

``type`` has Canal's keywords, ``sqlType`` the codes of ``java.sql.Types``. Source: tiflow
``pkg/sink/codec/canal/canal_entry.go`` (``convertDdlEventType``, ``getJavaSQLType``) and
``pkg/sink/codec/internal/java.go`` (``MySQLType2JavaType``), with the action codes of tidb
``pkg/meta/model/job.go``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import EventColumn, Op
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.tso import LOGICAL_BITS, MAX_TS
from ticdc_producer.protocols.base import BadValue, first_bad_byte
from ticdc_producer.protocols.ddl_keywords import DDLKeywords
from ticdc_producer.protocols.value_parsers import Parser, parsed_type, parser_for

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


WATERMARK = "TIDB_WATERMARK"
OPS = {op.name: op for op in Op}

_DDLS = DDLKeywords(37, 38)
DDL_KEYWORDS = _DDLS.all
ddl_keyword = _DDLS.of
action_code = _DDLS.action_code


Texts: TypeAlias = tuple[bytes, bytes, bytes]
"""JSON of ``pkNames``, ``sqlType`` and ``mysqlType``."""

_PRIMARY = int(ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY)
_MAX_CACHED_BYTES = 1 << 18  # larger descriptions are not cached
_MAX_DESCRIPTIONS = 256
_MAX_TABLES, _MAX_PER_TABLE = 64, 4  # a code of sqlType may depend on the value


class ColumnsJSON(msgspec.Struct, rename="camel"):
    """The members of a message that describe its columns."""

    pk_names: list[str] | None
    sql_type: dict[str, int] | None
    mysql_type: dict[str, str] | None


_COLUMNS_DECODER = msgspec.json.Decoder(ColumnsJSON)


class Columns:
    """The columns of a message, in the order of ``mysqlType``.

    :param fault: an invalid description; it matters only in messages of rows.
    :param identity: equal for messages that describe the same columns, whatever their order.
    """

    __slots__ = ("_texts", "columns", "fault", "identity", "names", "parsers", "same_sql_types")

    def __init__(self, texts: Texts, description: ColumnsJSON) -> None:
        self._texts = tuple(map(msgspec.Raw, texts))
        types, keys = description.mysql_type or {}, frozenset(description.pk_names or ())
        self.names = tuple(types)
        self.columns = tuple([EventColumn(n, types[n], _PRIMARY if n in keys else 0) for n in types])
        self.parsers: Mapping[str, Parser] = {}
        self.same_sql_types = (description.sql_type or types).keys() == types.keys()
        self.identity = frozenset(self.columns), self.same_sql_types
        self.fault = self._set_parsers(
            types, keys, (description.sql_type or {}) if self.same_sql_types else {}
        )

    def _set_parsers(
        self, types: Mapping[str, str], keys: frozenset[str], codes: Mapping[str, int]
    ) -> BadValue | None:
        parsers = {}
        for name, text in types.items():
            try:
                parsers[name] = parser_for(text)
            except BadValue as bad:
                return BadValue(f"{bad.expected} in column {name!r}", bad.code)
        self.parsers = parsers
        if not keys <= types.keys():
            return BadValue("columns of mysqlType in pkNames", "COLUMN")
        other = next((name for name, code in codes.items() if code not in codes_of(types[name])), None)
        return (
            None
            if other is None
            else BadValue(f"the code of {types[other]} in sqlType of column {other!r}", "SQL-TYPE")
        )

    def match(self, pk_names: msgspec.Raw, sql_type: msgspec.Raw, mysql_type: msgspec.Raw) -> bool:
        """Return whether these texts describe these columns."""
        keys, codes, types = self._texts
        return sql_type == codes and mysql_type == types and pk_names == keys

    def in_order(self, names: Sequence[str]) -> tuple[EventColumn, ...]:
        """Return the columns with these names, in this order."""
        by_name = {column.name: column for column in self.columns}
        return tuple([by_name[name] for name in names])


# A comparison with the latest descriptions of a table is faster than a lookup of the texts.
_latest: dict[tuple[str, str], tuple[Columns, ...]] = {}


def columns_of(
    table: tuple[str, str], pk_names: msgspec.Raw, sql_type: msgspec.Raw, mysql_type: msgspec.Raw
) -> Columns:
    """Return the columns that a message's texts describe.

    Equal texts describe equal columns, so the result of one message is reused. The number and the size
    of cached descriptions are limited, since messages are not trusted.

    :param table: database and table, the cache key of the latest descriptions.
    :raises msgspec.DecodeError: if the texts do not describe columns.
    """
    latest = _latest.get(table, ())
    for columns in latest:
        if columns.match(pk_names, sql_type, mysql_type):
            return columns
    texts = bytes(pk_names), bytes(sql_type), bytes(mysql_type)
    if sum(map(len, (*texts, *table))) > _MAX_CACHED_BYTES:
        return _parse(texts)
    if len(_latest) >= _MAX_TABLES:
        _latest.clear()
    columns = _parse_cached(texts)
    _latest[table] = (columns, *latest[: _MAX_PER_TABLE - 1])
    return columns


def _parse(texts: Texts) -> Columns:
    # The member names appear in error messages.
    return Columns(texts, _COLUMNS_DECODER.decode(b'{"pkNames":%b,"sqlType":%b,"mysqlType":%b}' % texts))


_parse_cached = lru_cache(maxsize=_MAX_DESCRIPTIONS)(_parse)


TSO: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_TS)]
Milliseconds: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_TS >> LOGICAL_BITS)]
RowJSON: TypeAlias = dict[str, str | None]
_NULL = msgspec.Raw(b"null")


class Extension(msgspec.Struct, rename="camel", gc=False):
    """``_tidb``; a commit-ts or watermark of 0 means that it is absent."""

    commit_ts: TSO = 0
    watermark_ts: TSO = 0
    only_handle_key: bool = False
    claim_check_location: str = ""
    rowkey: str | None = None


class CanalJSONEnvelope(msgspec.Struct, rename="camel", gc=False):
    """One message object; ``ts`` and ``id`` do not describe the event and are ignored.

    The description of the columns repeats from message to message and stays JSON here (``Columns``).
    """

    database: str
    table: str
    is_ddl: bool
    type: str
    es: Milliseconds
    sql: str = ""
    pk_names: msgspec.Raw = _NULL
    sql_type: msgspec.Raw = _NULL
    mysql_type: msgspec.Raw = _NULL
    data: list[RowJSON] | None = None
    old: list[RowJSON | None] | None = None
    tidb: Extension | None = msgspec.field(default=None, name="_tidb")


_DECODER = msgspec.json.Decoder(CanalJSONEnvelope)
_BYTE_OFFSET = re.compile(r"\(byte (\d+)\)")


def parse_envelope(value: bytes) -> tuple[CanalJSONEnvelope, Columns]:
    """Parse a message value, which is one object.

    :return: the object and its columns.
    :raises DecodeError: if it is not such an object.
    """
    try:
        message = _DECODER.decode(value)
        table = message.database, message.table
        return message, columns_of(table, message.pk_names, message.sql_type, message.mysql_type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _error(error, value) from None


def _error(error: Exception, value: bytes) -> DecodeError:
    if isinstance(error, RecursionError):
        return DecodeError("CANAL-JSON", "JSON of a few levels", part="value", byte=0)
    if isinstance(error, UnicodeDecodeError):
        return DecodeError("CANAL-JSON", "UTF-8", part="value", byte=first_bad_byte(value))
    sentence = _BYTE_OFFSET.sub("", str(error)).strip().rstrip(":")
    if isinstance(error, msgspec.ValidationError):
        return DecodeError("CANAL-MEMBER", sentence, part="value", byte=0)
    offset = _BYTE_OFFSET.search(str(error))
    byte = int(offset[1]) if offset else len(value)
    return DecodeError("CANAL-JSON", f"valid JSON ({sentence})", part="value", byte=byte)
