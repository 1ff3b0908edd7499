"""UPDATE and DELETE of joined tables.

The join is computed before the first row is changed. Rules: tidb ``pkg/executor/update.go`` (``prepare``,
``exec``, ``merge``), ``pkg/executor/delete.go`` (``deleteMultiTablesByChunk``),
``pkg/planner/core/logical_plan_builder.go`` (``buildUpdate``, ``buildDelete``, ``checkUpdateList``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Value
from ticdc_producer.scenario.sql.dml.assign import assigned_value, generated_error, is_default
from ticdc_producer.scenario.sql.dml.references import ForeignKeys
from ticdc_producer.scenario.sql.dml.stored_rows import Skips, update_row
from ticdc_producer.scenario.sql.expression.evaluate import check_expression
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.query.from_clause import FromClause
from ticdc_producer.scenario.sql.query.join import JoinPlan
from ticdc_producer.scenario.sql.query.scope import Combination, QueryScope
from ticdc_producer.scenario.sql.query.source import TableSource
from ticdc_producer.scenario.sql.store.storage import Row, RowLocation, Table
from ticdc_producer.scenario.sql.store.transaction import OpenTransaction


class _Joined:
    """The joined tables of a statement.

    :param first: the first operand of the join.
    """

    def __init__(self, tree: exp.Expr, first: exp.Expr, context: StatementContext) -> None:
        for clause in ("order", "limit"):
            if tree.args.get(clause):
                what = (
                    f"Incorrect usage of {tree.key.upper()} and {clause.upper().replace('ORDER', 'ORDER BY')}"
                )
                raise ScenarioError(what, hint="TiDB allows it for a single table only")
        from_clause = FromClause(first, (), lambda node: context.source(node, None))
        self.sources, self.names = from_clause.sources, from_clause.names
        self.scope = QueryScope(context.mode, context=context, names=self.names)
        self.scope.combination = (None,) * len(self.sources)
        self.scope.lenient_nulls = not context.mode.strict
        where = tree.args.get("where")
        condition = None if where is None else where.this
        from_clause.check(self.scope)
        if condition is not None:
            check_expression(condition, self.scope)
        self._plan = JoinPlan(from_clause.tree, condition, self.scope)

    def combinations(self) -> Iterator[Combination]:
        for source in self.sources:
            source.begin(None)
        self._plan.prepare()
        self._plan.check_product()
        return self._plan.combinations(self.scope)

    def target(self, name: str, database: str, statement: str) -> int:
        """Return the number of the source that a statement changes; a database is none of an alias.

        Source: tidb ``extractTableList``, ``PlanBuilder.buildDelete``.
        """
        named = {number for number, _ in self.names.columns_of(name, database)}
        numbers = {number for number in named if not (database and self.sources[number].has_alias)}
        if len(numbers) != 1:
            raise ScenarioError(f"Unknown table {name!r} in MULTI DELETE", value=name)
        (number,) = numbers
        self.table(number, statement)
        return number

    def table(self, number: int, statement: str) -> Table:
        """Return the table of a source that a statement changes.

        :raises ScenarioError: if the source is a query.
        """
        source = self.sources[number]
        if not isinstance(source, TableSource):
            what = f"The target table {source.name} of the {statement} is not updatable"
            raise ScenarioError(what, value=source.name)
        return source.table

    def written_partitions(self, number: int) -> dict[int, frozenset[int]]:
        """Return, by the id of a source's table, the partitions that the statement names for this source."""
        source = self.sources[number]
        if not isinstance(source, TableSource) or source.partitions is None:
            return {}
        return {source.table.info.table_id: source.partitions}


class _Update:
    """The assignments of an UPDATE, by the number of their source."""

    def __init__(self, tree: exp.Expr, joined: _Joined) -> None:
        self._joined = joined
        self.assignments: dict[int, list[tuple[int, exp.Expr]]] = defaultdict(list)
        for assignment in tree.expressions:
            self._add(assignment)
        self._check_keys()

    def _add(self, assignment: exp.Expr) -> None:
        target, scope = assignment.this, self._joined.scope
        if not isinstance(assignment, exp.EQ) or not isinstance(target, exp.Column):
            raise ScenarioError(
                f"SQL does not parse: {assignment.sql(dialect='mysql')[:80]!r} is not an assignment"
            )
        position = self._joined.names.position(target)
        if position is None:
            raise scope.unknown_column(target.name, target.text("table"), target.text("db"))
        number, _ = position
        table = self._joined.table(number, "UPDATE")
        offset = Scope(scope.mode, table.info).offset(target.name)
        column = table.info.columns[offset]
        if not is_default(assignment.expression, column):
            if column.generated:
                raise generated_error(column, table.info)
            check_expression(assignment.expression, scope)
        self.assignments[number].append((offset, assignment.expression))

    def _check_keys(self) -> None:
        """Check that a table that is updated under two names retains its key."""
        numbers: dict[int, int] = {}
        for number, assigned in self.assignments.items():
            table = self._joined.table(number, "UPDATE")
            other = numbers.setdefault(table.info.table_id, number)
            if other == number:
                continue
            offsets = {offset for source in (number, other) for offset, _ in self.assignments[source]}
            key = table.info.clustered_key
            if (key is not None and offsets & set(key.offsets)) or (
                assigned and table.partitioning is not None
            ):
                names = [self._joined.sources[source].name for source in (other, number)]
                raise ScenarioError(
                    "Primary key/partition key update is not allowed since the table is updated both as"
                    f" {names[0]!r} and {names[1]!r}."
                )

    def computed(self, combination: Combination) -> Iterator[tuple[int, Row, dict[int, Value], bool]]:
        """Yield what a combination updates: the source, the stored row, the new values, ``filled_null``."""
        scope = self._joined.scope
        scope.combination = combination
        for number, assigned in sorted(self.assignments.items()):  # in the order of the tables
            row = combination[number]
            if row is None or row.stored is None:
                continue
            columns, scope.filled_null = self._joined.table(number, "UPDATE").info.columns, False
            values = {offset: assigned_value(node, columns[offset], scope) for offset, node in assigned}
            yield number, row.stored, values, scope.filled_null


