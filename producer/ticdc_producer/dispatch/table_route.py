"""The names under which TiCDC new architecture sends tables: ``target-schema`` and ``target-table``.

Rules: ticdc ``pkg/routing/router.go``, ``registry.go``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from ticdc_producer.config import Changefeed
from ticdc_producer.dispatch.matcher import Matcher
from ticdc_producer.errors import ChangefeedError

Name: TypeAlias = tuple[str, str]
"""Database and table."""


class TableRoute:
    """The rules of a changefeed that give tables other names.

    :raises ChangefeedError: for a matcher that cannot be parsed.
    """

    def __init__(self, changefeed: Changefeed) -> None:
        self._rules = [
            (Matcher(rule.matcher, case_sensitive=changefeed.case_sensitive), rule)
            for rule in changefeed.dispatchers
            if rule.has_target
        ]

    def table(self, schema: str, table: str) -> Name:
        """Return the names of a table in messages: by the first rule with a target that matches it."""
        for matcher, rule in self._rules:
            if matcher.accepts(schema, table):
                target_schema = _substituted(rule.target_schema, schema, table) or schema
                return target_schema, _substituted(rule.target_table, schema, table) or table
        return schema, table

    def database(self, schema: str) -> str:
        """Return the name of a database in messages.

        :raises ChangefeedError: if rules for its tables have different targets: TiCDC stops the changefeed.
        """
        targets = [
            _substituted(rule.target_schema, schema, "") or schema
            for matcher, rule in self._rules
            if matcher.accepts_schema(schema)
        ]
        for other in targets[1:]:
            if other != targets[0]:
                what = f"ambiguous schema routing for schema {schema}: target schema {other} conflicts with "
                raise ChangefeedError(
                    f"CDC:ErrTableRoutingFailed: {what}{targets[0]}",
                    parameter="target-schema",
                    hint="TiCDC stops at a DDL of the database; give its tables one target-schema",
                )
        return targets[0] if targets else schema

    def name(self, schema: str, table: str) -> Name:
        """Return the names of a table in messages, or of a database, whose table is empty.

        :raises ChangefeedError: for a database whose tables have different targets.
        """
        if not schema:
            return schema, table
        return self.table(schema, table) if table else (self.database(schema), "")


def _substituted(expression: str, schema: str, table: str) -> str:
    return expression.replace("{schema}", schema).replace("{table}", table)


class TargetTables:
    """The tables that exist, by the names under which they are sent."""

    def __init__(self, route: TableRoute) -> None:
        self._route = route
        self._sources: dict[Name, Name] = {}
        self._of_databases: defaultdict[str, set[str]] = defaultdict(set)

    def change(self, removed: Iterable[Name], added: Iterable[Name], where: str) -> None:
        """Remove tables, and add others; both are names upstream.

        :param where: the location that an error names.
        :raises ChangefeedError: if two tables would have one name: TiCDC stops the changefeed.
        """
        for own in removed:
            sent = self._route.table(*own)
            if self._sources.get(sent) == own:
                del self._sources[sent]
                self._of_databases[own[0]].discard(own[1])
        for own in added:
            sent = self._route.table(*own)
            other = self._sources.setdefault(sent, own)
            if other != own:
                target, first, second = (f"`{schema}`.`{table}`" for schema, table in (sent, other, own))
                raise ChangefeedError(
                    f"CDC:ErrTableRouteConflict: table route conflict: target {target} is mapped by both "
                    f"source {first} and source {second}",
                    parameter="target-table",
                    where=where,
                    hint="TiCDC stops here; with {schema} in target-table the names of two databases differ",
                )
            self._of_databases[own[0]].add(own[1])

    def of_database(self, schema: str) -> list[Name]:
        """Return the tables of a database, by their names upstream."""
        return [(schema, table) for table in sorted(self._of_databases[schema])]
