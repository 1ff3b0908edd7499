"""Applies the DEFAULT of a column, and checks the few functions that TiDB accepts in it.

Rules: tidb ``pkg/ddl/add_column.go`` (``getDefaultValue``, ``checkColumnDefaultValue``,
``getFuncCallDefaultValue``); ``parser.y`` (``DefaultValueExpr``).
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, MySQLType
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.model.values.sql_value import BinaryLiteral, DateTimeValue, SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate_constant
from ticdc_producer.scenario.sql.expression.function_call import call_of
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.functions import FUNCTIONS
from ticdc_producer.scenario.sql.functions.session import SESSION_FUNCTIONS
from ticdc_producer.scenario.sql.syntax.default import Default
from ticdc_producer.scenario.sql.text.dialect import words
from ticdc_producer.scenario.sql.text.parse import parse_expression
from ticdc_producer.scenario.sql.text.spelling import quoted_name

T = MySQLType


def with_default(column: ColumnInfo, default: Default | None, mode: SQLMode, line: int) -> ColumnInfo:
    """Add a DEFAULT to a column.

    :param default: None without one.
    :raises ScenarioError: for a default that the column cannot hold.
    """
    if default is None:
        return column
    if default.now is not None:
        if column.type not in (T.TIMESTAMP, T.DATETIME) or default.now.digits != max(column.decimal, 0):
            what = f"Invalid default value for {column.name!r}: CURRENT_TIMESTAMP does not fit its type"
            raise ScenarioError(what, line=line, column=column.name)
        return replace(column, has_default=True, default_expression="CURRENT_TIMESTAMP")
    text = default.value.text
    tree = parse_expression(text, line)
    call = call_of(tree.unnest())
    if call is not None and (call.name not in _TODAY or column.type in (T.DATE, T.DATETIME)):
        stored = _stored_expression(column, text, mode, line)
        return replace(column, has_default=True, default_expression=stored)
    value = _constant(column, evaluate_constant(tree, mode))
    if column.type in (T.ENUM, T.SET) and isinstance(value, str) and not mode.strict:
        value = _as_member(column, value, mode, line)
    if value is None:
        if not column.nullable:
            raise ScenarioError(
                f"Invalid default value for {column.name!r}: NULL", line=line, column=column.name
            )
        return replace(column, has_default=True)
    if column.type == T.VECTOR_FLOAT32:
        what = f"VECTOR column {column.name!r} can't have a literal default"
        hint = "write DEFAULT (VEC_FROM_TEXT('…'))"
        raise ScenarioError(what, line=line, column=column.name, hint=hint)
    if column.type in LOBS or column.type == T.JSON:
        if value in ("", b"") and not mode.strict:
            return _with_empty_default(column)
        what = f"BLOB, TEXT and JSON columns have no default: {column.name!r}"
        raise ScenarioError(what, line=line, column=column.name)
    try:
        stored_value = coerce(column, value, _mode_of_default(mode))
        written = _as_written(column, value, stored_value)
        return replace(column, has_default=True, default=stored_value, default_text=written)
    except UnsupportedSQL:
        raise
    except ScenarioError as error:
        what = f"Invalid default value for {column.name!r}: {error.what}"
        raise ScenarioError(what, line=line, column=column.name, value=error.value) from error


def _constant(column: ColumnInfo, value: SQLValue) -> SQLValue:
    """Return the value of a literal, or of CURRENT_DATE, as a type gets it: most from its text.

    Source: tidb ``getDefaultValue``, ``getEnumDefaultValue``.
    """
    if column.type == T.TIMESTAMP and isinstance(value, DateTimeValue):
        raise ScenarioError("Incorrect datetime value", column=column.name)
    if column.type == T.SET and isinstance(value, int) and value < 1:
        raise ScenarioError(f"Invalid default value for {column.name!r}: {value}", column=column.name)
    if isinstance(value, DateTimeValue):
        converts = column.type in INTEGERS | FLOATS | {T.DURATION}
    elif isinstance(value, int):
        converts = column.type != T.YEAR
    else:
        converts = not isinstance(value, Decimal | float) or column.type not in (T.BIT, T.ENUM, T.SET)
    return value if converts else to_text(value)


def _as_member(column: ColumnInfo, text: str, mode: SQLMode, line: int) -> str:
    """Return a DEFAULT in the form of the members that it names.

    A DDL that TiDB prints doubles the backslashes of a DEFAULT, but not those of members, which are read as
    other texts then: ``ENUM('a\\b') DEFAULT 'a\\\\b'``. Source: tidb ``FieldType.RestoreAsSQL``.
    """
    names = text.split(",") if column.type == T.SET else [text]
    if "\\" not in text or text.endswith("\\") or {*names} <= {*column.elements}:
        return text
    quoted = text.replace("'", "''")
    return to_text(evaluate_constant(parse_expression(f"'{quoted}'", line), mode))


_TODAY = frozenset({"CURDATE", "CURRENT_DATE"})


def _with_empty_default(column: ColumnInfo) -> ColumnInfo:
    """Add ``DEFAULT ''`` to a BLOB, TEXT or JSON column, as TiDB does without strict mode.

    Source: tidb ``checkColumnDefaultValue``.
    """
    if column.type in (T.BLOB, T.LONG_BLOB):
        return column
    return replace(column, has_default=True, default=b"null" if column.type == T.JSON else b"")


def _mode_of_default(mode: SQLMode) -> SQLMode:
    """Return the settings under which a DEFAULT is checked: also without strict mode it must be in range.

    Zero dates are accepted then.
    """
    return mode if mode.strict else replace(mode, strict=True, zero_dates=True, zero_in_date=True)


def _stored_expression(column: ColumnInfo, text: str, mode: SQLMode, line: int) -> str:
    """Return the text that TiDB stores for a DEFAULT that is computed per row.

    :raises ScenarioError: for an expression that does not parse, or that TiDB or this tool does not compute.
    """
    expression = parse_expression(text, line).unnest()
    _check_values(expression, mode)
    check_default_function(column.name, expression, line)
    if _is_call(expression, "NEXTVAL") and column.type not in INTEGERS:
        what = f"Unsupported sequence default value for column type {column.name!r}"
        raise ScenarioError(what, line=line, column=column.name)
    from ticdc_producer.scenario.sql.restore import print_default  # most scenarios do not need its grammar

    try:
        stored = print_default(text)
        _check_values(parse_expression(stored, line), mode)
    except ScenarioError as error:
        raise error.at("", line) from error.__cause__
    if column.type == T.DATE and stored in ("current_date()", "curdate()"):
        return "CURRENT_DATE"
    return stored


def _as_written(column: ColumnInfo, value: SQLValue, default: Value) -> bytes | None:
    """Return the DEFAULT in TiDB's metadata, if it differs from the value that a row gets.

    It has the user's digits of a DECIMAL or a YEAR, all digits of a floating point type, the trailing blanks
    that a CHAR and the length of a VARCHAR cut off, and the leading zero bytes of a BIT.
    """
    if column.type in (T.STRING, T.VARCHAR) and not column.binary:
        written = to_bytes(value)
        decoded = column.charset == "gbk" and isinstance(value, bytes)
        return None if decoded or written == default else written
    if column.type == T.BIT and isinstance(value, BinaryLiteral):
        return bytes(value) if value[:1] == b"\0" and len(value) > 1 else None
    if column.type == T.YEAR:
        written = to_bytes(value)
        return None if default is None or written == b"%04d" % int(default) else written
    if column.type == T.NEW_DECIMAL:
        written = to_bytes(value)
        return None if written == default else written
    if column.type in FLOATS and isinstance(value, Decimal):
        return plain_text(float(value), T.DOUBLE)
    return None


def in_database(column: ColumnInfo, database: str) -> ColumnInfo:
    """Return a column whose DEFAULT names its sequence with a database.

    :param database: the current one, in which a sequence without a database is.
    """
    if not column.default_expression.startswith("nextval("):
        return column
    name = column.default_expression[len("nextval(") : -1]
    if len(words(name)) > 1:
        return column
    return replace(column, default_expression=f"nextval({quoted_name(database)}.{name})")


def check_default_function(column: str, expression: exp.Expr, line: int) -> None:
    """Check that TiDB accepts an expression that is not a literal.

    :param column: name of the column.
    :raises ScenarioError: if it does not.
    """
    call = call_of(expression)
    if call is None:
        what = f"the DEFAULT of column {column!r} is neither a literal nor a call of a function"
        raise ScenarioError(what, line=line, column=column, hint="TiDB accepts no other expression there")
    if call.name in _OF_SESSION:
        return
    accepts = call.function.default
    if accepts is None or not accepts(call.arguments):
        accepted = {name for name, function in FUNCTIONS.items() if function.default is not None}
        names = ", ".join(sorted({*accepted, *_OF_SESSION}))
        hint = f"TiDB accepts calls of {names}"
        if accepts is not None:
            hint = "TiDB accepts it with other arguments: formats of NOW(), texts of literals, UPPER(UUID())"
        what = f"Default value expression of column {column!r} contains a disallowed function: {call.name}"
        raise ScenarioError(what, line=line, column=column, hint=hint)


def check_added_default(column: ColumnInfo, line: int) -> None:
    """Check that TiDB can add a column with a DEFAULT: existing rows need one value.

    Source: tidb ``CreateNewColumn``, ``generateOriginDefaultValue``.

    :raises ScenarioError: if it cannot.
    """
    name = column.default_expression.partition("(")[0].upper()
    hint = "add the column without it, and the DEFAULT with MODIFY"
    if name == "NEXTVAL":
        what = f"Unsupported using sequence as default value in add column {column.name!r}"
        raise ScenarioError(what, line=line, column=column.name, hint=hint)
    stored = column.default_expression.lower()
    is_constant = (
        stored.startswith(("current_", "curdate"))
        or "date_format(now()," in stored
        or "str_to_date" in stored
    )
    if stored and not is_constant:
        what = "a system function that may return a different value on the replica"
        what = f"Statement is unsafe because it uses {what}"
        raise ScenarioError(what, line=line, column=column.name, hint=hint)


_OF_SESSION = frozenset({"NEXTVAL", "RAND", "UUID"})
"""Functions of the session that a DEFAULT may call."""


def _is_call(expression: exp.Expr, name: str) -> bool:
    return isinstance(expression, exp.Anonymous) and str(expression.this).upper() == name


def _check_values(expression: exp.Expr, mode: SQLMode) -> None:
    """Check an expression; the session of the row that it is computed for is not known yet.

    :raises ScenarioError: for a wrong number of arguments, or an expression that this tool does not compute.
    """
    checked = exp.Paren(this=expression.copy())
    for call in [*checked.find_all(exp.Anonymous)]:
        name = str(call.this).upper()
        if name in _OF_SESSION:
            for argument in SESSION_FUNCTIONS[name].value_arguments(name, call.expressions):
                check_expression(argument, Scope(mode))
            call.replace(exp.Literal.string(""))
    check_expression(checked, Scope(mode))
