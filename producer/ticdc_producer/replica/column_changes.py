"""What changes of columns do with the values of existing rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ticdc_producer.errors import ProducerError
from ticdc_producer.model.coerce import coerce, read
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.replica.versions import LENIENT, Cell

T = MySQLType


@dataclass(frozen=True)
class ColumnChanges:
    """Derives cells from columns before and after a DDL, as far as the messages of a protocol allow it.

    :param fidelity: what the messages carry of a value.
    """

    fidelity: Fidelity

    def added(self, column: ColumnInfo) -> tuple[Cell, str]:
        """The cell of a new column, and why its value in existing rows is unknown; empty if it is known."""
        name = self.fidelity.visible_name(column.name)
        if column.default_expression:
            return Cell(name=name), f"the default of {column.name} depends on when the DDL ran"
        if column.type == T.TIMESTAMP and column.default is not None:
            return Cell(name=name), f"the default of {column.name} depends on the session's time zone"
        value = column.default if column.has_default or column.nullable else zero(column)
        return Cell(name=name, constant=self.fidelity.full_projection(column)(value)), ""

    def changed(self, before: ColumnInfo, after: ColumnInfo) -> tuple[Cell, str]:
        """The cell of a column with another definition, and why its values are unknown."""
        source, name = (self.fidelity.visible_name(column.name) for column in (before, after))
        if self._null(before) != self._null(after):
            return Cell(name=name, source=source), f"the messages do not distinguish NULL in {before.name}"
        if keeps_values(before, after):
            return Cell(name=name, source=source), ""
        cell = Cell(name=name, source=source, before=before, after=after)
        if self.fidelity.value_projection(before) is not None and not _is_wider_decimal(before, after):
            return cell, f"the messages do not have the exact values of {before.name}, which a DDL converts"
        if T.TIMESTAMP in (before.type, after.type):
            return cell, f"the conversion of {before.name} depends on the session's time zone"
        return cell, ""

    def converter(self, before: ColumnInfo, after: ColumnInfo) -> Callable[[Value], Value]:
        """Converts the values of a column; a value that cannot be read stays as it is."""
        project = self.fidelity.full_projection(after)

        def convert(value: Value) -> Value:
            if value is None:
                return None
            try:
                return project(coerce(after, read(before, value, LENIENT), LENIENT))
            except (ProducerError, ValueError, ArithmeticError, LookupError):  # the topic may hold anything
                return value

        return convert

    def _null(self, column: ColumnInfo) -> Value:
        return self.fidelity.full_projection(column)(None) if column.nullable else None


def keeps_values(before: ColumnInfo, after: ColumnInfo) -> bool:
    """Whether a change of a column leaves the values of its rows as they are."""
    if (before.unsigned, before.charset) != (after.unsigned, after.charset):
        return False
    if before.type in INTEGERS and after.type in INTEGERS:
        return True
    longer = after.length >= before.length or after.length < 0
    same_members = after.elements[: len(before.elements)] == before.elements
    same = (before.type, before.decimal) == (after.type, after.decimal)
    return same and longer and same_members


def _is_wider_decimal(before: ColumnInfo, after: ColumnInfo) -> bool:
    """Whether a DECIMAL gets more digits, so that even a rounded value stays the same number."""
    both = before.type == after.type == T.NEW_DECIMAL
    digits = after.length - after.decimal >= before.length - before.decimal
    return both and digits and after.decimal >= before.decimal


def zero(column: ColumnInfo) -> Value:
    """The value of existing rows in a new NOT NULL column without DEFAULT: of an ENUM, the first member."""
    return b"1" if column.type == T.ENUM else column.zero
