"""Registers strategies by type, for ``st.from_type`` and ``@given`` with annotations.

Hypothesis calls this when it is imported, so the strategies themselves are created when they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ticdc_producer.model.table import TableInfo
    from ticdc_producer.testing.change_log import ChangeLog


def register() -> None:
    """Register the strategies of tables and change logs with Hypothesis."""
    from hypothesis import strategies as st

    from ticdc_producer.model.table import TableInfo
    from ticdc_producer.testing.change_log import ChangeLog

    st.register_type_strategy(TableInfo, _tables)
    st.register_type_strategy(ChangeLog, _changelogs)


def _tables(_: type[TableInfo]) -> SearchStrategy[TableInfo]:
    from ticdc_producer.testing.strategies import tables

    return tables()


def _changelogs(_: type[ChangeLog]) -> SearchStrategy[ChangeLog]:
    from ticdc_producer.testing.strategies import changelogs

    return changelogs()
