"""Column definitions as TiDB prints them, and DEFAULT expressions as TiDB stores them in a table's metadata.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``ColumnDef``, ``ColumnOption``); ``pkg/parser/types/field_type.go``
(``Restore``); ``restoreFuncCall`` for metadata: keywords and charsets are in lower case, and binary operators
have blanks around them.
"""

from __future__ import annotations

import re

from ticdc_producer.scenario.sql.restore.expression import read_expression
from ticdc_producer.scenario.sql.restore.functions import read_call
from ticdc_producer.scenario.sql.restore.grammar import printed
from ticdc_producer.scenario.sql.restore.key import clustered_text, print_check, print_references
from ticdc_producer.scenario.sql.restore.literal import read_literal, read_number
from ticdc_producer.scenario.sql.restore.names import (
    column_text,
    quote_string,
    read_column_name,
    tidb_comment,
)
from ticdc_producer.scenario.sql.syntax.column import (
    Attribute,
    AutoRandom,
    Column,
    ColumnOption,
    GeneratedAs,
    InlineKey,
    OnUpdate,
    Position,
)
from ticdc_producer.scenario.sql.syntax.column_type import ColumnType
from ticdc_producer.scenario.sql.syntax.default import Default, Now
from ticdc_producer.scenario.sql.syntax.key import Check, References
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.statements import split_statements

_TODAY_NAMES = ("CURRENT_DATE", "CURDATE")
_BINARY_TYPES = {
    "CHAR": "BINARY", "VARCHAR": "VARBINARY", "TINYTEXT": "TINYBLOB", "TEXT": "BLOB",
    "MEDIUMTEXT": "MEDIUMBLOB", "LONGTEXT": "LONGBLOB",
}  # fmt: skip


def print_column(column: Column) -> str:
    """Print a column definition, without FIRST or AFTER."""
    attributes = [print_attribute(attribute) for attribute in column.attributes]
    return " ".join([column_text(column.name), print_type(column.type), *attributes])


def print_position(position: Position | None) -> str:
    """Print `` FIRST`` or `` AFTER column``; empty without."""
    if position is None:
        return ""
    return f" AFTER {column_text(position.after)}" if position.after else " FIRST"


def print_type(kind: ColumnType) -> str:
    """Print a type.

    The charset ``binary`` makes a text type a binary one, and TiDB prints no charset of ENUM.
    """
    if kind.name == "SERIAL":
        return "BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE KEY"
    if kind.members:
        members = ",".join(map(quote_string, kind.members))
        return f"{kind.name}({members})" + " BINARY" * (kind.binary and kind.charset != "binary")
    digits = f"({','.join(map(str, kind.digits))})" if kind.digits else ""
    if kind.charset == "binary":
        return _BINARY_TYPES[kind.name] + digits
    sign = " UNSIGNED ZEROFILL" if kind.zerofill else " UNSIGNED" if kind.unsigned else ""
    charset = f" CHARACTER SET {kind.charset.upper()}" if kind.charset else ""
    return kind.name + digits + sign + " BINARY" * kind.binary + charset


def print_attribute(attribute: Attribute) -> str:
    """Print one attribute.

    :raises UnsupportedSQL: for one that TiDB does not support.
    """
    match attribute:
        case Default():
            return f"DEFAULT {_default(attribute)}"
        case OnUpdate(now=now):
            return f"ON UPDATE {_now(now)}"
        case InlineKey(primary=primary, clustered=clustered, is_global=is_global):
            return (
                ("PRIMARY KEY" if primary else "UNIQUE KEY")
                + clustered_text(clustered)
                + " GLOBAL" * is_global
            )
        case GeneratedAs(expression=expression, stored=stored):
            return f"GENERATED ALWAYS AS({printed(expression)}) {'STORED' if stored else 'VIRTUAL'}"
        case AutoRandom(bits=bits):
            digits = f"({', '.join(map(str, bits))})" if bits else ""
            return tidb_comment("auto_rand", "AUTO_RANDOM" + digits)
        case Check():
            return print_check(attribute)
        case References():
            return print_references(attribute)
        case ColumnOption():
            return _option(attribute)


def _option(option: ColumnOption) -> str:
    match option.kind:
        case "CHARSET":
            raise option.source.unsupported("the column attribute CHARSET after others")
        case "SERIAL DEFAULT VALUE":
            return "NOT NULL AUTO_INCREMENT UNIQUE KEY"
        case "COMMENT":  # without a charset, and with doubled backslashes
            return "COMMENT " + quote_string(option.value.replace("\\", "\\\\"))
        case "SECONDARY_ENGINE_ATTRIBUTE":
            return f"{option.kind} = {quote_string(option.value)}"
    return f"{option.kind} {option.value}".rstrip()


def _default(default: Default) -> str:
    """Print a DEFAULT. TiDB prints brackets around calls and columns only, whatever the user wrote."""
    return printed(default.value, _default_value) if default.now is None else _now(default.now)


def _now(now: Now) -> str:
    return f"CURRENT_TIMESTAMP({now.digits if now.written else ''})"


def _default_value(cursor: Cursor) -> str:
    if cursor.accept("("):
        text = _default_value(cursor)
        cursor.expect(")")
        return text
    if cursor.accept_any(*_TODAY_NAMES):
        cursor.accept("(", ")")
        return "(CURRENT_DATE())"
    return _signed_literal(cursor) or f"({read_call(cursor) or read_column_name(cursor)})"


def _signed_literal(cursor: Cursor) -> str | None:
    """Read a literal, or a number with its sign; None if something else comes next."""
    sign = cursor.accept_any("+", "-")
    return sign + read_number(cursor) if sign else read_literal(cursor)


def print_new_default(default: Default) -> str:
    """Print the value of ALTER COLUMN … SET DEFAULT; expressions and signed numbers have brackets."""
    return printed(default.value, _new_default)


def _new_default(cursor: Cursor) -> str:
    if cursor.accept("("):
        start = cursor.position
        literal = read_literal(cursor)
        if literal is not None and cursor.accept(")"):
            return literal
        cursor.position = start
        expression = read_expression(cursor)
        cursor.expect(")")
        return f"({expression})"
    signed = cursor.word() in ("+", "-")
    literal = _signed_literal(cursor)
    if literal is None:
        raise cursor.error("expected a literal")
    return f"({literal})" if signed else literal


_PRINTED = re.compile(
    r"(?P<quoted>'(?:[^']|'')*'|`(?:[^`]|``)*`)"
    r"|(?P<operator>(?<=[\w'`)])(?:<=>|<<|>>|[!<>]=|[-+*/%^&|<>=]))"
    r"|(?P<other>.)",
    re.DOTALL,
)


def print_default(expression: str) -> str:
    """Print the text that TiDB stores for ``DEFAULT (expression)``.

    :param expression: SQL text, in any number of brackets.
    :raises ScenarioError: if the expression does not parse.
    :raises UnsupportedSQL: for syntax that this tool does not print.
    """
    (statement,) = split_statements(expression)
    cursor = Cursor(statement)
    brackets = 0
    while cursor.accept("("):
        brackets += 1
    text = read_expression(cursor)
    for _ in range(brackets):
        cursor.expect(")")
    cursor.end()
    return _PRINTED.sub(_as_stored, text)


def _as_stored(token: re.Match[str]) -> str:
    match token.lastgroup:
        case "quoted":
            return token[0].replace(r"\\", "\\")  # not escaped, as DDL text is
        case "operator":
            return f" {token[0]} "
    return token[0].lower()
