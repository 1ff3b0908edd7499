"""The parts of ALTER TABLE about indexes, primary keys and foreign keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ticdc_producer.model.catalog import Action
from ticdc_producer.scenario.sql.ddl.alteration import Alteration
from ticdc_producer.scenario.sql.ddl.foreign_keys import is_named
from ticdc_producer.scenario.sql.definition.foreign_key import (
    check_new_name,
    free_name,
    make_foreign_key,
    missing_index,
    serving_indexes,
)
from ticdc_producer.scenario.sql.definition.generated import columns_of, expression_of
from ticdc_producer.scenario.sql.definition.key_definition import KeyDraft, add_keys, draft_key, never_null
from ticdc_producer.scenario.sql.definition.partition_bounds import check_keys
from ticdc_producer.scenario.sql.syntax import key as syntax
from ticdc_producer.scenario.sql.syntax.alter import AddKey


def add_key(node: AddKey, alteration: Alteration) -> None:
    """Run ``ADD [CONSTRAINT name] {INDEX | UNIQUE | PRIMARY KEY | FOREIGN KEY | CHECK} …``.

    TiDB ignores a CHECK unless ``tidb_enable_check_constraint`` is on, and a FULLTEXT key with a warning.
    """
    key = node.key
    if isinstance(key, syntax.ForeignKey):
        _add_foreign_key(key, alteration)
    elif isinstance(key, syntax.Key) and key.kind != "FULLTEXT":
        add_index(alteration, draft_key(key), lenient=key.if_not_exists)


def add_index(alteration: Alteration, key: KeyDraft, *, lenient: bool = False) -> None:
    """Add an index; ``Alteration.finish`` checks the rows for duplicates.

    :param lenient: whether an index of the same name is not an error.
    """
    info = alteration.info
    if lenient and alteration.had_index(key.name):
        return
    for part in key.parts:
        alteration.use(*(columns_of(expression_of(part.expression)) if part.expression else [part.name]))
    primary = key.kind == "primary"
    if primary and key.clustered:
        raise alteration.error("Adding clustered primary key is not supported by TiDB")
    if primary:
        info = replace(info, columns=tuple(never_null(info.columns, key)))
    before = len(info.columns)
    info, alteration.next_index_id = add_keys(info, [key], alteration.next_index_id, clustered=False)
    check_keys(alteration.table.partitioning, info, key.line)
    alteration.touch_index(info.indexes[-1].name)
    alteration.info = info
    alteration.fills += [lambda _: None] * (len(info.columns) - before)
    alteration.actions.append(Action.ADD_PRIMARY_KEY if primary else Action.ADD_INDEX)


def drop_index_named(alteration: Alteration, name: str, *, lenient: bool = False) -> None:
    """Drop an index by name.

    :param lenient: whether a missing index is not an error.
    """
    if lenient and not alteration.had_index(name):
        return
    if lenient and all(index.name.lower() != name.lower() for index in alteration.info.indexes):
        alteration.touch_index(name)
    index = alteration.index(name)
    if index.primary and index.clustered:
        raise alteration.error("Unsupported drop primary key when the table is using clustered index")
    for columns in _referring_columns(alteration):
        if serving_indexes(alteration.info, columns) == [index]:
            raise alteration.error(f"Cannot drop index {name!r}: needed in a foreign key constraint")
    alteration.touch_index(name)
    alteration.drop_index(index)
    alteration.actions.append(Action.DROP_PRIMARY_KEY if index.primary else Action.DROP_INDEX)


def _referring_columns(alteration: Alteration) -> Iterator[tuple[str, ...]]:
    """Yield the table's columns of each foreign key of it, and of each foreign key to it.

    Source: tidb ``checkIndexNeededInForeignKey``.
    """
    yield from (key.columns for key in alteration.foreign_keys)
    info = alteration.table.info
    for child in alteration.context.cluster.tables():
        yield from (key.parent_columns for key in child.foreign_keys if is_named(info, key.parent))


def rename_index(old: str, name: str, alteration: Alteration) -> None:
    """Run ``RENAME {INDEX | KEY} old TO new``."""
    index = alteration.index(old)
    indexes = tuple(replace(i, name=name) if i is index else i for i in alteration.info.indexes)
    if sum(i.name.lower() == name.lower() for i in indexes) > 1:
        raise alteration.error(f"Duplicate key name {name!r}")
    for each in dict.fromkeys((old.lower(), name.lower())):
        alteration.touch_index(each)
    alteration.info = replace(alteration.info, indexes=indexes)
    alteration.actions.append(Action.RENAME_INDEX)


def _add_foreign_key(node: syntax.ForeignKey, alteration: Alteration) -> None:
    key = make_foreign_key(node, alteration.info.schema)
    key = replace(key, name=key.name or free_name(alteration.foreign_keys))
    for column in key.columns:
        alteration.column(column)
    index = missing_index(alteration.info, key)
    if index is not None:
        alteration.info, alteration.next_index_id = add_keys(
            alteration.info, [index], alteration.next_index_id
        )
    check_new_name(key, alteration.foreign_keys)
    alteration.foreign_keys.append(key)
    alteration.actions.append(Action.ADD_FOREIGN_KEY)


def drop_foreign_key(name: str, alteration: Alteration) -> None:
    """Run ``DROP FOREIGN KEY name``; its index is not dropped."""
    remaining = [key for key in alteration.foreign_keys if key.name.lower() != name.lower()]
    if len(remaining) == len(alteration.foreign_keys):
        raise alteration.error(f"foreign key {name!r} does not exist")
    alteration.foreign_keys = remaining
    alteration.actions.append(Action.DROP_FOREIGN_KEY)
