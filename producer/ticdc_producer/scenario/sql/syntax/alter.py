"""The parts of ALTER TABLE.

Rules: tidb ``parser.y`` (``AlterTableSpec``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from ticdc_producer.scenario.sql.syntax.column import (
    Column,
    Position,
    read_column,
    read_position,
)
from ticdc_producer.scenario.sql.syntax.default import Default, read_new_default
from ticdc_producer.scenario.sql.syntax.key import Constraint, read_key, starts_key
from ticdc_producer.scenario.sql.syntax.names import (
    ColumnName,
    TableName,
    accept_charset_words,
    accept_if_exists,
    accept_if_not_exists,
    read_bracketed_list,
    read_charset,
    read_choice,
    read_collation,
    read_column_name,
    read_list,
    read_table_name,
)
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy, read_partition_by
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions, read_partition_change
from ticdc_producer.scenario.sql.syntax.table_option import TableOption, read_table_options
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText

Element: TypeAlias = Column | Constraint


@dataclass(frozen=True, slots=True, kw_only=True)
class AddColumn:
    """``ADD [COLUMN]``: one column and its position, or columns and keys in brackets."""

    elements: tuple[Element, ...]
    in_brackets: bool = False
    position: Position | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class AddKey:
    """``ADD`` of a key or another constraint."""

    key: Constraint


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeColumn:
    """``CHANGE [COLUMN]``, and ``MODIFY [COLUMN]``, which does not rename.

    :param old: empty for MODIFY.
    """

    old: ColumnName = ()
    column: Column
    position: Position | None = None
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterColumn:
    """``ALTER [COLUMN] … {SET DEFAULT … | DROP DEFAULT}``.

    :param default: None for DROP DEFAULT.
    """

    name: ColumnName
    default: Default | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """``DROP`` of a part.

    :param kind: COLUMN, INDEX, PRIMARY KEY, FOREIGN KEY, CHECK or STATS_EXTENDED.
    """

    kind: str
    name: ColumnName = ()
    if_exists: bool = False
    source: SourceText = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rename:
    """``RENAME {COLUMN | INDEX} old TO new``."""

    kind: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class RenameTo:
    """``RENAME [TO] table``."""

    table: TableName


@dataclass(frozen=True, slots=True)
class SetOptions:
    """One or more table options without commas."""

    options: tuple[TableOption, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertTo:
    """``CONVERT TO CHARACTER SET``."""

    charset: str
    collation: str = ""
    source: SourceText = field(compare=False, repr=False)

    @property
    def options(self) -> tuple[TableOption, ...]:
        """The charset and the collation as options of a table."""
        charset = TableOption(kind="CHARSET", value=self.charset, source=self.source)
        collation = TableOption(kind="COLLATE", value=self.collation, source=self.source)
        return (charset, collation) if self.collation else (charset,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A part of a few words.

    :param kind: its first words: ``ALGORITHM``, ``ALTER INDEX``, ``ORDER BY`` …
    :param name: the index or constraint that it is about.
    :param values: words, numbers and texts of strings.
    """

    kind: str
    name: str = ""
    values: tuple[str, ...] = ()
    source: SourceText = field(compare=False, repr=False)


AlterPart: TypeAlias = (
    AddColumn | AddKey | ChangeColumn | AlterColumn | Drop | Rename | RenameTo | SetOptions | ConvertTo
    | Setting | ChangePartitions | PartitionBy
)  # fmt: skip

_COMMA_OPTIONAL = ("PARTITION", "REMOVE", "REORGANIZE", "SPLIT", "MERGE")


def read_parts(cursor: Cursor) -> tuple[AlterPart, ...]:
    """Read all parts, up to the end of the statement; TiDB also accepts a statement without parts."""
    parts = [] if cursor.at_end else [_part(cursor)]
    while not cursor.at_end:
        if not cursor.accept(",") and cursor.word() not in _COMMA_OPTIONAL:
            raise cursor.error("expected a comma")
        parts.append(_part(cursor))
    return tuple(parts)


