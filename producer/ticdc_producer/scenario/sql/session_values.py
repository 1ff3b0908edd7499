"""The values of a session that statements read and write: user variables and the results of statements."""

from __future__ import annotations

from decimal import Decimal

from ticdc_producer.model.coerce_text import to_text
from ticdc_producer.model.sql_value import BinaryLiteral, DateTimeValue, Duration, Member, SQLValue, Unsigned
from ticdc_producer.scenario.sql.functions.function import to_integer


class SessionValues:
    """User variables, ``LAST_INSERT_ID()`` and ``ROW_COUNT()``."""

    def __init__(self) -> None:
        self._variables: dict[str, SQLValue] = {}
        self._last_insert_id = 0
        self._generated = 0
        self._row_count = 0

    def variable(self, name: str) -> SQLValue:
        """The value of a user variable; NULL if it was never set."""
        return self._variables.get(name.lower())

    def assign(self, name: str, value: SQLValue) -> SQLValue:
        """Set a user variable, which holds a number or a string; returns its value."""
        self._variables[name.lower()] = _plain(value)
        return self._variables[name.lower()]

    def function(self, name: str, arguments: list[SQLValue]) -> SQLValue:
        """``LAST_INSERT_ID([number])`` and ``ROW_COUNT()``."""
        if name == "ROW_COUNT":
            return self._row_count
        if arguments:
            (number,) = arguments
            self._last_insert_id = 0 if number is None else to_integer(number)
            return None if number is None else Unsigned(self._last_insert_id)
        return Unsigned(self._last_insert_id)

    def note_generated(self, number: int) -> None:
        """Note a generated AUTO_INCREMENT value; the first one of a statement counts."""
        self._generated = self._generated or number

    def end_statement(self, rows: int) -> None:
        """Note the end of a statement.

        :param rows: number of rows that it changed; -1 for a query.
        """
        self._row_count = rows
        self._last_insert_id = self._generated or self._last_insert_id
        self._generated = 0


def _plain(value: SQLValue) -> SQLValue:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Member | DateTimeValue | Duration):
        return to_text(value)
    if isinstance(value, BinaryLiteral):
        return bytes(value)
    return value if isinstance(value, int | Decimal | float | bytes) or value is None else str(value)
