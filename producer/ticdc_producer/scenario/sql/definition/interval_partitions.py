"""RANGE partitions at equal distances, which TiDB generates for INTERVAL.

Rules: tidb ``pkg/ddl/partition.go`` (``generatePartitionDefinitionsFromInterval``,
``GeneratePartDefsFromInterval``, ``getPartitionIntervalFromTable``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType, integer_range
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.definition.generated import columns_of
from ticdc_producer.scenario.sql.definition.partition_definition import (
    BY_VALUES,
    MAXVALUE_WORD,
    MOST_PARTITIONS,
    PartitionDraft,
    PartitioningDraft,
)
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate, evaluate_constant
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.text.parse import parse_expression
from ticdc_producer.scenario.sql.text.spelling import quoted_text

_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
_DATES = (MySQLType.DATE, MySQLType.DATETIME)
_EARLIEST = "0000-01-01"
_DAYS_28, _DAYS_30 = 28 * 86400, 30 * 86400
_PREFIX = f"VALUES {BY_VALUES['RANGE']} ("


def with_interval_partitions(draft: PartitioningDraft, table: TableInfo, mode: SQLMode) -> PartitioningDraft:
    """Return a partitioning with the partitions of its INTERVAL.

    :raises ScenarioError: for another type or unit, and a last bound that no interval reaches.
    """
    intervals, line = draft.intervals, draft.line
    if intervals is None:
        return draft
    if len(draft.columns) > 1:
        raise _unsupported("partitioning, does not allow RANGE COLUMNS with more than one column", line)
    column = Scope(mode, table).column(draft.columns[0]) if draft.columns else None
    if column is not None and column.type not in (*INTEGERS, *_DATES):
        raise _unsupported("partitioning, only supports Date, Datetime and INT types", line)
    if intervals.first is None or intervals.last is None:
        raise _unsupported("partitioning, currently requires FIRST and LAST partitions to be defined", line)
    if intervals.unit and intervals.unit not in _UNITS:
        units = f"{', '.join(_UNITS[:-1])} and {_UNITS[-1]}"
        raise _unsupported(f"partitioning, only supports {units} as time unit", line)
    series = _Series(column, intervals.first.text, intervals.amount.text, intervals.unit, mode, line)
    parts = series.partitions(intervals.last.text)
    if intervals.null:
        parts = [series.partition("P_NULL", _lowest(draft, column, table, intervals.unit)), *parts]
    if intervals.maxvalue:
        parts.append(series.partition("P_MAXVALUE", MAXVALUE_WORD))
    return replace(draft, parts=tuple(parts), count=len(parts))


def added_partitions(
    table: TableInfo, partitioning: Partitioning, last: str, mode: SQLMode, line: int
) -> list[PartitionDraft]:
    """Return the partitions that ``LAST PARTITION LESS THAN (last)`` adds."""
    series, bounds, _ = _series_of(table, partitioning, mode, line, "LAST PARTITION")
    added = replace(series, first=series.literal(bounds[-1])).partitions(last)[1:]
    if not added:
        raise _unsupported("LAST PARTITION, given value does not generate new partitions", line)
    return added


def dropped_partitions(
    table: TableInfo, partitioning: Partitioning, first: str, mode: SQLMode, line: int
) -> list[str]:
    """Return the names of the partitions that ``FIRST PARTITION LESS THAN (first)`` drops."""
    series, bounds, has_null = _series_of(table, partitioning, mode, line, "FIRST PARTITION")
    count = len(series.partitions(first)) - 1
    if count < 1 or count >= len(bounds):
        what = "FIRST PARTITION, given value does not generate a list of partition names to be dropped"
        raise _unsupported(what, line)
    return [part.name for part in table.partitions[has_null : count + has_null]]


@dataclass(frozen=True, slots=True)
class _Series:
    """The bounds ``first``, ``first + amount``, ``first + 2 * amount`` and so on.

    :param column: of RANGE COLUMNS; None for integers of a partition function.
    :param first: SQL text, as ``amount``.
    :param unit: of time; empty for integers.
    """

    column: ColumnInfo | None
    first: str
    amount: str
    unit: str
    mode: SQLMode
    line: int

    def partitions(self, last: str) -> list[PartitionDraft]:
        """Return the partitions up to the one with the bound ``last``.

        :raises ScenarioError: if no partition has it.
        """
        if self.amount.strip("'").lstrip("0")[:1] not in tuple("123456789"):
            raise _unsupported("should be a positive number", self.line)
        bounds, end = list[str](), self.value(last)
        for bound in islice(self._bounds(), MOST_PARTITIONS):
            if self._key(bound) > self._key(end):
                series = f"{self.first} + n * {self.amount} {self.unit}".rstrip()
                raise _unsupported(f"expr ({end}) not matching FIRST + n INTERVALs ({series})", self.line)
            bounds.append(bound)
            if bound == end:
                return [self.partition(f"P_LT_{bound}", self.literal(bound)) for bound in bounds]
        raise ScenarioError("Too many partitions (including subpartitions) were defined", line=self.line)

    def partition(self, name: str, bound: str) -> PartitionDraft:
        return PartitionDraft(name=name, values=BY_VALUES["RANGE"], bounds=((bound,),), line=self.line)

    def literal(self, bound: str) -> str:
        return quoted_text(bound) if self.unit else bound

    def value(self, text: str) -> str:
        """Return the text of a bound's value in the column's type."""
        return self._stored(evaluate_constant(parse_expression(text, self.line), self.mode))

    def _bounds(self) -> Iterator[str]:
        yield self.value(self.first)
        times = f"{MOST_PARTITIONS}000 * ({self.amount})"
        added = f"INTERVAL {times} {self.unit}" if self.unit else times
        tree = parse_expression(f"({self.first}) + {added}", self.line)
        number = next(node for node in tree.find_all(exp.Literal) if node.name == f"{MOST_PARTITIONS}000")
        scope = Scope(self.mode)
        check_expression(tree, scope)
        for count in range(1, MOST_PARTITIONS):
            number.set("this", str(count))
            yield self._stored(evaluate(tree, scope))

    def _stored(self, value: SQLValue) -> str:
        if self.column is not None and value is not None:
            return (coerce(self.column, value, self.mode) or b"").decode()
        if not isinstance(value, int):
            raise ScenarioError("VALUES value must be of the type of the partition function", line=self.line)
        return str(int(value))

    def _key(self, bound: str) -> tuple[int, str]:
        is_date = self.column is not None and self.column.type in _DATES
        return (0, bound) if is_date else (int(bound), "")


def _series_of(
    table: TableInfo, partitioning: Partitioning, mode: SQLMode, line: int, what: str
) -> tuple[_Series, list[str], int]:
    """Return the series of a table's bounds, these bounds, and the number of NULL partitions before them.

    TiDB does not store the interval; it is that of the bounds.

    :raises ScenarioError: if the bounds are not a series.
    """
    error = _unsupported(f"{what}, does not seem like an INTERVAL partitioned table", line)
    columns = partitioning.columns
    column = Scope(mode, table).column(columns[0]) if columns else None
    texts = [text.removeprefix(_PREFIX)[:-1] for text in partitioning.texts]
    if partitioning.kind != "RANGE" or len(columns) > 1:
        raise error
    if column is not None and column.type not in (*INTEGERS, *_DATES):
        raise error
    unit = "SECOND" if column is not None and column.type in _DATES else ""
    series = _Series(column, "0", "1", unit, mode, line)
    bounds = [series.value(text) for text in texts if text.upper() != MAXVALUE_WORD]
    lowest = _lowest(partitioning, column, table, unit).strip("'")
    has_null = int(bool(bounds) and bounds[0].startswith(lowest))
    bounds = bounds[has_null:]
    if len(bounds) < 2:
        raise error
    amount, unit = _interval(series, bounds)
    series = replace(series, first=series.literal(bounds[0]), amount=amount, unit=unit)
    with suppress(ScenarioError):
        parts = series.partitions(series.literal(bounds[-1]))
        if [part.bounds[0][0] for part in parts] == [*map(series.literal, bounds)]:
            return series, bounds, has_null
    raise error


def _interval(series: _Series, bounds: list[str]) -> tuple[str, str]:
    """Return the amount and the unit of the distance of bounds.

    TiDB estimates months from 28 days on.
    """
    steps = len(bounds) - 1
    if not series.unit:
        return str((int(bounds[-1]) - int(bounds[0])) // steps), ""
    ends = ", ".join(map(quoted_text, (bounds[0], bounds[-1])))
    seconds = evaluate_constant(parse_expression(f"TIMESTAMPDIFF(SECOND, {ends})", series.line), series.mode)
    distance = int(str(seconds)) // steps
    if distance < _DAYS_28:
        return str(distance), "SECOND"
    return str(distance // (_DAYS_28 if steps <= 3 else _DAYS_30)), "MONTH"


def _lowest(
    draft: PartitioningDraft | Partitioning, column: ColumnInfo | None, table: TableInfo, unit: str
) -> str:
    """Return the bound of the partition for NULL: the lowest value."""
    if column is not None and unit:
        return quoted_text(_EARLIEST)
    if column is not None:
        return str(integer_range(column.type, unsigned=column.unsigned)[0])
    of_function = columns_of(parse_expression(draft.expression, 1))
    unsigned = any(column.unsigned for column in table.columns if column.name.lower() in of_function)
    return str(integer_range(MySQLType.LONGLONG, unsigned=unsigned)[0])


def _unsupported(what: str, line: int) -> ScenarioError:
    """Return the error for INTERVAL partitions that TiDB does not support, too."""
    return ScenarioError(f"Unsupported INTERVAL {what}", line=line)
