"""The meaning of the columns of rows that are changes of one table, and their types
(``docs/python.md#your-own-dataframes``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    FractionalType,
    IntegralType,
    NullType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.hints import nearest
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.columns.key_columns import StoredKey, stored_key
from ticdc_producer.scenario.dataframe.tables import ValueSources, old_row_sources, row_sources

T = MySQLType

CHANGE_TYPES = {
    "delete": (Op.DELETE, 0),
    "update_preimage": (Op.UPDATE, 1),
    "update_postimage": (Op.UPDATE, 2),
    "insert": (Op.INSERT, 3),
}
"""Operation and position of the rows of a change data feed. The rows of one key in one version are a delete,
an update, an insert, or a delete and an insert."""


@dataclass(frozen=True, kw_only=True)
class ChangeForm:
    """The meaning of the columns of rows that are changes of one table.

    :param schema: Spark's schema of the rows.
    :param op: column of the operation, with the labels of ``changes`` or with ``CHANGE_TYPES``.
    :param before: struct column with the old row of updates; empty: there is none.
    :param number: integer column with the number of the transaction or its commit-ts; empty: there is none,
        and the number is 0.
    :param position: integer column with the position in the transaction; empty: there is none.
    :param ignored: columns without a meaning here.
    :param paired: whether an update is two rows, as in a change data feed.
    """

    table: TableInfo
    schema: StructType
    op: str
    before: str = ""
    number: str = ""
    position: str = ""
    ignored: tuple[str, ...] = ()
    paired: bool = False

    @cached_property
    def key(self) -> StoredKey:
        """The key of the table's rows.

        :raises ScenarioError: if the table has none.
        """
        return stored_key(self.table)

    @cached_property
    def row(self) -> ValueSources:
        """The sources of a row's values.

        :raises ScenarioError: for columns that do not fit the table.
        """
        named = {self.op, self.before, self.number, self.position, *self.ignored}
        return row_sources(self.table, self.schema, named)

    @cached_property
    def old(self) -> ValueSources | None:
        """The sources of an old row's values; None without the column ``before``."""
        if not self.before:
            return None
        struct = self.schema[self.before].dataType if self.before in self.schema.names else None
        if not isinstance(struct, StructType):
            what = "is not a column" if struct is None else f"is {struct.simpleString()} and not a struct"
            hint = "before names a struct with the old row"
            raise ScenarioError(f"{self.before!r} {what}", column=self.before, hint=hint)
        return old_row_sources(self.table, struct, self.row, self.before)

    def check(self) -> None:
        """Check the table, and the names and types of all columns.

        :raises ScenarioError: for a partitioned table, and for the first column that does not fit.
        """
        if self.table.partitions:
            what = (
                f"table {self.table.qualified_name} is partitioned: not supported for changes of any number"
            )
            raise UnsupportedSQL(what, hint="a DataFrame of at most 100,000 rows can change it")
        _ = self.key
        for sources in (self.row, self.old):
            for offset, field in ({} if sources is None else sources.fields).items():
                check_type(self.table.columns[offset], field.dataType)
        self._check_type(self.op, StringType, "text")
        for name in filter(None, (self.number, self.position)):
            self._check_type(name, IntegralType, "an integer")

    def _check_type(self, name: str, kind: type, words: str) -> None:
        if name not in self.schema.names:
            what = f"the rows have no column {name!r}"
            raise ScenarioError(what, column=name, hint=nearest(name, self.schema.names))
        given = self.schema[name].dataType
        if not isinstance(given, kind):
            raise ScenarioError(f"column {name!r} must be {words}, not {given.simpleString()}", column=name)


@dataclass(frozen=True, slots=True)
class AcceptedTypes:
    """The types that one kind of column accepts, besides that of NULL.

    :param names: the types in words, for messages.
    :param integral: whether decimals must have scale 0.
    """

    types: tuple[type[DataType], ...]
    names: str
    integral: bool = False


_INTEGRAL = (IntegralType, DecimalType)
_INTEGRAL_NAMES = "an integer, or decimal(n,0) beyond the signed range"
_INTEGER = AcceptedTypes((*_INTEGRAL, BooleanType), f"{_INTEGRAL_NAMES}, or boolean", integral=True)
_FLOAT = AcceptedTypes((FractionalType, IntegralType), "float, double, decimal or an integer")
_DATETIME = AcceptedTypes((TimestampType, TimestampNTZType), "timestamp or timestamp_ntz")
_TEXT = AcceptedTypes((StringType,), "string")
_BYTES = AcceptedTypes((BinaryType,), "binary")
_ACCEPTED: dict[MySQLType, AcceptedTypes] = {
    **dict.fromkeys(INTEGERS, _INTEGER),
    T.NEW_DECIMAL: AcceptedTypes(_INTEGRAL, "decimal or an integer"),
    T.FLOAT: _FLOAT,
    T.DOUBLE: _FLOAT,
    T.BIT: _INTEGER,
    T.YEAR: AcceptedTypes((IntegralType,), "an integer"),
    T.DATE: AcceptedTypes((DateType,), "date"),
    T.DATETIME: _DATETIME,
    T.TIMESTAMP: _DATETIME,
    T.DURATION: _TEXT,
    T.ENUM: AcceptedTypes((StringType, IntegralType), "string or an integer"),
    T.SET: AcceptedTypes((StringType, *_INTEGRAL), f"string, or {_INTEGRAL_NAMES}", integral=True),
    T.JSON: _TEXT,
}


def check_type(column: ColumnInfo, kind: DataType) -> None:
    """Check that a column accepts a type of Spark.

    :raises ScenarioError: if it does not.
    """
    accepted = _ACCEPTED.get(column.type)
    if column.type in STRINGS or column.type in LOBS:
        accepted = _BYTES if column.charset == "binary" else _TEXT
    if accepted is None:
        raise UnsupportedSQL(f"Values of type {column.type_name} are not supported", column=column.name)
    fraction = accepted.integral and isinstance(kind, DecimalType) and kind.scale > 0
    if not isinstance(kind, (*accepted.types, NullType)) or fraction:
        what = f"column {column.name!r} is {column.type_name} and cannot be made from {kind.simpleString()}"
        raise ScenarioError(what, column=column.name, hint=f"it takes {accepted.names}; cast it")
