"""SET: the session variables that change the results of statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.number_text import as_number
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.definition.charset import check_charset_of, known_charset, known_collation
from ticdc_producer.scenario.sql.expression.evaluate import evaluate_constant
from ticdc_producer.scenario.sql.functions.datetime.zone import time_zone
from ticdc_producer.scenario.sql.functions.encryption import BLOCK_MODES
from ticdc_producer.scenario.sql.syntax.names import accept_charset_words, read_charset, read_collation
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.parse import parse_expression

__all__ = ["run_set", "time_zone"]

SQL_MODES = frozenset({
    "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_DATE", "NO_ZERO_IN_DATE",
    "ERROR_FOR_DIVISION_BY_ZERO", "ONLY_FULL_GROUP_BY", "NO_AUTO_CREATE_USER",
    "NO_ENGINE_SUBSTITUTION", "ALLOW_INVALID_DATES", "NO_AUTO_VALUE_ON_ZERO", "TRADITIONAL",
    "ANSI", "ANSI_QUOTES", "PIPES_AS_CONCAT", "IGNORE_SPACE", "NO_BACKSLASH_ESCAPES", "HIGH_NOT_PRECEDENCE",
    "NO_UNSIGNED_SUBTRACTION", "PAD_CHAR_TO_FULL_LENGTH", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS",
    "NO_FIELD_OPTIONS", "NO_DIR_IN_CREATE", "REAL_AS_FLOAT",
    "MYSQL323", "MYSQL40", "MSSQL", "ORACLE", "DB2", "MAXDB", "POSTGRESQL",
})  # fmt: skip
_TRADITIONAL = (
    "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE",
    "ERROR_FOR_DIVISION_BY_ZERO", "NO_AUTO_CREATE_USER", "NO_ENGINE_SUBSTITUTION",
)  # fmt: skip
_ANSI = "REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "ONLY_FULL_GROUP_BY"
_OTHER_SERVER = (
    "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS",
    "NO_FIELD_OPTIONS",
)  # fmt: skip
_COMBINED = {
    "TRADITIONAL": _TRADITIONAL,
    "ANSI": _ANSI,
    **dict.fromkeys(("MYSQL323", "MYSQL40"), ("HIGH_NOT_PRECEDENCE",)),
    **dict.fromkeys(("DB2", "MSSQL", "POSTGRESQL"), _OTHER_SERVER),
    **dict.fromkeys(("MAXDB", "ORACLE"), (*_OTHER_SERVER, "NO_AUTO_CREATE_USER")),
}
"""The parts of an sql_mode. Source: tidb ``CombinationSQLMode``."""
WITHOUT_EFFECT = frozenset({
    "allow_auto_random_explicit_insert", "bulk_insert_buffer_size", "character_set_client",
    "character_set_connection",
    "character_set_results", "collation_connection", "default_storage_engine", "gtid_purged",
    "information_schema_stats_expiry", "innodb_lock_wait_timeout", "innodb_stats_auto_recalc",
    "innodb_strict_mode", "insert_id", "interactive_timeout", "join_buffer_size", "lock_wait_timeout",
    "log_bin_trust_function_creators",
    "low_priority_updates", "max_allowed_packet", "max_error_count", "max_execution_time",
    "max_heap_table_size", "net_read_timeout", "net_write_timeout", "note_verbosity",
    "optimizer_switch", "placement_checks", "profiling", "read_buffer_size", "session_track_gtids",
    "sort_buffer_size", "sql_auto_is_null", "sql_big_selects", "sql_log_bin", "sql_notes",
    "sql_quote_show_create", "sql_safe_updates", "sql_warnings", "storage_engine",
    "tidb_constraint_check_in_place", "tidb_constraint_check_in_place_pessimistic",
    "tidb_ddl_enable_fast_reorg", "tidb_ddl_reorg_batch_size", "tidb_ddl_reorg_priority",
    "tidb_ddl_reorg_worker_cnt", "tidb_disable_txn_auto_retry", "tidb_enable_noop_functions",
    "tidb_isolation_read_engines", "tidb_mem_quota_query", "tidb_multi_statement_mode",
    "tidb_retry_limit", "tidb_skip_isolation_level_check", "tidb_txn_mode", "tmp_table_size",
    "transaction_isolation", "tx_isolation", "unique_checks", "wait_timeout",
})  # fmt: skip
"""Variables that dumps and scripts set, and that do not change what a changefeed sends."""
_SHORTEST_GROUP_CONCAT = 4
_SQL_MODE = (
    "sql_mode", "strict", "zero_dates", "zero_in_date", "invalid_dates", "division_by_zero_error",
    "auto_value_on_zero", "only_full_group_by", "unsigned_subtraction",
)  # fmt: skip
"""The fields of ``SQLMode`` that ``sql_mode`` sets."""


def run_set(
    cursor: Cursor,
    mode: SQLMode,
    initial: SQLMode,
    saved: dict[str, SQLMode],
    assign: Callable[[str, exp.Expr], None],
) -> tuple[SQLMode, SQLMode]:
    """Run ``SET a = b, …``, ``SET NAMES`` and ``SET TRANSACTION ISOLATION LEVEL``.

    :param initial: the values of ``DEFAULT``, which ``SET GLOBAL`` changes.
    :param saved: by the name of a user variable, the mode when it was set to a session variable
        (``SET @old_sql_mode = @@sql_mode``); this function adds to it.
    :param assign: assigns the value of an expression to a user variable.
    :return: the mode of the statements that follow, and the values of ``DEFAULT`` for them.
    :raises UnsupportedSQL: for a variable that this tool does not have.
    """
    cursor.expect("SET")
    names = cursor.accept("NAMES")
    if names or accept_charset_words(cursor):
        _read_charset(cursor, collates=names)
        return mode, initial
    if _skip_isolation_level(cursor):
        return mode, initial
    while True:
        if cursor.word() == "@":
            _assign_user_variable(cursor, mode, saved, assign)
        else:
            mode, initial = _assign(cursor, mode, initial, saved)
        if not cursor.accept(","):
            cursor.end()
            return mode, initial


def _read_charset(cursor: Cursor, *, collates: bool) -> None:
    """Read and check the charset of the connection, which has no effect: a scenario is always UTF-8.

    Source: tidb ``SetExecutor.setCharset``.

    :param collates: whether a collation may follow.
    :raises ScenarioError: for a charset or a collation that TiDB does not have.
    """
    start, charset = cursor.position, ""
    if not cursor.accept("DEFAULT"):
        charset = known_charset(read_charset(cursor), cursor.since(start))
    if collates and cursor.accept("COLLATE"):
        start = cursor.position
        collation = known_collation(read_collation(cursor), cursor.since(start))
        check_charset_of(collation, charset, cursor.line)
    cursor.end()


def _assign_user_variable(
    cursor: Cursor, mode: SQLMode, saved: dict[str, SQLMode], assign: Callable[[str, exp.Expr], None]
) -> None:
    """Run ``@name = expression``. Dumps save session variables in this way, and restore them at their end.

    :raises UnsupportedSQL: for a session variable that this tool does not have.
    """
    cursor.expect("@")
    name = cursor.identifier("a variable name")
    if not cursor.accept(":="):
        cursor.expect("=")
    start = cursor.position
    value = parse_expression(cursor.expression_source(), cursor.line)
    saved.pop(name.lower(), None)
    if isinstance(value, exp.SessionParameter):
        variable = value.name.lower()
        if variable not in VARIABLES and variable not in WITHOUT_EFFECT:
            raise cursor.since(start).unsupported(f"the variable {variable}")
        saved[name.lower()] = mode
    assign(name, value)


def _skip_isolation_level(cursor: Cursor) -> bool:
    """Step over ``[SESSION] TRANSACTION ISOLATION LEVEL …``, which one session alone cannot notice."""
    ahead = cursor.word() in ("SESSION", "LOCAL")
    if [cursor.word(ahead + more) for more in range(3)] != ["TRANSACTION", "ISOLATION", "LEVEL"]:
        return False
    cursor.position += ahead + 3
    if not (
        cursor.accept("SERIALIZABLE")
        or cursor.accept("REPEATABLE", "READ")
        or cursor.accept("READ", "COMMITTED")
        or cursor.accept("READ", "UNCOMMITTED")
    ):
        raise cursor.error("expected an isolation level")
    cursor.end()
    return True


def _assign(
    cursor: Cursor, mode: SQLMode, initial: SQLMode, saved: dict[str, SQLMode]
) -> tuple[SQLMode, SQLMode]:
    """Assign one session variable; that of the whole cluster concerns this session only as its DEFAULT."""
    is_global = _read_scope(cursor)
    name = cursor.identifier("a variable name").lower()
    if cursor.word() not in ("=", ":="):
        raise cursor.unsupported(f"SET {name.upper()}")
    if name not in VARIABLES and name not in WITHOUT_EFFECT:
        raise cursor.unsupported(f"the variable {name}")
    if is_global and name in _OF_SESSION:
        what = f"Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL"
        raise ScenarioError(what, value=name)
    if not cursor.accept(":="):
        cursor.expect("=")
    source = cursor.expression_source()
    if name in WITHOUT_EFFECT:
        return mode, initial
    if is_global:
        return mode, _with_value(name, source, cursor, initial, SQLMode(), saved)
    return _with_value(name, source, cursor, mode, initial, saved), initial


def _with_value(
    name: str, source: str, cursor: Cursor, mode: SQLMode, default: SQLMode, saved: Mapping[str, SQLMode]
) -> SQLMode:
    """Return a mode with the value of an expression, DEFAULT or a saved variable."""
    if source.startswith("@") and source[1:].strip("`").lower() in saved:
        return _FROM_INITIAL[name](mode, saved[source[1:].strip("`").lower()])
    if source.upper() == "DEFAULT":
        return _FROM_INITIAL[name](mode, default)
    bare_word = source.isidentifier() and source.upper() != "NULL"
    value = source if bare_word else _evaluated(parse_expression(source, cursor.line), mode)
    if value is None:
        raise ScenarioError(f"Variable {name!r} can't be set to the value of NULL", value="NULL")
    return VARIABLES[name](mode, value)


def _evaluated(node: exp.Expr, mode: SQLMode) -> SQLValue:
    """Evaluate an expression, which may contain ``@@sql_mode`` and be in a SELECT without FROM."""
    query = node.this if isinstance(node, exp.Subquery) else None
    if isinstance(query, exp.Select) and [name for name, part in query.args.items() if part] == [
        "expressions"
    ]:
        node = query.expressions[0] if len(query.expressions) == 1 else node
    node = node.transform(lambda part: exp.Literal.string(mode.sql_mode) if _is_sql_mode(part) else part)
    return evaluate_constant(node, mode)


def _is_sql_mode(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.SessionParameter)
        and node.name.lower() == "sql_mode"
        and str(node.args.get("kind") or "session").lower() in ("session", "local")
    )


def _read_scope(cursor: Cursor) -> bool:
    """Step over a scope, such as ``SESSION`` or ``@@GLOBAL.``; return whether it is the whole cluster."""
    word = cursor.accept_any("SESSION", "LOCAL", "GLOBAL", "PERSIST")
    if cursor.accept("@@") and cursor.word() in ("SESSION", "LOCAL", "GLOBAL") and cursor.word(1) == ".":
        word = cursor.word()
        cursor.position += 2
    return word in ("GLOBAL", "PERSIST")


def _set_time_zone(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, zone=time_zone(to_text(value)))


def _set_sql_mode(mode: SQLMode, value: SQLValue) -> SQLMode:
    words = [flag for flag in to_text(value).rstrip(" ").upper().split(",") if flag]
    flags = dict.fromkeys(flag for word in words for flag in (*_COMBINED.get(word, ()), word))
    for flag in sorted(flags.keys() - SQL_MODES):
        raise ScenarioError(f"Variable 'sql_mode' can't be set to the value of '{flag}'", value=flag)
    return replace(
        mode,
        sql_mode=",".join(flags),
        strict="STRICT_TRANS_TABLES" in flags or "STRICT_ALL_TABLES" in flags,
        zero_dates="NO_ZERO_DATE" not in flags,
        zero_in_date="NO_ZERO_IN_DATE" not in flags,
        invalid_dates="ALLOW_INVALID_DATES" in flags,
        division_by_zero_error="ERROR_FOR_DIVISION_BY_ZERO" in flags,
        only_full_group_by="ONLY_FULL_GROUP_BY" in flags,
        auto_value_on_zero="NO_AUTO_VALUE_ON_ZERO" not in flags,
        unsigned_subtraction="NO_UNSIGNED_SUBTRACTION" not in flags,
    )


def _set_timestamp(mode: SQLMode, value: SQLValue) -> SQLMode:
    number, complete = as_number(value)
    exact = Decimal(number)
    if not complete or not 0 < exact < 1 << 31:
        raise ScenarioError("timestamp must be a Unix time in seconds", value=to_text(value))
    moment = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=int(exact * 1_000_000))
    return replace(mode, now=moment, now_moves=False)


def _set_skip_utf8_check(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, utf8_check=not _switch("tidb_skip_utf8_check", value))


def _set_foreign_key_checks(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, foreign_key_checks=_switch("foreign_key_checks", value))


def _set_autocommit(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, autocommit=_switch("autocommit", value))


def _set_block_encryption_mode(mode: SQLMode, value: SQLValue) -> SQLMode:
    name = to_text(value).lower()
    if name not in BLOCK_MODES:
        what = f"Variable 'block_encryption_mode' can't be set to the value of '{to_text(value)}'"
        raise ScenarioError(what, value=to_text(value))
    return replace(mode, block_encryption_mode=name)


def _set_group_concat_max_len(mode: SQLMode, value: SQLValue) -> SQLMode:
    length = _whole_number("group_concat_max_len", value)
    return replace(mode, group_concat_max_len=max(length, _SHORTEST_GROUP_CONCAT))


def _set_translate_softdelete_sql(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, soft_deletes=_switch("tidb_translate_softdelete_sql", value))


def _set_recursion_depth(mode: SQLMode, value: SQLValue) -> SQLMode:
    depth = _whole_number("cte_max_recursion_depth", value)
    return replace(mode, cte_max_recursion_depth=min(max(depth, 0), (1 << 32) - 1))


def _set_allow_remove_auto_inc(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, removes_auto_increment=_switch("tidb_allow_remove_auto_inc", value))


def _set_increment(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, auto_increment_increment=_small_number("auto_increment_increment", value))


def _set_offset(mode: SQLMode, value: SQLValue) -> SQLMode:
    return replace(mode, auto_increment_offset=_small_number("auto_increment_offset", value))


def _small_number(name: str, value: SQLValue) -> int:
    """Return a whole number, cut to 1 to 65535 as TiDB cuts it."""
    return min(max(_whole_number(name, value), 1), 65_535)


def _whole_number(name: str, value: SQLValue) -> int:
    number, complete = as_number(value)
    if not complete or not isinstance(number, int):
        raise ScenarioError(f"Incorrect argument type to variable '{name}'", value=to_text(value))
    return number


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
    "block_encryption_mode": _set_block_encryption_mode,
    "group_concat_max_len": _set_group_concat_max_len,
    "tidb_translate_softdelete_sql": _set_translate_softdelete_sql,
    "cte_max_recursion_depth": _set_recursion_depth,
    "tidb_allow_remove_auto_inc": _set_allow_remove_auto_inc,
    "auto_increment_increment": _set_increment,
    "auto_increment_offset": _set_offset,
}
_OF_SESSION = frozenset({"timestamp", "tidb_skip_utf8_check", "tidb_allow_remove_auto_inc"})
"""Variables that have no value of the cluster."""
_FROM_INITIAL: dict[str, Callable[[SQLMode, SQLMode], SQLMode]] = {
    "time_zone": lambda mode, initial: replace(mode, zone=initial.zone),
    "sql_mode": lambda mode, initial: replace(mode, **{name: getattr(initial, name) for name in _SQL_MODE}),
    "timestamp": lambda mode, initial: replace(mode, now=initial.now, now_moves=initial.now_moves),
    "tidb_skip_utf8_check": lambda mode, initial: replace(mode, utf8_check=initial.utf8_check),
    "foreign_key_checks": lambda mode, initial: replace(mode, foreign_key_checks=initial.foreign_key_checks),
    "autocommit": lambda mode, initial: replace(mode, autocommit=initial.autocommit),
    "block_encryption_mode": lambda mode, initial: replace(
        mode, block_encryption_mode=initial.block_encryption_mode
    ),
    "group_concat_max_len": lambda mode, initial: replace(
        mode, group_concat_max_len=initial.group_concat_max_len
    ),
    "tidb_translate_softdelete_sql": lambda mode, initial: replace(mode, soft_deletes=initial.soft_deletes),
    "cte_max_recursion_depth": lambda mode, initial: replace(
        mode, cte_max_recursion_depth=initial.cte_max_recursion_depth
    ),
    "tidb_allow_remove_auto_inc": lambda mode, initial: replace(
        mode, removes_auto_increment=initial.removes_auto_increment
    ),
    "auto_increment_increment": lambda mode, initial: replace(
        mode, auto_increment_increment=initial.auto_increment_increment
    ),
    "auto_increment_offset": lambda mode, initial: replace(
        mode, auto_increment_offset=initial.auto_increment_offset
    ),
}
