"""WITH RECURSIVE: a query that reads its own rows, those of one iteration at a time.

Rules: tidb ``pkg/executor/cte.go``, ``pkg/planner/core/logical_plan_builder.go`` (``buildRecursiveCTE``).
The columns have the names and types of the part that is not recursive. The other parts are run again with the
rows of the iteration before, until they give none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.aggregate_call import aggregates_in
from ticdc_producer.scenario.sql.expression.arithmetic import scale_of
from ticdc_producer.scenario.sql.expression.cast_type import target_of
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.eval_type import EvalType
from ticdc_producer.scenario.sql.expression.ordering import row_count
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.equality import distinct_key
from ticdc_producer.scenario.sql.query.plan import QueryPlan, QueryRow, check_column_counts, left_operand
from ticdc_producer.scenario.sql.query.source import Field
from ticdc_producer.scenario.sql.text.clause import is_star

_MAX_ROWS = 1_000_000


class RecursiveParts:
    """The parts of a recursive common table expression.

    :ivar seed: the query that is not recursive.
    :ivar recursive: the queries that read the expression, from left to right.
    :ivar distinct: whether equal rows count once.
    :ivar limit: the first of the rows that count, and the row after the last one; None without LIMIT.
    """

    def __init__(self, query: exp.Expr, name: str) -> None:
        self.seed, self.recursive, kinds = query, list[exp.Expr](), set[bool]()
        self.limit = _limit(query)
        while isinstance(self.seed, exp.Union) and _reads(self.seed.expression, name):
            if self.seed.args.get("order"):
                what = "'ORDER BY over UNION in recursive Common Table Expression'"
                raise ScenarioError(f"This version of TiDB doesn't yet support {what}")
            self.recursive.insert(0, self.seed.expression)
            kinds.add(bool(self.seed.args.get("distinct")))
            self.seed = left_operand(self.seed)
        self.distinct = True in kinds
        if self.recursive and len(kinds) > 1:
            raise UnsupportedSQL("UNION and UNION ALL in one recursive query are not supported")
        if _reads(self.seed, name):
            what = f"the recursive query {name!r} must begin with a query that does not read it"
            raise ScenarioError(what, value=name)


def _limit(query: exp.Expr) -> tuple[int, int] | None:
    limit, offset = query.args.get("limit"), query.args.get("offset")
    if limit is None:
        return None
    first = 0 if offset is None else row_count(offset)
    return first, first + row_count(limit)


def _reads(query: exp.Expr, name: str) -> bool:
    return any(table.name.lower() == name and not table.db for table in query.find_all(exp.Table))


def is_recursive(with_: exp.Expr) -> bool:
    """Return whether a query of a WITH reads itself."""
    return bool(with_.args.get("recursive")) and any(
        RecursiveParts(table.this, table.alias.lower()).recursive for table in with_.expressions
    )


class Iteration(QueryPlan):
    """The rows of the iteration before, which the recursive parts read."""

    correlated = False
    reads_iteration = True

    def __init__(self, fields: Sequence[Field]) -> None:
        super().__init__()
        self.fields = fields
        self.current: list[QueryRow] = []

    def _run(self, _outer: Scope | None) -> list[QueryRow]:
        return self.current


class RecursivePlan(QueryPlan):
    """A checked recursive query.

    :param seed: the part that is not recursive, with the names of the columns.
    :param plan: checks a recursive part, which finds an iteration under the name of the query.
    :param reads_iteration: whether it may read an iteration of a recursive query around it.
    """

    def __init__(
        self,
        parts: RecursiveParts,
        seed: QueryPlan,
        plan: Callable[[exp.Expr, Iteration], QueryPlan],
        mode: SQLMode,
        *,
        reads_iteration: bool,
    ) -> None:
        super().__init__()
        self.reads_iteration = reads_iteration
        self.fields, self._seed, self._mode, self._distinct = seed.fields, seed, mode, parts.distinct
        self._limit = parts.limit
        self._iteration, self._sizes = Iteration(seed.fields), _cast_sizes(parts.seed)
        for query in parts.recursive:
            _check_part(query)
        self._parts = [plan(query, self._iteration) for query in parts.recursive]
        self.correlated = any(part.correlated for part in (seed, *self._parts))
        check_column_counts([len(self.fields), *(len(part.fields) for part in self._parts)])
        for part in self._parts:
            for field, own in zip(self.fields, part.fields, strict=True):
                if field.type.kind is not own.type.kind:
                    what = f"column {field.name!r} of a recursive query, whose parts have different types,"
                    raise UnsupportedSQL(f"{what} is not supported", hint="CAST both to one type")

    def _run(self, outer: Scope | None) -> list[QueryRow]:
        first, end = self._limit or (0, _MAX_ROWS + 1)
        if first == end:
            return []
        seen = set[object]()
        rows = self._new(self._seed.rows(outer), seen)
        widths = [
            size or _longest(rows, column)
            for column, size in enumerate(self._sizes or [0] * len(self.fields))
        ]
        self._iteration.current, iterations = [*rows], 0
        while self._iteration.current and (len(rows) < end or not iterations):
            iterations += 1
            if iterations > self._mode.cte_max_recursion_depth:
                what = f"Recursive query aborted after {iterations} iterations"
                raise ScenarioError(what, hint="a condition must end the recursion")
            given = [row for part in self._parts for row in part.rows(outer)]
            self._check_fit(given, widths)
            self._iteration.current = self._new(given, seen)
            rows += self._iteration.current
            if len(rows) > _MAX_ROWS:
                raise UnsupportedSQL(f"a recursive query of more than {_MAX_ROWS:,} rows is not supported")
        return rows[first:end]

    def _new(self, rows: Sequence[QueryRow], seen: set[object]) -> list[QueryRow]:
        """Return the rows that were not seen before; all rows of UNION ALL."""
        if not self._distinct:
            return [*rows]
        new_rows = []
        for row in rows:
            pairs = zip(row, self.fields, strict=True)
            key = tuple(distinct_key(value, field.collation or DEFAULT_COLLATION) for value, field in pairs)
            if key not in seen:
                seen.add(key)
                new_rows.append(row)
        return new_rows

    def _check_fit(self, rows: Sequence[QueryRow], widths: Sequence[int]) -> None:
        """Check that values fit the types of the seed's columns, to which TiDB casts them.

        :param widths: of the longest value of each column.
        """
        for row in rows:
            for value, field, width in zip(row, self.fields, widths, strict=True):
                if not _fits(value, field, width):
                    what = f"a longer value of column {field.name!r} than the recursive query begins with"
                    raise UnsupportedSQL(f"{what} is not supported", hint="TiDB cuts it to the first type")


def _check_part(part: exp.Expr) -> None:
    """Check that a recursive part has no clause that TiDB rejects there.

    :raises ScenarioError: for an aggregate function, GROUP BY, DISTINCT, ORDER BY or LIMIT.
    """
    clauses = ("group", "distinct", "order", "limit", "having")
    if any(part.args.get(clause) for clause in clauses) or any(
        True for item in part.expressions for _ in aggregates_in(item)
    ):
        what = (
            "a recursive query block cannot have aggregate functions, GROUP BY, DISTINCT, ORDER BY or LIMIT"
        )
        raise ScenarioError(what)


def _cast_sizes(seed: exp.Expr) -> list[int]:
    """Return the size to which each column is cast; 0 for other expressions, no sizes if one is ``*``."""
    items = [item.unalias() for item in seed.expressions] if isinstance(seed, exp.Select) else []
    if any(map(is_star, items)):
        return []
    return [sum(target_of(item.to).sizes[:1]) if isinstance(item, exp.Cast) else 0 for item in items]


def _longest(rows: Sequence[QueryRow], column: int) -> int:
    return max((_length(row[column]) for row in rows), default=0)


def _length(value: SQLValue) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    return len(str(abs(int(value)))) if isinstance(value, Decimal) else 0


def _fits(value: SQLValue, field: Field, width: int) -> bool:
    if value is None or field.type.kind not in (EvalType.TEXT, EvalType.BYTES, EvalType.DECIMAL):
        return True
    if isinstance(value, Decimal):
        digits = field.type.digits
        return digits is not None and scale_of(value) == digits.decimals and _length(value) <= digits.whole
    return _length(value) <= width
