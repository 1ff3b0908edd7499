"""The TTL of a table: TiDB deletes the rows whose column is older than it. A scenario has no such deletes.

Rules: tidb ``pkg/ddl/ttl.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.syntax.table_option import TableOption

_DATES = frozenset({MySQLType.DATE, MySQLType.DATETIME, MySQLType.TIMESTAMP})
_OF_TTL = ("TTL_ENABLE", "TTL_JOB_INTERVAL")


def ttl_column(options: Sequence[TableOption], table: TableInfo, current: str = "") -> str:
    """Return the name of the column of the TTL after options; empty for a table without TTL.

    :param current: its name before them.
    :raises ScenarioError: if the table cannot have the TTL, and for other options of a TTL without it.
    """
    column = current
    for option in options:
        if option.kind == "TTL":
            column = "" if option.expression is None else option.expression.cursor.identifier("a column")
            _check(column, table, option.source.line)
    for option in options:
        if option.kind in _OF_TTL and not column:
            what = f"Cannot set {option.kind} on a table without TTL config"
            raise ScenarioError(what, line=option.source.line)
        if option.kind == "TTL_ENABLE" and option.value.lower() not in ("on", "off"):
            raise ScenarioError("TTL_ENABLE is 'ON' or 'OFF'", line=option.source.line, value=option.value)
    return column


def _check(name: str, table: TableInfo, line: int) -> None:
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
    if column.type not in _DATES:
        what = f"Field {column.name!r} is of a not supported type for TTL config"
        raise ScenarioError(f"{what}, expect DATETIME, DATE or TIMESTAMP", line=line, column=column.name)
