"""ALTER TABLE, CREATE INDEX and DROP INDEX: the statements that change one table's schema."""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.model.ddl_action import Action
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.ddl import columns, keys, partitions
from ticdc_producer.scenario.sql.ddl.alteration import Alteration
from ticdc_producer.scenario.sql.ddl.context import DDLContext, if_exists, if_not_exists
from ticdc_producer.scenario.sql.ddl.options import alter_option
from ticdc_producer.scenario.sql.ddl.table import rename
from ticdc_producer.scenario.sql.key_definition import read_index_options, read_key_parts


def alter_table(cursor: Cursor, context: DDLContext) -> None:
    """``ALTER TABLE``, after these words. Several parts are one job of the kind MULTI_SCHEMA_CHANGE."""
    lenient = if_exists(cursor)
    name = cursor.qualified_name(context.database)
    if lenient and context.cluster.find(*name) is None:
        return
    table = context.cluster.table(*name)
    if partitions.alter_partitions(cursor, context, table) or _rename(cursor, context, name):
        return
    alteration = Alteration(table, context, cursor.statement.line)
    if not cursor.at_end:
        _read_part(cursor, alteration)
    parts = 1
    while cursor.accept(","):
        _read_part(cursor, alteration)
        parts += 1
    cursor.end()
    _record(cursor, context, alteration, several=parts > 1 or len(alteration.actions) > 1)


def _rename(cursor: Cursor, context: DDLContext, name: tuple[str, str]) -> bool:
    """Run ``RENAME [TO | AS] other``, which cannot be combined with other parts; whether it follows."""
    if cursor.word() != "RENAME" or cursor.word(1) in ("COLUMN", "INDEX", "KEY"):
        return False
    cursor.position += 1
    cursor.accept_any("TO", "AS", "=")
    target = cursor.qualified_name(context.database)
    if cursor.word() == ",":
        raise cursor.unsupported("RENAME TO together with other changes")
    cursor.end()
    before, after = rename(context, name, target)
    context.job(cursor, Action.RENAME_TABLE, before=before, after=after)
    return True


def _read_part(cursor: Cursor, alteration: Alteration) -> None:
    if partitions.starts_partition_change(cursor):
        raise cursor.unsupported(f"{cursor.word()} {cursor.word(1)} together with other changes")
    if (cursor.word(), cursor.word(1)) in _REJECTED:
        raise cursor.unsupported(f"ALTER TABLE … {cursor.word()} {cursor.word(1)}")
    if cursor.accept("ADD"):
        if keys.starts_key(cursor):
            keys.add_key(cursor, alteration)
        else:
            cursor.accept("COLUMN")
            columns.add_columns(cursor, alteration)
        return
    for words, run in PARTS:
        if cursor.accept(*words):
            run(cursor, alteration)
            return
    if not alter_option(cursor, alteration):
        raise cursor.unsupported(f"ALTER TABLE … {cursor.word()} {cursor.word(1)}".rstrip())
    if not cursor.at_end and cursor.word() != ",":
        # TiDB would run one job per option, all under the same text.
        raise cursor.unsupported(f"{cursor.word() or 'more'} after another table option without a comma")


def _record(cursor: Cursor, context: DDLContext, alteration: Alteration, *, several: bool) -> None:
    """Record the job, unless IF [NOT] EXISTS left nothing to do."""
    if not alteration.actions:
        return
    before = alteration.table.info
    after = alteration.finish()
    action = Action.MULTI_SCHEMA_CHANGE if several else alteration.actions[0]
    context.job(cursor, action, before=before, after=after)


def create_index(cursor: Cursor, context: DDLContext) -> None:
    """``CREATE [UNIQUE] INDEX name ON table (…)``; the cursor is after the first two words."""
    kind = "unique" if cursor.statement.word(1) == "UNIQUE" else "index"
    if kind == "unique":
        cursor.expect("INDEX")
    lenient = if_not_exists(cursor)
    line, name = cursor.line, cursor.identifier("an index name")
    read_index_options(cursor)
    cursor.expect("ON")
    table = context.cluster.table(*cursor.qualified_name(context.database))
    alteration = Alteration(table, context, cursor.statement.line)
    keys.add_index(alteration, read_key_parts(cursor, kind, name, line), lenient=lenient)
    while alter_option(cursor, alteration):
        pass
    cursor.end()
    _record(cursor, context, alteration, several=False)


def drop_index(cursor: Cursor, context: DDLContext) -> None:
    """``DROP INDEX name ON table``, after the first two words."""
    lenient = if_exists(cursor)
    name = cursor.identifier("an index name")
    cursor.expect("ON")
    table = context.cluster.table(*cursor.qualified_name(context.database))
    alteration = Alteration(table, context, cursor.statement.line)
    keys.drop_index_named(alteration, name, lenient=lenient)
    while alter_option(cursor, alteration):
        pass
    cursor.end()
    _record(cursor, context, alteration, several=False)


def _drop_primary_key(_: Cursor, alteration: Alteration) -> None:
    keys.drop_index_named(alteration, "PRIMARY")


_REJECTED = (
    ("ADD", "STATS_EXTENDED"), ("DROP", "STATS_EXTENDED"), ("DROP", "CONSTRAINT"), ("DROP", "CHECK"),
    ("ALTER", "CONSTRAINT"), ("ALTER", "CHECK"),
)  # fmt: skip
PARTS: tuple[tuple[tuple[str, ...], Callable[[Cursor, Alteration], None]], ...] = (
    (("DROP", "PRIMARY", "KEY"), _drop_primary_key),
    (("DROP", "FOREIGN", "KEY"), keys.drop_foreign_key),
    (("DROP", "INDEX"), keys.drop_key),
    (("DROP", "KEY"), keys.drop_key),
    (("DROP", "COLUMN"), columns.drop_column),
    (("DROP",), columns.drop_column),
    (("MODIFY", "COLUMN"), columns.modify_column),
    (("MODIFY",), columns.modify_column),
    (("CHANGE", "COLUMN"), columns.change_column),
    (("CHANGE",), columns.change_column),
    (("RENAME", "COLUMN"), columns.rename_column),
    (("RENAME", "INDEX"), keys.rename_index),
    (("RENAME", "KEY"), keys.rename_index),
    (("ALTER", "INDEX"), keys.alter_index),
    (("ALTER", "COLUMN"), columns.alter_default),
    (("ALTER",), columns.alter_default),
)
