"""BATCH: a DML statement that is divided at the values of a column, each part a transaction of its own.

Rules: tidb ``pkg/session/nontransactional.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import Member, SQLValue
from ticdc_producer.scenario.sql.dml.parsed_statement import ParsedStatement
from ticdc_producer.scenario.sql.expression.literal import literal_text
from ticdc_producer.scenario.sql.expression.ordering import null_order
from ticdc_producer.scenario.sql.expression.scope import ROW_ID
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.text.clause import named_table
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.parse import parse_expression

_WHAT = "Non-transactional DML"


@dataclass(frozen=True, slots=True)
class DividedDML:
    """A statement after ``BATCH [ON column] LIMIT size [DRY RUN [QUERY]]``.

    :param column: name of the column; empty for that of the clustered key.
    :param size: number of rows that the query of a part finds; equal values are in one part.
    :param runs: whether it has no DRY RUN.
    """

    column: str
    size: int
    runs: bool

    def parts(self, parsed: ParsedStatement, context: StatementContext) -> Iterator[ParsedStatement]:
        """Yield the statements to run.

        :param parsed: the statement that is divided.
        :raises ScenarioError: for a statement or a column that cannot be divided.
        """
        source = _source(parsed.tree)
        name = named_table(source.args["from_"].this if isinstance(source, exp.Select) else source.this)
        table = context.find(*name).info
        column = self._column(table)
        assigned = parsed.tree.expressions if isinstance(parsed.tree, exp.Update) else ()
        if any(assignment.this.name.lower() == column.lower() for assignment in assigned):
            raise ScenarioError(f"{_WHAT}, shard column cannot be updated", column=column)
        where = source.args.get("where")
        for first, last in self._bounds(_query(name, column, where), table, column, context):
            tree = parsed.tree.copy()
            condition = _between(column, first, last)
            if where is not None:
                original = exp.Paren(this=where.this.copy())
                condition = exp.And(this=exp.Paren(this=condition), expression=original)
            _source(tree).set("where", exp.Where(this=condition))
            yield ParsedStatement(parsed.verb, tree)

    def _column(self, table: TableInfo) -> str:
        """Return the name of the column that divides the rows of a table, which an index begins with."""
        name = self.column
        key = table.clustered_key
        if not name and key is not None:
            if len(key.offsets) > 1:
                what = (
                    f"{_WHAT}, the clustered index contains multiple columns. Please specify a shard column"
                )
                raise ScenarioError(what)
            name = table.columns[key.offsets[0]].name
        if not name or (name.lower() == ROW_ID and key is None):
            raise UnsupportedSQL(f"BATCH by {ROW_ID} is not supported")
        if all(column.name.lower() != name.lower() for column in table.columns):
            raise ScenarioError(f"shard column {name} not found", column=name)
        firsts = {table.columns[index.offsets[0]].name.lower() for index in table.indexes}
        if name.lower() not in firsts:
            raise ScenarioError(f"{_WHAT}, shard column {name} is not indexed", column=name)
        return name

    def _bounds(
        self, query: exp.Expr, table: TableInfo, column: str, context: StatementContext
    ) -> list[tuple[SQLValue, SQLValue]]:
        """Return the first and the last value of each part."""
        values = [row[0] for row in context.plan(query, None).rows(None)]
        collation = next(each.collation for each in table.columns if each.name.lower() == column.lower())
        bounds: list[tuple[SQLValue, SQLValue]] = []
        start = 0
        for position in range(1, len(values) + 1):
            is_full = position == len(values) or (
                position - start >= self.size
                and null_order(values[position - 1], values[position], collation, context.mode) != 0
            )
            if is_full:
                bounds.append((values[start], values[position - 1]))
                start = position
        return bounds


def read_batch(cursor: Cursor) -> DividedDML:
    """Read BATCH up to the DML statement.

    :raises ScenarioError: for a size that is not positive.
    """
    cursor.expect("BATCH")
    column = ""
    if cursor.accept("ON"):
        column = cursor.identifier("a column name")
        while cursor.accept("."):
            column = cursor.identifier("a column name")
    cursor.expect("LIMIT")
    size = cursor.integer()
    if size < 1:
        raise ScenarioError(f"{_WHAT}, batch size should be positive", value=str(size))
    runs = not cursor.accept("DRY", "RUN")
    if not runs:
        cursor.accept("QUERY")
    return DividedDML(column, size, runs)


def _source(tree: exp.Expr) -> exp.Expr:
    """Return the part of a statement that selects its rows.

    :raises ScenarioError: for statements that cannot be divided.
    """
    source: exp.Expr = tree
    if isinstance(tree, exp.Insert):
        source = tree.expression
        if not isinstance(source, exp.Select):
            raise ScenarioError("Non-transactional insert supports insert select stmt only")
        if source.args.get("from_") is None:
            raise ScenarioError("table reference is nil")
    if source.args.get("limit"):
        raise ScenarioError("Non-transactional statements don't support limit")
    if source.args.get("order"):
        raise ScenarioError("Non-transactional statements don't support order by")
    tables = source.args["from_"].this if isinstance(source, exp.Select) else source.this
    is_several = source.args.get("joins") or tables.args.get("joins") or not isinstance(tables, exp.Table)
    if is_several or source.args.get("tables") or source.args.get("using") or tree.args.get("with_"):
        raise UnsupportedSQL("BATCH of several tables is not supported")
    return source


def _query(name: tuple[str, str], column: str, where: exp.Expr | None) -> exp.Expr:
    """Return the query of the values of the column, NULL first."""
    node = exp.column(column, quoted=True)
    query = (
        exp.select(node)
        .from_(exp.table_(name[1], db=name[0] or None, quoted=True))
        .order_by(exp.Ordered(this=node.copy()))
    )
    if where is not None:
        query.set("where", where.copy())
    return query


def _between(column: str, first: SQLValue, last: SQLValue) -> exp.Expr:
    """Return the condition of a part, whose first value may be NULL."""
    node, bound = exp.column(column, quoted=True), _node(last)
    if first is not None:
        return exp.Between(this=node, low=_node(first), high=bound)
    is_null = exp.Is(this=node.copy(), expression=exp.Null())
    return is_null if last is None else exp.Or(this=exp.LTE(this=node, expression=bound), expression=is_null)


def _node(value: SQLValue) -> exp.Expr:
    if isinstance(value, Member):
        what = "Failed to restore the DML statement, probably because of unsupported type of the shard column"
        raise ScenarioError(what, value=str(value))
    return parse_expression(literal_text(value), 1)
