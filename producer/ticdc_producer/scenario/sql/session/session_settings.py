"""The settings of a session, and the values that its statements read and write."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from random import Random

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.sql_value import (
    BinaryLiteral,
    DateTimeValue,
    Duration,
    Member,
    SQLMode,
    SQLValue,
    Unsigned,
)
from ticdc_producer.scenario.sql.functions.session import Generator
from ticdc_producer.scenario.sql.session.variables import run_set, time_zone
from ticdc_producer.scenario.sql.store.sequence import StoredSequence
from ticdc_producer.scenario.sql.text.cursor import Cursor


class SessionSettings:
    """The settings under which the next statement runs.

    :param zone: initial value of the variable ``time_zone``.
    :param now: result of ``NOW()``; a function: of the number of the commit that the statement belongs to.
    :ivar mode: the settings.
    """

    def __init__(self, zone: str, now: datetime | Callable[[int], datetime]) -> None:
        self._time_of = now if callable(now) else None
        self._timed = -1  # the commit whose time is that of the mode
        first = now(0) if callable(now) else now
        self.mode = self._initial = SQLMode(zone=time_zone(zone), now=first, now_moves=callable(now))
        self._saved: dict[str, SQLMode] = {}

    def move_clock(self, commit: int) -> None:
        """Set the time of the next statement, which is that of its commit."""
        if self._time_of is not None and self.mode.now_moves and self._timed != commit:
            self.mode = replace(self.mode, now=self._time_of(commit))
            self._timed = commit

    @contextmanager
    def of_new_session(self, zone: str) -> Iterator[None]:
        """Have the settings of a new session in the context.

        :param zone: as of the class.
        """
        before = self.mode, self._initial
        now, moves = self._initial.now, self._time_of is not None
        self.mode = self._initial = SQLMode(zone=time_zone(zone), now=now, now_moves=moves)
        self._timed = -1
        try:
            yield
        finally:
            self.mode, self._initial = before
            self._timed = -1

    def run_set(self, cursor: Cursor, assign: Callable[[str, exp.Expr], None]) -> None:
        """Run a SET statement.

        :param assign: assigns the value of an expression to a user variable.
        :raises ScenarioError: for a variable or a value that is not supported.
        """
        self.mode, self._initial = run_set(cursor, self.mode, self._initial, self._saved, assign)
        self._timed = -1


class SessionValues:
    """User variables, and the state of the functions of the session; see ``SessionState``.

    :param seed: of random values.
    :param database: gives the current database.
    :param sequence: gives the sequence of a database and a name.
    :ivar commit: number of the commit of the open transaction.
    """

    def __init__(
        self,
        seed: int = 0,
        database: Callable[[], str] = str,
        sequence: Callable[[str, str], StoredSequence] | None = None,
    ) -> None:
        self._variables: dict[str, SQLValue] = {}
        self._unknown: dict[str, str] = {}
        self._seed, self._database, self._sequence = seed, database, sequence
        self._generators: dict[int, tuple[exp.Expr, Generator]] = {}
        self._generated = self._stored_id = 0
        self._last_insert_id = self.row_count = 0
        self.knows_found_rows = True
        self.commit = 0
        self.random = Random(seed)  # noqa: S311  # the same on every run

    @property
    def last_insert_id(self) -> int:
        return self._last_insert_id

    @last_insert_id.setter
    def last_insert_id(self, number: int) -> None:
        self._last_insert_id, self._stored_id = number, 0  # of a new row and a call the last one counts

    @property
    def shard(self) -> int:
        """The shard of the transaction, from which AUTO_RANDOM and SHARD_ROW_ID_BITS take their bits."""
        return zlib.crc32(f"{self._seed} {self.commit}".encode())

    @property
    def current_database(self) -> str:
        return self._database()

    def generator(self, node: exp.Expr, seed: int) -> Generator:
        if id(node) not in self._generators:
            self._generators[id(node)] = node, Generator(seed)
        return self._generators[id(node)][1]

    def sequence(self, database: str, name: str) -> StoredSequence:
        if self._sequence is None:
            raise ScenarioError(f"the sequence {name!r} cannot be used here", value=name)
        return self._sequence(database or self._database(), name)

    def variable(self, name: str) -> SQLValue:
        """Return the value of a user variable; NULL if it was never set.

        :raises UnsupportedSQL: if it is that of a session variable without a value here.
        """
        if name.lower() in self._unknown:
            what = f"the variable @{name}, set to @@{self._unknown[name.lower()]},"
            raise UnsupportedSQL(f"{what} is not supported in an expression", hint="write its value")
        return self._variables.get(name.lower())

    def session_variable(self, name: str, kind: str, mode: SQLMode) -> SQLValue:
        """Return the value of ``@@name``, of a variable that statements cannot change unseen.

        :param kind: the word before the name, such as ``session``; empty without one.
        :raises UnsupportedSQL: for another variable.
        """
        if name in FIXED_VARIABLES:
            return FIXED_VARIABLES[name]
        read = _READ.get(name) if kind.lower() in _OF_SESSION else None
        if read is None:
            raise UnsupportedSQL(f"the variable @@{name} is not supported", hint="write its value")
        return read(self, mode)

    def assign(self, name: str, value: SQLValue) -> SQLValue:
        """Set a user variable, which holds a number or a string; return its value."""
        self._variables[name.lower()] = _plain(value)
        self._unknown.pop(name.lower(), None)
        return self._variables[name.lower()]

    def save(self, name: str, variable: str) -> None:
        """Set a user variable to a session variable whose value is not known."""
        self._unknown[name.lower()] = variable

    def note_generated(self, number: int) -> None:
        """Note a generated AUTO_INCREMENT value; the first one of a statement counts."""
        self._generated = self._generated or number

    def note_stored(self) -> None:
        """Note that a new row was stored: only then does a generated value become LAST_INSERT_ID().

        Source: tidb ``InsertValues.addRecordWithAutoIDHint``.
        """
        self._stored_id = self._generated

    def begin_statement(self, commit: int) -> None:
        """Forget what a statement before it left that failed.

        :param commit: number of the commit of its transaction.
        """
        self.commit, self._generated, self._stored_id = commit, 0, 0
        self._generators.clear()

    def end_statement(self, rows: int) -> None:
        """Note the end of a statement.

        :param rows: number of rows that it changed; -1 for a query.
        """
        self.row_count = rows
        self.knows_found_rows = self.knows_found_rows and rows >= 0
        self.last_insert_id = self._stored_id or self.last_insert_id
        self._generated = 0
        self._generators.clear()


_READ: dict[str, Callable[[SessionValues, SQLMode], SQLValue]] = {
    "auto_increment_increment": lambda _, mode: mode.auto_increment_increment,
    "auto_increment_offset": lambda _, mode: mode.auto_increment_offset,
    "autocommit": lambda _, mode: int(mode.autocommit),
    "foreign_key_checks": lambda _, mode: int(mode.foreign_key_checks),
    **dict.fromkeys(("last_insert_id", "identity"), lambda values, _: Unsigned(values.last_insert_id)),
    "sql_mode": lambda _, mode: mode.sql_mode,
    "tidb_skip_utf8_check": lambda _, mode: int(not mode.utf8_check),
    "timestamp": lambda _, mode: mode.now.timestamp(),
}
FIXED_VARIABLES: dict[str, SQLValue] = {
    "character_set_server": "utf8mb4",
    "collation_server": "utf8mb4_bin", "default_week_format": "0", "div_precision_increment": 4,
    "lower_case_table_names": 2, "sql_select_limit": Unsigned((1 << 64) - 1),
}  # fmt: skip
"""TiDB's defaults of variables that no statement here sets."""
READ_VARIABLES = sorted([*_READ, *FIXED_VARIABLES])


def is_readable(node: exp.SessionParameter) -> bool:
    """Return whether an expression may contain a session variable."""
    name, kind = node.name.lower(), str(node.args.get("kind") or "").lower()
    return name in FIXED_VARIABLES or (name in _READ and kind in _OF_SESSION)


_OF_SESSION = ("", "session", "local")


def _plain(value: SQLValue) -> SQLValue:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Member | DateTimeValue | Duration):
        return to_text(value)
    if isinstance(value, BinaryLiteral):
        return bytes(value)
    return value if isinstance(value, int | Decimal | float | bytes) or value is None else str(value)
