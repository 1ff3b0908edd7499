"""SELECT: checks one, and runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.aggregate_call import aggregates_in
from ticdc_producer.scenario.sql.expression.cast import selected_float
from ticdc_producer.scenario.sql.expression.cast_type import is_float_cast, target_of
from ticdc_producer.scenario.sql.expression.collation import collation_of
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION, is_satisfied
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate, type_of
from ticdc_producer.scenario.sql.expression.ordering import SortKey, sort_rows
from ticdc_producer.scenario.sql.expression.scope import Context, Scope
from ticdc_producer.scenario.sql.query.empty_group import joins_groups
from ticdc_producer.scenario.sql.query.equality import distinct_key
from ticdc_producer.scenario.sql.query.from_clause import FromClause
from ticdc_producer.scenario.sql.query.grouping import (
    Grouping,
    by_position,
    group_expressions,
    with_aliases,
    with_group_keys,
)
from ticdc_producer.scenario.sql.query.join import JoinPlan
from ticdc_producer.scenario.sql.query.plan import QueryPlan, QueryRow, limited
from ticdc_producer.scenario.sql.query.scope import Combination, Names, Position, QueryScope
from ticdc_producer.scenario.sql.query.set_rows import with_scales
from ticdc_producer.scenario.sql.query.source import Field, Source
from ticdc_producer.scenario.sql.query.window import Windows
from ticdc_producer.scenario.sql.text.clause import is_star, refuse_other_clauses

_KNOWN = (
    "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "distinct",
    "locks", "with_", "kind", "windows", "operation_modifiers",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SelectedRow:
    """A row of the result.

    :param sort: the values of ORDER BY.
    :param combination: the rows of FROM that it was computed from; the first ones of a group.
    """

    values: QueryRow
    sort: Sequence[SQLValue]
    combination: Combination


class SelectPlan(QueryPlan):
    """A checked SELECT.

    :param outer: the scope of the statement around it.
    :param find: finds the source that a node of FROM names or contains.
    :raises ScenarioError: for names that do not exist, or a use that TiDB rejects.
    :raises UnsupportedSQL: for a clause or expression that this tool does not compute.
    """

    def __init__(
        self,
        tree: exp.Expr,
        outer: Scope | None,
        context: Context,
        find: Callable[[exp.Expr], Source],
        mode: SQLMode,
    ) -> None:
        super().__init__()
        refuse_other_clauses(tree, "SELECT", *_KNOWN)
        self._tree = tree
        source = tree.args.get("from_")
        from_clause = FromClause(None if source is None else source.this, tree.args.get("joins") or (), find)
        self._sources, names = from_clause.sources, from_clause.names
        self.scope = QueryScope(mode, context=context, outer=outer, names=names)
        self.scope.combination = (None,) * len(self._sources)
        named = [pair for node in tree.expressions for pair in self._expanded(node)]
        self._items = [item for _, item in named]
        self._floats = [at for at, item in enumerate(self._items) if is_float_cast(item)]
        columns_last = sorted(named, key=lambda pair: isinstance(pair[1], exp.Column))
        self._aliases = {name.lower(): item for name, item in reversed(columns_last) if name}
        self._where, self._having = (_condition(tree, clause) for clause in ("where", "having"))
        order = tree.args.get("order")
        ordered = () if order is None else order.expressions
        self._order = [by_position(term.this, self._items, "order clause") for term in ordered]
        group = tree.args.get("group")
        self._keys = [self._group_key(key, named) for key in group_expressions(group, self._items)]
        if group is not None and group.args.get("rollup"):
            self._roll_up()
        grouped = {key.name.lower() for key in self._keys if isinstance(key, exp.Column)}
        self._having_aliases = {name: item for name, item in self._aliases.items() if name not in grouped}
        self._order = [
            term if any(term is item for item in self._items) else with_aliases(term, self._aliases, names)
            for term in self._order
        ]
        if self._having is not None:
            self._having = with_aliases(self._having, self._aliases, names)
        self._windows = Windows((*self._items, *self._order), tree.args.get("windows") or ())
        self._check(from_clause)
        self._grouping = self._grouped(tree)
        self.fields = self._fields(named)
        self._sort_keys = self._build_sort_keys(ordered)
        self._joins = JoinPlan(from_clause.tree, self._where, self.scope)
        self.correlated = self.scope.correlated or any(source.correlated for source in self._sources)
        self.reads_iteration = any(source.reads_iteration for source in self._sources)
        self._empty_group = self._joined_groups(from_clause)
        self._has_rows: bool | None = None

    def _fields(self, named: Sequence[tuple[str, exp.Expr]]) -> list[Field]:
        """Return the columns of the result.

        :param named: the names and expressions of the SELECT list, as they are written.
        """
        return [
            Field(
                name or original.sql(dialect="mysql"),
                collation_of(item, self.scope),
                type_of(item, self.scope),
                length=_length_of(item, self.scope.names),
            )
            for (name, original), item in zip(named, self._items, strict=True)
        ]

    def _expanded(self, node: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
        """Yield the names and expressions of one item of the SELECT list, which may be a ``*``."""
        if not is_star(node):
            yield node.alias_or_name, node.unalias()
            return
        names = self.scope.names
        for position in self._positions(node):
            yield names.field(position).name, names.expression(position)

    def _positions(self, star: exp.Expr) -> Sequence[Position]:
        names, table = self.scope.names, star.text("table")
        positions = names.columns_of(table, star.text("db")) if table else names.columns
        if not positions and table:
            raise ScenarioError(f"Unknown table {table!r}", value=table)
        if not positions:
            raise ScenarioError("No tables used")
        return positions

    def unfold(self) -> None:
        """Write the columns in place of each ``*`` into the tree. Source: tidb ``unfoldWildStar``."""
        items: list[exp.Expr] = []
        for item in self._tree.expressions:
            items += map(self._named, self._positions(item)) if is_star(item) else [item]
        self._tree.set("expressions", items)

    def _named(self, position: Position) -> exp.Column:
        source = self.scope.names.sources[position[0]]
        table, schema = (
            exp.to_identifier(part or None, quoted=True) for part in (source.name, source.schema)
        )
        name = exp.to_identifier(self.scope.names.field(position).name, quoted=True)
        return exp.column(name, table=table, db=schema)

    def _roll_up(self) -> None:
        """Replace the expressions of GROUP BY … WITH ROLLUP, which are NULL in some groups."""
        replaced = {id(item): with_group_keys(item, self._keys, self.scope.names) for item in self._items}
        self._items = [replaced[id(item)] for item in self._items]
        self._aliases = {name: replaced[id(item)] for name, item in self._aliases.items()}
        self._order = [
            replaced.get(id(item)) or with_group_keys(item, self._keys, self.scope.names)
            for item in self._order
        ]
        if self._having is not None:
            self._having = with_group_keys(self._having, self._keys, self.scope.names)

    def _check(self, from_clause: FromClause) -> None:
        """Check all expressions, even if there are no rows."""
        scope = self.scope
        from_clause.check(scope)
        if self._where is not None:
            check_expression(self._where, scope)
        with scope.clause({}, groups=True):
            self._windows.check(scope)
            scope.windows = {}
            for item in self._items:
                check_expression(item, scope)
        with scope.clause(self._aliases, aliases_first=True, groups=True):
            for expression in self._order:
                check_expression(expression, scope)
            scope.windows = None
        if self._having is not None:
            with scope.clause(self._having_aliases, aliases_first=True, groups=True):
                check_expression(self._having, scope)

    def _grouped(self, tree: exp.Expr) -> Grouping | None:
        """Return the grouping; None without GROUP BY and aggregate functions."""
        uses = [*self._items, *self._order, *([] if self._having is None else [self._having])]
        group = tree.args.get("group")
        if group is None and not any(True for use in uses for _ in aggregates_in(use)):
            return None
        for key in self._keys:
            check_expression(key, self.scope)
        rolled_up = group is not None and bool(group.args.get("rollup"))
        grouping = Grouping(self._keys, uses, self.scope.names, rolled_up=rolled_up)
        if self.scope.mode.only_full_group_by:
            for number, item in enumerate(self._items, start=1):
                grouping.check_full(item, self._where, f"Expression #{number} of SELECT list")
            for number, item in enumerate(self._order, start=1):
                grouping.check_full(
                    self._without_alias(item), self._where, f"Expression #{number} of ORDER BY"
                )
        return grouping

    def _joined_groups(self, from_clause: FromClause) -> Grouping | None:
        """Return the grouping if HAVING leaves the values of no rows where it leaves no row."""
        if self._grouping is None or self._grouping.keys or self._having is None:
            return None
        if not self.scope.correlated or any(source.correlated for source in self._sources):
            return None
        conditions, aliases = from_clause.conditions, self._having_aliases
        joins = joins_groups(self._tree, conditions, self._items, self._having, aliases, self.scope)
        return self._grouping if joins else None

    def _group_key(self, key: exp.Expr, named: Sequence[tuple[str, exp.Expr]]) -> exp.Expr:
        """Return an expression of GROUP BY, which may be an alias.

        :raises ScenarioError: for a name of several columns. Source: tidb ``resolveFromSelectFields``.
        """
        if isinstance(key, exp.Column) and not key.text("table"):
            items = [item for name, item in named if name.lower() == key.name.lower()]
            columns = {self.scope.names.position(item) for item in items if isinstance(item, exp.Column)}
            if len(columns) > 1 and all(isinstance(item, exp.Column) for item in items):
                raise ScenarioError(f"Column {key.name!r} in group statement is ambiguous", column=key.name)
        return self._without_alias(key)

    def _without_alias(self, node: exp.Expr) -> exp.Expr:
        """Return the expression that an alias means in GROUP BY or ORDER BY; any other node as it is."""
        if not isinstance(node, exp.Column) or node.text("table") or self.scope.names.find(node.name):
            return node
        return self._aliases.get(node.name.lower(), node)

    def _is_selected(self, expression: exp.Expr) -> bool:
        """Return whether an expression is an item of the SELECT list."""
        unaliased = self._without_alias(expression)
        position = self.scope.names.position(unaliased)
        return any(
            item == unaliased or (position is not None and position == self.scope.names.position(item))
            for item in self._items
        )

    def _build_sort_keys(self, ordered: Sequence[exp.Expr]) -> list[SortKey[SelectedRow]]:
        keys: list[SortKey[SelectedRow]] = []
        with self.scope.clause(self._aliases, aliases_first=True):
            for number, (expression, item) in enumerate(zip(self._order, ordered, strict=True)):
                if self._tree.args.get("distinct") and not self._is_selected(expression):
                    what = f"Expression #{number + 1} of ORDER BY clause is not in SELECT list"
                    raise ScenarioError(f"{what}; this is incompatible with DISTINCT")
                collation = collation_of(expression, self.scope) or DEFAULT_COLLATION
                keys.append(SortKey(_sort_value(number), collation, bool(item.args.get("desc"))))
        return keys

    def _run(self, outer: Scope | None) -> list[QueryRow]:
        return [row.values for row in self.selected(outer)]

    def without_rows(self, outer: Scope | None) -> QueryRow | None:
        if self._empty_group is None:
            return None
        self.scope.outer = outer
        for _ in self._empty_group.groups((), self.scope):
            with self.scope.clause({}, groups=True):
                return [evaluate(item, self.scope) for item in self._items]
        return None

    def selected(self, outer: Scope | None) -> list[SelectedRow]:
        """Return the rows, with the rows of FROM that they were computed from."""
        self._begin(outer)
        distinct = self._tree.args.get("distinct")
        if distinct or self._sort_keys or self._windows.calls or self._tree.args.get("limit") is None:
            self._joins.check_product()
        rows: Iterable[SelectedRow] = self._computed()
        if distinct:
            rows = self._distinct(rows)
        if self._sort_keys:
            rows = sort_rows(rows, self._sort_keys, self.scope.mode)
        return limited(rows, self._tree)

    def has_rows(self, outer: Scope | None) -> bool:
        if self._tree.args.get("limit") is not None:
            return super().has_rows(outer)
        if self._has_rows is None or self.changes:
            self._begin(outer)
            self._has_rows = any(True for _ in self._satisfying_rows())
        return self._has_rows

    def _begin(self, outer: Scope | None) -> None:
        """Begin a run: the rows of sources that change are read again."""
        self.scope.outer = outer
        for source in self._sources:
            source.begin(outer)
        self._joins.prepare()

    def _computed(self) -> Iterator[SelectedRow]:
        """Yield the rows before DISTINCT, ORDER BY and LIMIT."""
        scope = self.scope
        for _ in self._windows.entered(self._satisfying_rows(), scope):
            with scope.clause({}, groups=True):
                values = [evaluate(item, scope) for item in self._items]
                for position in self._floats:
                    values[position] = selected_float(values[position])
            with scope.clause(self._aliases, aliases_first=True, groups=True):
                sort = [evaluate(expression, scope) for expression in self._order]
            yield SelectedRow(values, sort, scope.combination)

    def _satisfying_rows(self) -> Iterator[None]:
        """Make each row or group that satisfies HAVING in turn the current one of the scope."""
        scope, having = self.scope, self._having
        for _ in self._current_rows():
            if having is not None:
                with scope.clause(self._having_aliases, aliases_first=True, groups=True):
                    satisfied = is_satisfied(evaluate(having, scope), scope.mode)
                if not satisfied:
                    continue
            yield

    def _current_rows(self) -> Iterator[None]:
        """Make each row or group in turn the current one of the scope."""
        scope = self.scope
        if self._grouping is not None:
            self._joins.check_product()
        combinations = self._joins.combinations(scope)
        if self._grouping is None:
            for scope.combination in combinations:
                yield
            return
        for _ in self._grouping.groups(combinations, scope):
            yield

    def _distinct(self, rows: Iterable[SelectedRow]) -> list[SelectedRow]:
        rows_by_key: dict[object, SelectedRow] = {}
        for row in rows:
            pairs = zip(row.values, self.fields, strict=True)
            key = tuple(distinct_key(value, field.collation or DEFAULT_COLLATION) for value, field in pairs)
            rows_by_key.setdefault(key, row)
        return [replace(row, values=with_scales(row.values, self.fields)) for row in rows_by_key.values()]


def _length_of(node: exp.Expr, names: Names) -> int:
    """Return the number of characters that the type of a text holds; -1 if this tool does not know it.

    That of a literal is its number of bytes. Source: tidb ``DefaultTypeForValue``.
    """
    if isinstance(node, exp.Literal) and node.is_string:
        return len(node.name.encode("utf-8", "surrogateescape"))
    if isinstance(node, exp.Cast):
        if node.to.this not in exp.DataType.TEXT_TYPES:  # a literal of a time is a CAST, too
            return -1
        target = target_of(node.to)
        return target.sizes[0] if target.name == "CHAR" and target.sizes else -1
    position = names.position(node)
    return -1 if position is None else names.field(position).length


def _condition(tree: exp.Expr, clause: str) -> exp.Expr | None:
    node = tree.args.get(clause)
    return None if node is None else node.this


def _sort_value(number: int) -> Callable[[SelectedRow], SQLValue]:
    return lambda row: row.sort[number]
