"""Joins: the combinations of rows that satisfy the conditions of FROM and WHERE.

Sources are joined in their order, one row after the other. Each condition is checked as soon as all of its
sources are joined, and an equality with a column of the next source finds that source's rows by an index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.scenario.sql.expression.aggregate_call import own_nodes
from ticdc_producer.scenario.sql.expression.collation import SUBQUERIES, shared_collation
from ticdc_producer.scenario.sql.expression.compare import is_satisfied
from ticdc_producer.scenario.sql.expression.eval_type import NUMBERS, EvalType
from ticdc_producer.scenario.sql.expression.evaluate import evaluate, type_of
from ticdc_producer.scenario.sql.functions.session import varies
from ticdc_producer.scenario.sql.query.scope import Combination, Position, QueryScope
from ticdc_producer.scenario.sql.query.source import MAX_ROWS, SourceRow
from ticdc_producer.scenario.sql.store.lookup import joined_by_and, literals_of


@dataclass(frozen=True, slots=True)
class Leaf:
    """One source, by its number.

    :param lookups: per equality of one of its fields with an expression on sources before it: the offset of
        the field, the expression, and the equality.
    :param filters: conditions that are checked as soon as the source is joined.
    :param own: the conditions on this source alone, joined by AND; None if there are none.
    """

    source: int
    lookups: tuple[tuple[int, exp.Expr, exp.Expr], ...] = ()
    filters: tuple[exp.Expr, ...] = ()
    own: exp.Expr | None = None


@dataclass(frozen=True, slots=True)
class JoinNode:
    """A join of two sides.

    :param outer: whether the rows of the left side without a match remain, with NULLs on the right.
    :param conditions: those of ON.
    """

    left: Node
    right: Node
    outer: bool
    conditions: tuple[exp.Expr, ...] = ()


Node: TypeAlias = Leaf | JoinNode


def leaves(node: Node) -> Iterator[int]:
    """Yield the numbers of a node's sources."""
    if isinstance(node, Leaf):
        yield node.source
    else:
        yield from leaves(node.left)
        yield from leaves(node.right)


def conditions_of(node: Node) -> Iterator[exp.Expr]:
    """Yield the conditions of all joins of a node."""
    if isinstance(node, JoinNode):
        yield from (*node.conditions, *conditions_of(node.left), *conditions_of(node.right))


