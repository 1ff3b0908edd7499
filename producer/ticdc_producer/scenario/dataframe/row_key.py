"""The row key and the integer handle of a DataFrame's rows, as Spark expressions.

A DataFrame has no hidden row ids. If a table has no clustered primary key, its handle key identifies the row,
in the same encoding, and the integer handle is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.dataframe.key_part import as_signed_long, encode_part, int_key


@dataclass(frozen=True, slots=True)
class StoredKey:
    """The key that identifies a row.

    :param integer: whether the key is an integer handle: a clustered primary key of one integer column.
    """

    table: TableInfo
    index: IndexInfo
    integer: bool

    @property
    def offsets(self) -> tuple[int, ...]:
        """Offsets of its columns."""
        return self.index.offsets

    def row_key(self, values: Mapping[int, Column]) -> Column:
        """``model.row_key`` of a row, as binary.

        :param values: canonical values by offset.
        :raises UnsupportedSQL: for a key that has no encoding in the JVM.
        """
        if self.integer:
            return F.unhex(int_key(self.row_id(values)))
        lengths = self.index.lengths or (-1,) * len(self.offsets)
        columns = self.table.columns
        parts = [
            encode_part(columns[offset], _prefix(columns[offset], values[offset], length))
            for offset, length in zip(self.offsets, lengths, strict=True)
        ]
        return F.unhex(F.concat(*parts))

    def row_id(self, values: Mapping[int, Column]) -> Column:
        """The integer handle, 0 without one; a BIGINT UNSIGNED may become negative."""
        first = self.offsets[0]
        return (
            as_signed_long(self.table.columns[first], values[first])
            if self.integer
            else F.lit(0).cast("long")
        )


def stored_key(table: TableInfo) -> StoredKey:
    """The key of a table's rows.

    :raises ScenarioError: if the table has no key.
    """
    index = table.clustered_key or table.handle_index
    if index is None:
        what = f"table {table.qualified_name} has no primary key and no unique index without NULLs"
        raise ScenarioError(what, hint="rows of a DataFrame are identified by their key")
    first = table.columns[index.offsets[0]]
    integer = index is table.clustered_key and len(index.offsets) == 1 and first.type in INTEGERS
    return StoredKey(table, index, integer)


def _prefix(column: ColumnInfo, value: Column, length: int) -> Column:
    """The part of a value that a prefix index stores: characters of text, bytes of other values."""
    if length < 0:
        return value
    whole = value if column.charset == "binary" else value.cast("string")
    return F.substring(whole, 1, length).cast("binary")
