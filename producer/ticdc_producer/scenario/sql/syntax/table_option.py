"""Options of databases, tables and partitions, in the user's order.

Rules: tidb ``parser.y`` (``DatabaseOption``, ``TableOption``, ``PartDefOption``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.syntax.names import (
    TableName,
    accept_charset_words,
    read_bracketed_list,
    read_charset,
    read_collation,
    read_table_name,
    read_word_or_string,
)
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText

NUMBERS = (
    "AVG_ROW_LENGTH", "CHECKSUM", "TABLE_CHECKSUM", "KEY_BLOCK_SIZE", "DELAY_KEY_WRITE", "MAX_ROWS",
    "MIN_ROWS", "NODEGROUP", "STATS_BUCKETS", "STATS_TOPN", "STATS_AUTO_RECALC", "STATS_SAMPLE_PAGES",
    "PAGE_CHECKSUM", "PAGE_COMPRESSED", "PAGE_COMPRESSION_LEVEL", "TRANSACTIONAL", "SEQUENCE",
    "AUTO_INCREMENT", "AUTO_ID_CACHE", "SHARD_ROW_ID_BITS", "PRE_SPLIT_REGIONS", "AUTO_RANDOM_BASE",
)  # fmt: skip
"""Options whose value is a whole number, or the word DEFAULT."""
STRINGS = (
    "COMMENT", "CONNECTION", "PASSWORD", "COMPRESSION", "ENCRYPTION", "SECONDARY_ENGINE_ATTRIBUTE",
    "STATS_COL_CHOICE", "STATS_COL_LIST", "TTL_ENABLE", "TTL_JOB_INTERVAL", "ACTIVE_ACTIVE",
    "SOFTDELETE_JOB_ENABLE", "SOFTDELETE_JOB_INTERVAL",
)  # fmt: skip
"""Options whose value is a string."""
_ENGINES = frozenset({
    "archive", "blackhole", "csv", "example", "federated", "innodb", "memory", "merge", "mgr_myisam",
    "myisam", "ndb", "heap", "aria", "myrocks", "tokudb",
})  # fmt: skip
"""Source: tidb ``mysqlValidTableEngineNames``."""
_REFUSED = frozenset({"UNION", "INSERT_METHOD"})
_FORCED = ("AUTO_INCREMENT", "AUTO_RANDOM_BASE")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOption:
    """One option.

    :param kind: its words, without DEFAULT; ``CHARSET`` for any spelling of CHARACTER SET.
    :param value: a number, a name or the text of a string; empty if another field is the value.
    :param expression: the value of TTL and STATS_SAMPLE_RATE.
    :param tables: the value of UNION.
    :param forced: whether the word FORCE precedes it.
    """

    kind: str
    value: str = ""
    expression: SourceText | None = None
    tables: tuple[TableName, ...] = ()
    forced: bool = False
    source: SourceText = field(compare=False, repr=False)


_Value: TypeAlias = str | SourceText | tuple[TableName, ...]


def read_table_options(cursor: Cursor, *, commas: bool = True) -> tuple[TableOption, ...]:
    """Read the options that come next.

    :param commas: whether commas may separate them.
    """
    options = []
    while option := read_table_option(cursor):
        options.append(option)
        if commas:
            cursor.accept(",")
    return tuple(options)


def read_table_option(cursor: Cursor) -> TableOption | None:
    """Read the option that comes next; None for anything else."""
    start = cursor.position
    if option := _read_charset_option(cursor):
        return option
    forced = cursor.word() == "FORCE" and cursor.word(1) in _FORCED and cursor.accept("FORCE")
    for words, read in _READERS.items():
        if cursor.accept(*words):
            cursor.accept("=")
            return _option(" ".join(words), read(cursor), forced, cursor.since(start))
    return None


def check_options(options: Iterable[TableOption]) -> None:
    """Check the options that TiDB refuses and the names of engines.

    Source: tidb ``checkUnsupportedTableOptions``.

    :raises ScenarioError: for one of them.
    """
    for option in options:
        what = ""
        if option.kind in _REFUSED:
            what = f"CREATE/ALTER table with {option.kind.lower().replace('_', ' ')} option is not supported"
        if option.kind == "ENGINE" and option.value.lower() not in _ENGINES:
            what = f"Unknown storage engine {option.value!r}"
        if what:
            raise ScenarioError(what, line=option.source.line, value=option.value)


def _option(kind: str, value: _Value, forced: bool, source: SourceText) -> TableOption:
    if isinstance(value, SourceText):
        return TableOption(kind=kind, expression=value, forced=forced, source=source)
    if isinstance(value, tuple):
        return TableOption(kind=kind, tables=value, forced=forced, source=source)
    return TableOption(kind=kind, value=value, forced=forced, source=source)


def _read_charset_option(cursor: Cursor) -> TableOption | None:
    """Read a charset, collation or placement, which databases also have.

    The word DEFAULT may precede them.
    """
    start = cursor.position
    default = cursor.accept("DEFAULT")
    if accept_charset_words(cursor):
        cursor.accept("=")
        return TableOption(kind="CHARSET", value=read_charset(cursor), source=cursor.since(start))
    if cursor.accept("COLLATE"):
        cursor.accept("=")
        return TableOption(kind="COLLATE", value=read_collation(cursor), source=cursor.since(start))
    if cursor.accept("PLACEMENT", "POLICY"):
        cursor.accept("=")
        policy = read_word_or_string(cursor, "a placement policy")
        return TableOption(kind="PLACEMENT POLICY", value=policy, source=cursor.since(start))
    if default and cursor.word() != "ENCRYPTION":
        raise cursor.error("expected CHARSET or COLLATE")
    return None


def read_database_options(cursor: Cursor) -> tuple[TableOption, ...]:
    """Read the options of a database, up to the end of the statement."""
    options = []
    while not cursor.at_end:
        start = cursor.position
        option = _read_charset_option(cursor)
        if option is None and cursor.accept("ENCRYPTION"):
            cursor.accept("=")
            option = TableOption(kind="ENCRYPTION", value=cursor.string(), source=cursor.since(start))
        if option is None:
            raise cursor.unsupported(f"the database option {cursor.word() or 'here'}")
        options.append(option)
    return tuple(options)


def _number(cursor: Cursor) -> str:
    return cursor.accept_any("DEFAULT") or str(cursor.integer())


def _word(cursor: Cursor) -> str:
    return cursor.word_or_name("DEFAULT or a number")


def _union(cursor: Cursor) -> tuple[TableName, ...]:
    return () if cursor.accept("(", ")") else read_bracketed_list(cursor, read_table_name)


def _ttl(cursor: Cursor) -> SourceText:
    """Read ``column + INTERVAL number unit``."""
    start = cursor.position
    cursor.identifier("a column name")
    cursor.expect("+", "INTERVAL")
    cursor.position += 1
    cursor.word_or_name("a unit of time")
    return cursor.since(start)


def _soft_delete(cursor: Cursor) -> str:
    """Read ``RETENTION number unit``, or ``'ON'`` or ``'OFF'``."""
    if cursor.is_string():
        return cursor.string()
    cursor.expect("RETENTION")
    amount = cursor.integer()
    return f"RETENTION {amount} {cursor.word_or_name('a unit of time').upper()}"


def _sample_rate(cursor: Cursor) -> SourceText:
    start = cursor.position
    cursor.accept(".")
    cursor.position += 1
    return cursor.since(start)


_READERS: dict[tuple[str, ...], Callable[[Cursor], _Value]] = {
    **dict.fromkeys(((word,) for word in NUMBERS), _number),
    **dict.fromkeys(((word,) for word in STRINGS), Cursor.string),
    ("DATA", "DIRECTORY"): Cursor.string,
    ("INDEX", "DIRECTORY"): Cursor.string,
    ("STORAGE", "ENGINE"): read_word_or_string,
    ("ENGINE",): read_word_or_string,
    ("INSERT_METHOD",): read_word_or_string,
    ("AUTOEXTEND_SIZE",): read_word_or_string,
    ("IETF_QUOTES",): read_word_or_string,
    ("AFFINITY",): read_word_or_string,
    ("ROW_FORMAT",): _word,
    ("STATS_PERSISTENT",): _word,
    ("PACK_KEYS",): _word,
    ("TABLESPACE",): Cursor.identifier,
    ("STORAGE",): Cursor.identifier,
    ("SECONDARY_ENGINE",): read_word_or_string,
    ("UNION",): _union,
    ("STATS_SAMPLE_RATE",): _sample_rate,
    ("TTL",): _ttl,
    ("SOFTDELETE",): _soft_delete,
}
