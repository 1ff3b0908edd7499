"""A working copy of a table, which ALTER TABLE changes. It replaces the table after all parts have run.

All rows are converted at once. Consumers of TiDB see the same: a row image has the columns of the schema that
it is decoded with, and columns that were added later have their origin default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.foreign_keys import (
    check_columns_exist,
    renamed_columns,
    update_parent_columns,
)
from ticdc_producer.scenario.sql.ddl.new_foreign_keys import check_new
from ticdc_producer.scenario.sql.ddl.temporary import check_table
from ticdc_producer.scenario.sql.definition.foreign_key import ForeignKeyInfo, serving_indexes
from ticdc_producer.scenario.sql.definition.generated import check_generated, fill_generated
from ticdc_producer.scenario.sql.definition.key_length import fitting_length
from ticdc_producer.scenario.sql.definition.row_deletion import check_soft_delete
from ticdc_producer.scenario.sql.definition.table_definition import (
    check_auto_increment,
    check_count,
    check_names,
)
from ticdc_producer.scenario.sql.dml.assign import null_error
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.store.storage import Row, Table

Fill: TypeAlias = Callable[[Sequence[Value]], Value]
"""Computes a column's value from the old values of a row."""


@dataclass(slots=True)
class Alteration:
    """The table as changed by the parts that have run so far.

    :param fills: per column of ``info``: computes its value from the old row.
    :param actions: the job kinds of the parts.
    :param afterwards: changes of the table's id allocator; they run when nothing can fail any more.
    :param renamed: new column names by the old ones in lower case, in the order of the parts.
    """

    table: Table
    context: DDLContext
    line: int
    info: TableInfo = field(init=False)
    fills: list[Fill] = field(init=False)
    next_index_id: int = field(init=False)
    foreign_keys: list[ForeignKeyInfo] = field(init=False)
    ttl: str = field(init=False)
    cached: bool = field(init=False)
    actions: list[Action] = field(default_factory=list)
    afterwards: list[Callable[[], None]] = field(default_factory=list)
    _touched: dict[str, bool] = field(default_factory=dict)
    _touched_indexes: set[str] = field(default_factory=set)
    _used: set[str] = field(default_factory=set)
    _positions: set[str] = field(default_factory=set)
    renamed: list[Mapping[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.info = self.table.info
        self.fills = [itemgetter(offset) for offset in range(len(self.info.columns))]
        self.next_index_id = self.table.next_index_id
        self.foreign_keys = list(self.table.foreign_keys)
        self.ttl = self.table.ttl
        self.cached = self.table.cached

    def column(self, name: str) -> int:
        """Return the offset of a column.

        :raises ScenarioError: if the table has no column of that name.
        """
        return Scope(self.context.mode, self.info).offset(name)

    def touch(self, *names: str, modifies: bool = False) -> None:
        """Record the columns that a part adds, drops or changes.

        Source: tidb ``pkg/ddl/multi_schema_change.go`` (``checkOperateSameColAndIdx``).

        :param modifies: whether the part changes the column under its name.
        :raises ScenarioError: if another part of the statement adds, drops or changes one of them.
        """
        for name in {name.lower(): name for name in names}.values():
            if name.lower() in self._touched:
                raise self._same_column_error(name)
            self._touched[name.lower()] = modifies

    def touch_index(self, name: str) -> None:
        """Record an index that a part adds, drops or changes.

        :raises ScenarioError: if another part of the statement does so.
        """
        if name.lower() in self._touched_indexes:
            hint = "two parts of the statement concern this index: write two statements"
            raise self.error(f"Unsupported operate same index {name!r}", hint=hint)
        self._touched_indexes.add(name.lower())

    def use(self, *names: str) -> None:
        """Record the columns that a new key or a new generated column uses.

        No part of the statement, before it or after it, may add, drop or change them: ``finish`` checks it.
        """
        self._used.update(name.lower() for name in names)

    def use_position(self, name: str) -> None:
        """Record the column after which another is placed. No part may add, drop or rename it."""
        self._positions.add(name.lower())

    def _check_uses(self) -> None:
        replaced = {name for name, modifies in self._touched.items() if not modifies}
        for name in sorted((self._used & self._touched.keys()) | (self._positions & replaced)):
            raise self._same_column_error(name)

    def _same_column_error(self, name: str) -> ScenarioError:
        hint = "two parts of the statement concern this column: write two statements"
        return self.error(f"Unsupported operate same column {name!r}", name, hint)

    def has_column(self, name: str) -> bool:
        return _has_column(self.info, name)

    def had_column(self, name: str) -> bool:
        """Return whether the table has a column before the statement, which decides IF [NOT] EXISTS."""
        return _has_column(self.table.info, name)

    def had_index(self, name: str) -> bool:
        """Return whether the table has an index before the statement."""
        return any(index.name.lower() == name.lower() for index in self.table.info.indexes)

    def has_ttl(self, column: str) -> bool:
        """Return whether a column is that of the table's TTL."""
        return self.ttl.lower() == column.lower()

    def index(self, name: str) -> IndexInfo:
        """Return the index with a name.

        :raises ScenarioError: if the table has no index of that name.
        """
        for index in self.info.indexes:
            if index.name.lower() == name.lower():
                return index
        raise self.error(f"index {name!r} does not exist")

    def insert(self, offset: int, column: ColumnInfo, fill: Fill) -> None:
        """Insert a new column at an offset."""
        column = self.with_new_id(column)
        columns = [*self.info.columns[:offset], column, *self.info.columns[offset:]]
        self.fills.insert(offset, fill)
        self._set_columns(columns)

    def with_new_id(self, column: ColumnInfo) -> ColumnInfo:
        """Give a column the table's next column id."""
        column_id = self.info.last_column_id + 1
        self.info = replace(self.info, last_column_id=column_id)
        return replace(column, id=column_id)

    def remove(self, offset: int) -> None:
        """Remove a column that no index uses."""
        columns = [column for other, column in enumerate(self.info.columns) if other != offset]
        del self.fills[offset]
        self._set_columns(columns)

    def change(self, offset: int, column: ColumnInfo, fill: Fill | None = None) -> None:
        """Give a column another definition, under the same or another name.

        A key of a prefix of it becomes one of its whole values if they are no longer texts or not longer.
        """
        old = self.info.columns[offset]
        columns = list(self.info.columns)
        columns[offset] = column
        self._set_columns(columns, {old.name.lower(): column.name.lower()})
        self.info = replace(self.info, indexes=tuple(map(self._fitting, self.info.indexes)))
        if self.has_ttl(old.name):
            self.ttl = column.name
        if column.name != old.name:
            self._rename_in_foreign_keys({old.name.lower(): column.name})
        if fill is not None:
            self.fills[offset] = fill

    def _fitting(self, index: IndexInfo) -> IndexInfo:
        columns = (self.info.columns[offset] for offset in index.offsets)
        return replace(index, lengths=tuple(map(fitting_length, columns, index.lengths)))

    def _rename_in_foreign_keys(self, renamed: Mapping[str, str]) -> None:
        self.foreign_keys = [
            replace(key, columns=renamed_columns(key.columns, renamed)) for key in self.foreign_keys
        ]
        self.renamed.append(renamed)

    def move(self, offset: int, target: int) -> None:
        """Move a column.

        :param target: its new offset in the list without it.
        """
        columns, fill = list(self.info.columns), self.fills.pop(offset)
        columns.insert(target, columns.pop(offset))
        self.fills.insert(target, fill)
        self._set_columns(columns)

    def drop_index(self, index: IndexInfo) -> None:
        """Remove an index and its hidden columns."""
        self.info = replace(self.info, indexes=tuple(i for i in self.info.indexes if i is not index))
        hidden = [offset for offset in index.offsets if self.info.columns[offset].hidden]
        for offset in sorted(hidden, reverse=True):
            self.remove(offset)

    def error(self, what: str, column: str = "", hint: str = "") -> ScenarioError:
        return ScenarioError(what, line=self.line, column=column, hint=hint)

    def finish(self) -> TableInfo:
        """Replace the table by the changed one, and convert its rows.

        :return: the table's new version.
        :raises ScenarioError: if a row does not fit the new definition; the table is then unchanged.
        """
        self._check_uses()
        check_names(self.info.columns, self.line)
        check_auto_increment(self.info, self.line)
        check_count(self.info, self.line)
        check_generated(self.info, self.context.mode, self.line)
        target = Table(
            self.info,
            self.table.ids,
            self.table.partitioning,
            self.next_index_id,
            foreign_keys=self.foreign_keys,
            source=self.table.source,
            temporary=self.table.temporary,
            ttl=self.ttl,
            cached=self.cached,
        )
        if target.temporary:
            check_table(target)
        if all(column.hidden for column in self.info.columns):
            raise self.error("You can't delete all columns with ALTER TABLE; use DROP TABLE instead")
        check_soft_delete(self.info, has_foreign_keys=bool(self.foreign_keys), line=self.line)
        check_columns_exist(self.info, self.foreign_keys)
        new_ids = self._new_ids()
        for row in self.table.scan():
            _store(target, self._converted(target, row, new_ids))
        self._check_needed_indexes()
        check_new(self.context, target, self._new_foreign_keys())
        target.info = self.context.cluster.new_version(self.info)
        target.ids.follow_auto_random(target.info)
        self.context.cluster.add(target)
        for renamed in self.renamed:
            update_parent_columns(self.context.cluster, target.info, renamed)
        for change in self.afterwards:
            change()
        return target.info

    def _check_needed_indexes(self) -> None:
        """Check that the statement drops no index that a new foreign key of it needs.

        Source: tidb ``checkOperateDropIndexUseByForeignKey``.

        :raises ScenarioError: if it drops the only one.
        """
        remaining = {index.name for index in self.info.indexes}
        for key in self._new_foreign_keys():
            serving = [index.name for index in serving_indexes(self.table.info, key.columns)]
            if serving and remaining.isdisjoint(serving):
                raise self.error(f"Cannot drop index {serving[0]!r}: needed in a foreign key constraint")

    def _new_foreign_keys(self) -> list[ForeignKeyInfo]:
        old = {key.name for key in self.table.foreign_keys}
        return [key for key in self.foreign_keys if key.name not in old]

    def _new_ids(self) -> dict[bytes, bytes]:
        """Return the new id of each column whose values TiDB rewrites, by its old one."""
        ids, new = (
            {column.name.lower(): b"%d" % column.id for column in info.columns}
            for info in (self.table.info, self.info)
        )
        return {ids[name]: new[name] for name in ids.keys() & new.keys() if ids[name] != new[name]}

    def _converted(self, target: Table, row: Row, new_ids: Mapping[bytes, bytes]) -> Row:
        scope = Scope(self.context.mode, self.info, [fill(row.values) for fill in self.fills])
        fill_generated(scope)
        for column, value in zip(self.info.columns, scope.row, strict=True):
            if value is None and not column.nullable:
                raise null_error(column)
        stored = row.stored
        if new_ids:
            ids = (new_ids.get(number, number) for number in stored.split(b","))
            stored = b",".join(sorted(ids, key=int))
        return target.make_row(scope.row, row.row_id, stored)

    def _set_columns(self, columns: list[ColumnInfo], renamed: Mapping[str, str] | None = None) -> None:
        """Replace the column list, and update the column offsets of indexes by name."""
        old = [column.name.lower() for column in self.info.columns]
        new = {column.name.lower(): offset for offset, column in enumerate(columns)}
        renamed = renamed or {}
        indexes = tuple(
            replace(index, offsets=tuple(new[renamed.get(old[o], old[o])] for o in index.offsets))
            for index in self.info.indexes
        )
        self.info = replace(self.info, columns=tuple(columns), indexes=indexes)


def _store(table: Table, row: Row) -> None:
    conflict = table.conflict(row.values)
    if conflict is not None:
        raise table.duplicate_error(conflict[0], row.values)
    table.put(row)


def _has_column(table: TableInfo, name: str) -> bool:
    return any(column.name.lower() == name.lower() and not column.hidden for column in table.columns)
