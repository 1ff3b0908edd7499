"""The interface of queries that were checked and can run: their columns, and their rows."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeAlias, TypeVar

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import BinaryLiteral, SQLValue
from ticdc_producer.scenario.sql.expression.ordering import row_count
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.source import Field

QueryRow: TypeAlias = list[SQLValue]
RowT = TypeVar("RowT")


def column_value(value: SQLValue) -> SQLValue:
    """Return a value of a query's result: the type of a column of ``x'…'`` is that of a string."""
    return bytes(value) if type(value) is BinaryLiteral else value


class QueryPlan(ABC):
    """A checked query.

    :ivar fields: its columns.
    :ivar correlated: whether it uses columns of the statement around it.
    :ivar reads_iteration: whether it is in a recursive query, and reads the rows of its last iteration.
    """

    fields: Sequence[Field]
    correlated: bool
    reads_iteration = False

    def __init__(self) -> None:
        self._rows: list[QueryRow] | None = None

    @abstractmethod
    def _run(self, outer: Scope | None) -> list[QueryRow]: ...

    @property
    def changes(self) -> bool:
        """Whether each run may give other rows."""
        return self.correlated or self.reads_iteration

    def rows(self, outer: Scope | None) -> list[QueryRow]:
        """Return the rows, which are computed once if they do not change.

        :param outer: the scope of the statement around it.
        """
        if self.changes:
            return self._run(outer)
        if self._rows is None:
            self._rows = self._run(outer)
        return self._rows

    def has_rows(self, outer: Scope | None) -> bool:
        """Return whether there is a row."""
        return bool(self.rows(outer))

    def without_rows(self, _outer: Scope | None) -> QueryRow | None:
        """Return the row that TiDB has for a scalar subquery without one; None for NULLs.

        :param _outer: the scope of the statement around it.
        """
        return None


class RenamedPlan(QueryPlan):
    """A query with other names for its columns."""

    def __init__(self, plan: QueryPlan, names: list[str]) -> None:
        super().__init__()
        self._plan = plan
        self.correlated, self.reads_iteration = plan.correlated, plan.reads_iteration
        self.fields = [replace(field, name=name) for name, field in zip(names, plan.fields, strict=True)]

    def _run(self, outer: Scope | None) -> list[QueryRow]:
        return self._plan.rows(outer)


def limited(rows: Iterable[RowT], tree: exp.Expr) -> list[RowT]:
    """Return the rows that LIMIT and OFFSET leave. Rows after them are not read."""
    offset, limit = tree.args.get("offset"), tree.args.get("limit")
    first = 0 if offset is None else row_count(offset)
    end = sys.maxsize if limit is None else first + row_count(limit)
    return list(islice(rows, min(first, sys.maxsize), min(end, sys.maxsize)))


def left_operand(tree: exp.Expr) -> exp.Expr:
    """Return the left side of UNION, INTERSECT or EXCEPT.

    Source: tidb ``preprocessor.checkSetOprSelectList``.

    :raises ScenarioError: if it has an ORDER BY or LIMIT without parentheses.
    """
    left: exp.Expr = tree.this
    last = left.expression if isinstance(left, exp.SetOperation) else left
    for query in (left, last):
        for clause, words in {"limit": "LIMIT", "order": "ORDER BY"}.items():
            if not isinstance(query, exp.Subquery) and query.args.get(clause):
                raise ScenarioError(f"Incorrect usage of UNION and {words}", hint="parentheses are missing")
    return left


def check_column_counts(counts: Sequence[int]) -> None:
    """Check that queries have the same number of columns.

    :raises ScenarioError: if the numbers of columns differ.
    """
    if len(set(counts)) > 1:
        raise ScenarioError("The used SELECT statements have a different number of columns")