class JoinPlan:
    """A FROM clause with its conditions.

    :param tree: None without FROM.
    :param where: the condition of WHERE, if there is one.
    :param scope: of the names of the sources.
    """

    def __init__(self, tree: Node | None, where: exp.Expr | None, scope: QueryScope) -> None:
        self._names, self._scope = scope.names, scope
        conditions = [] if where is None else list(joined_by_and(where))
        self._literals = literals_of(where)
        self._has_conditions = bool(conditions) or (tree is not None and any(conditions_of(tree)))
        self._tree, self._rest = tree, conditions
        if tree is not None:
            self._tree, self._rest = self._planned(tree, conditions, frozenset())

    def combinations(self, scope: QueryScope) -> Iterator[Combination]:
        """Yield the combinations that satisfy all conditions, in the order of the sources and their rows.

        :raises UnsupportedSQL: if a join gives too many.
        """
        empty: Combination = (None,) * len(self._names.sources)
        if not _holds(self._literals, empty, scope):
            return iter(())
        combinations = iter([empty]) if self._tree is None else _combined(self._tree, empty, scope)
        satisfying = (combination for combination in combinations if _holds(self._rest, combination, scope))
        return self._bounded(satisfying) if isinstance(self._tree, JoinNode) else satisfying

    def check_product(self) -> None:
        """Check, before all combinations are read, that a join without conditions has few.

        :raises UnsupportedSQL: if it has too many.
        """
        if isinstance(self._tree, JoinNode) and not self._has_conditions:
            self._check_count(prod(len(source.rows()) for source in self._names.sources))

    def _bounded(self, combinations: Iterator[Combination]) -> Iterator[Combination]:
        for count, combination in enumerate(combinations, start=1):
            if count > MAX_ROWS:
                self._check_count(count)
            yield combination

    def _check_count(self, count: int) -> None:
        """Check that a join has few rows, or not more than its largest source, as a join by keys has.

        :raises UnsupportedSQL: for more rows.
        """
        if count > MAX_ROWS and count > max(len(source.rows()) for source in self._names.sources):
            what = f"a join of more than {MAX_ROWS:,} rows is not supported"
            raise UnsupportedSQL(
                what, hint="join fewer rows, or add a condition; the rows would be in memory"
            )

    def prepare(self) -> None:
        """Load the rows of tables that are not stored yet.

        :raises UnsupportedSQL: if the conditions do not give their keys.
        """
        pending = [] if self._tree is None else [self._tree]
        while pending:
            node = pending.pop()
            if isinstance(node, Leaf):
                self._names.sources[node.source].prepare(node.own)
            else:
                pending += [node.left, node.right]

    def _planned(
        self, node: Node, conditions: Sequence[exp.Expr], bound: frozenset[int]
    ) -> tuple[Node, list[exp.Expr]]:
        """Return the node with the conditions that it can check itself, and the other conditions.

        :param conditions: they may remove any row of this node.
        :param bound: the sources before it.
        """
        if isinstance(node, Leaf):
            return self._planned_leaf(node, conditions, bound)
        inherited = list(conditions) if node.outer else [*conditions, *node.conditions]
        left, rest = self._planned(node.left, inherited, bound)
        bound |= set(leaves(left))
        if node.outer:
            right, late = self._planned(node.right, node.conditions, bound)
            return JoinNode(left, right, True, tuple(late)), rest
        right, rest = self._planned(node.right, rest, bound)
        return JoinNode(left, right, False), rest

    def _planned_leaf(
        self, leaf: Leaf, conditions: Sequence[exp.Expr], bound: frozenset[int]
    ) -> tuple[Node, list[exp.Expr]]:
        filters, rest, own = [], [], []
        for condition in conditions:
            used = self._sources_of(condition)
            if used is None or not used <= bound | {leaf.source}:
                rest.append(condition)
                continue
            filters.append(condition)
            own += [condition] if used == {leaf.source} else []
        lookups = [lookup for condition in filters if (lookup := self._lookup(condition, leaf.source, bound))]
        joined = reduce(lambda left, right: exp.And(this=left, expression=right), own) if own else None
        return replace(leaf, lookups=tuple(lookups), filters=tuple(filters), own=joined), rest

    def _lookup(
        self, condition: exp.Expr, source: int, bound: frozenset[int]
    ) -> tuple[int, exp.Expr, exp.Expr] | None:
        if type(condition) is not exp.EQ:
            return None
        for field, other in ((condition.this, condition.expression), (condition.expression, condition.this)):
            position = self._names.position(field)
            used = self._sources_of(other)
            if position is None or self._names.field(position).type.kind is EvalType.YEAR:
                continue  # a YEAR equals a constant of two digits, which an index does not find
            if self._is_checked(position, other):
                continue  # strict mode converts each text, which fails if it is not a number
            if not used and self._names.field(position).type.kind is EvalType.JSON:
                continue  # a document equals a constant by its value, and a column of a join by its key
            if position[0] == source and used is not None and used <= bound:
                return position[1], other, condition
        return None

    def _is_checked(self, position: Position, other: exp.Expr) -> bool:
        """Return whether strict mode checks the texts of a column in a comparison with a number."""
        is_text = self._names.field(position).type.kind is EvalType.TEXT
        return is_text and self._scope.mode.strict and type_of(other, self._scope).kind in NUMBERS

    def _sources_of(self, condition: exp.Expr) -> frozenset[int] | None:
        """Return the sources that a condition uses.

        None if it has a subquery, or changes with each evaluation: it is evaluated once, after the joins.
        """
        used = set()
        for node in own_nodes(condition):
            if isinstance(node, (*SUBQUERIES, exp.PropertyEQ)) or varies(node):
                return None
            position = self._names.position(node)
            used |= set() if position is None else {position[0]}
        return frozenset(used)


def _combined(node: Node, before: Combination, scope: QueryScope) -> Iterator[Combination]:
    if isinstance(node, Leaf):
        yield from _leaf_rows(node, before, scope)
        return
    for left in _combined(node.left, before, scope):
        matched = False
        for both in _combined(node.right, left, scope):
            if _holds(node.conditions, both, scope):
                matched = True
                yield both
        if node.outer and not matched:
            yield left


def _leaf_rows(leaf: Leaf, before: Combination, scope: QueryScope) -> Iterator[Combination]:
    number = leaf.source
    for row in _candidates(leaf, before, scope):
        combination = (*before[:number], row, *before[number + 1 :])
        scope.in_storage = True
        satisfied = _holds(leaf.filters, combination, scope)
        scope.in_storage = False
        if satisfied:
            yield combination


def _candidates(leaf: Leaf, before: Combination, scope: QueryScope) -> Sequence[SourceRow]:
    source = scope.names.sources[leaf.source]
    scope.combination = before
    matches = [
        source.matching(
            offset, evaluate(other, scope), shared_collation(equality, scope), strict=scope.mode.strict
        )
        for offset, other, equality in leaf.lookups
    ]
    if matches:
        return min(matches, key=len)
    return source.rows() if leaf.own is None else source.selected(leaf.own)


def _holds(conditions: Sequence[exp.Expr], combination: Combination, scope: QueryScope) -> bool:
    scope.combination = combination
    return all(is_satisfied(evaluate(condition, scope), scope.mode) for condition in conditions)