def _part(cursor: Cursor) -> AlterPart:
    if cursor.word() == "PARTITION" and cursor.word(1) == "BY":
        return read_partition_by(cursor)
    if (change := read_partition_change(cursor)) is not None:
        return change
    start = cursor.position
    for words, read in PARTS.items():
        if cursor.accept(*words):
            return read(cursor, " ".join(words), start)
    if cursor.word() == "PARTITION" and cursor.word(2) == "ATTRIBUTES":
        cursor.position += 2
        return _attributes(cursor, "ATTRIBUTES", start)
    options = read_table_options(cursor, commas=False)
    if options:
        return SetOptions(options)
    if cursor.accept("FORCE"):
        return Setting(kind="FORCE", source=cursor.since(start))
    words_found = f"{cursor.word()} {cursor.word(1)}".strip()
    raise cursor.unsupported(f"ALTER TABLE … {words_found or 'this'}")


def _add(cursor: Cursor, _: str, start: int) -> AlterPart:
    if starts_key(cursor):
        return AddKey(read_key(cursor))
    if cursor.accept("STATS_EXTENDED"):
        name, kind = cursor.identifier(), cursor.identifier().upper()
        columns = read_bracketed_list(cursor, _printed_name)
        source = cursor.since(start)
        return Setting(kind="ADD STATS_EXTENDED", name=name, values=(kind, *columns), source=source)
    cursor.accept("COLUMN")
    if_not_exists = accept_if_not_exists(cursor)
    if cursor.word() == "(":
        elements = read_bracketed_list(cursor, read_element)
        return AddColumn(elements=elements, in_brackets=True, if_not_exists=if_not_exists)
    column = read_column(cursor)
    return AddColumn(elements=(column,), position=read_position(cursor), if_not_exists=if_not_exists)


def read_element(cursor: Cursor) -> Element:
    """Read a column, key or other constraint in the brackets of CREATE TABLE and ADD COLUMN."""
    return read_key(cursor) if starts_key(cursor) else read_column(cursor)


def _printed_name(cursor: Cursor) -> str:
    return ".".join(f"`{name.replace('`', '``')}`" for name in read_column_name(cursor))


def _drop(cursor: Cursor, _: str, start: int) -> Drop:
    for words in (("PRIMARY", "KEY"), ("FOREIGN", "KEY"), ("CHECK",), ("CONSTRAINT",), ("STATS_EXTENDED",)):
        if cursor.accept(*words):
            key: ColumnName = () if words == ("PRIMARY", "KEY") else (cursor.identifier(),)
            return Drop(kind=" ".join(words), name=key, source=cursor.since(start))
    kind = "INDEX" if cursor.accept_any("INDEX", "KEY") else "COLUMN"
    cursor.accept("COLUMN")
    if_exists = accept_if_exists(cursor)
    name = (cursor.identifier("an index name"),) if kind == "INDEX" else read_column_name(cursor)
    if kind == "COLUMN":
        cursor.accept_any("RESTRICT", "CASCADE")
    return Drop(kind=kind, name=name, if_exists=if_exists, source=cursor.since(start))


def _change_column(cursor: Cursor, word: str, _: int) -> ChangeColumn:
    cursor.accept("COLUMN")
    if_exists = accept_if_exists(cursor)
    old = read_column_name(cursor) if word == "CHANGE" else ()
    column = read_column(cursor)
    return ChangeColumn(old=old, column=column, position=read_position(cursor), if_exists=if_exists)


