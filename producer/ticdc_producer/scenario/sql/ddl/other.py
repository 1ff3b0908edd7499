"""DDL of sequences and placement policies. TiCDC does not send it, but its jobs take ids and commit-ts."""

from __future__ import annotations

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.ddl_action import Action
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.ddl.context import DDLContext, if_exists, if_not_exists


def create_sequence(cursor: Cursor, context: DDLContext) -> None:
    lenient = if_not_exists(cursor)
    schema, name = cursor.qualified_name(context.database)
    database = context.cluster.database(schema)
    if database.holds(name):
        if lenient:
            return
        raise ScenarioError(f"Table '{schema}.{name}' already exists", value=f"{schema}.{name}")
    context.cluster.ids.take()
    database.sequences.add(name.lower())
    _record(cursor, context, Action.CREATE_SEQUENCE, database.name, name)


def alter_sequence(cursor: Cursor, context: DDLContext) -> None:
    lenient = if_exists(cursor)
    schema, name = cursor.qualified_name(context.database)
    if _sequence_exists(context, schema, name, lenient):
        _record(cursor, context, Action.ALTER_SEQUENCE, schema, name)


def drop_sequence(cursor: Cursor, context: DDLContext) -> None:
    """One job per sequence."""
    lenient = if_exists(cursor)
    names = [cursor.qualified_name(context.database)]
    while cursor.accept(","):
        names.append(cursor.qualified_name(context.database))
    cursor.end()
    for schema, name in [names for names in names if _sequence_exists(context, *names, lenient)]:
        context.cluster.database(schema).sequences.discard(name.lower())
        _record(cursor, context, Action.DROP_SEQUENCE, schema, name)


def _sequence_exists(context: DDLContext, schema: str, name: str, lenient: bool) -> bool:
    if name.lower() in context.cluster.database(schema).sequences:
        return True
    if lenient:
        return False
    raise ScenarioError(f"Unknown SEQUENCE: '{schema}.{name}'", value=f"{schema}.{name}")


def _record(cursor: Cursor, context: DDLContext, action: Action, schema: str, name: str) -> None:
    context.job(cursor, action, schema=schema, table=name)


def create_placement_policy(cursor: Cursor, context: DDLContext) -> None:
    lenient = if_not_exists(cursor)
    name = cursor.identifier("a placement policy")
    if name.lower() in context.cluster.policies:
        if lenient:
            return
        raise ScenarioError(f"Placement policy {name!r} already exists", value=name)
    context.cluster.policies.add(name.lower())
    context.job(cursor, Action.CREATE_PLACEMENT_POLICY, schema=name)


def alter_placement_policy(cursor: Cursor, context: DDLContext) -> None:
    lenient = if_exists(cursor)
    name = cursor.identifier("a placement policy")
    if _policy_exists(context, name, lenient):
        context.job(cursor, Action.ALTER_PLACEMENT_POLICY, schema=name)


def drop_placement_policy(cursor: Cursor, context: DDLContext) -> None:
    lenient = if_exists(cursor)
    name = cursor.identifier("a placement policy")
    cursor.end()
    if _policy_exists(context, name, lenient):
        context.cluster.policies.discard(name.lower())
        context.job(cursor, Action.DROP_PLACEMENT_POLICY, schema=name)


def _policy_exists(context: DDLContext, name: str, lenient: bool) -> bool:
    if name.lower() in context.cluster.policies:
        return True
    if lenient:
        return False
    raise ScenarioError(f"Unknown placement policy {name!r}", value=name)
