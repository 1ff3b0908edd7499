"""What a message says of its columns, understood once for all messages that say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec

from ticdc_producer.model.event import EventColumn
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.protocols.value_parsers import BadValue, Reader, reader_of

Texts: TypeAlias = tuple[bytes, bytes, bytes]
"""JSON of ``pkNames``, ``sqlType`` and ``mysqlType``."""

_PRIMARY = int(ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY)
_LARGEST_KEPT = 1 << 18  # bytes of a description that is worth remembering
_MOST_KEPT = 256
_MOST_TABLES, _MOST_OF_TABLE = 64, 4  # a code of sqlType may depend on the value


class Described(msgspec.Struct, rename="camel"):
    """The members as they stand in the message."""

    pk_names: list[str] | None
    sql_type: dict[str, int] | None
    mysql_type: dict[str, str] | None


_DECODER = msgspec.json.Decoder(Described)


class Columns:
    """The columns of a message, in the order of ``mysqlType``.

    :param fault: what is wrong with them, which concerns messages of rows alone.
    """

    __slots__ = ("_texts", "columns", "fault", "names", "readers", "same_sql_types")

    def __init__(self, texts: Texts, described: Described) -> None:
        self._texts = tuple(map(msgspec.Raw, texts))
        types, keys = described.mysql_type or {}, frozenset(described.pk_names or ())
        self.names = tuple(types)
        self.columns = tuple([EventColumn(n, types[n], _PRIMARY if n in keys else 0) for n in types])
        self.readers: Mapping[str, Reader] = {}
        self.same_sql_types = (described.sql_type or types).keys() == types.keys()
        self.fault = self._understand(types, keys)

    def _understand(self, types: Mapping[str, str], keys: frozenset[str]) -> BadValue | None:
        readers = {}
        for name, text in types.items():
            try:
                readers[name] = reader_of(text)
            except BadValue as bad:
                return BadValue(bad.code, f"{bad.expected} in column {name!r}")
        self.readers = readers
        return None if keys <= types.keys() else BadValue("COLUMN", "columns of mysqlType in pkNames")

    def are_of(self, pk_names: msgspec.Raw, sql_type: msgspec.Raw, mysql_type: msgspec.Raw) -> bool:
        """Whether these texts describe them."""
        keys, codes, types = self._texts
        return sql_type == codes and mysql_type == types and pk_names == keys

    def in_order(self, names: Sequence[str]) -> tuple[EventColumn, ...]:
        """The columns of these names."""
        by_name = {column.name: column for column in self.columns}
        return tuple([by_name[name] for name in names])


# To compare with what was told last is quicker than to look texts up.
_latest: dict[tuple[str, str], tuple[Columns, ...]] = {}


def columns_of(
    table: tuple[str, str], pk_names: msgspec.Raw, sql_type: msgspec.Raw, mysql_type: msgspec.Raw
) -> Columns:
    """The columns that a message's texts describe.

    Equal texts have equal meaning, so that of one message serves for the next ones; how many are kept, and
    how long ones, is limited, since a message may say anything.

    :param table: database and table, which the next messages probably are of, too.
    :raises msgspec.DecodeError: if the texts are of another form.
    """
    latest = _latest.get(table, ())
    for columns in latest:
        if columns.are_of(pk_names, sql_type, mysql_type):
            return columns
    texts = bytes(pk_names), bytes(sql_type), bytes(mysql_type)
    if sum(map(len, (*texts, *table))) > _LARGEST_KEPT:
        return _understood(texts)
    if len(_latest) >= _MOST_TABLES:
        _latest.clear()
    columns = _remembered(texts)
    _latest[table] = (columns, *latest[: _MOST_OF_TABLE - 1])
    return columns


def _understood(texts: Texts) -> Columns:
    # Names of members are there for the sake of errors, which tell them.
    return Columns(texts, _DECODER.decode(b'{"pkNames":%b,"sqlType":%b,"mysqlType":%b}' % texts))


_remembered = lru_cache(maxsize=_MOST_KEPT)(_understood)
