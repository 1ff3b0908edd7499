"""Column descriptions of messages, parsed once and reused for all messages with the same description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec

from ticdc_producer.model.event import EventColumn
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.protocols.value_parsers import BadValue, Parser, parser_for

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


_DECODER = msgspec.json.Decoder(ColumnsJSON)


class Columns:
    """The columns of a message, in the order of ``mysqlType``.

    :param fault: an invalid description; it matters only in messages of rows.
    """

    __slots__ = ("_texts", "columns", "fault", "names", "parsers", "same_sql_types")

    def __init__(self, texts: Texts, description: ColumnsJSON) -> None:
        self._texts = tuple(map(msgspec.Raw, texts))
        types, keys = description.mysql_type or {}, frozenset(description.pk_names or ())
        self.names = tuple(types)
        self.columns = tuple([EventColumn(n, types[n], _PRIMARY if n in keys else 0) for n in types])
        self.parsers: Mapping[str, Parser] = {}
        self.same_sql_types = (description.sql_type or types).keys() == types.keys()
        self.fault = self._set_parsers(types, keys)

    def _set_parsers(self, types: Mapping[str, str], keys: frozenset[str]) -> BadValue | None:
        parsers = {}
        for name, text in types.items():
            try:
                parsers[name] = parser_for(text)
            except BadValue as bad:
                return BadValue(bad.code, f"{bad.expected} in column {name!r}")
        self.parsers = parsers
        return None if keys <= types.keys() else BadValue("COLUMN", "columns of mysqlType in pkNames")

    def match(self, pk_names: msgspec.Raw, sql_type: msgspec.Raw, mysql_type: msgspec.Raw) -> bool:
        """Whether these texts are the ones that describe these columns."""
        keys, codes, types = self._texts
        return sql_type == codes and mysql_type == types and pk_names == keys

    def in_order(self, names: Sequence[str]) -> tuple[EventColumn, ...]:
        """The columns with these names, in this order."""
        by_name = {column.name: column for column in self.columns}
        return tuple([by_name[name] for name in names])


# A comparison with the latest descriptions of a table is faster than a lookup of the texts.
_latest: dict[tuple[str, str], tuple[Columns, ...]] = {}


def columns_of(
    table: tuple[str, str], pk_names: msgspec.Raw, sql_type: msgspec.Raw, mysql_type: msgspec.Raw
) -> Columns:
    """The columns that a message's texts describe.

    Equal texts describe equal columns, so the result of one message serves the next ones. The number and the
    size of cached descriptions are limited, since messages are not trusted.

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
    return Columns(texts, _DECODER.decode(b'{"pkNames":%b,"sqlType":%b,"mysqlType":%b}' % texts))


_parse_cached = lru_cache(maxsize=_MAX_DESCRIPTIONS)(_parse)
