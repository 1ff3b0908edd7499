"""Rows that are deleted softly, also in active-active tables, and by a TTL: what TiDB does not allow them.

By a TTL TiDB deletes the rows whose column is older than it. A scenario has no such deletes.
Rules: tidb ``docs/design/2025-11-05-active-active.md``, ``pkg/ddl/ttl.go``; ticdc
``pkg/common/event/active_active.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import DATES, FLOATS, INTEGERS, MySQLType
from ticdc_producer.model.table import ORIGIN_TS, SOFT_DELETE_TIME, TableInfo
from ticdc_producer.scenario.sql.syntax.table_option import TableOption

SOFT_DELETE_OPTIONS = ("SOFTDELETE", "ACTIVE_ACTIVE", "SOFTDELETE_JOB_ENABLE", "SOFTDELETE_JOB_INTERVAL")
_OF_TTL = ("TTL_ENABLE", "TTL_JOB_INTERVAL")


@dataclass(frozen=True, slots=True)
class SoftDelete:
    """The options of a CREATE TABLE that concern soft deletes.

    :param value: of SOFTDELETE in the statement; empty if DELETE deletes rows.
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


def ttl_column(options: Sequence[TableOption], table: TableInfo, current: str = "") -> str:
    """Return the name of the column of the TTL after options; empty for a table without TTL.

    :param current: its name before them.
    :raises ScenarioError: if the table cannot have the TTL, and for other options of a TTL without it.
    """
    column = current
    for option in options:
        if option.kind == "TTL":
            column = "" if option.expression is None else option.expression.cursor.identifier("a column")
            _check_ttl(column, table, option.source.line)
    for option in options:
        if option.kind in _OF_TTL and not column:
            what = f"Cannot set {option.kind} on a table without TTL config"
            raise ScenarioError(what, line=option.source.line)
        if option.kind == "TTL_ENABLE" and option.value.lower() not in ("on", "off"):
            raise ScenarioError("TTL_ENABLE is 'ON' or 'OFF'", line=option.source.line, value=option.value)
    return column


def _check_ttl(name: str, table: TableInfo, line: int) -> None:
    """Check that the column of a TTL exists and holds dates, and the primary key no floating point numbers.

    :raises ScenarioError: if not.
    """
    column = next((column for column in table.columns if column.name.lower() == name.lower()), None)
    if column is None:
        raise ScenarioError(f"Unknown column {name!r} in 'TTL config'", line=line, column=name)
    check_dates(column, line)
    key = table.clustered_key
    types = [] if key is None else [table.columns[offset].type for offset in key.offsets]
    if types and not (len(types) == 1 and types[0] in INTEGERS) and not FLOATS.isdisjoint(types):
        what = "Unsupported clustered primary key type FLOAT/DOUBLE for TTL"
        raise ScenarioError(what, line=line, column=name)


def check_dates(column: ColumnInfo, line: int) -> None:
    """Check that the column of a TTL holds dates.

    :raises ScenarioError: if it does not.
    """
    if column.type not in DATES:
        what = f"Field {column.name!r} is of a not supported type for TTL config"
        raise ScenarioError(f"{what}, expect DATETIME, DATE or TIMESTAMP", line=line, column=column.name)
