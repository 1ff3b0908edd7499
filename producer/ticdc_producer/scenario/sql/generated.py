"""Generated columns: filled in row by row, and the hidden ones behind expression indexes.

Rules: tidb ``pkg/ddl/generated_column.go``, ``pkg/ddl/index.go`` (``BuildHiddenColumnInfo``).
"""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.coerce import coerce
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import CHARSET_BEARING, INTEGERS, NUMBERED, MySQLType
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.call_normalizer import call_of
from ticdc_producer.scenario.sql.dialect import parse_expression
from ticdc_producer.scenario.sql.evaluate import check_expression, evaluate
from ticdc_producer.scenario.sql.scope import Scope

T = MySQLType

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.IntDiv, exp.Mod, exp.Neg)
_SAME_TEXT = frozenset({"LOWER", "LCASE", "UPPER", "UCASE", "TRIM", "LTRIM", "RTRIM", "REVERSE"})
_COUNTS = frozenset({"LENGTH", "OCTET_LENGTH", "CHAR_LENGTH", "CHARACTER_LENGTH", "ASCII", "ORD", "CRC32"})
_BIGINT_WIDTH = 20
_CLOCK = frozenset({
    "CURDATE", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURTIME", "LOCALTIME", "LOCALTIMESTAMP",
    "NOW", "SYSDATE", "UNIX_TIMESTAMP", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP",
})  # fmt: skip


def fill_generated(scope: Scope) -> None:
    """Compute the generated columns of the scope's row, from left to right.

    :raises ScenarioError: for a value that does not fit its column.
    """
    if scope.table is None:
        return
    for offset in scope.table.generated:
        column = scope.table.columns[offset]
        scope.row[offset] = coerce(column, evaluate(expression_of(column.expression), scope), scope.mode)


@lru_cache(maxsize=1024)
def expression_of(text: str) -> exp.Expr:
    """The tree of a generated column's or default's SQL text."""
    return parse_expression(text, 1)


def check_generated(table: TableInfo, mode: SQLMode, line: int) -> None:
    """Refuse generated columns that name what they may not.

    :raises ScenarioError: for an unknown column, a later generated one, or AUTO_INCREMENT.
    :raises UnsupportedSQL: for an expression that this tool does not compute.
    """
    places = {column.name.lower(): offset for offset, column in enumerate(table.columns)}
    for offset in table.generated:
        column = table.columns[offset]
        tree = expression_of(column.expression)
        try:
            check_expression(tree, Scope(mode, table))
        except ScenarioError as error:
            raise error.at("", line) from error.__cause__
        _refuse_moving(tree, column, line)
        for name in columns_of(tree):
            source = table.columns[places[name]]
            if source.auto_increment or (source.generated and places[name] >= offset):
                what = f"Generated column {column.name!r} cannot refer to {source.name!r}"
                raise ScenarioError(what, line=line, column=column.name)


def _refuse_moving(tree: exp.Expr, column: ColumnInfo, line: int) -> None:
    """Source: tidb ``pkg/expression/builtin.go`` (``IllegalFunctions4GeneratedColumns``)."""
    calls = (call_of(node) for node in tree.walk())
    if any(call is not None and call.name in _CLOCK and not call.arguments for call in calls):
        what = f"Expression of generated column {column.name!r} contains a disallowed function"
        raise ScenarioError(what, line=line, column=column.name)


def columns_of(tree: exp.Expr) -> set[str]:
    """Names of the columns in an expression, in lower case."""
    return {node.name.lower() for node in tree.find_all(exp.Column)}


def users_of(table: TableInfo, name: str) -> list[ColumnInfo]:
    """The generated columns that depend on a column."""
    return [
        c for c in table.columns if c.generated and name.lower() in columns_of(expression_of(c.expression))
    ]


def hidden_column(text: str, index: str, part: int, table: TableInfo, line: int) -> ColumnInfo:
    """The column that TiDB makes for one expression of an index.

    :raises UnsupportedSQL: for an expression whose type this tool does not know.
    """
    tree = expression_of(text)
    typed = _typed(tree, table)
    if typed is None:
        raise UnsupportedSQL(f"an index on the expression {text!r} is not supported", line=line)
    code, length, charset, collation = typed
    return ColumnInfo(
        name=f"_V$_{index}_{part}",
        type=code,
        length=length,
        decimal=-1 if code == T.VAR_STRING else 0,
        charset=charset,
        collation=collation,
        generated="virtual",
        expression=text,
        hidden=True,
    )


def _typed(node: exp.Expr, table: TableInfo) -> tuple[MySQLType, int, str, str] | None:
    if isinstance(node, exp.Paren):
        return _typed(node.this, table)
    if isinstance(node, _ARITHMETIC):
        whole = all(column.type in INTEGERS for column in _sources(node, table))
        literals = (literal for literal in node.find_all(exp.Literal))
        plain = all(not literal.is_string and str(literal.this).isdigit() for literal in literals)
        return (T.LONGLONG, _BIGINT_WIDTH, "binary", "binary") if whole and plain else None
    name = str(node.this).upper() if isinstance(node, exp.Anonymous) else type(node).__name__.upper()
    if name in _COUNTS:
        return T.LONGLONG, _BIGINT_WIDTH, "binary", "binary"
    sources = _sources(node, table)
    if name in _SAME_TEXT and len(sources) == 1:
        source = sources[0]
        if source.type in CHARSET_BEARING and source.type not in NUMBERED:
            return T.VAR_STRING, source.length, source.charset, source.collation
    return None


def _sources(node: exp.Expr, table: TableInfo) -> list[ColumnInfo]:
    names = columns_of(node)
    return [column for column in table.columns if column.name.lower() in names]
