"""FROM: finds the sources that it names, and the names that each join makes visible.

Rules: MySQL manual "JOIN Clause"; tidb ``pkg/planner/core/logical_plan_builder.go`` (``buildJoin``,
``coalesceCommonColumns``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.expression.aggregate_call import own_nodes
from ticdc_producer.scenario.sql.expression.evaluate import check_expression
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.join import JoinNode, Leaf, Node, conditions_of
from ticdc_producer.scenario.sql.query.scope import Names, Position
from ticdc_producer.scenario.sql.query.source import Source
from ticdc_producer.scenario.sql.store.lookup import joined_by_and
from ticdc_producer.scenario.sql.text.clause import refuse_other_clauses
from ticdc_producer.scenario.sql.text.dialect import COMMA

_JOIN_CLAUSES = ("this", "on", "side", "kind", "using", "method")
_KINDS = ("", "INNER", "CROSS", "OUTER", "STRAIGHT_JOIN")


class FromClause:
    """The sources of a FROM clause, of an UPDATE or of a DELETE, and their joins.

    :param find: finds the source that a node names or contains.
    :ivar tree: None without FROM.
    :ivar names: the names that the other clauses see.
    """

    def __init__(
        self, first: exp.Expr | None, joins: Iterable[exp.Expr], find: Callable[[exp.Expr], Source]
    ) -> None:
        self.sources: list[Source] = []
        self.tree: Node | None = None
        self.names = Names(self.sources)
        self._find = find
        if first is not None and not _is_dual(first):
            self.tree, self.names = self._joined(first, joins)

    @property
    def conditions(self) -> list[exp.Expr]:
        """The conditions of all joins."""
        return [] if self.tree is None else list(conditions_of(self.tree))

    def check(self, scope: Scope) -> None:
        """Check the conditions of all joins.

        :raises ScenarioError: for one with a subquery that needs a join. Source: tidb ``buildJoin``.
        """
        for condition in self.conditions:
            check_expression(condition, scope)
            if scope.context is not None and scope.context.needs_join(condition):
                raise ScenarioError("ON condition doesn't support subqueries yet", hint="move it to WHERE")

    def _joined(self, first: exp.Expr, joins: Iterable[exp.Expr] = ()) -> tuple[Node, Names]:
        """Join an operand with the joins that follow it. JOIN binds tighter than a comma."""
        before: tuple[Node, Names] | None = None
        current = self._source(first)
        for join in (*(first.args.get("joins") or ()), *joins):
            refuse_other_clauses(join, "a join", *_JOIN_CLAUSES)
            if join.args.get("kind") == COMMA:
                before = current if before is None else _crossed(before, current)
                current = self._operand(join.this)
            else:
                current = _join(current, self._operand(join.this), join)
        return current if before is None else _crossed(before, current)

    def _operand(self, node: exp.Expr) -> tuple[Node, Names]:
        return self._joined(node) if node.args.get("joins") else self._source(node)

    def _source(self, node: exp.Expr) -> tuple[Node, Names]:
        if isinstance(node, exp.Subquery) and not node.alias and isinstance(node.this, _OPERANDS):
            return self._joined(node.this)  # joins in parentheses
        source = self._find(node)
        name = source.schema.lower(), source.name.lower()
        if name in ((other.schema.lower(), other.name.lower()) for other in self.sources):
            raise ScenarioError(f"Not unique table/alias: {source.name!r}", value=source.name)
        number = len(self.sources)
        self.sources.append(source)
        columns = tuple((number, offset) for offset in range(len(source.fields)))
        return Leaf(number), Names(self.sources, (number,), columns)


_OPERANDS = exp.Table | exp.Subquery
"""What a join has on its sides; in parentheses alone it is a join, too."""


def _is_dual(table: exp.Expr) -> bool:
    """Return whether a table is that of ``FROM DUAL``, which means no table."""
    return isinstance(table, exp.Table) and table.name.upper() == "DUAL" and not table.this.args.get("quoted")


def _crossed(left: tuple[Node, Names], right: tuple[Node, Names]) -> tuple[Node, Names]:
    return JoinNode(left[0], right[0], outer=False), _both(left[1], right[1])


def _both(left: Names, right: Names) -> Names:
    return Names(left.sources, (*left.numbers, *right.numbers), (*left.columns, *right.columns))


def _join(left: tuple[Node, Names], right: tuple[Node, Names], join: exp.Expr) -> tuple[Node, Names]:
    side, kind = join.args.get("side") or "", join.args.get("kind") or ""
    natural = (join.args.get("method") or "").upper() == "NATURAL"
    using = [identifier.name for identifier in join.args.get("using") or ()]
    on = join.args.get("on")
    if side not in ("", "LEFT", "RIGHT") or kind not in _KINDS:
        raise UnsupportedSQL(f"{side} {kind} JOIN is not supported".replace("  ", " ").lstrip())
    if side and not (natural or using or on is not None):
        raise ScenarioError(f"SQL does not parse: {side} JOIN needs ON or USING")
    if side == "RIGHT":  # the same rows as of a LEFT JOIN with its sides exchanged
        left, right = right, left
    if natural or using:
        names, conditions = _coalesced(left[1], right[1], using)
    else:
        swapped = side == "RIGHT"
        names = _both(right[1], left[1]) if swapped else _both(left[1], right[1])
        conditions = [] if on is None else [_qualified(condition, names) for condition in joined_by_and(on)]
    return JoinNode(left[0], right[0], bool(side), tuple(conditions)), names


def _coalesced(left: Names, right: Names, using: list[str]) -> tuple[Names, list[exp.Expr]]:
    """Return the names of NATURAL JOIN or USING: common columns first, in the order of the left side.

    :param using: the common columns; empty for NATURAL.
    """
    using_names = {name.lower() for name in using}
    for name in using:
        if left.find(name) is None or right.find(name) is None:
            raise ScenarioError(f"Unknown column {name!r} in 'from clause'", column=name)
    common: dict[Position, Position] = {}
    for position in left.columns:
        name = left.field(position).name
        if not using_names or name.lower() in using_names:
            other = right.find(name)
            if other is not None and left.find(name) is not None:
                common[position] = other
    rest = [position for position in left.columns if position not in common]
    rest += [position for position in right.columns if position not in common.values()]
    names = replace(_both(left, right), columns=(*common, *rest), _positions={})
    return names, [
        exp.EQ(this=left.expression(position), expression=right.expression(other))
        for position, other in common.items()
    ]


def _qualified(condition: exp.Expr, names: Names) -> exp.Expr:
    """Give the columns of a condition of ON the names of their tables.

    ON sees only the sides of its join.
    """
    if isinstance(condition, exp.Column):
        return _qualified_column(condition, names)
    qualified = condition.copy()
    for node in [*own_nodes(qualified)]:
        if isinstance(node, exp.Column):
            node.replace(_qualified_column(node, names))
    return qualified


def _qualified_column(node: exp.Column, names: Names) -> exp.Expr:
    position = None if node.args.get("table") else names.find(node.name)
    return node if position is None else names.expression(position)