def _alter(cursor: Cursor, _: str, start: int) -> AlterPart:
    if cursor.accept("INDEX"):
        if cursor.word() == "PRIMARY":
            raise cursor.error("expected an index name")
        name, value = cursor.identifier("an index name"), cursor.accept_any("VISIBLE", "INVISIBLE")
        if not value:
            raise cursor.error("expected VISIBLE or INVISIBLE")
        return Setting(kind="ALTER INDEX", name=name, values=(value,), source=cursor.since(start))
    if word := cursor.accept_any("CHECK", "CONSTRAINT"):
        name, negated = cursor.identifier(), cursor.accept("NOT")
        cursor.expect("ENFORCED")
        values = ("NOT",) if negated else ()
        return Setting(kind=f"ALTER {word}", name=name, values=values, source=cursor.since(start))
    cursor.accept("COLUMN")
    column = read_column_name(cursor)
    if cursor.accept("DROP", "DEFAULT"):
        return AlterColumn(name=column, default=None)
    cursor.expect("SET", "DEFAULT")
    return AlterColumn(name=column, default=read_new_default(cursor))


def _rename(cursor: Cursor, _: str, __: int) -> AlterPart:
    word = cursor.accept_any("COLUMN", "INDEX", "KEY")
    if not word:
        cursor.accept_any("TO", "AS", "=")
        return RenameTo(read_table_name(cursor))
    old = cursor.identifier()
    cursor.expect("TO")
    return Rename("COLUMN" if word == "COLUMN" else "INDEX", old, cursor.identifier())


def _convert(cursor: Cursor, _: str, start: int) -> ConvertTo:
    if not accept_charset_words(cursor):
        raise cursor.error("expected CHARACTER SET")
    charset = cursor.accept_any("DEFAULT") or read_charset(cursor)
    collation = ""
    if cursor.accept("COLLATE"):
        cursor.accept("=")
        collation = read_collation(cursor)
    return ConvertTo(charset=charset, collation=collation, source=cursor.since(start))


def _words(cursor: Cursor, kind: str, start: int) -> Setting:
    return Setting(kind=kind, source=cursor.since(start))


def _choice(cursor: Cursor, kind: str, start: int) -> Setting:
    cursor.accept("=")
    return Setting(kind=kind, values=(read_choice(cursor, kind),), source=cursor.since(start))


def _attributes(cursor: Cursor, kind: str, start: int) -> Setting:
    cursor.expect(kind)
    return _string_or_default(cursor, kind, start)


def _string_or_default(cursor: Cursor, kind: str, start: int) -> Setting:
    cursor.accept("=")
    values = () if cursor.accept("DEFAULT") else (cursor.string(),)
    return Setting(kind=kind, values=values, source=cursor.since(start))


def _order(cursor: Cursor, kind: str, start: int) -> Setting:
    columns = read_list(cursor, _ordered_column)
    return Setting(kind=kind, values=columns, source=cursor.since(start))


def _ordered_column(cursor: Cursor) -> str:
    return _printed_name(cursor) + " DESC" * (cursor.accept_any("ASC", "DESC") == "DESC")


def _replica(cursor: Cursor, kind: str, start: int) -> Setting:
    values: tuple[str, ...] = (str(cursor.integer()),)
    if cursor.accept("LOCATION", "LABELS"):
        values += read_list(cursor, Cursor.string)
    return Setting(kind=kind, values=values, source=cursor.since(start))


PARTS: dict[tuple[str, ...], Callable[[Cursor, str, int], AlterPart]] = {
    ("ADD",): _add,
    ("DROP",): _drop,
    ("MODIFY",): _change_column,
    ("CHANGE",): _change_column,
    ("ALTER",): _alter,
    ("RENAME",): _rename,
    ("CONVERT", "TO"): _convert,
    ("ALGORITHM",): _choice,
    ("LOCK",): _choice,
    ("ORDER", "BY"): _order,
    ("ENABLE", "KEYS"): _words,
    ("DISABLE", "KEYS"): _words,
    ("WITH", "VALIDATION"): _words,
    ("WITHOUT", "VALIDATION"): _words,
    ("REMOVE", "TTL"): _words,
    ("SET", "TIFLASH", "REPLICA"): _replica,
    ("STATS_OPTIONS",): _string_or_default,
    ("ATTRIBUTES",): _string_or_default,
    ("CACHE",): _words,
    ("NOCACHE",): _words,
}
