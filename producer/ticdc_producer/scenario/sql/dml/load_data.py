"""LOAD DATA LOCAL INFILE: an INSERT IGNORE, or a REPLACE, of the rows of a file.

Rules: tidb ``pkg/parser/parser.y`` (``LoadDataStmt``), ``pkg/executor/load_data.go``,
``pkg/executor/importer/import.go``. The statement checks no foreign keys: tidb issue 71053.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.mysql_type import DATES
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.dml.literal_rows import LiteralRows
from ticdc_producer.scenario.sql.dml.parsed_statement import ParsedStatement
from ticdc_producer.scenario.sql.dml.stored_rows import Cell
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.delimited_rows import DelimitedFormat
from ticdc_producer.scenario.sql.text.dialect import TokenType
from ticdc_producer.scenario.sql.text.parse import parse_dml, parse_expression
from ticdc_producer.scenario.sql.text.spelling import quoted_name
from ticdc_producer.scenario.sql.text.statements import Statement

_CHARSETS = ("UTF8MB4", "UTF8", "UTF8MB3", "BINARY")


class _Target(NamedTuple):
    """The target of a field of a line: a column, or a user variable."""

    name: str
    is_variable: bool = False


@dataclass(slots=True)
class LoadData:
    """A LOAD DATA statement.

    :param file: its file, as it is typed.
    :param replace: whether its rows replace others; else rows with keys that exist are left out.
    :param targets: of the fields of a line; empty: the columns of the table.
    :param assignments: column and expression of each part of SET.
    """

    file: str
    replace: bool
    table: tuple[str, str]
    form: DelimitedFormat = field(default_factory=DelimitedFormat)
    ignored_lines: int = 0
    targets: tuple[_Target, ...] = ()
    assignments: list[tuple[str, exp.Expr]] = field(default_factory=list)

    def insert(
        self, text: str, table: TableInfo, *, strict: bool
    ) -> tuple[ParsedStatement, dict[str, str | None]]:
        """Return the INSERT or REPLACE of a file's rows, and the user variables after it.

        :param text: the content of the file.
        :param strict: whether a REPLACE needs as many fields as targets. Else fields too many are left out,
            and missing ones are NULL, or the time of the statement in a NOT NULL column of a date.
        :raises ScenarioError: if the file cannot be read, or a row has too few or too many fields.
        """
        columns = {column.name.lower(): column for column in table.columns if not column.hidden}
        targets = self.targets or tuple(_Target(column.name) for column in columns.values())
        given = [None if target.is_variable else columns.get(target.name.lower()) for target in targets]
        clock = parse_expression("NOW(6)", 1)
        missing: list[Cell] = [
            clock if column is not None and not column.nullable and column.type in DATES else None
            for column in given
        ]
        assigned = [
            offset
            for offset, (target, column) in enumerate(zip(targets, given, strict=True))
            if not target.is_variable and (column is None or not column.generated)
        ]
        rows, variables = list[list[Cell]](), dict[str, str | None]()
        for number, values in enumerate(self.form.rows(text, self.ignored_lines), start=1):
            if self.replace and strict and len(values) != len(targets):
                raise _wrong_count(number, too_many=len(values) > len(targets))
            cells = [*values, *missing[len(values) :]]
            for target, value in zip(targets, [*values, *[None] * len(targets)], strict=False):
                if target.is_variable:
                    variables[target.name.lower()] = value
            rows.append(
                [
                    *(cells[offset] for offset in assigned),
                    *(_with_values(expression, variables) for _, expression in self.assignments),
                ]
            )
        return self._statement([targets[offset].name for offset in assigned], rows), variables

    def _statement(self, names: Sequence[str], rows: list[list[Cell]]) -> ParsedStatement:
        verb = "REPLACE" if self.replace else "INSERT IGNORE"
        listed = ", ".join(map(quoted_name, [*names, *(name for name, _ in self.assignments)]))
        target = ".".join(quoted_name(name) for name in self.table if name)
        verb, tree = parse_dml(f"{verb} INTO {target} ({listed}) VALUES (NULL)", 1)
        tree.set("expression", LiteralRows(rows=rows, of_file=True))
        return ParsedStatement(verb, tree)


def _wrong_count(row: int, *, too_many: bool) -> ScenarioError:
    if too_many:
        return ScenarioError(f"Row {row} was truncated; it contained more data than there were input columns")
    return ScenarioError(f"Row {row} doesn't contain data for all columns")


def _with_values(expression: exp.Expr, variables: dict[str, str | None]) -> exp.Expr:
    """Return an expression with the values of a row's user variables."""

    def value(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Parameter) or node.name.lower() not in variables:
            return node
        text = variables[node.name.lower()]
        return exp.Null() if text is None else exp.Literal.string(text)

    return expression.transform(value)


