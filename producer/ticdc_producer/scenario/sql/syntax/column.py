"""Column definitions; attributes are in the user's order.

Rules: tidb ``parser.y`` (``ColumnDef``, ``ColumnOption``, ``DefaultValueExpr``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from ticdc_producer.scenario.sql.syntax.column_type import ColumnType, read_type
from ticdc_producer.scenario.sql.syntax.default import Default, Now, read_default, read_now
from ticdc_producer.scenario.sql.syntax.key import (
    Check,
    References,
    read_check,
    read_references,
    read_symbol,
)
from ticdc_producer.scenario.sql.syntax.names import (
    ColumnName,
    accept_charset_words,
    read_charset,
    read_collation,
    read_column_name,
)
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText
from ticdc_producer.scenario.sql.text.parse import missing_semicolon


@dataclass(frozen=True, slots=True)
class OnUpdate:
    """``ON UPDATE CURRENT_TIMESTAMP``."""

    now: Now


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineKey:
    """``PRIMARY KEY`` or ``UNIQUE`` of a column.

    :param clustered: CLUSTERED or NONCLUSTERED; empty without.
    """

    primary: bool
    clustered: str = ""
    is_global: bool = False
    source: SourceText = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedAs:
    """``[GENERATED ALWAYS] AS (expression)``."""

    expression: SourceText
    stored: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoRandom:
    """``AUTO_RANDOM``, with the numbers in brackets."""

    bits: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnOption:
    """An attribute of one value, or of none.

    :param kind: its words.
    :param value: a name or the text of a string; empty for attributes without value.
    """

    kind: str
    value: str = ""
    source: SourceText = field(compare=False, repr=False)


Attribute: TypeAlias = (
    Default | OnUpdate | InlineKey | GeneratedAs | AutoRandom | ColumnOption | Check | References
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column definition."""

    name: ColumnName
    type: ColumnType
    attributes: tuple[Attribute, ...] = ()
    source: SourceText = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Position:
    """FIRST, or AFTER a column.

    :param after: empty for FIRST.
    """

    after: ColumnName = ()


_AFTER_COLUMN = (",", ")", "FIRST", "AFTER", "REMOVE", "PARTITION", "REORGANIZE")


def read_column(cursor: Cursor) -> Column:
    """Read the column definition that comes next, without FIRST or AFTER."""
    start, name, kind = cursor.position, read_column_name(cursor), read_type(cursor)
    attributes = []
    while not cursor.at_end and cursor.word() not in _AFTER_COLUMN:
        attributes.append(_attribute(cursor))
    return Column(name=name, type=kind, attributes=tuple(attributes), source=cursor.since(start))


def read_position(cursor: Cursor) -> Position | None:
    """Read ``FIRST`` or ``AFTER column``; None without."""
    if cursor.accept("FIRST"):
        return Position()
    return Position(read_column_name(cursor)) if cursor.accept("AFTER") else None


def _attribute(cursor: Cursor) -> Attribute:
    start, word = cursor.position, cursor.word()
    for words in (("NOT", "NULL"), ("NULL",), ("AUTO_INCREMENT",), ("SERIAL", "DEFAULT", "VALUE")):
        if cursor.accept(*words):
            return ColumnOption(kind=" ".join(words), source=cursor.since(start))
    if word in ("PRIMARY", "KEY", "UNIQUE"):
        return _inline_key(cursor)
    if word in ("CHECK", "CONSTRAINT"):
        return read_check(cursor, read_symbol(cursor))
    if word == "REFERENCES":
        return read_references(cursor)
    if accept_charset_words(cursor):
        cursor.accept("=")
        return ColumnOption(kind="CHARSET", value=read_charset(cursor), source=cursor.since(start))
    if word in _VALUES and cursor.accept(word):
        cursor.accept("=")
        return ColumnOption(kind=word, value=_VALUES[word](cursor), source=cursor.since(start))
    if word in _READERS and cursor.accept(word):
        return _READERS[word](cursor)
    if missing_semicolon(word):
        raise cursor.error("unexpected text")
    raise cursor.unsupported(f"the column attribute {word or 'here'}")


def _inline_key(cursor: Cursor) -> InlineKey:
    start, clustered = cursor.position, ""
    primary = not cursor.accept("UNIQUE")
    if primary:
        cursor.accept("PRIMARY")
    cursor.accept("KEY")
    if primary:
        clustered = cursor.accept_any("CLUSTERED", "NONCLUSTERED")
    is_global = cursor.accept_any("GLOBAL", "LOCAL") == "GLOBAL"
    return InlineKey(primary=primary, clustered=clustered, is_global=is_global, source=cursor.since(start))


def _on_update(cursor: Cursor) -> OnUpdate:
    cursor.expect("UPDATE")
    return OnUpdate(read_now(cursor))


def _generated(cursor: Cursor) -> GeneratedAs:
    cursor.expect("ALWAYS", "AS")
    return _computed(cursor)


def _computed(cursor: Cursor) -> GeneratedAs:
    cursor.expect("(")
    expression = cursor.expression()
    cursor.expect(")")
    stored = cursor.accept_any("VIRTUAL", "STORED", "PERSISTENT") in ("STORED", "PERSISTENT")
    return GeneratedAs(expression=expression, stored=stored)


def _auto_random(cursor: Cursor) -> AutoRandom:
    bits: list[int] = []
    if cursor.accept("("):
        bits.append(cursor.integer())
        if cursor.accept(","):
            bits.append(cursor.integer())
        cursor.expect(")")
    return AutoRandom(bits=tuple(bits))


_READERS: dict[str, Callable[[Cursor], Attribute]] = {
    "DEFAULT": read_default,
    "ON": _on_update,
    "GENERATED": _generated,
    "AS": _computed,
    "AUTO_RANDOM": _auto_random,
}
_VALUES: dict[str, Callable[[Cursor], str]] = {
    "COMMENT": Cursor.string,
    "COLLATE": read_collation,
    "COLUMN_FORMAT": lambda cursor: cursor.word_or_name().upper(),
    "STORAGE": lambda cursor: cursor.word_or_name().upper(),
    "SECONDARY_ENGINE_ATTRIBUTE": Cursor.string,
}
