"""Table options as TiDB prints them, in the user's order.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``TableOption``, ``tableOptionsWithRestoreTTLFlag``); ``parser.y``
(``TableOption``, ``PartDefOption``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.interval import read_unit
from ticdc_producer.scenario.sql.restore.literal import read_literal, read_number
from ticdc_producer.scenario.sql.restore.names import (
    accept_charset_words,
    quote_string,
    read_bracketed_list,
    read_charset,
    read_collation,
    read_name,
    read_table_name,
    read_word_or_string,
    tidb_comment,
)

_NUMBERS = (
    "AVG_ROW_LENGTH", "CHECKSUM", "TABLE_CHECKSUM", "KEY_BLOCK_SIZE", "DELAY_KEY_WRITE", "MAX_ROWS",
    "MIN_ROWS", "NODEGROUP", "STATS_BUCKETS", "STATS_TOPN", "STATS_AUTO_RECALC", "STATS_SAMPLE_PAGES",
    "PAGE_CHECKSUM", "PAGE_COMPRESSED", "PAGE_COMPRESSION_LEVEL", "TRANSACTIONAL", "SEQUENCE",
)  # fmt: skip
_STRINGS = (
    "COMMENT", "CONNECTION", "PASSWORD", "COMPRESSION", "ENCRYPTION", "SECONDARY_ENGINE_ATTRIBUTE",
    "STATS_COL_CHOICE", "STATS_COL_LIST",
)  # fmt: skip
_COMMENTED_NUMBERS = {"AUTO_ID_CACHE": "auto_id_cache", "SHARD_ROW_ID_BITS": "", "PRE_SPLIT_REGIONS": ""}
_FORCED_NUMBERS = ("AUTO_INCREMENT", "AUTO_RANDOM_BASE")
_ROW_FORMATS = (
    "DEFAULT", "DYNAMIC", "FIXED", "COMPRESSED", "REDUNDANT", "COMPACT", "TOKUDB_DEFAULT", "TOKUDB_FAST",
    "TOKUDB_SMALL", "TOKUDB_ZLIB", "TOKUDB_QUICKLZ", "TOKUDB_LZMA", "TOKUDB_SNAPPY", "TOKUDB_ZSTD",
    "TOKUDB_UNCOMPRESSED",
)  # fmt: skip
PLACEMENT = "PLACEMENT POLICY"


@dataclass(frozen=True, slots=True)
class TableOption:
    """One option.

    :param kind: its keywords.
    :param text: as TiDB prints it; empty for a placement, of which TiDB prints only the space before it.
    :param value: the name of a charset or collation; else empty.
    """

    kind: str
    text: str
    value: str = ""


_TTL_OFF = TableOption("TTL_ENABLE", tidb_comment("ttl", "TTL_ENABLE = 'OFF'"))


def read_table_options(cursor: Cursor, *, commas: bool = True) -> list[TableOption]:
    """The options that come next.

    :param commas: whether commas may separate them.
    """
    options = []
    while option := read_table_option(cursor):
        options.append(option)
        if commas:
            cursor.accept(",")
    return options


def with_ttl_disabled(options: list[TableOption]) -> list[TableOption]:
    """The options without TTL_ENABLE, and with ``TTL_ENABLE = 'OFF'`` after each TTL.

    The downstream database must not expire rows itself.
    """
    printed = []
    for option in options:
        if option.kind != "TTL_ENABLE":
            printed.append(option)
        if option.kind == "TTL":
            printed.append(_TTL_OFF)
    return printed


def read_table_option(cursor: Cursor) -> TableOption | None:
    """The option that comes next; None for anything else."""
    start = cursor.position
    cursor.accept("DEFAULT")
    if accept_charset_words(cursor):
        cursor.accept("=")
        charset = read_charset(cursor)
        return TableOption("CHARSET", f"DEFAULT CHARACTER SET = {charset.upper()}", charset)
    if cursor.accept("COLLATE"):
        cursor.accept("=")
        collation = read_collation(cursor)
        return TableOption("COLLATE", f"DEFAULT COLLATE = {collation.upper()}", collation)
    if cursor.accept("PLACEMENT", "POLICY"):
        cursor.accept("=")
        read_word_or_string(cursor)
        return TableOption(PLACEMENT, "")
    cursor.position = start
    forced = cursor.word() == "FORCE" and cursor.word(1) in _FORCED_NUMBERS and cursor.accept("FORCE")
    word = cursor.word()
    for words, reader in _READERS.items():
        if cursor.accept(*words):
            cursor.accept("=")
            return TableOption(
                " ".join(words), tidb_comment("force_inc", "FORCE ") * forced + reader(cursor, word)
            )
    return None


def _number(cursor: Cursor, word: str) -> str:
    return f"{word} = {cursor.accept_any('DEFAULT') or cursor.integer()}"


def _commented_number(cursor: Cursor, word: str) -> str:
    return tidb_comment(_COMMENTED_NUMBERS[word], f"{word} = {cursor.integer()}")


def _random_base(cursor: Cursor, word: str) -> str:
    return tidb_comment("auto_rand_base", f"{word} = {cursor.integer()}")


def _string(cursor: Cursor, word: str) -> str:
    return f"{word} = {quote_string(cursor.string())}"


def _directory(cursor: Cursor, word: str) -> str:
    return f"{word} DIRECTORY = {quote_string(cursor.string())}"


def _plain(cursor: Cursor, word: str) -> str:
    return f"{word} = {read_word_or_string(cursor)}"


def _engine(cursor: Cursor, _: str) -> str:
    return f"ENGINE = {read_word_or_string(cursor) or quote_string('')}"


def _upper(cursor: Cursor, word: str) -> str:
    return f"{word} = {read_word_or_string(cursor).upper()}"


def _row_format(cursor: Cursor, word: str) -> str:
    if not (choice := cursor.accept_any(*_ROW_FORMATS)):
        raise cursor.error("expected a row format")
    return f"{word} = {choice}"


def _not_supported(kind: str) -> Callable[[Cursor, str], str]:
    """A reader of an option for which TiDB prints DEFAULT and a comment instead of its value."""

    def read(cursor: Cursor, word: str) -> str:
        cursor.identifier("DEFAULT or a number")
        return f"{word} = DEFAULT /* TableOption{kind} is not supported */ "

    return read


def _name(cursor: Cursor, word: str) -> str:
    return f"{word} = {read_name(cursor)}"


def _storage(cursor: Cursor, word: str) -> str:
    if not (medium := cursor.accept_any("DISK", "MEMORY")):
        raise cursor.error("expected DISK or MEMORY")
    return f"{word} {medium}"


def _secondary_engine(cursor: Cursor, word: str) -> str:
    return f"{word} = {cursor.accept_any('NULL') or quote_string(read_word_or_string(cursor))}"


def _union(cursor: Cursor, word: str) -> str:
    tables = [] if cursor.accept("(", ")") else read_bracketed_list(cursor, read_table_name)
    return f"{word} = ({','.join(tables)})"


def _sample_rate(cursor: Cursor, word: str) -> str:
    return f"{word} = {cursor.accept_any('DEFAULT') or read_number(cursor)}"


def _ttl(cursor: Cursor, word: str) -> str:
    column = read_name(cursor)
    cursor.expect("+", "INTERVAL")
    amount = read_literal(cursor)
    if amount is None:
        raise cursor.error("expected a number")
    return tidb_comment("ttl", f"{word} = {column} + INTERVAL {amount} {read_unit(cursor)}")


def _ttl_string(cursor: Cursor, word: str) -> str:
    return tidb_comment("ttl", _string(cursor, word))


def _affinity(cursor: Cursor, word: str) -> str:
    return tidb_comment("affinity", f"{word} = {quote_string(read_word_or_string(cursor))}")


_READERS: dict[tuple[str, ...], Callable[[Cursor, str], str]] = {
    **{(word,): _number for word in (*_NUMBERS, "AUTO_INCREMENT")},
    **{(word,): _string for word in _STRINGS},
    **{(word,): _commented_number for word in _COMMENTED_NUMBERS},
    ("AUTO_RANDOM_BASE",): _random_base,
    ("DATA", "DIRECTORY"): _directory,
    ("INDEX", "DIRECTORY"): _directory,
    ("STORAGE", "ENGINE"): _engine,
    ("ENGINE",): _engine,
    ("INSERT_METHOD",): _upper,
    ("AUTOEXTEND_SIZE",): _plain,
    ("IETF_QUOTES",): _plain,
    ("ROW_FORMAT",): _row_format,
    ("STATS_PERSISTENT",): _not_supported("StatsPersistent"),
    ("PACK_KEYS",): _not_supported("PackKeys"),
    ("TABLESPACE",): _name,
    ("STORAGE",): _storage,
    ("SECONDARY_ENGINE",): _secondary_engine,
    ("UNION",): _union,
    ("STATS_SAMPLE_RATE",): _sample_rate,
    ("TTL",): _ttl,
    ("TTL_ENABLE",): _ttl_string,
    ("TTL_JOB_INTERVAL",): _ttl_string,
    ("AFFINITY",): _affinity,
}
