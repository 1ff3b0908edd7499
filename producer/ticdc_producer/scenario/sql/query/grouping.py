"""GROUP BY: brings rows into groups, and checks ONLY_FULL_GROUP_BY.

Rules: tidb ``pkg/planner/core/logical_plan_builder.go`` (``checkOnlyFullGroupBy``,
``checkExprInGroupByOrIsSingleValue``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.expression.aggregate_call import aggregate_of, aggregates_in, own_nodes
from ticdc_producer.scenario.sql.expression.collation import collation_of
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.eval_type import EvalType
from ticdc_producer.scenario.sql.expression.evaluate import FORMS, evaluate, type_of
from ticdc_producer.scenario.sql.expression.form import Form
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.aggregate import aggregate_value
from ticdc_producer.scenario.sql.query.equality import distinct_key
from ticdc_producer.scenario.sql.query.scope import Combination, Names, Position, QueryScope
from ticdc_producer.scenario.sql.query.source import TableSource
from ticdc_producer.scenario.sql.store.lookup import joined_by_and
from ticdc_producer.scenario.sql.text.clause import refuse_other_clauses


class Grouping:
    """The groups of a query.

    :param keys: the expressions of GROUP BY; empty if all rows are one group.
    :param uses: the expressions that are computed for a group: SELECT list, HAVING, ORDER BY.
    :param names: the names of FROM.
    :param rolled_up: whether the groups of WITH ROLLUP follow, each without one more of the last keys.
    """

    def __init__(
        self, keys: Sequence[exp.Expr], uses: Iterable[exp.Expr], names: Names, *, rolled_up: bool
    ) -> None:
        self.keys = tuple(keys)
        self._names, self._rolled_up = names, rolled_up
        self._calls = {id(node): call for tree in uses for node, call in aggregates_in(tree)}

    def groups(
        self, combinations: Iterable[Combination], scope: QueryScope
    ) -> Iterator[Sequence[Combination]]:
        """Make each group in turn the current one, in the order of their first rows.

        Without GROUP BY an empty group is a group.
        """
        rows = list(combinations)
        if not self.keys:
            self._enter(rows, scope)
            yield rows
            return
        for count in range(len(self.keys), -1 if self._rolled_up else len(self.keys) - 1, -1):
            scope.grouped_by = count
            for group in self._groups(rows, self.keys[:count], scope):
                self._enter(group, scope)
                yield group

    def _groups(
        self, combinations: Iterable[Combination], keys: Sequence[exp.Expr], scope: QueryScope
    ) -> list[list[Combination]]:
        collations = [collation_of(key, scope) or DEFAULT_COLLATION for key in keys]
        groups: dict[object, list[Combination]] = {}
        for combination in combinations:
            scope.combination = combination
            values = [evaluate(key, scope) for key in keys]
            key = tuple(distinct_key(*pair) for pair in zip(values, collations, strict=True))
            groups.setdefault(key, []).append(combination)
        return list(groups.values())

    def _enter(self, group: Sequence[Combination], scope: QueryScope) -> None:
        """Make a group the current one: columns are those of its first row."""
        scope.aggregates = {node: aggregate_value(call, group, scope) for node, call in self._calls.items()}
        scope.combination = group[0] if group else (None,) * len(self._names.sources)

    def check_full(self, expression: exp.Expr, where: exp.Expr | None, what: str) -> None:
        """Check that a group determines the value of an expression, as ONLY_FULL_GROUP_BY requires.

        Like TiDB it compares the whole expression with those of GROUP BY, as they are written:
        ``upper(t.v)`` is not ``upper(v)``, and GROUP BY upper(v) does not determine ``upper(v) + 1``.

        :param what: the expression's position, for the message.
        :raises ScenarioError: if it does not.
        """
        if any(expression.unnest() == key.unnest() for key in self.keys):
            return
        determined = self._determined(where)
        waiting = [expression]
        while waiting:
            node = waiting.pop()
            if aggregate_of(node) is not None or isinstance(node, exp.Query | GroupKey):
                continue
            if isinstance(node, exp.Column):
                position = self._names.position(node)
                if position is not None and position not in determined:
                    raise self._not_full(node, what)
            waiting.extend(node.iter_expressions())

    def _determined(self, where: exp.Expr | None) -> set[Position]:
        """Return the columns that the group determines.

        These are columns of GROUP BY, columns equal to constants, and the columns that unique keys determine.
        """
        known = {position for key in self.keys if (position := self._names.position(key)) is not None}
        equal: list[tuple[Position | None, Position | None]] = []
        for condition in () if where is None else joined_by_and(where):
            if isinstance(condition, exp.EQ):
                sides = condition.this, condition.expression
                equal.append((self._names.position(sides[0]), self._names.position(sides[1])))
                known |= {
                    position
                    for side, other in (sides, sides[::-1])
                    if (position := self._names.position(side)) is not None and isinstance(other, exp.Literal)
                }
        while True:
            more = {b for a, b in (*equal, *((b, a) for a, b in equal)) if a in known and b is not None}
            more |= {position for number in self._names.numbers for position in self._by_key(number, known)}
            if more <= known:
                return known
            known |= more

    def _by_key(self, number: int, known: set[Position]) -> set[Position]:
        """Return all columns of a table of which a unique key without NULLs is known."""
        source = self._names.sources[number]
        if not isinstance(source, TableSource):
            return set()
        info = source.table.info
        names = {
            source.fields[offset].name.lower() for source_number, offset in known if source_number == number
        }
        for index in info.indexes:
            columns = [info.columns[offset] for offset in index.offsets]
            if index.unique and all(c.name.lower() in names and not c.nullable for c in columns):
                return {(number, offset) for offset in range(len(source.fields))}
        return set()

    def _not_full(self, node: exp.Expr, what: str) -> ScenarioError:
        name = node.sql(dialect="mysql")
        if not self.keys:
            text = f"In aggregated query without GROUP BY, {what} contains nonaggregated column {name!r}"
        else:
            text = f"{what} is not in GROUP BY clause and contains nonaggregated column {name!r}"
        hint = "use ANY_VALUE(), or remove ONLY_FULL_GROUP_BY from sql_mode"
        return ScenarioError(
            f"{text}; this is incompatible with sql_mode=only_full_group_by", column=node.name, hint=hint
        )


def group_expressions(group: exp.Expr | None, items: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return the expressions of GROUP BY; a number means an expression of the SELECT list.

    :raises UnsupportedSQL: for CUBE and the like.
    """
    if group is None:
        return []
    refuse_other_clauses(group, "GROUP BY", "expressions", "rollup")
    if any(rollup.expressions for rollup in group.args.get("rollup") or ()):
        raise ScenarioError("SQL does not parse: TiDB has no ROLLUP(…), only WITH ROLLUP")
    return [by_position(node, items, "group statement") for node in group.expressions]


