"""The bytes of keys, which TiDB limits.

Rules: tidb ``pkg/ddl/index.go`` (``checkIndexPrefixLength``, ``getIndexColumnLength``).
"""

from __future__ import annotations

from collections.abc import Sequence

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import LOBS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.definition.column_type import WIDEST

T = MySQLType
WITH_PREFIX = (T.STRING, T.VARCHAR, T.VAR_STRING)
"""Types whose keys may have a length, but need none."""
_LONGEST_KEY = 3072


def check_key_lengths(table: TableInfo, line: int) -> None:
    """Check all keys of a table whose columns changed. Source: tidb ``checkIndexInModifiableColumns``.

    :raises ScenarioError: for a key that is too long, and for a whole BLOB or TEXT.
    """
    for index in table.indexes:
        columns = [table.columns[offset] for offset in index.offsets]
        for column, length in zip(columns, index.lengths, strict=True):
            check_blob(column, length, line)
        check_length(columns, index.lengths, line)


def check_length(columns: Sequence[ColumnInfo], lengths: Sequence[int], line: int) -> None:
    """Check the bytes of a key.

    :param lengths: of the key parts, -1 for a whole column.
    :raises ScenarioError: if it is too long.
    """
    total = sum(map(_key_bytes, columns, lengths))
    if total > _LONGEST_KEY:
        what = f"Specified key was too long ({total} bytes); max key length is {_LONGEST_KEY} bytes"
        raise ScenarioError(what, line=line, column=columns[0].name)


_BYTES = {
    T.TINY: 1, T.SHORT: 2, T.INT24: 3, T.LONG: 4, T.LONGLONG: 8, T.DOUBLE: 8,
    T.YEAR: 1, T.DATE: 3, T.DURATION: 3, T.DATETIME: 8, T.TIMESTAMP: 4,
}  # fmt: skip
_LONGEST_SINGLE = 24


def _key_bytes(column: ColumnInfo, prefix: int) -> int:
    """Return the bytes of a column in a key. Source: tidb ``getIndexColumnLength``.

    :param prefix: length of the key part, -1 for the whole column.
    """
    length = max(column.length if prefix < 0 else prefix, 0)
    if column.type in _BYTES:
        return _BYTES[column.type]
    if column.type == T.FLOAT:
        return 4 if length <= _LONGEST_SINGLE else 8
    if column.type == T.BIT:
        return (length + 7) // 8
    if column.type == T.NEW_DECIMAL:
        return length // 9 * 4 + (length % 9 + 1) // 2
    return length * WIDEST.get(column.charset, 4) if column.type in (*LOBS, *WITH_PREFIX) else length


def check_blob(column: ColumnInfo, length: int, line: int) -> None:
    """Check that the key part of a BLOB or TEXT has a length.

    :raises ScenarioError: if it has none.
    """
    if column.type in LOBS and length < 0:
        what = f"BLOB/TEXT column {column.name!r} used in key specification without a key length"
        raise ScenarioError(what, line=line, column=column.name)
