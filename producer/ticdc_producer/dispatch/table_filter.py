"""The filters of a changefeed: the tables, DDLs and columns that it replicates.

A DDL of a table that no rule accepts is discarded. A DDL that an event filter ignores is not sent, but its
table is still replicated.

Source: tiflow ``pkg/filter``, ``cdc/puller/ddl_puller.go``,
``cdc/sink/dmlsink/mq/transformer/columnselector``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ticdc_producer.config import Changefeed
from ticdc_producer.config.config_section import ColumnSelector, EventFilter
from ticdc_producer.dispatch.event_types import check_classified, check_event_types, ignores_type, is_inert
from ticdc_producer.dispatch.matcher import ColumnMatcher, Matcher, compile_go
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.catalog import Action, Catalog, DDLJob
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.table import TableInfo

_RULES = "no filter rule accepts the table"
_EVENTS = "an event filter ignores it"
_START = "ignore-txn-start-ts names it"


class TableFilter:
    """The parts of a changefeed's filter that depend on names and DDL texts.

    :raises ChangefeedError: for a rule that cannot be parsed.
    """

    def __init__(self, changefeed: Changefeed) -> None:
        try:
            self._rules = Matcher(changefeed.filter.rules, case_sensitive=changefeed.case_sensitive)
        except ChangefeedError as error:
            raise error.below("filter.rules") from None
        self._start_ts = frozenset(changefeed.filter.ignore_txn_start_ts)
        self._events = [
            _EventRule(rule, f"filter.event-filters[{index}]", changefeed)
            for index, rule in enumerate(changefeed.filter.event_filters)
        ]

    def accepts(self, table: TableInfo) -> bool:
        """Return whether rows of the table are replicated."""
        return self._rules.accepts(*table.upstream_name)

    def mark_ddls(self, catalog: Catalog, commit_ts: Callable[[int], int]) -> Catalog:
        """Return the catalog, with the DDLs that are not replicated marked as not sent, and the reason.

        :param commit_ts: function from commit number to commit-ts.
        :raises ChangefeedError: for a rename at which TiCDC stops.
        """
        ddls = tuple(self._marked(ddl, commit_ts(ddl.commit_seq) - 1) for ddl in catalog.ddls)
        return replace(catalog, ddls=ddls)

    def _marked(self, ddl: DDLJob, start_ts: int) -> DDLJob:
        reason = self._reason(ddl, start_ts) if ddl.sent else ""
        return replace(ddl, sent=False, reason=reason) if reason else ddl

    def _reason(self, ddl: DDLJob, start_ts: int) -> str:
        if not self._replicates(ddl):
            return _RULES
        if start_ts in self._start_ts:
            return _START
        return _EVENTS if any(rule.ignores(ddl) for rule in self._events) else ""

    def _replicates(self, ddl: DDLJob) -> bool:
        if not ddl.table:
            return self._rules.accepts_schema(ddl.schema)
        new = self._rules.accepts(ddl.schema, ddl.table)
        if ddl.job_type not in (Action.RENAME_TABLE, Action.RENAME_TABLES):
            return new
        old = self._rules.accepts(ddl.old_schema, ddl.old_table)
        if new and not old:
            raise ChangefeedError(
                f"CDC:ErrSyncRenameTableFailed: {ddl.old_schema}.{ddl.old_table} is renamed to "
                f"{ddl.schema}.{ddl.table}, and the rules accept the new name only",
                parameter="filter.rules",
                where=f"line {ddl.line}" if ddl.line else "",
                hint="TiCDC stops here; accept both names or neither",
            )
        return old


class _EventRule:
    """The DDLs that one event filter ignores."""

    def __init__(self, rule: EventFilter, key: str, changefeed: Changefeed) -> None:
        self._rule, self._profile = rule, changefeed.profile
        check_event_types(rule, key, self._profile)
        try:
            self._matcher = event_matcher(rule, changefeed)
        except ChangefeedError as error:
            raise error.below(key) from None
        try:
            self._texts = [compile_go(text, ignore_case=True) for text in rule.ignore_sql]
        except ValueError as error:
            raise _error(str(error), f"{key}.ignore-sql") from None

    def ignores(self, ddl: DDLJob) -> bool:
        if not self._concerns(ddl):
            return False
        check_classified(ddl, self._profile)
        if is_inert(self._rule, self._profile):
            return False
        return ignores_type(self._rule, ddl) or any(text.search(ddl.query) for text in self._texts)

    def _concerns(self, ddl: DDLJob) -> bool:
        if not ddl.table:
            return self._matcher.accepts_schema(ddl.schema)
        if ddl.job_type in (Action.RENAME_TABLE, Action.RENAME_TABLES):
            return self._matcher.accepts(ddl.old_schema, ddl.old_table)
        return self._matcher.accepts(ddl.schema, ddl.table)


def event_matcher(rule: EventFilter, changefeed: Changefeed) -> Matcher:
    """Return the tables whose types and texts an event filter ignores; in classic TiCDC case always counts.

    Source: ticdc ``pkg/filter/sql_event_filter.go`` (``newSQLEventFilterRule``).
    """
    ignores_case = changefeed.profile == "new" and not changefeed.case_sensitive
    return Matcher(rule.matcher, case_sensitive=not ignores_case)


def _error(what: str, key: str, hint: str = "") -> ChangefeedError:
    return ChangefeedError(what, parameter=key, where=key, hint=hint)


_KEYS = ColumnFlag.HANDLE_KEY | ColumnFlag.UNIQUE_KEY


class ColumnSelection:
    """The column selectors of a changefeed.

    :raises ChangefeedError: for a matcher or a column pattern that cannot be read.
    """

    def __init__(self, changefeed: Changefeed) -> None:
        self._selectors = [
            _patterns(selector, f"sink.column-selectors[{index}]", changefeed.case_sensitive)
            for index, selector in enumerate(changefeed.column_selectors)
        ]

    def of(self, table: TableInfo) -> TableInfo:
        """Return the table with the columns that row events contain.

        :raises ChangefeedError: if the selectors leave out a key column.
        """
        for matcher, columns in self._selectors:
            if matcher.accepts(*table.upstream_name):
                return self._without(table, columns)
        return table

    def names(self, schema: str, table: str, columns: Sequence[str]) -> Sequence[str]:
        """Return the names of the columns that row events of a table contain."""
        for matcher, selected in self._selectors:
            if matcher.accepts(schema, table):
                return [name for name in columns if selected.accepts(name)]
        return columns

    def apply(self, catalog: Catalog) -> Catalog:
        """Return the catalog with ``of`` applied to every table."""
        if not self._selectors:
            return catalog
        return replace(catalog, tables=tuple(self.of(table) for table in catalog.tables))

    def _without(self, table: TableInfo, columns: ColumnMatcher) -> TableInfo:
        unselected = [offset for offset in table.sent if not columns.accepts(table.columns[offset].name)]
        for offset in unselected:
            if table.flags[offset] & _KEYS:
                name = table.columns[offset].name
                raise ChangefeedError(
                    f"CDC:ErrColumnSelectorFailed: column {name!r} belongs to a primary or unique key",
                    parameter="sink.column-selectors",
                    where=f"column selector of {table.qualified_name}",
                    hint="TiCDC replicates such columns always; add it to columns",
                )
        return replace(table, unselected=tuple(unselected)) if unselected else table


def _patterns(selector: ColumnSelector, key: str, case_sensitive: bool) -> tuple[Matcher, ColumnMatcher]:
    """Return the patterns of a selector for tables and for their columns."""
    try:
        return Matcher(selector.matcher, case_sensitive=case_sensitive), ColumnMatcher(selector.columns)
    except ChangefeedError as error:
        raise error.below(key) from None
