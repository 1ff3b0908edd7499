"""WITH RECURSIVE: a query that reads its own rows, those of one iteration at a time.

Rules: tidb ``pkg/executor/cte.go``, ``pkg/planner/core/logical_plan_builder.go`` (``buildRecursiveCTE``).
The columns have the names and types of the part that is not recursive, the *seed*. The other parts are run
again with the rows of the iteration before, until they give none. Their values are cast to the seed's types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.number_text import as_number
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue, Unsigned
from ticdc_producer.scenario.sql.expression.aggregate_call import aggregates_in
from ticdc_producer.scenario.sql.expression.cast import cast
from ticdc_producer.scenario.sql.expression.cast_type import CastType
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.eval_type import EvalType
from ticdc_producer.scenario.sql.expression.ordering import row_count
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.equality import distinct_key
from ticdc_producer.scenario.sql.query.plan import QueryPlan, QueryRow, check_column_counts, left_operand
from ticdc_producer.scenario.sql.query.set_rows import SetRows, union_of
from ticdc_producer.scenario.sql.query.source import MAX_ROWS, Field


class RecursiveParts:
    """The parts of a recursive common table expression.

    :ivar seed: the query that is not recursive.
    :ivar recursive: the queries that read the expression, from left to right.
    :ivar distinct: whether equal rows count once: whether the first of them follows a UNION.
    :ivar joined: per recursive query but the first, whether equal rows up to it count once in an iteration.
        In TiDB this is the operator before the query to its left. Source: tidb ``buildRecursiveCTE``.
    :ivar limit: the first of the rows that count, and the row after the last one; None without LIMIT.
    """

    def __init__(self, query: exp.Expr, name: str) -> None:
        self.seed, self.recursive, operators = query, list[exp.Expr](), list[bool]()
        self.limit = _limit(query)
        while isinstance(self.seed, exp.Union) and _reads(self.seed.expression, name):
            if self.seed.args.get("order"):
                what = "'ORDER BY over UNION in recursive Common Table Expression'"
                raise ScenarioError(f"This version of TiDB doesn't yet support {what}")
            self.recursive.insert(0, self.seed.expression)
            operators.insert(0, bool(self.seed.args.get("distinct")))
            self.seed = left_operand(self.seed)
        self.distinct, self.joined = any(operators[:1]), operators[:-1]
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
        self._limit, self._joined = parts.limit, parts.joined
        self._iteration = Iteration(seed.fields)
        for query in parts.recursive:
            _check_part(query)
        self._parts = [plan(query, self._iteration) for query in parts.recursive]
        self.correlated = any(part.correlated for part in (seed, *self._parts))
        check_column_counts([len(self.fields), *(len(part.fields) for part in self._parts)])
        given = self._united([[] for _ in self._parts]).fields
        self._targets = [_target(*pair) for pair in zip(self.fields, given, strict=True)]

    def _united(self, results: Sequence[list[QueryRow]]) -> SetRows:
        """Return the rows of the recursive parts in one iteration."""
        rows = [SetRows(part.fields, rows) for part, rows in zip(self._parts, results, strict=True)]
        return union_of(rows, self._joined, self._mode)

    def _run(self, outer: Scope | None) -> list[QueryRow]:
        first, end = self._limit or (0, MAX_ROWS + 1)
        if first == end:
            return []
        seen = set[object]()
        rows = self._new(self._seed.rows(outer), seen)
        lengths = [_longest(rows, column) for column in range(len(self.fields))]
        self._iteration.current, iterations = [*rows], 0
        while self._iteration.current and (len(rows) < end or not iterations):
            iterations += 1
            if iterations > self._mode.cte_max_recursion_depth:
                what = f"Recursive query aborted after {iterations} iterations"
                raise ScenarioError(what, hint="a condition must end the recursion")
            given = self._united([part.rows(outer) for part in self._parts]).rows
            self._iteration.current = self._new([self._cast(row, lengths) for row in given], seen)
            rows += self._iteration.current
            if len(rows) > MAX_ROWS:
                raise UnsupportedSQL(f"a recursive query of more than {MAX_ROWS:,} rows is not supported")
        return rows[first:end]

    def _cast(self, row: QueryRow, lengths: Sequence[int]) -> QueryRow:
        """Return a row with the types of the seed. Source: tidb ``buildProjection4CTEUnion``.

        :param lengths: of the longest text of each column in the seed, which its type can hold.
        """
        columns = zip(row, self._targets, self.fields, lengths, strict=True)
        return [
            value if value is None else _cast_value(value, target, field, length, self._mode)
            for value, target, field, length in columns
        ]

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


_MOST_DIGITS = 65
_CASTS = {
    EvalType.INTEGER: "SIGNED", EvalType.SHORT_UNSIGNED: "UNSIGNED", EvalType.UNSIGNED: "UNSIGNED",
    EvalType.DECIMAL: "DECIMAL", EvalType.DOUBLE: "DOUBLE", EvalType.TEXT: "CHAR", EvalType.DATE: "DATE",
    EvalType.DATETIME: "DATETIME", EvalType.TIME: "TIME",
}  # fmt: skip


def _target(field: Field, given: Field) -> CastType | None:
    """Return the type to which values of the recursive parts are cast; None if they are of it already.

    :param field: the column of the seed.
    :param given: the column of the recursive parts.
    :raises UnsupportedSQL: for a type that this tool does not know exactly.
    """
    kind, digits = field.type
    if kind is EvalType.TEXT and digits is not None and field.type == given.type:
        return None  # an ENUM or SET
    if kind is EvalType.TEXT:
        return CastType("CHAR", () if field.length < 0 else (field.length,))
    if kind is EvalType.DECIMAL and digits is not None:
        return CastType("DECIMAL", (_MOST_DIGITS, digits.decimals))
    if kind is given.type.kind and kind is not EvalType.DECIMAL:
        return None
    name = _CASTS.get(kind, "")
    if not name or (digits is None and name in ("DECIMAL", "DATETIME", "TIME")):
        what = f"column {field.name!r} of a recursive query, whose parts have different types,"
        raise UnsupportedSQL(f"{what} is not supported", hint="CAST the first to the type of the others")
    sizes = (digits.decimals,) if digits is not None and name in ("DATETIME", "TIME") else ()
    return CastType(name, sizes)


def _cast_value(
    value: SQLValue, target: CastType | None, field: Field, length: int, mode: SQLMode
) -> SQLValue:
    """Return a value with the type of the seed's column; a negative number is 0 in an unsigned one.

    :raises ScenarioError: in strict mode, for a value that does not fit.
    :raises UnsupportedSQL: for a longer one than the seed has, where this tool does not know the length.
    """
    if target is not None and target.name == "UNSIGNED" and as_number(value)[0] < 0:
        return Unsigned(0)  # tidb ``inUnion``
    result = value if target is None else cast(value, target, mode)
    if _is_longer(result, field, length):
        what = f"a longer value of column {field.name!r} than the recursive query begins with"
        raise UnsupportedSQL(f"{what} is not supported", hint="CAST the first to a type of that length")
    return result


def _is_longer(value: SQLValue, field: Field, length: int) -> bool:
    if isinstance(value, Decimal):
        digits = field.type.digits
        return digits is not None and len(str(abs(int(value)))) > digits.whole
    if field.length >= 0 or field.type.kind not in (EvalType.TEXT, EvalType.BYTES):
        return False
    return isinstance(value, str | bytes) and len(value) > length


def _longest(rows: Sequence[QueryRow], column: int) -> int:
    values = (row[column] for row in rows)
    return max((len(value) for value in values if isinstance(value, str | bytes)), default=0)
