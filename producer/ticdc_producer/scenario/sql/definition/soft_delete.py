"""Tables with soft deletes, and active-active tables: their columns, and what TiDB does not allow them.

Rules: tidb ``docs/design/2025-11-05-active-active.md``; ticdc ``pkg/common/event/active_active.go``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import ORIGIN_TS, SOFT_DELETE_TIME, TableInfo
from ticdc_producer.scenario.sql.syntax.table_option import TableOption

SOFT_DELETE_OPTIONS = ("SOFTDELETE", "ACTIVE_ACTIVE", "SOFTDELETE_JOB_ENABLE", "SOFTDELETE_JOB_INTERVAL")


@dataclass(frozen=True, slots=True)
class SoftDelete:
    """The options of a CREATE TABLE that concern soft deletes.

    :param value: of SOFTDELETE as the statement has it; empty if DELETE deletes rows.
    :param active_active: whether several clusters write the table.
    """

    value: str = ""
    active_active: bool = False

    def with_option(self, option: TableOption) -> SoftDelete:
        """Return the options with one more.

        :raises ScenarioError: for a value that is neither ON nor OFF.
        """
        if option.kind == "SOFTDELETE":
            if option.value.startswith("RETENTION "):
                return replace(self, value=option.value)
            return replace(self, value="'ON'" * _switch(option))
        if option.kind == "ACTIVE_ACTIVE":
            return replace(self, active_active=_switch(option))
        if option.kind == "SOFTDELETE_JOB_ENABLE":
            _switch(option)
        return self

    def columns(self) -> list[ColumnInfo]:
        """Return the columns that TiDB adds after those of the statement."""
        origin = ColumnInfo(name=ORIGIN_TS, type=MySQLType.LONGLONG, length=20, hidden=True)
        time = ColumnInfo(name=SOFT_DELETE_TIME, type=MySQLType.TIMESTAMP, length=26, decimal=6, hidden=True)
        return [origin] * self.active_active + [time] * bool(self.value)


def check_soft_delete(table: TableInfo, *, has_foreign_keys: bool, line: int) -> None:
    """Check that a table may have the soft deletes that it has.

    :raises ScenarioError: if TiDB refuses it.
    """
    what = ""
    if table.active_active and not table.soft_delete:
        what = "an active-active table requires SOFTDELETE"
    elif table.soft_delete and table.primary_key is None:
        what = "a table with SOFTDELETE requires a primary key"
    elif table.soft_delete and any(not index.primary for index in table.unique_indexes):
        what = "a table with SOFTDELETE has no unique index besides its primary key"
    elif table.soft_delete and has_foreign_keys:
        what = "a table with SOFTDELETE has no foreign keys"
    if what:
        raise ScenarioError(what, line=line)


def _switch(option: TableOption) -> bool:
    word = option.value.upper()
    if word not in ("ON", "OFF"):
        raise option.source.error(f"expected 'ON' or 'OFF' as {option.kind}")
    return word == "ON"