def read_load_data(statement: Statement) -> LoadData:
    """Read ``LOAD DATA LOCAL INFILE …``.

    :raises ScenarioError: for delimiters that TiDB does not accept.
    :raises UnsupportedSQL: without LOCAL, which TiDB rejects; for a charset but UTF-8, FORMAT and WITH.
    """
    cursor = Cursor(statement)
    cursor.expect("LOAD", "DATA")
    cursor.accept("LOW_PRIORITY")
    local = cursor.accept("LOCAL")
    cursor.expect("INFILE")
    file = cursor.string()
    if not local:
        raise cursor.unsupported("LOAD DATA without LOCAL")
    if cursor.word() == "FORMAT":
        raise cursor.unsupported("FORMAT in LOAD DATA")
    replace = cursor.accept_any("REPLACE", "IGNORE") == "REPLACE"
    cursor.expect("INTO", "TABLE")
    load = LoadData(file, replace, cursor.qualified_name(""))
    _check_charset(cursor)
    load.form = _read_format(cursor)
    if cursor.accept("IGNORE"):
        load.ignored_lines = cursor.integer()
        cursor.expect("LINES")
    if cursor.accept("("):
        load.targets = _targets(cursor)
    if cursor.accept("SET"):
        load.assignments = [_assignment(cursor)]
        while cursor.accept(","):
            load.assignments.append(_assignment(cursor))
    if cursor.word() == "WITH":
        raise cursor.unsupported("WITH in LOAD DATA")
    cursor.end()
    return load


def _check_charset(cursor: Cursor) -> None:
    if not (cursor.accept("CHARACTER", "SET") or cursor.accept("CHARSET")):
        return
    charset = cursor.string() if cursor.is_string() else cursor.word_or_name("a charset")
    if charset.upper() not in _CHARSETS:
        raise UnsupportedSQL(
            f"the charset {charset} is not supported in LOAD DATA", hint="write the file in UTF-8"
        )


def _read_format(cursor: Cursor) -> DelimitedFormat:
    """Read FIELDS and LINES.

    :raises ScenarioError: for an empty delimiter of fields or lines, one that begins with the quote, and a
        quote or an escape of several characters.
    """
    given: dict[str, str] = {}
    null_enclosed = False
    if cursor.accept_any("FIELDS", "COLUMNS"):
        while name := _field_clause(cursor):
            given[name] = _delimiter(cursor)
            null_enclosed |= name == "null" and cursor.accept("OPTIONALLY", "ENCLOSED")
    if cursor.accept("LINES"):
        for name, words in (("line_start", ("STARTING", "BY")), ("line_end", ("TERMINATED", "BY"))):
            if cursor.accept(*words):
                given[name] = _delimiter(cursor)
    form = msgspec.structs.replace(DelimitedFormat(), **given, null_enclosed=null_enclosed)
    if len(form.enclosed) > 1 or len(form.escaped) > 1:
        raise cursor.error("a quote and an escape of FIELDS are one character,")
    what = "Format and/or configuration of LOAD DATA is wrong: "
    if not form.terminated or not form.line_end:
        raise ScenarioError(f"{what}an empty TERMINATED BY")
    if form.enclosed and form.terminated.startswith(form.enclosed):
        raise ScenarioError(f"{what}FIELDS ENCLOSED BY and TERMINATED BY must not be prefix of each other")
    if form.line_start and form.line_end in form.line_start:
        raise ScenarioError(f"{what}STARTING BY cannot contain LINES TERMINATED BY")
    if null_enclosed and not form.enclosed:
        raise ScenarioError(f"{what}DEFINED NULL BY … OPTIONALLY ENCLOSED needs ENCLOSED BY")
    return form


def _field_clause(cursor: Cursor) -> str:
    """Step over the words of a clause of FIELDS; return its name, empty for other words."""
    if cursor.accept("TERMINATED", "BY"):
        return "terminated"
    if cursor.accept("OPTIONALLY", "ENCLOSED", "BY") or cursor.accept("ENCLOSED", "BY"):
        return "enclosed"
    if cursor.accept("ESCAPED", "BY"):
        return "escaped"
    return "null" if cursor.accept("DEFINED", "NULL", "BY") else ""


def _delimiter(cursor: Cursor) -> str:
    token = cursor.token
    if token is None or token.token_type not in (TokenType.HEX_STRING, TokenType.BIT_STRING):
        return cursor.string()
    cursor.position += 1
    number = int(token.text, 16 if token.token_type == TokenType.HEX_STRING else 2)
    return number.to_bytes((number.bit_length() + 7) // 8, "big").decode("utf-8", "surrogateescape")


def _targets(cursor: Cursor) -> tuple[_Target, ...]:
    targets = [_target(cursor)] if cursor.word() != ")" else []
    while cursor.accept(","):
        targets.append(_target(cursor))
    cursor.expect(")")
    return tuple(targets)


def _target(cursor: Cursor) -> _Target:
    is_variable = cursor.accept("@")
    return _Target(cursor.identifier("a column name"), is_variable)


def _assignment(cursor: Cursor) -> tuple[str, exp.Expr]:
    """Read ``column = expression``; the expression may not contain columns.

    :raises ScenarioError: if it does.
    """
    name, line = cursor.identifier("a column name"), cursor.line
    cursor.expect("=")
    expression = parse_expression(cursor.expression_source(), line)
    if (column := expression.find(exp.Column)) is not None:
        raise ScenarioError(f"Unknown column {column.name!r} in 'field list'", line=line, column=column.name)
    return name, expression
