"""The parts of ALTER TABLE about indexes, primary keys and foreign keys."""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.model.ddl_action import Action
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.ddl.alteration import Alteration
from ticdc_producer.scenario.sql.ddl.context import if_exists, if_not_exists
from ticdc_producer.scenario.sql.foreign_key import free_name, missing_index, read_foreign_key
from ticdc_producer.scenario.sql.key_definition import (
    KeyDraft,
    add_keys,
    never_null,
    read_key,
    read_key_parts,
)
from ticdc_producer.scenario.sql.partition_bounds import check_keys
from ticdc_producer.scenario.sql.table_definition import read_check, skip_fulltext

_KEY_WORDS = ("PRIMARY", "UNIQUE", "INDEX", "KEY", "CONSTRAINT", "FOREIGN", "CHECK", "FULLTEXT", "SPATIAL")


def starts_key(cursor: Cursor) -> bool:
    """Whether a key or constraint comes next, and not a column."""
    return cursor.word() in _KEY_WORDS


def add_key(cursor: Cursor, alteration: Alteration) -> None:
    """``ADD [CONSTRAINT name] {INDEX | UNIQUE | PRIMARY KEY | FOREIGN KEY | CHECK} …``."""
    name = ""
    if cursor.accept("CONSTRAINT") and cursor.word() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
        name = cursor.identifier("a constraint name")
    if cursor.accept("FOREIGN", "KEY"):
        _add_foreign_key(cursor, alteration, name)
    elif cursor.word() == "CHECK":
        read_check(cursor)
    elif cursor.word() == "FULLTEXT":
        skip_fulltext(cursor)
    elif cursor.word() == "SPATIAL":
        raise cursor.unsupported(f"a {cursor.word()} index")
    else:
        _add_index(cursor, alteration, name)


def _add_index(cursor: Cursor, alteration: Alteration, name: str) -> None:
    lenient = cursor.word() in ("INDEX", "KEY") and cursor.word(1) == "IF"
    if lenient:
        cursor.position += 1
        if_not_exists(cursor)
        key = read_key_parts(cursor, "index", cursor.identifier("an index name"), cursor.line)
    else:
        read = read_key(cursor, name)
        if read is None:
            raise cursor.error("expected a key")
        key = read
    add_index(alteration, key, lenient=lenient)


def add_index(alteration: Alteration, key: KeyDraft, *, lenient: bool = False) -> None:
    """Add an index; ``Alteration.finish`` checks the rows for duplicates.

    :param lenient: whether an index of the same name is no error.
    """
    info = alteration.info
    if lenient and any(index.name.lower() == key.name.lower() for index in info.indexes):
        return
    primary = key.kind == "primary"
    if primary and key.clustered:
        raise alteration.error("Adding clustered primary key is not supported by TiDB")
    if primary:
        info = replace(info, columns=tuple(never_null(info.columns, key)))
    before = len(info.columns)
    info, alteration.next_index_id = add_keys(info, [key], alteration.next_index_id, clustered=False)
    if alteration.table.partitioning is not None:
        check_keys(alteration.table.partitioning, info, key.line)
    alteration.info = info
    alteration.fills += [lambda _: None] * (len(info.columns) - before)
    alteration.actions.append(Action.ADD_PRIMARY_KEY if primary else Action.ADD_INDEX)


def drop_key(cursor: Cursor, alteration: Alteration) -> None:
    """``DROP {INDEX | KEY} name``, after these words."""
    lenient = if_exists(cursor)
    drop_index_named(alteration, cursor.identifier("an index name"), lenient=lenient)


def drop_index_named(alteration: Alteration, name: str, *, lenient: bool = False) -> None:
    """Drop an index by name.

    :param lenient: whether a missing index is no error.
    """
    if lenient and all(index.name.lower() != name.lower() for index in alteration.info.indexes):
        return
    index = alteration.index(name)
    if index.primary and index.clustered:
        raise alteration.error("Unsupported drop primary key when the table is using clustered index")
    if any(_is_only_index(alteration, key.columns, index.name) for key in alteration.foreign_keys):
        raise alteration.error(f"Cannot drop index {name!r}: needed in a foreign key constraint")
    alteration.drop_index(index)
    alteration.actions.append(Action.DROP_PRIMARY_KEY if index.primary else Action.DROP_INDEX)


def _is_only_index(alteration: Alteration, columns: tuple[str, ...], name: str) -> bool:
    """Whether this index is the only one that starts with a foreign key's columns."""
    wanted = [column.lower() for column in columns]
    serving = [
        index.name
        for index in alteration.info.indexes
        if [alteration.info.columns[o].name.lower() for o in index.offsets][: len(wanted)] == wanted
    ]
    return serving == [name]


def rename_index(cursor: Cursor, alteration: Alteration) -> None:
    """``RENAME {INDEX | KEY} old TO new``, after the first two words."""
    index = alteration.index(cursor.identifier("an index name"))
    cursor.expect("TO")
    name = cursor.identifier("an index name")
    indexes = tuple(replace(i, name=name) if i is index else i for i in alteration.info.indexes)
    if sum(i.name.lower() == name.lower() for i in indexes) > 1:
        raise alteration.error(f"Duplicate key name {name!r}")
    alteration.info = replace(alteration.info, indexes=indexes)
    alteration.actions.append(Action.RENAME_INDEX)


def alter_index(cursor: Cursor, alteration: Alteration) -> None:
    """``ALTER INDEX name {VISIBLE | INVISIBLE}``, after the first two words; it does not change rows."""
    alteration.index(cursor.identifier("an index name"))
    if not cursor.accept_any("VISIBLE", "INVISIBLE"):
        raise cursor.error("expected VISIBLE or INVISIBLE")
    alteration.actions.append(Action.ALTER_INDEX_VISIBILITY)


def _add_foreign_key(cursor: Cursor, alteration: Alteration, name: str) -> None:
    key = read_foreign_key(cursor, name, alteration.info.schema)
    key = replace(key, name=key.name or free_name(alteration.foreign_keys))
    for column in key.columns:
        alteration.column(column)
    index = missing_index(alteration.info, key)
    if index is not None:
        alteration.info, alteration.next_index_id = add_keys(
            alteration.info, [index], alteration.next_index_id
        )
    alteration.foreign_keys.append(key)
    alteration.actions.append(Action.ADD_FOREIGN_KEY)


def drop_foreign_key(cursor: Cursor, alteration: Alteration) -> None:
    """``DROP FOREIGN KEY name``, after these words; its index is not dropped."""
    name = cursor.identifier("a foreign key name")
    remaining = [key for key in alteration.foreign_keys if key.name.lower() != name.lower()]
    if len(remaining) == len(alteration.foreign_keys):
        raise alteration.error(f"foreign key {name!r} does not exist")
    alteration.foreign_keys = remaining
    alteration.actions.append(Action.DROP_FOREIGN_KEY)
