"""Describes the columns that a DDL statement defines, for messages that contain more of a DDL than its text.

TiCDC's Debezium encoder parses the query again; the codecs here take the same facts from the syntax tree.
Source: tiflow ``debezium/helper.go`` (``visiter``, ``parseType``, ``parseOptions``, ``extractValue``).
"""

from __future__ import annotations

from ticdc_producer.model.event import ColumnDefinition, TemporalDefinition
from ticdc_producer.scenario.sql.syntax.alter import AddColumn, AlterColumn, AlterPart, ChangeColumn, Element
from ticdc_producer.scenario.sql.syntax.column import Column
from ticdc_producer.scenario.sql.syntax.default import Default
from ticdc_producer.scenario.sql.syntax.statement import DDL, AlterTable, CreateTable
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.dialect import TokenType

_TEMPORAL = ("DATETIME", "TIMESTAMP", "TIME", "YEAR")
_NOW = "CURRENT_TIMESTAMP"
_CONSTANTS = {"NULL": None, "TRUE": "1", "FALSE": "0"}


def defined_columns(statement: DDL) -> tuple[ColumnDefinition, ...]:
    """Return the columns that CREATE TABLE or ALTER TABLE defines; none for other statements.

    :param statement: a statement that ran, so that its DEFAULTs are known to be valid.
    """
    match statement:
        case CreateTable(elements=elements):
            return _columns(elements)
        case AlterTable(parts=parts):
            return tuple(definition for part in parts for definition in _altered(part))
    return ()


def _altered(part: AlterPart) -> tuple[ColumnDefinition, ...]:
    match part:
        case AddColumn(elements=elements):
            return _columns(elements)
        case ChangeColumn(column=column):
            return _columns((column,))
        case AlterColumn(name=name):
            return (ColumnDefinition(name=name[-1]),)
    return ()


def _columns(elements: tuple[Element, ...]) -> tuple[ColumnDefinition, ...]:
    return tuple(
        ColumnDefinition(name=element.name[-1], temporal=_temporal(element))
        for element in elements
        if isinstance(element, Column)
    )


def _temporal(column: Column) -> TemporalDefinition | None:
    if column.type.name not in _TEMPORAL:
        return None
    defaults = [attribute for attribute in column.attributes if isinstance(attribute, Default)]
    values = [value for default in defaults for value in _values(default)]
    return TemporalDefinition(
        length=column.type.digits[0] if column.type.digits else -1,
        has_default=bool(values),
        default=values[-1] if values else None,
    )


def _values(default: Default) -> tuple[str | None, ...]:
    """Return the text of a literal, the name of a function, or None for NULL; nothing for a signed number."""
    if default.now is not None:
        return (_NOW,)
    cursor = default.value.cursor
    while cursor.accept("("):
        pass
    word, following = cursor.word(), Cursor(cursor.statement, cursor.position + 1)
    if word in _CONSTANTS:
        return (_CONSTANTS[word],)
    if cursor.is_string() or (word.startswith("_") and following.is_string()):
        return ((cursor if cursor.is_string() else following).string(),)
    token = cursor.token
    if token is not None and token.token_type == TokenType.NUMBER:
        return (str(token.text),)
    return (word,) if word[:1].isalpha() else ()
