"""Columns of a view: names alone, as TiDB keeps them.

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
    """The columns of a view, none where its SELECT is beyond what this tool reads.

    :param names: those that the statement lists itself.
    :param query: the SELECT.
    :param database: the current one.
    """
    known = names or tuple(_selected_names(query, line, cluster, database))
    return tuple(ColumnInfo(name=name, type=MySQLType.UNSPECIFIED) for name in known)


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
            yield from _all_names(tree, node.text("table"), cluster, database)
        else:
            yield node.alias_or_name or query[slice(*_span(node))]


def _all_names(select: exp.Select, wanted: str, cluster: Cluster, database: str) -> Iterator[str]:
    """Names behind ``*`` or ``table.*``."""
    for source in select.find_all(exp.Table):
        if wanted and source.alias_or_name.lower() != wanted.lower():
            continue
        table = cluster.find(source.db or database, source.name)
        if table is not None:
            yield from (column.name for column in table.info.columns if not column.hidden)


def _span(node: exp.Expr) -> tuple[int, int]:
    """Where an expression without a name stands in the text, as far as its parts tell."""
    places = [part.meta for part in node.walk() if "start" in part.meta]
    if not places:
        return 0, 0
    return min(place["start"] for place in places), max(place["end"] for place in places) + 1
