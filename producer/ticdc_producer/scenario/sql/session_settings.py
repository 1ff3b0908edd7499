"""The settings of a session: the SQL mode and the other session variables, and the time of ``NOW()``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from sqlglot import exp

from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.variables import run_set, time_zone


class SessionSettings:
    """The settings under which the next statement runs.

    :param zone: initial value of the variable ``time_zone``.
    :param now: result of ``NOW()``; a function: of the number of the commit that the statement belongs to.
    :ivar mode: the settings.
    """

    def __init__(self, zone: str, now: datetime | Callable[[int], datetime]) -> None:
        self._time_of = now if callable(now) else None
        self._timed = -1  # the commit whose time the mode has
        first = now(0) if callable(now) else now
        self.mode = self._initial = SQLMode(zone=time_zone(zone), now=first, now_moves=callable(now))
        self._saved: dict[str, SQLMode] = {}

    def move_clock(self, commit: int) -> None:
        """Set the time of the next statement, which is that of its commit."""
        if self._time_of is not None and self.mode.now_moves and self._timed != commit:
            self.mode = replace(self.mode, now=self._time_of(commit))
            self._timed = commit

    def run_set(self, cursor: Cursor, assign: Callable[[str, exp.Expr], None]) -> None:
        """Run a SET statement.

        :param assign: assigns the value of an expression to a user variable.
        :raises ScenarioError: for a variable or a value that is not supported.
        """
        self.mode = run_set(cursor, self.mode, self._initial, self._saved, assign)
        self._timed = -1
