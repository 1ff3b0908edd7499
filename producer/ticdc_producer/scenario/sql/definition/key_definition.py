"""Builds the ``IndexInfo`` of keys.

Rules: tidb ``pkg/ddl/create_table.go`` (``BuildTableInfo``): which keys a table has, the order of their
ids, and which primary key is clustered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.definition.column_definition import ColumnDraft
from ticdc_producer.scenario.sql.definition.generated import hidden_column
from ticdc_producer.scenario.sql.definition.key_length import check_length, check_part
from ticdc_producer.scenario.sql.syntax import key as syntax
from ticdc_producer.scenario.sql.syntax.key import Key

_KINDS = {"PRIMARY KEY": "primary", "UNIQUE": "unique", "INDEX": "index"}


class KeyPartDraft(NamedTuple):
    """One part of a key.

    :param name: name of the column; empty for an expression.
    :param length: prefix length, -1 for the whole column.
    :param expression: SQL text of an expression.
    """

    name: str
    length: int = -1
    expression: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyDraft:
    """A parsed key.

    :param kind: ``primary``, ``unique`` or ``index``.
    :param clustered: CLUSTERED or NONCLUSTERED of a primary key; None if neither is given.
    :param implicit: whether TiDB adds the index itself, for a foreign key.
    :param is_global: whether one index has the rows of all partitions.
    """

    kind: str
    name: str
    parts: tuple[KeyPartDraft, ...]
    line: int
    clustered: bool | None = None
    implicit: bool = False
    is_global: bool = False


def draft_key(key: Key) -> KeyDraft:
    """Return the draft of a key; most options reach no consumer.

    :raises UnsupportedSQL: for kinds and options that this tool does not support.
    """
    if key.kind not in _KINDS:
        raise key.source.unsupported(f"a {key.kind} index")
    for option in key.options:
        if option.kind in ("WHERE", "PARSER", "PRE_SPLIT_REGIONS", "SECONDARY_ENGINE_ATTRIBUTE"):
            raise option.source.unsupported(f"the index option {option.kind}")
    clustered = key.option("CLUSTERED")
    if clustered and key.kind != "PRIMARY KEY":
        what = "CLUSTERED/NONCLUSTERED keyword is only supported for primary key"
        raise ScenarioError(what, line=key.source.line)
    return KeyDraft(
        kind=_KINDS[key.kind],
        name=key.symbol or key.name,
        parts=tuple(_part(part) for part in key.parts),
        line=key.source.line,
        clustered=clustered == "CLUSTERED" if clustered else None,
        is_global=key.option("GLOBAL") == "GLOBAL",
    )


def _part(part: syntax.KeyPart) -> KeyPartDraft:
    if part.expression is not None:
        return KeyPartDraft("", -1, part.expression.text)
    return KeyPartDraft(part.name[-1], part.length)


def inline_keys(columns: Sequence[ColumnDraft]) -> list[KeyDraft]:
    """Return the keys that column definitions declare inline."""
    return [
        KeyDraft(
            kind=kind,
            name="",
            parts=(KeyPartDraft(column.name),),
            line=column.line,
            clustered=column.clustered if kind == "primary" else None,
            is_global=kind in column.global_keys,
        )
        for column in columns
        for kind in column.keys
    ]


def never_null(columns: Sequence[ColumnInfo], key: KeyDraft) -> list[ColumnInfo]:
    """Make the columns of a primary key NOT NULL."""
    names = {part.name.lower() for part in key.parts}
    return [replace(c, nullable=False) if c.name.lower() in names else c for c in columns]


def add_keys(
    table: TableInfo, keys: Sequence[KeyDraft], next_id: int, *, clustered: bool = True
) -> tuple[TableInfo, int]:
    """Add keys to a table, in order of creation.

    A clustered integer primary key has no index entry in TiDB; it gets id 0 here.

    :param next_id: the first free index id.
    :param clustered: whether a primary key without CLUSTERED and NONCLUSTERED may be clustered.
    :return: the table and the next free id.
    :raises ScenarioError: for a second primary key, a duplicate name, columns that do not exist.
    """
    for key in keys:
        table, next_id = _add_key(table, key, keys, next_id, clustered)
    return table, next_id


def _add_key(
    table: TableInfo, key: KeyDraft, keys: Sequence[KeyDraft], next_id: int, may_cluster: bool
) -> tuple[TableInfo, int]:
    primary = key.kind == "primary"
    if primary and table.primary_key is not None:
        raise ScenarioError("Multiple primary keys defined", line=key.line)
    name = _index_name(table, key, keys)
    if name.lower() == "primary" and not primary:
        raise ScenarioError(f"Incorrect index name {name!r}", line=key.line)
    if any(index.name.lower() == name.lower() for index in table.indexes):
        raise ScenarioError(f"Duplicate key name {name!r}", line=key.line)
    table, key = _with_hidden(table, key, name)
    offsets, lengths = _resolve_parts(table.columns, key)
    virtual = [table.columns[o].name for o in offsets if table.columns[o].generated == "virtual"]
    if primary and virtual:
        what = "'Defining a virtual generated column as primary key' is not supported for generated columns"
        raise ScenarioError(what, line=key.line, column=virtual[0])
    check_length([table.columns[offset] for offset in offsets], lengths, key.line)
    clustered = primary and may_cluster and key.clustered is not False
    if clustered and key.is_global:
        what = "Unsupported create an index that is both a global index and a clustered index"
        raise ScenarioError(what, line=key.line, hint="add NONCLUSTERED")
    is_handle = clustered and len(offsets) == 1 and table.columns[offsets[0]].type in INTEGERS
    index = IndexInfo(
        id=0 if is_handle else next_id,
        name=name,
        offsets=offsets,
        lengths=lengths,
        unique=key.kind != "index",
        primary=primary,
        clustered=clustered,
        implicit=key.implicit,
        is_global=key.is_global,
    )
    return replace(table, indexes=(*table.indexes, index)), next_id + (not is_handle)


def _with_hidden(table: TableInfo, key: KeyDraft, name: str) -> tuple[TableInfo, KeyDraft]:
    """Replace the expressions of a key by hidden columns, which are added after all others."""
    columns, parts = list(table.columns), []
    for position, part in enumerate(key.parts):
        if part.expression:
            hidden = hidden_column(part.expression, name, position, table, key.line)
            columns.append(hidden)
            parts.append(KeyPartDraft(hidden.name))
        else:
            parts.append(part)
    return replace(table, columns=tuple(columns)), replace(key, parts=tuple(parts))


def _resolve_parts(columns: Sequence[ColumnInfo], key: KeyDraft) -> tuple[tuple[int, ...], tuple[int, ...]]:
    offsets_by_name = {column.name.lower(): offset for offset, column in enumerate(columns)}
    offsets, lengths = [], []
    for name, length, _ in key.parts:
        if name.lower() not in offsets_by_name:
            raise ScenarioError(f"Key column {name!r} doesn't exist in table", line=key.line, column=name)
        column = columns[offsets_by_name[name.lower()]]
        check_part(column, length, key.line)
        if offsets_by_name[name.lower()] in offsets:
            raise ScenarioError(f"Duplicate column name {column.name!r}", line=key.line, column=column.name)
        offsets.append(offsets_by_name[name.lower()])
        lengths.append(-1 if length == column.length else length)
    return tuple(offsets), tuple(lengths)


def _index_name(table: TableInfo, key: KeyDraft, keys: Sequence[KeyDraft]) -> str:
    if key.kind == "primary":
        return "PRIMARY"
    return key.name or _free_name(key.parts[0], table, keys)


def _free_name(first: KeyPartDraft, table: TableInfo, keys: Sequence[KeyDraft]) -> str:
    """Return the first column's name, with ``_2``, ``_3``… if that name is in use."""
    real = {column.name.lower(): column.name for column in table.columns}
    base = "expression_index" if first.expression else real.get(first.name.lower(), first.name)
    taken = {key.name.lower() for key in keys} | {index.name.lower() for index in table.indexes}
    name, number = base, 2
    while name.lower() in taken or name.lower() == "primary":
        name, number = f"{base}_{number}", number + 1
    return name


def primary_key(table: TableInfo) -> IndexInfo | None:
    """Return the primary key, else the first unique index of columns that are NOT NULL.

    Source: tidb ``TableInfo.GetPrimaryKey``.
    """
    if table.primary_key is not None:
        return table.primary_key
    for index in table.indexes:
        if index.unique and not any(table.columns[offset].nullable for offset in index.offsets):
            return index
    return None
