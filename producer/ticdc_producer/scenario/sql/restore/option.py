"""Options of databases, tables and partitions as TiDB prints them, in the user's order.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``DatabaseOption``, ``TableOption``,
``tableOptionsWithRestoreTTLFlag``).
"""

from __future__ import annotations

from collections.abc import Iterable

from ticdc_producer.scenario.sql.definition.row_deletion import SOFT_DELETE_OPTIONS
from ticdc_producer.scenario.sql.restore.grammar import printed
from ticdc_producer.scenario.sql.restore.interval import read_unit
from ticdc_producer.scenario.sql.restore.literal import read_literal, read_number
from ticdc_producer.scenario.sql.restore.names import quote_string, read_name, table_text, tidb_comment
from ticdc_producer.scenario.sql.syntax.table_option import STRINGS, TableOption
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.spelling import quoted_name

PLACEMENT = "PLACEMENT POLICY"
_FEATURES = {
    "AUTO_ID_CACHE": "auto_id_cache", "SHARD_ROW_ID_BITS": "", "PRE_SPLIT_REGIONS": "",
    "AUTO_RANDOM_BASE": "auto_rand_base", "TTL": "ttl", "TTL_ENABLE": "ttl", "TTL_JOB_INTERVAL": "ttl",
    "AFFINITY": "affinity",
}  # fmt: skip
"""Options in comments, by the TiDB feature that the comment names."""
_ROW_FORMATS = (
    "DEFAULT", "DYNAMIC", "FIXED", "COMPRESSED", "REDUNDANT", "COMPACT", "TOKUDB_DEFAULT", "TOKUDB_FAST",
    "TOKUDB_SMALL", "TOKUDB_ZLIB", "TOKUDB_QUICKLZ", "TOKUDB_LZMA", "TOKUDB_SNAPPY", "TOKUDB_ZSTD",
    "TOKUDB_UNCOMPRESSED",
)  # fmt: skip
_QUOTED = (*STRINGS, "DATA DIRECTORY", "INDEX DIRECTORY", "AFFINITY")
_NOT_SUPPORTED = {"STATS_PERSISTENT": "StatsPersistent", "PACK_KEYS": "PackKeys"}
"""Options for which TiDB prints DEFAULT and a comment instead of the value."""
_TTL_OFF = tidb_comment("ttl", "TTL_ENABLE = 'OFF'")


def print_database_options(options: Iterable[TableOption]) -> str:
    """Print the options of a database, each after a space; TiDB prints a placement as the space alone."""
    return "".join(f" {_database_option(option)}" for option in options)


def _database_option(option: TableOption) -> str:
    match option.kind:
        case "CHARSET":
            return f"CHARACTER SET = {option.value}"
        case "COLLATE":
            return f"COLLATE = {option.value}"
        case "ENCRYPTION":
            return f"ENCRYPTION = {quote_string(option.value)}"
    return ""


def print_options(options: Iterable[TableOption]) -> list[str]:
    """Print the options without TTL_ENABLE, and with ``TTL_ENABLE = 'OFF'`` after each TTL.

    The downstream database must not expire rows itself.
    """
    texts = []
    for option in options:
        if option.kind != "TTL_ENABLE":
            texts.append(print_option(option))
        if option.kind == "TTL":
            texts.append(_TTL_OFF)
    return texts


def print_option(option: TableOption) -> str:
    """Print one option; empty for a placement, of which TiDB prints only the space before it."""
    if option.kind == PLACEMENT:
        return ""
    forced = tidb_comment("force_inc", "FORCE ") * option.forced
    feature = _FEATURES.get(option.kind)
    text = _text(option)
    return forced + (text if feature is None else tidb_comment(feature, text))


def _text(option: TableOption) -> str:
    kind, value = option.kind, option.value
    if kind in SOFT_DELETE_OPTIONS:  # TiCDC ignores that its parser does not know them
        raise option.source.unsupported(f"{kind} in TiDB's words")
    if option.expression is not None:
        return f"{kind} = {printed(option.expression, _ttl if kind == 'TTL' else _number)}"
    if kind in _QUOTED:
        return f"{kind} = {quote_string(value)}"
    if kind in _NOT_SUPPORTED:
        return f"{kind} = DEFAULT /* TableOption{_NOT_SUPPORTED[kind]} is not supported */ "
    match kind:
        case "CHARSET":
            return f"DEFAULT CHARACTER SET = {value.upper()}"
        case "COLLATE":
            return f"DEFAULT COLLATE = {value.upper()}"
        case "ENGINE" | "STORAGE ENGINE":
            return f"ENGINE = {value or quote_string('')}"
        case "INSERT_METHOD":
            return f"{kind} = {value.upper()}"
        case "ROW_FORMAT":
            if value.upper() not in _ROW_FORMATS:
                raise option.source.error("expected a row format")
            return f"{kind} = {value.upper()}"
        case "STORAGE":
            if value.upper() not in ("DISK", "MEMORY"):
                raise option.source.error("expected DISK or MEMORY")
            return f"{kind} {value.upper()}"
        case "TABLESPACE":
            return f"{kind} = {quoted_name(value)}"
        case "SECONDARY_ENGINE":
            return f"{kind} = {'NULL' if value.upper() == 'NULL' else quote_string(value)}"
        case "UNION":
            return f"{kind} = ({','.join(map(table_text, option.tables))})"
    return f"{kind} = {value}"


def _number(cursor: Cursor) -> str:
    return cursor.accept_any("DEFAULT") or read_number(cursor)


def _ttl(cursor: Cursor) -> str:
    column = read_name(cursor)
    cursor.expect("+", "INTERVAL")
    amount = read_literal(cursor)
    if amount is None:
        raise cursor.error("expected a number")
    return f"{column} + INTERVAL {amount} {read_unit(cursor)}"
