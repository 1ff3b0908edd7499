"""Keys and other constraints of a table.

Rules: tidb ``parser.y`` (``ConstraintElem``, ``IndexOption``, ``ReferDef``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ticdc_producer.scenario.sql.syntax.names import (
    ColumnName,
    TableName,
    accept_if_not_exists,
    read_bracketed_list,
    read_column_name,
    read_table_name,
)
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText

KeyKind: TypeAlias = Literal["PRIMARY KEY", "UNIQUE", "INDEX", "FULLTEXT", "SPATIAL", "VECTOR", "COLUMNAR"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPart:
    """One part of a key: a column or an expression.

    :param name: name of the column; empty for an expression.
    :param length: prefix length, -1 for the whole column.
    """

    name: ColumnName = ()
    length: int = -1
    expression: SourceText | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOption:
    """One option of an index.

    :param kind: its first word; CLUSTERED, VISIBLE and GLOBAL also stand for their opposites.
    :param value: as it is written: a word, a number or the text of a string; empty for WHERE.
    """

    kind: str
    value: str = ""
    condition: SourceText | None = None
    source: SourceText = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key.

    :param symbol: from ``CONSTRAINT symbol``; it overrides ``name``.
    """

    kind: KeyKind
    symbol: str = ""
    name: str = ""
    if_not_exists: bool = False
    parts: tuple[KeyPart, ...]
    options: tuple[IndexOption, ...] = ()
    source: SourceText = field(compare=False, repr=False)

    def option(self, kind: str) -> str:
        """Return the value of an option; empty if the key does not have it."""
        return next((option.value for option in reversed(self.options) if option.kind == kind), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """``REFERENCES table (columns)``.

    :param rules: actions by event, DELETE and UPDATE.
    """

    table: TableName
    columns: tuple[KeyPart, ...] = ()
    match: str = ""
    rules: tuple[tuple[str, str], ...] = ()
    source: SourceText = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """A foreign key.

    :param symbol: from ``CONSTRAINT symbol``; it overrides ``name``.
    """

    symbol: str = ""
    name: str = ""
    if_not_exists: bool = False
    columns: tuple[KeyPart, ...]
    references: References
    source: SourceText = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A CHECK."""

    symbol: str = ""
    condition: SourceText
    enforced: bool = True


Constraint: TypeAlias = Key | ForeignKey | Check

_STARTS = frozenset(
    {"CONSTRAINT", "PRIMARY", "UNIQUE", "KEY", "INDEX", "FOREIGN", "CHECK", "FULLTEXT", "SPATIAL"}
)
_NAMED_BY_SYMBOL = ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK")
_TYPES = ("BTREE", "HASH", "RTREE", "HYPO", "HNSW", "INVERTED")


def starts_key(cursor: Cursor) -> bool:
    """Return whether a key or another constraint comes next, and not a column."""
    if cursor.word() in ("VECTOR", "COLUMNAR"):
        return cursor.word(1) in ("KEY", "INDEX")
    return cursor.word() in _STARTS


def read_key(cursor: Cursor) -> Constraint:
    """Read ``[CONSTRAINT [symbol]] …``."""
    symbol = read_symbol(cursor)
    start = cursor.position
    if cursor.word() == "CHECK":
        return read_check(cursor, symbol)
    if cursor.accept("FOREIGN", "KEY"):
        return _foreign_key(cursor, symbol, start)
    if symbol and cursor.word() not in _NAMED_BY_SYMBOL:
        raise cursor.error("expected PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK")
    if cursor.accept("PRIMARY", "KEY"):
        return _index(cursor, "PRIMARY KEY", symbol, start)
    kinds: tuple[KeyKind, ...] = ("UNIQUE", "FULLTEXT", "SPATIAL")
    for kind in kinds:
        if cursor.accept(kind):
            cursor.accept_any("KEY", "INDEX")
            return _index(cursor, kind, symbol, start)
    kind = "VECTOR" if cursor.accept("VECTOR") else "COLUMNAR" if cursor.accept("COLUMNAR") else "INDEX"
    if not cursor.accept_any("KEY", "INDEX"):
        raise cursor.error("expected a key")
    return _index(cursor, kind, symbol, start)


def read_symbol(cursor: Cursor) -> str:
    """Read ``CONSTRAINT [symbol]``; empty without a symbol."""
    named = cursor.accept("CONSTRAINT") and cursor.word() not in _NAMED_BY_SYMBOL
    return cursor.identifier("a constraint name") if named else ""


def _index(cursor: Cursor, kind: KeyKind, symbol: str, start: int) -> Key:
    if_not_exists = kind in ("INDEX", "VECTOR", "COLUMNAR") and accept_if_not_exists(cursor)
    name = "" if cursor.word() in ("(", "USING", "TYPE") else cursor.identifier("an index name")
    return read_rest_of_key(cursor, kind, name, start, symbol=symbol, if_not_exists=if_not_exists)


def read_rest_of_key(
    cursor: Cursor,
    kind: KeyKind,
    name: str,
    start: int,
    *,
    symbol: str = "",
    if_not_exists: bool = False,
    before: tuple[IndexOption, ...] = (),
) -> Key:
    """Read the parts and options of a key, after its name.

    :param start: index of the key's first word.
    :param before: options that precede this text.
    """
    options = (*before, *read_index_type(cursor))
    parts = read_key_parts(cursor)
    options += _options(cursor)
    return Key(
        kind=kind,
        symbol=symbol,
        name=name,
        if_not_exists=if_not_exists,
        parts=parts,
        options=options,
        source=cursor.since(start),
    )


def read_key_parts(cursor: Cursor) -> tuple[KeyPart, ...]:
    """Read the columns and expressions of a key, in brackets."""
    return read_bracketed_list(cursor, _part)


def _part(cursor: Cursor) -> KeyPart:
    if cursor.accept("("):
        expression = cursor.expression()
        cursor.expect(")")
        return KeyPart(expression=expression, descending=cursor.accept_any("ASC", "DESC") == "DESC")
    name, length = read_column_name(cursor), -1
    if cursor.accept("("):
        length = cursor.integer()
        cursor.expect(")")
    return KeyPart(name=name, length=length, descending=cursor.accept_any("ASC", "DESC") == "DESC")


def read_index_type(cursor: Cursor) -> tuple[IndexOption, ...]:
    """Read ``USING …`` or its older spelling ``TYPE …``; empty without."""
    start = cursor.position
    if not cursor.accept_any("USING", "TYPE"):
        return ()
    kind = cursor.accept_any(*_TYPES)
    if not kind:
        raise cursor.error("expected an index type")
    return (IndexOption(kind="USING", value=kind, source=cursor.since(start)),)


def _options(cursor: Cursor) -> tuple[IndexOption, ...]:
    options: tuple[IndexOption, ...] = ()
    while option := read_index_type(cursor) or _option(cursor):
        options += option
    return options


def _option(cursor: Cursor) -> tuple[IndexOption, ...]:
    start, condition = cursor.position, None
    if kind := cursor.accept_any("KEY_BLOCK_SIZE", "PRE_SPLIT_REGIONS"):
        cursor.accept("=")
        if cursor.word() == "(":
            raise cursor.unsupported("PRE_SPLIT_REGIONS with bounds")
        value = str(cursor.integer())
    elif cursor.accept("WITH", "PARSER"):
        kind, value = "PARSER", cursor.identifier("a parser")
    elif kind := cursor.accept_any("COMMENT", "SECONDARY_ENGINE_ATTRIBUTE"):
        cursor.accept("=")
        value = cursor.string()
    elif value := cursor.accept_any("VISIBLE", "INVISIBLE"):
        kind = "VISIBLE"
    elif value := cursor.accept_any("CLUSTERED", "NONCLUSTERED"):
        kind = "CLUSTERED"
    elif value := cursor.accept_any("GLOBAL", "LOCAL"):
        kind = "GLOBAL"
    elif cursor.accept("WHERE"):
        kind, condition = "WHERE", cursor.expression()
    else:
        return ()
    return (IndexOption(kind=kind, value=value, condition=condition, source=cursor.since(start)),)


def _foreign_key(cursor: Cursor, symbol: str, start: int) -> ForeignKey:
    if_not_exists = accept_if_not_exists(cursor)
    name = "" if cursor.word() == "(" else cursor.identifier("a foreign key name")
    return ForeignKey(
        symbol=symbol,
        name=name,
        if_not_exists=if_not_exists,
        columns=read_key_parts(cursor),
        references=read_references(cursor),
        source=cursor.since(start),
    )


def read_references(cursor: Cursor) -> References:
    """Read ``REFERENCES …`` of a foreign key or a column."""
    start = cursor.position
    cursor.expect("REFERENCES")
    table = read_table_name(cursor)
    columns = read_key_parts(cursor) if cursor.word() == "(" else ()
    match = cursor.identifier("FULL, PARTIAL or SIMPLE").upper() if cursor.accept("MATCH") else ""
    rules = {}
    while cursor.word() == "ON" and cursor.word(1) in ("DELETE", "UPDATE"):
        cursor.expect("ON")
        event = cursor.accept_any("DELETE", "UPDATE")
        rules[event] = _action(cursor)
    source = cursor.since(start)
    return References(
        table=table, columns=columns, match=match, rules=tuple(sorted(rules.items())), source=source
    )


def _action(cursor: Cursor) -> str:
    for words in (("RESTRICT",), ("CASCADE",), ("SET", "NULL"), ("NO", "ACTION"), ("SET", "DEFAULT")):
        if cursor.accept(*words):
            return " ".join(words)
    raise cursor.error("expected RESTRICT, CASCADE, SET NULL or NO ACTION")


def read_check(cursor: Cursor, symbol: str) -> Check:
    """Read ``CHECK (…) [[NOT] ENFORCED]``, after its symbol."""
    cursor.expect("CHECK", "(")
    condition = cursor.expression()
    cursor.expect(")")
    enforced = not cursor.accept("NOT", "ENFORCED")
    cursor.accept("ENFORCED")
    return Check(symbol=symbol, condition=condition, enforced=enforced)
