"""The parts of ALTER TABLE that change columns and keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ticdc_producer.model.collation import DEFAULT_COLLATIONS
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.table import TableInfo
from ticdc_producer.replica.column_changes import ColumnChanges
from ticdc_producer.replica.versions import LENIENT, Cell, Definition
from ticdc_producer.scenario.sql.column_default import read_default, with_default
from ticdc_producer.scenario.sql.column_definition import make_column, read_column
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.key_definition import (
    KeyDraft,
    add_keys,
    never_null,
    read_key,
    read_key_parts,
)

_KEY_WORDS = ("PRIMARY", "UNIQUE", "INDEX", "KEY", "CONSTRAINT", "FOREIGN", "CHECK", "FULLTEXT", "SPATIAL")


@dataclass
class Alteration:
    """A table that the parts of a statement change, one after the other.

    :param definition: before the statement.
    :ivar cells: by name in lower case, the columns of row images.
    :ivar doubts: why values are unknown.
    """

    definition: Definition
    changes: ColumnChanges
    info: TableInfo = field(init=False)
    cells: dict[str, Cell] = field(init=False)
    doubts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.info = self.definition.info
        visible = self.changes.fidelity.visible_name
        self.next_index_id = self.definition.next_index_id
        self.cells = {
            column.name.lower(): Cell(name=visible(column.name), source=visible(column.name))
            for column in self.info.sent_columns
        }

    @property
    def result(self) -> Definition:
        """The table after the statement."""
        return replace(self.definition, info=self.info, next_index_id=self.next_index_id)

    @property
    def moves_values(self) -> bool:
        """Whether rows look different after the statement."""
        same_columns = len(self.cells) == len(self.definition.info.sent_columns)
        return bool(self.doubts) or not same_columns or not all(c.is_unchanged for c in self.cells.values())

    def read(self, cursor: Cursor) -> None:
        """Apply all parts of ``ALTER TABLE name``, from the current word to the end.

        :raises ScenarioError: for a part that cannot be read, or that does not fit the table.
        """
        while not cursor.at_end:
            self._part(cursor)
            if not cursor.accept(","):
                cursor.end()

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

    def _part(self, cursor: Cursor) -> None:
        for words, change in _PARTS:
            if cursor.accept(*words):
                change(self, cursor)
                return
        if cursor.word() == "ADD" and cursor.word(1) in _KEY_WORDS:
            cursor.accept("ADD")
            self._add_constraint(cursor)
        elif cursor.accept("ADD"):
            cursor.accept("COLUMN")
            self._add_columns(cursor)
        else:
            cursor.expression_source()  # an option of the table: rows stay as they are

    def _add_constraint(self, cursor: Cursor) -> None:
        name = ""
        if cursor.accept("CONSTRAINT") and cursor.word() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
            name = cursor.identifier()
        if cursor.word() in ("FOREIGN", "CHECK", "FULLTEXT", "SPATIAL"):
            cursor.expression_source()
            return
        if cursor.accept("INDEX", "IF", "NOT", "EXISTS") or cursor.accept("KEY", "IF", "NOT", "EXISTS"):
            self.add_key(read_key_parts(cursor, "index", cursor.identifier("an index name"), cursor.line))
            return
        key = read_key(cursor, name)
        if key is not None:
            self.add_key(key)

    def _add_columns(self, cursor: Cursor) -> None:
        lenient = cursor.accept("IF", "NOT", "EXISTS")
        in_brackets = cursor.accept("(")
        self._add_column(cursor, lenient)
        while in_brackets and cursor.accept(","):
            self._add_column(cursor, lenient)
        if in_brackets:
            cursor.expect(")")

    def _add_column(self, cursor: Cursor, lenient: bool) -> None:
        column = self._column(cursor)
        if lenient and self._find(column.name) is not None:
            return
        self.info = replace(self.info, columns=(*self.info.columns, column))
        if column.is_virtual:
            return
        cell, doubt = self.changes.added(column)
        self._set(column.name, cell, doubt)

    def _column(self, cursor: Cursor) -> ColumnInfo:
        draft = read_column(cursor)
        if cursor.accept("AFTER"):
            cursor.identifier("a column name")
        cursor.accept("FIRST")
        return make_column(draft, self.info.charset, self.info.collation, LENIENT)

    def _drop_column(self, cursor: Cursor) -> None:
        lenient = cursor.accept("IF", "EXISTS")
        name = cursor.identifier("a column name")
        cursor.accept_any("RESTRICT", "CASCADE")
        if lenient and self._find(name) is None:
            return
        offset = self._offset(name)
        columns = (column for other, column in enumerate(self.info.columns) if other != offset)
        indexes = tuple(_without(index, offset) for index in self.info.indexes)
        left = tuple(index for index in indexes if index.offsets)
        self.info = replace(self.info, columns=tuple(columns), indexes=left)
        self.cells.pop(name.lower(), None)

    def _modify(self, cursor: Cursor) -> None:
        lenient = cursor.accept("IF", "EXISTS")
        name = cursor.identifier("a column name")
        cursor.position -= 1
        self._change_column(cursor, name, lenient)

    def _change(self, cursor: Cursor) -> None:
        lenient = cursor.accept("IF", "EXISTS")
        self._change_column(cursor, cursor.identifier("a column name"), lenient)

    def _change_column(self, cursor: Cursor, name: str, lenient: bool) -> None:
        column = self._column(cursor)
        if not (lenient and self._find(name) is None):
            before = self.info.columns[self._offset(name)]
            in_key = any(index.primary and self._offset(name) in index.offsets for index in self.info.indexes)
            self._replace(name, replace(column, nullable=False) if in_key else column, before)

    def _rename_column(self, cursor: Cursor) -> None:
        name = cursor.identifier("a column name")
        cursor.expect("TO")
        before = self.info.columns[self._offset(name)]
        self._replace(name, replace(before, name=cursor.identifier("a column name")), before)

    def _alter_default(self, cursor: Cursor) -> None:
        name = cursor.identifier("a column name")
        before = self.info.columns[self._offset(name)]
        after = replace(before, default=None, has_default=False, default_expression="")
        if not cursor.accept("DROP", "DEFAULT"):
            cursor.expect("SET", "DEFAULT")
            text, now = read_default(cursor)
            after = with_default(after, text, now, LENIENT, cursor.line)
        self._replace(name, after, before)

    def _replace(self, name: str, after: ColumnInfo, before: ColumnInfo) -> None:
        columns = list(self.info.columns)
        columns[self._offset(name)] = after
        self.info = replace(self.info, columns=tuple(columns))
        if before.is_virtual:
            return
        self.cells.pop(name.lower(), None)
        cell, doubt = self.changes.changed(before, after)
        self._set(after.name, cell, doubt)

    def _convert_charset(self, cursor: Cursor) -> None:
        charset = cursor.identifier("a charset").lower()
        collation = cursor.identifier("a collation").lower() if cursor.accept("COLLATE") else ""
        collation = collation or DEFAULT_COLLATIONS.get(charset, self.info.collation)
        columns = tuple(
            column if column.charset == "binary" else replace(column, charset=charset, collation=collation)
            for column in self.info.columns
        )
        self.info = replace(self.info, columns=columns, charset=charset, collation=collation)

    def _drop_key(self, cursor: Cursor) -> None:
        cursor.accept("IF", "EXISTS")
        self.drop_index(cursor.identifier("an index name"))

    def _set(self, name: str, cell: Cell, doubt: str) -> None:
        self.cells[name.lower()] = cell
        self.doubts += [doubt] if doubt else []

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
    """An index without a column, the offsets of later columns being one less."""
    offsets = tuple(offset - (offset > gone) for offset in index.offsets if offset != gone)
    return replace(index, offsets=offsets)


def _skip(_: Alteration, cursor: Cursor) -> None:
    cursor.expression_source()


def _drop_primary_key(alteration: Alteration, _: Cursor) -> None:
    alteration.drop_index("PRIMARY")


_PARTS: tuple[tuple[tuple[str, ...], Callable[[Alteration, Cursor], None]], ...] = (
    (("DROP", "PRIMARY", "KEY"), _drop_primary_key),
    (("DROP", "FOREIGN", "KEY"), _skip),
    (("DROP", "INDEX"), Alteration._drop_key),
    (("DROP", "KEY"), Alteration._drop_key),
    (("DROP", "COLUMN"), Alteration._drop_column),
    (("DROP",), Alteration._drop_column),
    (("MODIFY", "COLUMN"), Alteration._modify),
    (("MODIFY",), Alteration._modify),
    (("CHANGE", "COLUMN"), Alteration._change),
    (("CHANGE",), Alteration._change),
    (("RENAME", "COLUMN"), Alteration._rename_column),
    (("RENAME", "INDEX"), _skip),
    (("RENAME", "KEY"), _skip),
    (("ALTER", "INDEX"), _skip),
    (("ALTER", "COLUMN"), Alteration._alter_default),
    (("ALTER",), Alteration._alter_default),
    (("CONVERT", "TO", "CHARACTER", "SET"), Alteration._convert_charset),
    (("CONVERT", "TO", "CHARSET"), Alteration._convert_charset),
)
