"""The parts of ALTER TABLE that change columns and keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.collation import DEFAULT_COLLATIONS
from ticdc_producer.replica.table_changes import ColumnChanges
from ticdc_producer.replica.versions import LENIENT, ColumnMapping, Definition
from ticdc_producer.scenario.sql.definition.column_default import with_default
from ticdc_producer.scenario.sql.definition.column_definition import draft_column, make_column
from ticdc_producer.scenario.sql.definition.key_definition import KeyDraft, add_keys, draft_key, never_null
from ticdc_producer.scenario.sql.syntax.alter import (
    AddColumn,
    AddKey,
    AlterColumn,
    AlterPart,
    ChangeColumn,
    ConvertTo,
    Drop,
    Rename,
)
from ticdc_producer.scenario.sql.syntax.column import Column
from ticdc_producer.scenario.sql.syntax.default import Default
from ticdc_producer.scenario.sql.syntax.key import Key


@dataclass
class AlteredDefinition:
    """A table that the parts of a statement change, one after the other.

    :param definition: before the statement.
    :ivar mappings: by name in lower case, the columns of row images.
    :ivar uncomparable_reasons: why values are unknown.
    """

    definition: Definition
    changes: ColumnChanges
    info: TableInfo = field(init=False)
    mappings: dict[str, ColumnMapping] = field(init=False)
    uncomparable_reasons: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.info = self.definition.info
        visible = self.changes.fidelity.visible_name
        self.next_index_id = self.definition.next_index_id
        self.mappings = {
            column.name.lower(): ColumnMapping(name=visible(column.name), source=visible(column.name))
            for column in self.info.sent_columns
        }

    @property
    def result(self) -> Definition:
        """The table after the statement."""
        return replace(self.definition, info=self.info, next_index_id=self.next_index_id)

    @property
    def moves_values(self) -> bool:
        """True if rows look different after the statement."""
        same_columns = len(self.mappings) == len(self.definition.info.sent_columns)
        return (
            bool(self.uncomparable_reasons)
            or not same_columns
            or not all(c.is_unchanged for c in self.mappings.values())
        )

    def apply(self, parts: Iterable[AlterPart]) -> None:
        """Apply the parts of an ALTER TABLE; options of the table leave rows as they are.

        :raises ScenarioError: for a part that does not fit the table.
        """
        for part in parts:
            self._apply(part)

    def add_key(self, key: KeyDraft) -> None:
        """Add an index."""
        if any(index.name.lower() == key.name.lower() for index in self.info.indexes if key.name):
            return  # IF NOT EXISTS
        info = self.info
        if key.kind == "primary":
            info = replace(info, columns=tuple(never_null(info.columns, key)))
        self.info, self.next_index_id = add_keys(info, [key], self.next_index_id, clustered=False)

    def drop_index(self, name: str) -> None:
        """Drop an index, if there is one of that name."""
        indexes = (index for index in self.info.indexes if index.name.lower() != name.lower())
        self.info = replace(self.info, indexes=tuple(indexes))

    def _apply(self, part: AlterPart) -> None:
        match part:
            case AddColumn(elements=elements, if_not_exists=lenient):
                for element in elements:
                    if isinstance(element, Column):
                        self._add_column(element, lenient)
            case AddKey(key=Key(kind="PRIMARY KEY" | "UNIQUE" | "INDEX") as key):
                self.add_key(draft_key(key))
            case ChangeColumn():
                self._change_column(part)
            case AlterColumn(name=name, default=default):
                self._alter_default(name[-1], default)
            case Drop():
                self._drop(part)
            case Rename(kind="COLUMN", old=old, new=new):
                before = self.info.columns[self._offset(old)]
                self._replace(old, replace(before, name=new), before)
            case ConvertTo(charset=charset, collation=collation):
                self._convert_charset(charset, collation)

    def _add_column(self, definition: Column, lenient: bool) -> None:
        column = self._column(definition)
        if lenient and self._find(column.name) is not None:
            return
        self.info = replace(self.info, columns=(*self.info.columns, column))
        if column.is_virtual:
            return
        mapping, uncomparable_reason = self.changes.added(column)
        self._set(column.name, mapping, uncomparable_reason)

    def _column(self, definition: Column) -> ColumnInfo:
        return make_column(draft_column(definition), self.info.charset, self.info.collation, LENIENT)

    def _drop(self, part: Drop) -> None:
        match part.kind:
            case "PRIMARY KEY":
                self.drop_index("PRIMARY")
            case "INDEX":
                self.drop_index(part.name[-1])
            case "COLUMN":
                self._drop_column(part.name[-1], part.if_exists)

    def _drop_column(self, name: str, lenient: bool) -> None:
        if lenient and self._find(name) is None:
            return
        offset = self._offset(name)
        columns = (column for other, column in enumerate(self.info.columns) if other != offset)
        indexes = tuple(_without(index, offset) for index in self.info.indexes)
        remaining = tuple(index for index in indexes if index.offsets)
        self.info = replace(self.info, columns=tuple(columns), indexes=remaining)
        self.mappings.pop(name.lower(), None)

    def _change_column(self, part: ChangeColumn) -> None:
        column = self._column(part.column)
        name = part.old[-1] if part.old else column.name
        if not (part.if_exists and self._find(name) is None):
            before = self.info.columns[self._offset(name)]
            in_key = any(index.primary and self._offset(name) in index.offsets for index in self.info.indexes)
            self._replace(name, replace(column, nullable=False) if in_key else column, before)

    def _alter_default(self, name: str, default: Default | None) -> None:
        before = self.info.columns[self._offset(name)]
        after = replace(before, default=None, has_default=False, default_expression="")
        self._replace(name, with_default(after, default, LENIENT, 0), before)

    def _replace(self, name: str, after: ColumnInfo, before: ColumnInfo) -> None:
        columns = list(self.info.columns)
        columns[self._offset(name)] = after
        self.info = replace(self.info, columns=tuple(columns))
        if before.is_virtual:
            return
        self.mappings.pop(name.lower(), None)
        mapping, uncomparable_reason = self.changes.changed(before, after)
        self._set(after.name, mapping, uncomparable_reason)

    def _convert_charset(self, charset: str, collation: str) -> None:
        collation = collation or DEFAULT_COLLATIONS.get(charset, self.info.collation)
        columns = tuple(
            column if column.charset == "binary" else replace(column, charset=charset, collation=collation)
            for column in self.info.columns
        )
        self.info = replace(self.info, columns=columns, charset=charset, collation=collation)

    def _set(self, name: str, mapping: ColumnMapping, uncomparable_reason: str) -> None:
        self.mappings[name.lower()] = mapping
        self.uncomparable_reasons += [uncomparable_reason] if uncomparable_reason else []

    def _find(self, name: str) -> int | None:
        names = [column.name.lower() for column in self.info.columns]
        return names.index(name.lower()) if name.lower() in names else None

    def _offset(self, name: str) -> int:
        offset = self._find(name)
        if offset is None:
            raise UnknownColumn(name)
        return offset


class UnknownColumn(LookupError):
    """A DDL names a column that its table does not have."""


def _without(index: IndexInfo, gone: int) -> IndexInfo:
    """Return an index without a column; the offsets of later columns are one less."""
    offsets = tuple(offset - (offset > gone) for offset in index.offsets if offset != gone)
    return replace(index, offsets=offsets)
