"""Builds the ``TableInfo`` of a CREATE TABLE.

Rules: tidb ``pkg/ddl/create_table.go`` (``BuildTableInfo``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.definition.charset import charset_of_options
from ticdc_producer.scenario.sql.definition.column_definition import (
    ColumnDraft,
    check_owner,
    check_primary_column,
    draft_column,
    make_column,
)
from ticdc_producer.scenario.sql.definition.foreign_key import ForeignKeyInfo, make_foreign_key, missing_index
from ticdc_producer.scenario.sql.definition.generated import check_generated
from ticdc_producer.scenario.sql.definition.key_definition import (
    KeyDraft,
    add_keys,
    draft_key,
    inline_keys,
    never_null,
)
from ticdc_producer.scenario.sql.definition.partition_definition import PartitioningDraft, draft_partitioning
from ticdc_producer.scenario.sql.definition.row_deletion import (
    SOFT_DELETE_OPTIONS,
    SoftDelete,
    check_soft_delete,
)
from ticdc_producer.scenario.sql.syntax import key as syntax
from ticdc_producer.scenario.sql.syntax.alter import Element
from ticdc_producer.scenario.sql.syntax.column import Column
from ticdc_producer.scenario.sql.syntax.key import Key
from ticdc_producer.scenario.sql.syntax.statement import CreateTable
from ticdc_producer.scenario.sql.syntax.table_option import TableOption, check_options

_IGNORED_OPTIONS = (
    "ENGINE", "ROW_FORMAT", "AVG_ROW_LENGTH", "CHECKSUM", "COMPRESSION", "DELAY_KEY_WRITE", "MAX_ROWS",
    "MIN_ROWS", "KEY_BLOCK_SIZE", "STATS_PERSISTENT", "STATS_AUTO_RECALC", "PACK_KEYS", "AUTO_RANDOM_BASE",
    "PRE_SPLIT_REGIONS", "STATS_SAMPLE_PAGES",
    "ENCRYPTION", "TABLESPACE", "PLACEMENT POLICY",
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class TableDraft:
    """A parsed CREATE TABLE.

    :param cache: AUTO_ID_CACHE; 0 if it is not given.
    :param shard_bits: SHARD_ROW_ID_BITS, at most 15 as in TiDB.
    """

    columns: list[ColumnDraft] = field(default_factory=list)
    keys: list[KeyDraft] = field(default_factory=list)
    foreign_keys: list[ForeignKeyInfo] = field(default_factory=list)
    charset: str = ""
    collation: str = ""
    comment: str = ""
    auto_increment: int = 0
    cache: int = 0
    shard_bits: int = 0
    soft_delete: SoftDelete = field(default_factory=SoftDelete)
    partitioning: PartitioningDraft | None = None


def draft_table(node: CreateTable, database: str) -> TableDraft:
    """Return the draft of a table.

    :param database: the database of the table.
    :raises UnsupportedSQL: for definitions and options that this tool does not support.
    """
    draft = TableDraft()
    if not node.elements:
        raise node.source.error("expected columns in CREATE TABLE")
    _check_symbols(node)
    for element in node.elements:
        _add_element(element, draft, database, node.table.name)
    check_options(node.options)
    draft.charset, draft.collation = charset_of_options(node.options)
    for option in node.options:
        _add_option(option, draft)
    if node.partition_by is not None:
        draft.partitioning = draft_partitioning(node.partition_by)
    return draft


def _add_element(element: Element, draft: TableDraft, database: str, name: str) -> None:
    """Add a column, key or foreign key.

    TiDB ignores a CHECK unless ``tidb_enable_check_constraint`` is on, and a FULLTEXT key with a warning.
    """
    if isinstance(element, Column):
        check_owner(element, database, name)
        draft.columns.append(draft_column(element))
    elif isinstance(element, syntax.ForeignKey):
        draft.foreign_keys.append(make_foreign_key(element, database))
    elif isinstance(element, Key) and element.kind != "FULLTEXT":
        draft.keys.append(draft_key(element))


def _add_option(option: TableOption, draft: TableDraft) -> None:
    """Add one table option.

    :raises UnsupportedSQL: for any other option that changes what a consumer receives.
    """
    match option.kind:
        case "CHARSET" | "COLLATE" | "TTL" | "TTL_ENABLE" | "TTL_JOB_INTERVAL":
            pass
        case "COMMENT":
            draft.comment = option.value
        case "AUTO_INCREMENT":
            draft.auto_increment = whole_number(option)
        case "AUTO_ID_CACHE":
            draft.cache = id_cache(option)
        case "SHARD_ROW_ID_BITS":
            draft.shard_bits = shard_bits(option)
        case kind if kind in SOFT_DELETE_OPTIONS:
            draft.soft_delete = draft.soft_delete.with_option(option)
        case _ if option.kind not in _IGNORED_OPTIONS:
            raise option.source.unsupported(f"the table option {option.kind}")


def shard_bits(option: TableOption) -> int:
    """Return the value of SHARD_ROW_ID_BITS, at most 15 as in TiDB."""
    return min(whole_number(option), 15)


def check_shard_bits(bits: int, table: TableInfo) -> None:
    """Check that the rows of a table with SHARD_ROW_ID_BITS have hidden ids.

    Source: tidb ``pkg/ddl/executor.go`` (``ShardRowID``), ``pkg/ddl/create_table.go``.
    """
    if bits and table.clustered_key is not None:
        raise ScenarioError("Unsupported shard_row_id_bits for table with primary key as row id")


def whole_number(option: TableOption) -> int:
    """Return the whole number that is the value of an option.

    :raises ScenarioError: if it is the word DEFAULT.
    """
    if not option.value.isdigit():
        raise option.source.error("expected a whole number")
    return int(option.value)


def id_cache(option: TableOption) -> int:
    """Return the value of AUTO_ID_CACHE.

    :raises ScenarioError: for one beyond the range of BIGINT.
    """
    size = whole_number(option)
    if size >= 1 << 63:
        raise option.source.error("table option auto_id_cache overflows int64")
    return size


def make_table(
    draft: TableDraft, schema: str, name: str, charset: tuple[str, str], mode: SQLMode, line: int
) -> tuple[TableInfo, int]:
    """Build a table from its draft.

    :param charset: the database's charset and collation.
    :return: the table without its ids and partitions, and the next free index id.
    :raises ScenarioError: for columns or keys that contradict each other.
    """
    table_charset, table_collation = (draft.charset, draft.collation) if draft.charset else charset
    keys = [*draft.keys, *inline_keys(draft.columns)]
    columns = [make_column(column, table_charset, table_collation, mode) for column in draft.columns]
    columns += draft.soft_delete.columns()
    check_names(columns, line)
    for key in keys:
        if key.kind == "primary":
            _check_primary(key, draft.columns)
            columns = never_null(columns, key)
    info = TableInfo(
        schema=schema,
        name=name,
        table_id=0,
        columns=tuple(columns),
        charset=table_charset,
        collation=table_collation,
        comment=draft.comment,
        soft_delete=draft.soft_delete.value,
        active_active=draft.soft_delete.active_active,
    )
    info, next_id = add_keys(info, keys, 1)
    for foreign in draft.foreign_keys:
        index = missing_index(info, foreign)
        if index is not None:
            info, next_id = add_keys(info, [replace(index, implicit=True)], next_id)
    check_soft_delete(info, has_foreign_keys=bool(draft.foreign_keys), line=line)
    check_generated(info, mode, line)
    check_auto_increment(info, line)
    check_count(info, line)
    _check_auto_random(info, line)
    return info, next_id


def _check_primary(key: KeyDraft, columns: Sequence[ColumnDraft]) -> None:
    """Check that no column of a primary key is defined as NULL or DEFAULT NULL."""
    names = {part.name.lower() for part in key.parts}
    for column in columns:
        if column.name.lower() in names:
            check_primary_column(column)


def _check_symbols(node: CreateTable) -> None:
    """Check that the CHECKs of a table have different names."""
    names: set[str] = set()
    for element in node.elements:
        parts = element.attributes if isinstance(element, Column) else (element,)
        for check in parts:
            if not isinstance(check, syntax.Check) or not check.symbol:
                continue
            if check.symbol.lower() in names:
                what = f"Duplicate check constraint name {check.symbol!r}"
                raise ScenarioError(what, line=node.source.line)
            names.add(check.symbol.lower())


def check_names(columns: Sequence[ColumnInfo], line: int) -> None:
    """Check the names of columns.

    :raises ScenarioError: if two columns have the same name, or one has a reserved name.
    """
    seen: set[str] = set()
    for column in columns:
        if column.name.lower() in seen:
            raise ScenarioError(f"Duplicate column name {column.name!r}", line=line, column=column.name)
        if column.name.lower() == "_tidb_rowid" or column.name.endswith(" "):
            raise ScenarioError(f"Incorrect column name {column.name!r}", line=line, column=column.name)
        seen.add(column.name.lower())


_FEWEST_ID_BITS = 27


def _check_auto_random(info: TableInfo, line: int) -> None:
    """Check AUTO_RANDOM columns. Source: tidb ``pkg/ddl/create_table.go`` (``setTableAutoRandomBits``)."""
    for offset, column in enumerate(info.columns):
        if not column.auto_random:
            continue
        what = ""
        if column.type != MySQLType.LONGLONG:
            what = "auto_random option must be defined on `bigint` column"
        elif info.clustered_key is None or info.clustered_key.offsets[0] != offset:
            what = f"column {column.name} is not the integer primary key, or the primary key is nonclustered"
        elif column.auto_increment or column.has_default:
            what = "auto_random is incompatible with auto_increment and default"
        elif not (1 <= column.auto_random[0] <= 15 and 32 <= column.auto_random[1] <= 64):
            what = "auto_random has 1 to 15 bits for the shard, and 32 to 64 bits"
        elif column.auto_random[1] - column.auto_random[0] - (not column.unsigned) < _FEWEST_ID_BITS:
            what = "the bits for the shard leave fewer than 27 of the range"
        if what:
            raise ScenarioError(f"Invalid auto random: {what}", line=line, column=column.name)


def check_count(info: TableInfo, line: int) -> None:
    """Check that a table has not too many columns and indexes; a clustered key of one integer is no index.

    Source: tidb ``checkTooManyColumns``, ``checkTooManyIndexes``, with their defaults.

    :raises ScenarioError: if it has.
    """
    if len(info.columns) > _MOST_COLUMNS:
        raise ScenarioError(f"Too many columns: {len(info.columns)}, at most {_MOST_COLUMNS}", line=line)
    if sum(index.id > 0 for index in info.indexes) > _MOST_INDEXES:
        raise ScenarioError(f"Too many keys specified; max {_MOST_INDEXES} keys allowed", line=line)


_MOST_COLUMNS = 1017
_MOST_INDEXES = 64


def check_auto_increment(info: TableInfo, line: int) -> None:
    """Check AUTO_INCREMENT columns. TiDB requires no key of such a column.

    :raises ScenarioError: for two of them.
    """
    counters = [column.name for column in info.columns if column.auto_increment]
    if len(counters) > 1:
        what = "Incorrect table definition; there can be only one auto column"
        raise ScenarioError(what, line=line, column=counters[1])