class GroupKey(exp.Expression):
    """An expression of GROUP BY … WITH ROLLUP, by its ``number``: NULL in the groups without it."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "number": True}


class GroupLevel(exp.Expression):
    """``GROUPING(…)``: a bit for each of some expressions of GROUP BY, 1 in the groups without it."""

    arg_types: ClassVar[dict[str, bool]] = {"numbers": True}


def with_group_keys(tree: exp.Expr, keys: Sequence[exp.Expr], names: Names) -> exp.Expr:
    """Return an expression of a query with ROLLUP in which the expressions of GROUP BY are ``GroupKey``.

    Those in the arguments of aggregate functions have their own values.

    :raises ScenarioError: for GROUPING of another expression.
    """
    if (number := _key_number(tree, keys, names)) is not None:
        return GroupKey(this=tree.copy(), number=number)
    if aggregate_of(tree) is not None or isinstance(tree, exp.Query):
        return tree.copy()
    if isinstance(tree, exp.Anonymous) and str(tree.this).upper() == "GROUPING":
        numbers = [_key_number(node, keys, names) for node in tree.expressions]
        if None in numbers or not numbers:
            raise ScenarioError("Argument of GROUPING function is not in GROUP BY")
        return GroupLevel(numbers=numbers)
    copy = tree.copy()
    for node in [*copy.iter_expressions()]:
        node.replace(with_group_keys(node, keys, names))
    return copy


def _key_number(node: exp.Expr, keys: Sequence[exp.Expr], names: Names) -> int | None:
    """Return the number of the expression of GROUP BY that a node repeats; None for another node."""
    position = names.position(node)
    for number, key in enumerate(keys):
        if node.unnest() == key.unnest() or (position is not None and position == names.position(key)):
            return number
    return None


def _level(node: exp.Expr, scope: Scope) -> SQLValue:
    level = 0
    for number in node.args["numbers"]:
        level = level << 1 | (number >= scope.grouped_by)
    return level


FORMS[GroupKey] = Form(
    lambda node, scope: evaluate(node.this, scope) if node.args["number"] < scope.grouped_by else None,
    lambda node, scope: type_of(node.this, scope),
)
FORMS[GroupLevel] = Form(_level, EvalType.INTEGER, lambda *_: ())


def with_aliases(tree: exp.Expr, aliases: Mapping[str, exp.Expr], names: Names) -> exp.Expr:
    """Return HAVING or a term of ORDER BY with the expressions of the aliases in its aggregate functions.

    Columns have precedence. The tree itself stays as it is, because other statements of its shape share it,
    too. Source: tidb ``havingWindowAndOrderbyExprResolver.Leave``.

    :param aliases: the expressions of the SELECT list by their names in lower case.
    """
    if not any(_aliases_in(tree, aliases, names)):
        return tree
    copy = tree.copy()
    for node, alias in [*_aliases_in(copy, aliases, names)]:
        node.replace(exp.Paren(this=alias.copy()))
    return copy


def _aliases_in(
    tree: exp.Expr, aliases: Mapping[str, exp.Expr], names: Names
) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Yield the aliases in aggregate functions, each with its expression."""
    for aggregate, _ in aggregates_in(tree):
        for node in own_nodes(aggregate):
            alias = aliases.get(node.name.lower()) if isinstance(node, exp.Column) else None
            if alias is not None and not node.text("table") and names.find(node.name) is None:
                yield node, alias


def by_position(node: exp.Expr, items: Sequence[exp.Expr], clause: str) -> exp.Expr:
    """Return the expression of the SELECT list that a number means; any other expression as it is."""
    if not isinstance(node, exp.Literal) or node.is_string or not str(node.this).isdigit():
        return node
    number = int(str(node.this)[:20])
    if not 0 < number <= len(items):
        raise ScenarioError(f"Unknown column '{number}' in '{clause}'", column=str(number))
    return items[number - 1]
