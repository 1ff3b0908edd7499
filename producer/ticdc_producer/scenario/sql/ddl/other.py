"""DDL of sequences and placement policies. TiCDC does not send it, but its jobs take ids and commit-ts."""

from __future__ import annotations

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import Action
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.store.sequence import make_sequence
from ticdc_producer.scenario.sql.syntax.statement import DropObjects
from ticdc_producer.scenario.sql.syntax.unsent import Unsent


def run_unsent(node: Unsent, context: DDLContext) -> None:
    """Run CREATE or ALTER SEQUENCE; CREATE, ALTER or DROP PLACEMENT POLICY."""
    if node.kind == "PLACEMENT POLICY":
        _run_policy(node, context)
    elif node.verb == "CREATE":
        _create_sequence(node, context)
    else:
        schema, name = node.name.within(context.database)
        if _sequence_exists(context, schema, name, node.conditional):
            sequences = context.cluster.database(schema).sequences
            sequences[name.lower()] = sequences[name.lower()].alter(dict(node.options))
            context.job(Action.ALTER_SEQUENCE, schema=schema, table=name)


def _create_sequence(node: Unsent, context: DDLContext) -> None:
    schema, name = node.name.within(context.database)
    database = context.cluster.database(schema)
    if database.holds(name):
        if node.conditional:
            return
        raise ScenarioError(f"Table '{schema}.{name}' already exists", value=f"{schema}.{name}")
    sequence = make_sequence(f"{database.name}.{name}", dict(node.options))
    context.cluster.ids.take()
    database.sequences[name.lower()] = sequence
    context.job(Action.CREATE_SEQUENCE, schema=database.name, table=name)


def drop_sequences(node: DropObjects, context: DDLContext) -> None:
    """Run DROP SEQUENCE, which has one job per sequence."""
    names = [name.within(context.database) for name in node.names]
    for schema, name in [name for name in names if _sequence_exists(context, *name, node.if_exists)]:
        context.cluster.database(schema).sequences.pop(name.lower())
        context.job(Action.DROP_SEQUENCE, schema=schema, table=name)


def _sequence_exists(context: DDLContext, schema: str, name: str, lenient: bool) -> bool:
    if name.lower() in context.cluster.database(schema).sequences:
        return True
    if lenient:
        return False
    raise ScenarioError(f"Unknown SEQUENCE: '{schema}.{name}'", value=f"{schema}.{name}")


def _run_policy(node: Unsent, context: DDLContext) -> None:
    name, policies = node.name.name, context.cluster.policies
    exists = name.lower() in policies
    if exists == (node.verb == "CREATE"):
        if node.conditional:
            return
        if exists:
            raise ScenarioError(f"Placement policy {name!r} already exists", value=name)
        raise ScenarioError(f"Unknown placement policy {name!r}", value=name)
    match node.verb:
        case "CREATE":
            policies.add(name.lower())
            context.job(Action.CREATE_PLACEMENT_POLICY, schema=name)
        case "ALTER":
            context.job(Action.ALTER_PLACEMENT_POLICY, schema=name)
        case "DROP":
            policies.discard(name.lower())
            context.job(Action.DROP_PLACEMENT_POLICY, schema=name)
