"""The parts of ALTER TABLE that set table options or concern only TiDB itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ticdc_producer.model.catalog import Action
from ticdc_producer.scenario.sql.ddl.alteration import Alteration
from ticdc_producer.scenario.sql.ddl.modify import convert_columns, unsupported_charset
from ticdc_producer.scenario.sql.ddl.new_foreign_keys import check_no_children
from ticdc_producer.scenario.sql.definition.charset import charset_of_options
from ticdc_producer.scenario.sql.definition.key_definition import primary_key
from ticdc_producer.scenario.sql.definition.row_deletion import ttl_column
from ticdc_producer.scenario.sql.definition.table_definition import (
    check_shard_bits,
    id_cache,
    shard_bits,
    whole_number,
)
from ticdc_producer.scenario.sql.syntax.alter import ConvertTo, Setting
from ticdc_producer.scenario.sql.syntax.table_option import TableOption, check_options

_NO_JOB = frozenset({
    "ENGINE", "ROW_FORMAT", "STATS_PERSISTENT", "KEY_BLOCK_SIZE", "CHECKSUM", "ALGORITHM", "LOCK",
    "DISABLE KEYS", "ENABLE KEYS", "ORDER BY", "ALTER CHECK", "ALTER CONSTRAINT",
    "WITH VALIDATION", "WITHOUT VALIDATION",
})  # fmt: skip
"""Options and settings that TiDB reads and ignores: they have no job."""
TIDB_ONLY = {
    "AUTO_RANDOM_BASE": Action.REBASE_AUTO_RANDOM,
    "STATS_OPTIONS": Action.ALTER_TABLE_STATS_OPTIONS,
    "ATTRIBUTES": Action.ALTER_TABLE_ATTRIBUTES,
    "PLACEMENT POLICY": Action.ALTER_TABLE_PLACEMENT,
    "TTL": Action.ALTER_TTL,
    "TTL_ENABLE": Action.ALTER_TTL,
    "TTL_JOB_INTERVAL": Action.ALTER_TTL,
    "REMOVE TTL": Action.REMOVE_TTL,
    "CACHE": Action.ALTER_CACHE_TABLE,
    "NOCACHE": Action.ALTER_NO_CACHE_TABLE,
    "SET TIFLASH REPLICA": Action.SET_TIFLASH_REPLICA,
}
"""Options and settings whose value only TiDB uses, with their jobs."""
_TTL = frozenset({"TTL", "TTL_ENABLE", "TTL_JOB_INTERVAL"})
_CHARSETS = frozenset({"CHARSET", "COLLATE"})


def set_options(options: Sequence[TableOption], alteration: Alteration) -> None:
    """Set options that no comma separates, and record their job.

    :raises UnsupportedSQL: for other options, and for several that are not one job: TiDB would run one job
        per option, all under the same text.
    """
    check_options(options)
    kinds = [option.kind for option in options]
    if _CHARSETS.issuperset(kinds):
        _set_charsets(options, alteration)
        return
    if _TTL.issuperset(kinds):
        alteration.ttl = ttl_column(options, alteration.info, alteration.ttl)
        check_no_children(alteration.context, alteration.table)
    if len(options) > 1 and {TIDB_ONLY.get(kind) for kind in kinds} != {Action.ALTER_TTL}:
        second = options[1]
        raise second.source.unsupported(f"{second.kind} after another table option without a comma")
    _set_option(options[0], alteration)


def _set_option(option: TableOption, alteration: Alteration) -> None:
    kind, ids = option.kind, alteration.table.ids
    if option.forced:
        raise option.source.unsupported(f"FORCE {kind}")
    match kind:
        case "COMMENT":
            alteration.info = replace(alteration.info, comment=option.value)
            alteration.actions.append(Action.MODIFY_TABLE_COMMENT)
        case "AUTO_INCREMENT":
            following = whole_number(option)
            alteration.afterwards.append(lambda: ids.rebase(following))
            alteration.actions.append(Action.REBASE_AUTO_ID)
        case "AUTO_ID_CACHE":
            size = id_cache(option)
            if (size == 1) != (ids.cache == 1):
                raise alteration.error("Can't Alter AUTO_ID_CACHE between 1 and non-1")
            alteration.afterwards.append(lambda: ids.resize(size))
            alteration.actions.append(Action.MODIFY_AUTO_ID_CACHE)
        case "SHARD_ROW_ID_BITS":
            bits = shard_bits(option)
            check_shard_bits(bits, alteration.info)
            if bits != ids.shard_bits:  # else TiDB runs no job
                alteration.afterwards.append(lambda: ids.shard(bits))
                alteration.actions.append(Action.SHARD_ROW_ID)
        case _ if kind in TIDB_ONLY:
            alteration.actions.append(TIDB_ONLY[kind])
        case _ if kind not in _NO_JOB:
            raise option.source.unsupported(f"ALTER TABLE … {kind}")


def _set_charsets(options: Sequence[TableOption], alteration: Alteration) -> None:
    """Set the charset of columns that are added later."""
    _set_charset(alteration, *charset_of_options(options))
    alteration.actions.append(Action.MODIFY_TABLE_CHARSET)


def _set_charset(alteration: Alteration, charset: str, collation: str) -> None:
    """Set the table's charset. Source: tidb ``checkAlterTableCharset``."""
    if what := unsupported_charset(alteration.info, charset, collation):
        raise alteration.error(what)
    alteration.info = replace(alteration.info, charset=charset, collation=collation)


def convert_charset(part: ConvertTo, alteration: Alteration) -> None:
    """Run ``CONVERT TO CHARACTER SET``: change the charset of the table and of its columns."""
    charset, collation = charset_of_options(part.options)
    _set_charset(alteration, charset, collation)
    convert_columns(alteration, charset, collation)
    alteration.actions.append(Action.MODIFY_TABLE_CHARSET)


def _set_cached(cached: bool, alteration: Alteration) -> None:
    """Run ``CACHE`` or ``NOCACHE``; TiDB runs no job if the table is so already.

    :raises ScenarioError: for a table with partitions.
    """
    if cached == alteration.cached:
        return
    if cached and alteration.table.partitioning is not None:
        raise alteration.error("'partition mode' is unsupported on cache tables")
    alteration.cached = cached
    alteration.actions.append(TIDB_ONLY["CACHE" if cached else "NOCACHE"])


def change_setting(part: Setting, alteration: Alteration) -> None:
    """Run a part of a few words; ALTER INDEX does not change rows.

    :raises UnsupportedSQL: for one that this tool does not run.
    """
    if part.kind == "ALTER INDEX":
        index = alteration.index(part.name)
        if part.values == ("INVISIBLE",) and index is primary_key(alteration.info):
            raise alteration.error("A primary key index cannot be invisible")
        alteration.touch_index(index.name)
        alteration.actions.append(Action.ALTER_INDEX_VISIBILITY)
    elif part.kind == "FORCE":
        raise alteration.error("This type of ALTER TABLE is currently unsupported: FORCE")
    elif part.kind == "REMOVE TTL" and not alteration.ttl:
        pass  # TiDB runs no job
    elif part.kind in ("CACHE", "NOCACHE"):
        _set_cached(part.kind == "CACHE", alteration)
    elif part.kind in TIDB_ONLY:
        alteration.ttl = "" if part.kind == "REMOVE TTL" else alteration.ttl
        alteration.actions.append(TIDB_ONLY[part.kind])
    elif part.kind not in _NO_JOB:
        raise part.source.unsupported(f"ALTER TABLE … {part.kind}")
