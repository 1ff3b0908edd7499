"""Generated columns: their values, row by row, and the hidden columns of expression indexes.

Rules: tidb ``pkg/ddl/generated_column.go``, ``pkg/ddl/index.go`` (``BuildHiddenColumnInfo``).
"""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import CHARSET_BEARING, INTEGERS, NUMBERED, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate
from ticdc_producer.scenario.sql.expression.function_call import call_of
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.functions import FUNCTIONS
from ticdc_producer.scenario.sql.functions.function import text_type
from ticdc_producer.scenario.sql.text.parse import parse_expression

T = MySQLType

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.IntDiv, exp.Mod, exp.Neg)
_BIGINT = (T.LONGLONG, 20, "binary", "binary")


def fill_generated(scope: Scope) -> None:
    """Compute the generated columns of the scope's row, from left to right.

    :raises ScenarioError: if a value does not fit its column.
    """
    if scope.table is None:
        return
    for offset in scope.table.generated:
        column = scope.table.columns[offset]
        value = coerce(column, evaluate(expression_of(column.expression), scope), scope.mode)
        is_filled = value is None and scope.lenient_nulls and not column.nullable
        scope.row[offset] = column.zero if is_filled else value


@lru_cache(maxsize=1024)
def expression_of(text: str) -> exp.Expr:
    """Return the syntax tree of the SQL text of a generated column or DEFAULT."""
    return parse_expression(text, 1)


def check_generated(table: TableInfo, mode: SQLMode, line: int) -> None:
    """Check the expressions of all generated columns.

    :raises ScenarioError: if one refers to an unknown column, to a later generated column or to an
        AUTO_INCREMENT column, or depends on the clock.
    :raises UnsupportedSQL: for an expression that this tool does not compute.
    """
    offsets = {column.name.lower(): offset for offset, column in enumerate(table.columns)}
    for offset in table.generated:
        column = table.columns[offset]
        tree = expression_of(column.expression)
        try:
            check_expression(tree, Scope(mode, table))
        except ScenarioError as error:
            raise error.at("", line) from error.__cause__
        _refuse_clock_functions(tree, column, line)
        for name in columns_of(tree) & offsets.keys():  # DATE of GET_FORMAT(DATE, …) is no column
            source = table.columns[offsets[name]]
            if source.auto_increment or (source.generated and offsets[name] >= offset):
                what = f"Generated column {column.name!r} cannot refer to {source.name!r}"
                raise ScenarioError(what, line=line, column=column.name)


def _refuse_clock_functions(tree: exp.Expr, column: ColumnInfo, line: int) -> None:
    """Refuse functions of the clock, and VALUES().

    Source: tidb ``pkg/expression/builtin.go`` (``IllegalFunctions4GeneratedColumns``),
    ``illegalFunctionChecker``.
    """
    calls = (call_of(node) for node in tree.walk())
    reads_new_row = any(node.name.upper() == "VALUES" for node in tree.find_all(exp.Anonymous))
    if reads_new_row or any(
        call is not None
        and (call.name in _REFUSED or (call.name in FUNCTIONS and FUNCTIONS[call.name].clock))
        for call in calls
    ):
        what = f"Expression of generated column {column.name!r} contains a disallowed function"
        raise ScenarioError(what, line=line, column=column.name)


_REFUSED = frozenset({"JSON_MERGE", "NAME_CONST", "NULLIF"})


def columns_of(tree: exp.Expr) -> set[str]:
    """Return the names of the columns in an expression, in lower case."""
    return {node.name.lower() for node in tree.find_all(exp.Column)}


def dependent_columns(table: TableInfo, name: str) -> list[ColumnInfo]:
    """Return the generated columns whose expressions use a column."""
    return [
        c for c in table.columns if c.generated and name.lower() in columns_of(expression_of(c.expression))
    ]


def hidden_column(text: str, index: str, part: int, table: TableInfo, line: int) -> ColumnInfo:
    """Return the hidden column that TiDB adds for an expression of an index.

    :param part: index of the expression among the parts of the index.
    :raises ScenarioError: for a function that TiDB does not index.
    :raises UnsupportedSQL: for an expression whose type this tool does not know.
    """
    tree = expression_of(text)
    for call in map(call_of, tree.walk()):
        if call is not None and not (call.name in _INDEXED or call.name.startswith("JSON_")):
            what = f"Unsupported creating expression index containing unsafe functions: {call.name}"
            raise ScenarioError(what, line=line, value=text)
    result_type = _result_type(tree, table)
    if result_type is None:
        raise UnsupportedSQL(f"an index on the expression {text!r} is not supported", line=line)
    code, length, charset, collation = result_type
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


_INDEXED = frozenset({"LOWER", "UPPER", "MD5", "REVERSE", "VITESS_HASH", "TIDB_SHARD"})
"""Functions that an index may use, and those of JSON. Source: tidb ``GAFunction4ExpressionIndex``."""


def _result_type(node: exp.Expr, table: TableInfo) -> tuple[MySQLType, int, str, str] | None:
    if isinstance(node, exp.Paren):
        return _result_type(node.this, table)
    if isinstance(node, _ARITHMETIC):
        whole = all(column.type in INTEGERS for column in _sources(node, table))
        literals = (literal for literal in node.find_all(exp.Literal))
        plain = all(not literal.is_string and str(literal.this).isdigit() for literal in literals)
        return _BIGINT if whole and plain else None
    call = call_of(node)
    function = None if call is None else FUNCTIONS.get(call.name)
    if function is None or not function.indexed:
        return None
    if function.type is not text_type:
        return _BIGINT
    sources = _sources(node, table)
    source = sources[0] if len(sources) == 1 else None
    if source is None or source.type not in CHARSET_BEARING or source.type in NUMBERED:
        return None
    return T.VAR_STRING, source.length, source.charset, source.collation


def _sources(node: exp.Expr, table: TableInfo) -> list[ColumnInfo]:
    names = columns_of(node)
    return [column for column in table.columns if column.name.lower() in names]
