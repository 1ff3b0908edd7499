"""The columns of a view, which have only names, as in TiDB.

Source: tidb ``pkg/ddl/executor.go`` (``CreateView``, ``buildViewInfo``): columns without a type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.scenario.sql.cluster import Cluster
from ticdc_producer.scenario.sql.dialect import parse_dml


def view_columns(
    names: Sequence[str], query: str, line: int, cluster: Cluster, database: str
) -> tuple[ColumnInfo, ...]:
    """The columns of a view; empty if this tool cannot parse its SELECT.

    :param names: the names that the statement lists itself; empty if it lists none.
    :param query: the text of the SELECT.
    :param line: line of the scenario file, for errors.
    :param database: the current database.
    """
    column_names = names or tuple(_selected_names(query, line, cluster, database))
    return tuple(ColumnInfo(name=name, type=MySQLType.UNSPECIFIED) for name in column_names)


def _selected_names(query: str, line: int, cluster: Cluster, database: str) -> Iterator[str]:
    try:
        _, tree = parse_dml(query, line)
    except ScenarioError:
        return
    while isinstance(tree, exp.Union | exp.Subquery):  # the first SELECT names the columns
        tree = tree.this
    if not isinstance(tree, exp.Select):
        return
    for node in tree.expressions:
        if node.is_star:
            yield from _star_names(tree, node.text("table"), cluster, database)
        else:
            yield node.alias_or_name or query[slice(*_span(node))]


def _star_names(select: exp.Select, qualifier: str, cluster: Cluster, database: str) -> Iterator[str]:
    """The column names that ``*`` or ``table.*`` means.

    :param qualifier: the table or alias; empty for ``*``.
    """
    for source in select.find_all(exp.Table):
        if qualifier and source.alias_or_name.lower() != qualifier.lower():
            continue
        table = cluster.find(source.db or database, source.name)
        if table is not None:
            yield from (column.name for column in table.info.columns if not column.hidden)


def _span(node: exp.Expr) -> tuple[int, int]:
    """Start and end of an expression in the text, by the positions of its parts; 0, 0 if none has one."""
    positions = [part.meta for part in node.walk() if "start" in part.meta]
    if not positions:
        return 0, 0
    return min(meta["start"] for meta in positions), max(meta["end"] for meta in positions) + 1
