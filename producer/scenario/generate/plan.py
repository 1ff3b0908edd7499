"""What the driver knows of a ``generate`` step: numbers and columns, never rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from producer.model.event import Value
from producer.model.table import ColumnInfo, TableInfo
from producer.scenario.generate.form import Distribution

ROWS_PER_LOAD = 1000
"""Rows that one transaction inserts of those that come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPlan:
    """How the values of one column are made.

    :param offset: in the table.
    :param keyed: whether it belongs to a unique key, and changes only where the key does.
    :param sequence: whether each value is made of a number of its own.
    :param low: smallest ordinal (``domain``) that is drawn, and ``high`` the largest.
    :param real: of FLOAT and DOUBLE, between which numbers the ordinals lie.
    :param length: of strings, between how many characters or bytes.
    :param choices: canonical values to choose from, empty where the type's are drawn.
    :param expression: Spark SQL instead of all that.
    :param adds: Spark SQL of what each update adds to the value that an insert drew.
    :param nulls: ratio of NULLs, and ``edge_share`` of the canonical values in ``edges``.
    :param line: in the scenario file.
    """

    column: ColumnInfo
    offset: int
    keyed: bool
    sequence: bool
    low: int
    high: int
    real: tuple[float, float]
    length: tuple[int, int]
    distribution: Distribution
    exponent: float
    choices: tuple[Value, ...]
    expression: str
    adds: str
    nulls: float
    edge_share: float
    edges: tuple[Value, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Place:
    """One change of each transaction, where the scenario names its statements.

    :param statement: number of the statement, each of which picks a row.
    :param deletes: whether it deletes that row.
    :param updates: offsets of the columns that an update changes.
    """

    statement: int
    deletes: bool = False
    updates: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GeneratePlan:
    """A ``generate`` step, bound to its table and to its place in the history.

    :param file: with ``line``, for messages of what only the job finds.
    :param seed: of the scenario.
    :param first_commit: number of its first transaction.
    :param rows: inserted first.
    :param rows_per_transaction: row changes of each of the ``transactions`` behind these.
    :param changes_per_row: so many changes in succession of one transaction hit one row.
    :param births: rows that are born in the transactions, evenly spread.
    :param delete_chance: that an event of a row that exists deletes it.
    :param hot_keys: Zipf exponent with which rows are picked.
    :param updates: offsets of the columns that every update changes; empty: a hash chooses.
    :param key_changes: ratio of updates that change the key.
    :param each: the changes of every transaction; empty where a mix decides.
    """

    file: str
    line: int
    seed: int
    table: TableInfo
    first_commit: int
    rows: int
    transactions: int
    rows_per_transaction: int
    changes_per_row: int
    births: int
    delete_chance: float
    hot_keys: float
    updates: tuple[int, ...]
    key_changes: float
    each: tuple[Place, ...]
    columns: tuple[ColumnPlan, ...]

    @property
    def load_commits(self) -> int:
        """Transactions that insert the rows which come first."""
        return -(-self.rows // ROWS_PER_LOAD)

    @property
    def commits(self) -> int:
        return self.load_commits + self.transactions

    @property
    def events(self) -> int:
        """Row changes in all."""
        return self.rows + self.transactions * self.rows_per_transaction

    @property
    def visits_per_transaction(self) -> int:
        """Rows that a transaction picks, one after the other."""
        if self.each:
            return self.each[-1].statement + 1
        return -(-self.rows_per_transaction // self.changes_per_row)

    @property
    def all_rows(self) -> int:
        """Rows that ever exist; each keeps a number below it."""
        return self.rows + self.births

    @cached_property
    def updatable(self) -> tuple[int, ...]:
        """Offsets of the columns that updates may change: all outside of unique keys."""
        return tuple(column.offset for column in self.columns if not column.keyed)

    def salt(self, purpose: str) -> int:
        """A number that parts the hashes of one purpose from those of all others, as a signed long."""
        name = f"{self.seed}/{self.first_commit}/{self.table.qualified_name}/{purpose}"
        return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big", signed=True)