def run_joined_update(
    tree: exp.Expr, context: StatementContext, transaction: OpenTransaction, skips: Skips | None
) -> None:
    """Run an UPDATE of joined tables. A row is updated by the first combination that changes it.

    :param skips: says which rows IGNORE leaves as they are; None without it.
    """
    joined = _Joined(tree, tree.this, context)
    update = _Update(tree, joined)
    changes = [change for combination in joined.combinations() for change in update.computed(combination)]
    changed: dict[int, set[RowLocation]] = defaultdict(set)
    current: dict[tuple[int, RowLocation], Row] = {}
    for number, row, values, filled_null in changes:
        if row.location in changed[number]:
            continue
        table = joined.table(number, "UPDATE")
        key = table.info.table_id, row.location
        stored = current.get(key, row)  # another name of the table may have updated the row
        scope = Scope(context.mode, table.info, table.read(stored), lenient_nulls=not context.mode.strict)
        scope.filled_null = filled_null
        for offset, value in values.items():
            scope.row[offset] = value
        with transaction.restricted(joined.written_partitions(number)):
            new = update_row(table, stored, scope, set(values), transaction, skips)
        if new is not None:
            changed[number].add(row.location)
            current[key] = new


def run_joined_delete(
    tree: exp.Expr, context: StatementContext, transaction: OpenTransaction, keys: ForeignKeys | None
) -> None:
    """Run a DELETE of several tables, or of one that is joined with others.

    :param keys: the foreign keys, for DELETE IGNORE; None if they are not checked.
    """
    joined, numbers = _joined_delete(tree, context)
    selected: dict[int, dict[RowLocation, Row]] = {number: {} for number in numbers}
    for combination in joined.combinations():
        for number in numbers:
            row = combination[number]
            if row is not None and row.stored is not None:
                selected[number].setdefault(row.stored.location, row.stored)
    for number in numbers:
        target = joined.table(number, "DELETE").info
        if target.soft_delete and context.mode.soft_deletes:
            raise ScenarioError(f"a DELETE of several tables cannot delete rows of {target.name}: SOFTDELETE")
    ignored = keys if tree.args.get("ignore") else None
    deleted: set[tuple[int, RowLocation]] = set()
    for number in numbers:
        table = joined.table(number, "DELETE")
        for location, stored in selected[number].items():
            if (table.info.table_id, location) not in deleted and not (
                ignored is not None and ignored.retains(table, stored)
            ):
                deleted.add((table.info.table_id, location))
                transaction.delete(table, stored)


def _joined_delete(tree: exp.Expr, context: StatementContext) -> tuple[_Joined, list[int]]:
    """Return the joined tables of a DELETE, and the numbers of those that it deletes from."""
    named, using = tree.args.get("tables"), tree.args.get("using")
    if using:
        named, first = [tree.this, *(join.this for join in tree.this.args.get("joins") or ())], using[0]
    else:
        first = tree.this
    if not isinstance(first, exp.Expr):
        raise ScenarioError("SQL does not parse: FROM is missing")
    joined = _Joined(tree, first, context)
    return joined, [joined.target(table.name, table.db, "DELETE") for table in named or ()]


def check_joined(tree: exp.Expr, context: StatementContext) -> None:
    """Check the names of an UPDATE or DELETE of joined tables that is not run."""
    if isinstance(tree, exp.Update):
        _Update(tree, _Joined(tree, tree.this, context))
    else:
        _joined_delete(tree, context)


def is_joined(tree: exp.Expr) -> bool:
    """Return whether an UPDATE or DELETE names more than one table, or uses the syntax for several."""
    target = tree.this
    if not isinstance(target, exp.Table):
        return True
    return bool(target.args.get("joins") or tree.args.get("tables") or tree.args.get("using"))
