"""The meaning of the columns of rows that are changes of one table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql.types import IntegralType, StringType, StructType

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.hints import nearest
from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.dataframe.accepted_types import check_type
from ticdc_producer.scenario.dataframe.key_columns import StoredKey, stored_key
from ticdc_producer.scenario.dataframe.tables import ValueSources, old_row_sources, row_sources

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
