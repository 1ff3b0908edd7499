"""A parsed statement with its plan, which the statements of one shape share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.text.clause import named_table

_OF_ONE_STATEMENT = (
    exp.Query, exp.Exists, exp.Any, exp.All, exp.Parameter, exp.PropertyEQ, exp.SessionParameter,
)  # fmt: skip
"""Nodes whose check depends on more than the tree and the table: on other tables, or on variables."""
PlanT = TypeVar("PlanT")


@dataclass(slots=True)
class ParsedStatement:
    """A statement's verb and its tree.

    A *plan* is what follows from the tree and the version of its table, whatever the literals are: checked
    expressions, columns by their offsets, the index that finds the rows. A DDL of the table makes another
    version. Two settings of the session have an effect on a plan: ``tidb_translate_softdelete_sql``, which
    hides columns, and ``cte_max_recursion_depth``.

    :param names_partitions: whether it writes into named partitions of one table.
    :param shared: whether other statements of the shape will use this tree, with their literals.
    """

    verb: str
    tree: exp.Expr
    shared: bool = False
    names_partitions: bool = False
    _table_name: tuple[str, str] | None = None
    _plan: object = None
    _table: TableInfo | None = None
    _settings: tuple[object, ...] = ()

    @property
    def is_planned(self) -> bool:
        """True if an earlier statement of the shape has a plan, so that the tree has only known clauses."""
        return self._plan is not None

    @property
    def table_name(self) -> tuple[str, str]:
        """The database and the name of the statement's table.

        :raises UnsupportedSQL: for anything but one plain table.
        """
        if self._table_name is None:
            self._table_name = named_table(self.tree.this)
        return self._table_name

    def plan(self, kind: type[PlanT], table: TableInfo, mode: SQLMode, make: Callable[[], PlanT]) -> PlanT:
        """Return the plan for a version of a table.

        :param mode: of the session.
        :param make: makes it, unless an earlier statement of the shape made it.
        """
        settings = mode.soft_deletes, mode.cte_max_recursion_depth
        is_same = self._table is table and self._settings == settings
        if is_same and isinstance(self._plan, kind):
            return self._plan
        plan = make()
        if self.shared:
            self._plan, self._table, self._settings = plan, table, settings
        return plan


def can_share_plan(tree: exp.Expr) -> bool:
    """Return whether all statements of a tree's shape have the same plan."""
    return not any(
        isinstance(node, _OF_ONE_STATEMENT)
        or (isinstance(node, exp.Tuple) and not isinstance(node.parent, exp.Values))
        for node in tree.walk()
    )
