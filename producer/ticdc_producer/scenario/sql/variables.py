"""SET: the session variables that change the results of statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.coerce_text import to_text
from ticdc_producer.model.number_text import as_number
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import SQLValue
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.dialect import parse_expression
from ticdc_producer.scenario.sql.evaluate import evaluate_constant
from ticdc_producer.scenario.sql.zone import time_zone

__all__ = ["run_set", "time_zone"]

_CONNECTION_CHARSETS = ("utf8mb4", "utf8", "utf8mb3", "default")
SQL_MODES = frozenset({
    "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_DATE", "NO_ZERO_IN_DATE",
    "ERROR_FOR_DIVISION_BY_ZERO", "ONLY_FULL_GROUP_BY", "NO_AUTO_CREATE_USER",
    "NO_ENGINE_SUBSTITUTION", "ALLOW_INVALID_DATES",
})  # fmt: skip
_DEFAULT_SQL_MODE = (
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO"
)


def run_set(
    cursor: Cursor, mode: SQLMode, initial: SQLMode, assign: Callable[[str, exp.Expr], None]
) -> SQLMode:
    """Run ``SET a = b, …`` and ``SET NAMES``.

    :param initial: the mode that the session started with: the value of ``DEFAULT``.
    :param assign: assigns the value of an expression to a user variable.
    :return: the mode of the statements that follow.
    :raises UnsupportedSQL: for a variable that this tool does not have.
    """
    cursor.expect("SET")
    if cursor.accept("NAMES"):
        _check_charset(cursor)
        return mode
    while True:
        if cursor.word() == "@":
            _assign_user_variable(cursor, assign)
        else:
            mode = _assign(cursor, mode, initial)
        if not cursor.accept(","):
            cursor.end()
            return mode


def _check_charset(cursor: Cursor) -> None:
    name = (cursor.string() if cursor.is_string() else cursor.identifier("a charset")).lower()
    if name not in _CONNECTION_CHARSETS:
        raise cursor.unsupported(f"SET NAMES {name}")
    if cursor.accept("COLLATE"):
        cursor.position += 1
    cursor.end()


def _assign_user_variable(cursor: Cursor, assign: Callable[[str, exp.Expr], None]) -> None:
    cursor.expect("@")
    name = cursor.identifier("a variable name")
    if not cursor.accept(":="):
        cursor.expect("=")
    assign(name, parse_expression(cursor.expression_source(), cursor.line))


def _assign(cursor: Cursor, mode: SQLMode, initial: SQLMode) -> SQLMode:
    if cursor.accept_any("GLOBAL", "PERSIST"):
        raise cursor.unsupported("SET GLOBAL")
    cursor.accept_any("SESSION", "LOCAL")
    if cursor.accept("@@") and cursor.word() in ("SESSION", "LOCAL", "GLOBAL") and cursor.word(1) == ".":
        if cursor.word() == "GLOBAL":
            raise cursor.unsupported("SET GLOBAL")
        cursor.position += 2
    name = cursor.identifier("a variable name").lower()
    if cursor.word() not in ("=", ":="):
        raise cursor.unsupported(f"SET {name.upper()}")
    setter = VARIABLES.get(name)
    if setter is None:
        raise cursor.unsupported(f"the variable {name}")
    if not cursor.accept(":="):
        cursor.expect("=")
    source = cursor.expression_source()
    if source.upper() == "DEFAULT":
        return _FROM_INITIAL[name](mode, initial)
    bare_word = source.isidentifier() and source.upper() != "NULL"
    value = source if bare_word else evaluate_constant(parse_expression(source, cursor.line), mode)
    if value is None:
        raise ScenarioError(f"Variable {name!r} can't be set to the value of NULL", value="NULL")
    return setter(mode, value)


def _set_time_zone(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, zone=time_zone(to_text(value)))


def _set_sql_mode(mode: SQLMode, value: SQLValue) -> SQLMode:
    flags = {flag.strip().upper() for flag in to_text(value).split(",") if flag.strip()}
    unknown = sorted(flags - SQL_MODES)
    if unknown:
        raise UnsupportedSQL(f"the sql_mode {unknown[0]} is not supported", value=unknown[0])
    return replace(
        mode,
        strict=bool(flags & {"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"}),
        zero_dates="NO_ZERO_DATE" not in flags,
        zero_in_date="NO_ZERO_IN_DATE" not in flags,
        invalid_dates="ALLOW_INVALID_DATES" in flags,
        division_by_zero_error="ERROR_FOR_DIVISION_BY_ZERO" in flags,
        only_full_group_by="ONLY_FULL_GROUP_BY" in flags,
    )


def _set_timestamp(mode: SQLMode, value: SQLValue) -> SQLMode:
    number, complete = as_number(value)
    exact = Decimal(number)
    if not complete or not 0 < exact < 1 << 31:
        raise ScenarioError("timestamp must be a Unix time in seconds", value=to_text(value))
    return replace(mode, now=datetime.fromtimestamp(0, UTC) + timedelta(microseconds=int(exact * 1_000_000)))


def _set_skip_utf8_check(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, utf8_check=not _switch("tidb_skip_utf8_check", value))


def _set_foreign_key_checks(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, foreign_key_checks=_switch("foreign_key_checks", value))


def _set_autocommit(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, autocommit=_switch("autocommit", value))


def _switch(name: str, value: SQLValue) -> bool:
    word = to_text(value).upper()
    if word not in ("0", "1", "ON", "OFF", "TRUE", "FALSE"):
        raise ScenarioError(f"{name} is ON or OFF", value=word)
    return word in ("1", "ON", "TRUE")


VARIABLES: dict[str, Callable[[SQLMode, SQLValue], SQLMode]] = {
    "time_zone": _set_time_zone,
    "sql_mode": _set_sql_mode,
    "timestamp": _set_timestamp,
    "tidb_skip_utf8_check": _set_skip_utf8_check,
    "foreign_key_checks": _set_foreign_key_checks,
    "autocommit": _set_autocommit,
}
_FROM_INITIAL: dict[str, Callable[[SQLMode, SQLMode], SQLMode]] = {
    "time_zone": lambda mode, initial: replace(mode, zone=initial.zone),
    "sql_mode": lambda mode, _: _set_sql_mode(mode, _DEFAULT_SQL_MODE),
    "timestamp": lambda mode, initial: replace(mode, now=initial.now),
    "tidb_skip_utf8_check": lambda mode, _: replace(mode, utf8_check=True),
    "foreign_key_checks": lambda mode, _: replace(mode, foreign_key_checks=True),
    "autocommit": lambda mode, _: replace(mode, autocommit=True),
}
