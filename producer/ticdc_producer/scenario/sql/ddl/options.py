"""The parts of ALTER TABLE that set table options or concern only TiDB itself."""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.model.ddl_action import Action
from ticdc_producer.scenario.sql.column_definition import read_charset, read_collation
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.ddl.alteration import Alteration
from ticdc_producer.scenario.sql.ddl.columns import convert_columns
from ticdc_producer.scenario.sql.table_definition import table_charset_of

_NO_JOB = ("ENGINE", "ROW_FORMAT", "STATS_PERSISTENT", "ALGORITHM", "LOCK", "KEY_BLOCK_SIZE", "CHECKSUM")
"""Options that TiDB reads and ignores: they have no job."""
_TIDB_ONLY = {
    "AUTO_RANDOM_BASE": Action.REBASE_AUTO_RANDOM,
    "STATS_OPTIONS": Action.ALTER_TABLE_STATS_OPTIONS,
    "ATTRIBUTES": Action.ALTER_TABLE_ATTRIBUTES,
}
"""Options whose value only TiDB uses, with their jobs."""


def alter_option(cursor: Cursor, alteration: Alteration) -> bool:
    """Read one option and record its job; False if no option comes next."""
    for words, run in OPTIONS:
        if cursor.accept(*words):
            run(cursor, alteration)
            return True
    if cursor.word() == "SHARD_ROW_ID_BITS":
        raise cursor.unsupported("SHARD_ROW_ID_BITS, which scatters the hidden row ids")
    word = cursor.accept_any(*_NO_JOB, *_TIDB_ONLY)
    if word:
        cursor.accept("=")
        cursor.position += 1
        if word in _TIDB_ONLY:
            alteration.actions.append(_TIDB_ONLY[word])
    return bool(word)


def _comment(cursor: Cursor, alteration: Alteration) -> None:
    cursor.accept("=")
    alteration.info = replace(alteration.info, comment=cursor.string())
    alteration.actions.append(Action.MODIFY_TABLE_COMMENT)


def _charset(cursor: Cursor, alteration: Alteration) -> None:
    """The charset of columns that are added later."""
    cursor.accept("=")
    charset = read_charset(cursor)
    _, collation = _read_collation(cursor, charset)
    _set_charset(alteration, charset, collation)
    alteration.actions.append(Action.MODIFY_TABLE_CHARSET)


def _set_charset(alteration: Alteration, charset: str, collation: str) -> None:
    """Set the table's charset, from any charset to itself or to utf8mb4.

    Source: tidb ``pkg/ddl/modify_column.go`` (``checkModifyCharsetAndCollation``).
    """
    old = alteration.info.charset
    if charset not in (old, "utf8mb4"):
        raise alteration.error(f"Unsupported modify charset from {old} to {charset}")
    alteration.info = replace(alteration.info, charset=charset, collation=collation)


def _collate(cursor: Cursor, alteration: Alteration) -> None:
    cursor.accept("=")
    _set_charset(alteration, *table_charset_of("", read_collation(cursor), ("", "")))
    alteration.actions.append(Action.MODIFY_TABLE_CHARSET)


def _convert(cursor: Cursor, alteration: Alteration) -> None:
    charset, collation = _read_collation(cursor, read_charset(cursor))
    _set_charset(alteration, charset, collation)
    convert_columns(alteration, charset, collation)
    alteration.actions.append(Action.MODIFY_TABLE_CHARSET)


def _read_collation(cursor: Cursor, charset: str) -> tuple[str, str]:
    cursor.accept("DEFAULT")
    collation = ""
    if cursor.accept("COLLATE"):
        cursor.accept("=")
        collation = read_collation(cursor)
    return table_charset_of(charset, collation, ("", ""))


def _auto_increment(cursor: Cursor, alteration: Alteration) -> None:
    cursor.accept("=")
    following, ids = cursor.integer(), alteration.table.ids
    alteration.afterwards.append(lambda: ids.rebase(following))
    alteration.actions.append(Action.REBASE_AUTO_ID)


def _auto_id_cache(cursor: Cursor, alteration: Alteration) -> None:
    cursor.accept("=")
    size, ids = cursor.integer(), alteration.table.ids
    alteration.afterwards.append(lambda: ids.resize(size))
    alteration.actions.append(Action.MODIFY_AUTO_ID_CACHE)


def _ttl(cursor: Cursor, alteration: Alteration) -> None:
    """``TTL = column + INTERVAL …``, TTL_ENABLE and TTL_JOB_INTERVAL, in any order, are one job."""
    cursor.position -= 1
    while cursor.word() in ("TTL", "TTL_ENABLE", "TTL_JOB_INTERVAL"):
        cursor.position += 1
        cursor.accept("=")
        cursor.expression_source(until=frozenset({"TTL", "TTL_ENABLE", "TTL_JOB_INTERVAL"}))
    alteration.actions.append(Action.ALTER_TTL)


def _remove_ttl(_: Cursor, alteration: Alteration) -> None:
    alteration.actions.append(Action.REMOVE_TTL)


def _placement(cursor: Cursor, alteration: Alteration) -> None:
    cursor.accept("=")
    cursor.position += 1
    alteration.actions.append(Action.ALTER_TABLE_PLACEMENT)


def _cache(_: Cursor, alteration: Alteration) -> None:
    alteration.actions.append(Action.ALTER_CACHE_TABLE)


def _nocache(_: Cursor, alteration: Alteration) -> None:
    alteration.actions.append(Action.ALTER_NO_CACHE_TABLE)


def _tiflash(cursor: Cursor, alteration: Alteration) -> None:
    cursor.integer()
    if cursor.accept("LOCATION", "LABELS"):
        while cursor.is_string():
            cursor.string()
            cursor.accept(",")
    alteration.actions.append(Action.SET_TIFLASH_REPLICA)


def _no_job(_: Cursor, __: Alteration) -> None:
    """``FORCE``, ``DISABLE KEYS`` and ``ENABLE KEYS``, for which TiDB has no job."""


OPTIONS = (
    (("COMMENT",), _comment),
    (("DEFAULT", "CHARSET"), _charset),
    (("DEFAULT", "CHARACTER", "SET"), _charset),
    (("CHARSET",), _charset),
    (("CHARACTER", "SET"), _charset),
    (("DEFAULT", "COLLATE"), _collate),
    (("COLLATE",), _collate),
    (("CONVERT", "TO", "CHARACTER", "SET"), _convert),
    (("CONVERT", "TO", "CHARSET"), _convert),
    (("AUTO_INCREMENT",), _auto_increment),
    (("AUTO_ID_CACHE",), _auto_id_cache),
    (("TTL",), _ttl),
    (("TTL_ENABLE",), _ttl),
    (("TTL_JOB_INTERVAL",), _ttl),
    (("REMOVE", "TTL"), _remove_ttl),
    (("PLACEMENT", "POLICY"), _placement),
    (("CACHE",), _cache),
    (("NOCACHE",), _nocache),
    (("SET", "TIFLASH", "REPLICA"), _tiflash),
    (("FORCE",), _no_job),
    (("DISABLE", "KEYS"), _no_job),
    (("ENABLE", "KEYS"), _no_job),
)
