"""ALTER TABLE, CREATE INDEX and DROP INDEX: the statements that change one table's schema."""

from __future__ import annotations

from collections.abc import Sequence

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.catalog import Action
from ticdc_producer.scenario.sql.ddl import columns, keys
from ticdc_producer.scenario.sql.ddl.alteration import Alteration
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.modify import change_column
from ticdc_producer.scenario.sql.ddl.options import change_setting, convert_charset, set_options
from ticdc_producer.scenario.sql.ddl.partitions import change_partitions
from ticdc_producer.scenario.sql.ddl.table import rename
from ticdc_producer.scenario.sql.definition.key_definition import draft_key
from ticdc_producer.scenario.sql.syntax.alter import (
    AddColumn,
    AddKey,
    AlterColumn,
    AlterPart,
    ChangeColumn,
    ConvertTo,
    Drop,
    Rename,
    RenameTo,
    SetOptions,
    Setting,
)
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions
from ticdc_producer.scenario.sql.syntax.statement import AlterTable, CreateIndex, DropIndex


def alter_table(node: AlterTable, context: DDLContext) -> None:
    """Run ``ALTER TABLE``. Several parts are one job of the kind MULTI_SCHEMA_CHANGE."""
    name = node.table.within(context.database)
    if node.if_exists and context.cluster.find(*name) is None:
        return
    table = context.cluster.table(*name)
    match node.parts:
        case [(ChangePartitions() | PartitionBy()) as change]:
            change_partitions(change, context, table)
            return
        case [RenameTo(table=target)]:
            new = target.within(context.database)
            if [part.lower() for part in new] == [part.lower() for part in name]:
                return  # no job. Source: tidb ``extractTblInfos``
            before, after = rename(context, name, new)
            context.job(Action.RENAME_TABLE, before=before, after=after)
            return
    alteration = Alteration(table, context, context.line)
    _check_algorithm(node.parts, alteration)
    for part in node.parts:
        _alter(part, alteration)
    several = len(node.parts) > 1 or len(alteration.actions) > 1
    alone = next((action for action in alteration.actions if action not in _OF_SEVERAL), None)
    if alone is not None and len(set(alteration.actions)) > 1:
        kind = alone.name.lower().replace("_", " ")
        raise alteration.error(f"Unsupported multi schema change for {kind}")
    _record(context, alteration, several=several)


_OF_SEVERAL = frozenset({
    Action.ADD_COLUMN, Action.DROP_COLUMN, Action.DROP_INDEX, Action.DROP_PRIMARY_KEY, Action.ADD_INDEX,
    Action.ADD_PRIMARY_KEY, Action.RENAME_INDEX, Action.MODIFY_COLUMN, Action.SET_DEFAULT_VALUE,
    Action.ALTER_INDEX_VISIBILITY, Action.REBASE_AUTO_ID, Action.MODIFY_TABLE_COMMENT,
    Action.MODIFY_TABLE_CHARSET, Action.ADD_FOREIGN_KEY, Action.DROP_FOREIGN_KEY,
})  # fmt: skip
"""The changes that one statement may combine. Source: tidb ``fillMultiSchemaInfo``."""


def _check_algorithm(parts: Sequence[AlterPart], alteration: Alteration) -> None:
    """Check ALGORITHM: nothing that adds a key or constraint is INSTANT.

    Source: tidb ``ResolveAlterAlgorithm``.

    :raises ScenarioError: for ``ALGORITHM = INSTANT`` of such a statement.
    """
    algorithms = [part.values for part in parts if isinstance(part, Setting) and part.kind == "ALGORITHM"]
    if algorithms and "INSTANT" in algorithms[-1] and any(isinstance(part, AddKey) for part in parts):
        what = "ALGORITHM=INSTANT is not supported. Reason: Cannot alter table by INSTANT"
        raise alteration.error(f"{what}. Try ALGORITHM=INPLACE")


def _alter(part: AlterPart, alteration: Alteration) -> None:
    match part:
        case AddColumn():
            columns.add_columns(part, alteration)
        case AddKey():
            keys.add_key(part, alteration)
        case ChangeColumn():
            change_column(part, alteration)
        case AlterColumn():
            columns.alter_default(part, alteration)
        case Drop():
            _drop(part, alteration)
        case Rename(kind=kind, old=old, new=new):
            (columns.rename_column if kind == "COLUMN" else keys.rename_index)(old, new, alteration)
        case SetOptions(options=options):
            set_options(options, alteration)
        case ConvertTo():
            convert_charset(part, alteration)
        case Setting():
            change_setting(part, alteration)
        case RenameTo():
            raise _not_alone("RENAME TO", alteration)
        case PartitionBy():
            raise _not_alone("PARTITION BY", alteration)
        case ChangePartitions(kind=kind):
            raise _not_alone(kind, alteration)


def _not_alone(kind: str, alteration: Alteration) -> UnsupportedSQL:
    return UnsupportedSQL(f"{kind} together with other changes is not supported", line=alteration.line)


def _drop(part: Drop, alteration: Alteration) -> None:
    name = part.name[-1] if part.name else "PRIMARY"
    match part.kind:
        case "COLUMN":
            columns.drop_column(name, alteration, lenient=part.if_exists)
        case "INDEX" | "PRIMARY KEY":
            keys.drop_index_named(alteration, name, lenient=part.if_exists)
        case "FOREIGN KEY":
            keys.drop_foreign_key(name, alteration)
        case "CHECK" | "CONSTRAINT":
            pass  # a warning, unless tidb_enable_check_constraint is on
        case _:
            raise part.source.unsupported(f"ALTER TABLE … DROP {part.kind}")


def _record(context: DDLContext, alteration: Alteration, *, several: bool) -> None:
    """Record the job, unless IF [NOT] EXISTS left nothing to do."""
    if not alteration.actions:
        return
    before = alteration.table.info
    after = alteration.finish()
    action = Action.MULTI_SCHEMA_CHANGE if several else alteration.actions[0]
    context.job(action, before=before, after=after)


def create_index(node: CreateIndex, context: DDLContext) -> None:
    """Run ``CREATE [UNIQUE] INDEX name ON table (…)``.

    :raises UnsupportedSQL: for an index of another kind.
    """
    key = node.key
    if key.kind not in ("INDEX", "UNIQUE"):
        raise key.source.unsupported(f"CREATE {key.kind} INDEX")
    table = context.cluster.table(*node.table.within(context.database))
    alteration = Alteration(table, context, context.line)
    keys.add_index(alteration, draft_key(key), lenient=key.if_not_exists)
    _record(context, alteration, several=False)


def drop_index(node: DropIndex, context: DDLContext) -> None:
    """Run ``DROP INDEX name ON table``."""
    table = context.cluster.table(*node.table.within(context.database))
    alteration = Alteration(table, context, context.line)
    keys.drop_index_named(alteration, node.name, lenient=node.if_exists)
    _record(context, alteration, several=False)
