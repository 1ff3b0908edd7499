"""Which columns of a table are replicated: ``sink.column-selectors``.

Source: tiflow ``cdc/sink/dmlsink/mq/transformer/columnselector``.
"""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.config import Changefeed
from ticdc_producer.config.filter_section import ColumnSelector
from ticdc_producer.dispatch.matcher import ColumnMatcher, Matcher
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.table import TableInfo

_KEYS = ColumnFlag.HANDLE_KEY | ColumnFlag.UNIQUE_KEY


class ColumnSelection:
    """The column selectors of a changefeed.

    :raises ChangefeedError: for a matcher or a column pattern that cannot be read.
    """

    def __init__(self, changefeed: Changefeed) -> None:
        self._selectors = [
            _patterns(one, f"sink.column-selectors[{index}]", changefeed.case_sensitive)
            for index, one in enumerate(changefeed.column_selectors)
        ]

    def of(self, table: TableInfo) -> TableInfo:
        """The table with the columns that row events contain.

        :raises ChangefeedError: if the selectors leave out a key column.
        """
        for matcher, columns in self._selectors:
            if matcher.accepts(table.schema, table.name):
                return self._without(table, columns)
        return table

    def apply(self, catalog: Catalog) -> Catalog:
        """The catalog with ``of`` applied to every table."""
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
    """The patterns of a selector for tables and for their columns."""
    try:
        return Matcher(selector.matcher, case_sensitive=case_sensitive), ColumnMatcher(selector.columns)
    except ChangefeedError as error:
        raise error.below(key) from None
