"""The parts of keys: the types and prefixes that they may have, and their bytes, which TiDB limits.

Rules: tidb ``pkg/ddl/index.go`` (``checkIndexColumn``, ``checkIndexPrefixLength``).
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


def check_changed_keys(table: TableInfo, name: str, new: ColumnInfo, line: int) -> None:
    """Check the keys of a column that gets another definition.

    A statement that drops such a key is checked, too.
    Source: tidb ``checkColumnWithIndexConstraint``, ``checkIndexInModifiableColumns``.

    :raises ScenarioError: for a key that is too long, and for one that the new type cannot have.
    """
    columns, offset = [*table.columns], table.visible_offsets[name.lower()]
    columns[offset] = new
    for index in sorted(table.indexes, key=lambda index: not index.primary):
        if offset in index.offsets:
            parts = [columns[part] for part in index.offsets]
            for column, length in zip(parts, index.lengths, strict=True):
                check_part(column, fitting_length(column, length), line)
            check_length(parts, index.lengths, line)


def fitting_length(column: ColumnInfo, length: int) -> int:
    """Return the length of a key part whose column changed: -1 unless the column is a longer text.

    Source: tidb ``SetIdxColNameOffset``.
    """
    return length if column.type in (*LOBS, *WITH_PREFIX) and column.length > length else -1


def check_part(column: ColumnInfo, length: int, line: int) -> None:
    """Check a key part. Source: tidb ``checkIndexColumn``.

    :param length: of its prefix, -1 for the whole column.
    :raises ScenarioError: for a type that has no keys, and a prefix that does not fit the type.
    """
    name, refused = column.name, ""
    if column.length == 0 and column.type in WITH_PREFIX:
        refused = f"The used storage engine can't index column {name!r}"
    elif column.type == T.JSON:
        refused = f"JSON column {name!r} cannot be used in a key"
    elif column.type in LOBS and length < 0:
        refused = f"BLOB/TEXT column {name!r} used in key specification without a key length"
    elif length == 0:
        refused = f"Key part {name!r} length cannot be 0"
    elif length > 0 and (column.type not in (*LOBS, *WITH_PREFIX) or length > column.length):
        what = "the used key part isn't a string, or the used length is longer than the key part"
        refused = f"Incorrect prefix key; {what}"
    if refused:
        raise ScenarioError(refused, line=line, column=name)


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
