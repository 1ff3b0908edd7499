"""What the driver knows of a ``generate`` step: numbers and columns, never rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, pairwise

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.column_form import Distribution
from ticdc_producer.scenario.generate.turns import ALWAYS, Turns


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPlan:
    """How the values of one column are made.

    :param offset: in the table; of columns that a DDL of the step adds, a number behind those.
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
    :param reference: the other table's key that a value is one of, None for most columns.
    :param since: event from which the column is there; what was drawn before shows its ``origin_default``.
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
    reference: Reference | None = None
    since: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a column refers to.

    :param parent: of the other table, whose rows are never deleted.
    :param column: its key that a value repeats.
    :param same_step: whether rows may be born there while this table's change, too.
    """

    parent: GeneratePlan
    column: ColumnPlan
    same_step: bool


@dataclass(frozen=True, slots=True)
class Place:
    """One change of each transaction, where the scenario names its statements.

    :param statement: number of the statement, each of which picks a row.
    :param deletes: whether it deletes that row.
    :param inserts: whether it makes a new row of the plan's table.
    :param updates: offsets of the columns that an update changes.
    """

    statement: int
    deletes: bool = False
    inserts: bool = False
    updates: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GeneratePlan:
    """What a ``generate`` step does to one of its tables, bound to its place in the history.

    :param file: with ``line``, for messages of what only the job finds.
    :param seed: of the scenario.
    :param step_commit: number of the step's first transaction.
    :param first_commit: of the first transaction that inserts ``rows``.
    :param first_transaction: of the first behind all tables' rows.
    :param rows: inserted first.
    :param transactions: of the step.
    :param rows_per_transaction: row changes of each transaction, whatever the table.
    :param changes_per_row: so many changes in succession of one transaction hit one row.
    :param turns: which picks of rows are of this table.
    :param births: rows that are born in the transactions; evenly spread, but for those that ``each`` inserts.
    :param delete_chance: that an event of a row that exists deletes it.
    :param hot_keys: Zipf exponent with which rows are picked.
    :param updates: offsets of the columns that every update changes; empty: a hash chooses.
    :param key_changes: ratio of updates that change the key.
    :param each: the changes of every transaction; empty where a mix decides.
    :param columns: all that the table ever has.
    :param ddl_every: so many transactions come between two DDLs of the table; 0: there are none.
    :param versions: the table as the step finds it, and as each of its DDLs leaves it; empty without DDLs.
    """

    file: str
    line: int
    seed: int
    table: TableInfo
    step_commit: int
    first_commit: int
    first_transaction: int
    rows: int
    transactions: int
    rows_per_transaction: int
    changes_per_row: int
    turns: Turns
    births: int
    delete_chance: float
    hot_keys: float
    updates: tuple[int, ...]
    key_changes: float
    each: tuple[Place, ...]
    columns: tuple[ColumnPlan, ...]
    ddl_every: int = 0
    versions: tuple[TableInfo, ...] = ()

    @property
    def rows_move(self) -> bool:
        """Whether a row may get another key, or another hidden row id when it is inserted again."""
        return bool(self.key_changes) or self.table.clustered_key is None

    @property
    def commits_behind(self) -> int:
        """Number of the first commit behind the step."""
        return self.first_transaction + self.transactions + self._ddls

    @property
    def _ddls(self) -> int:
        return (self.transactions - 1) // self.ddl_every if self.ddl_every else 0

    def table_after(self, commits: int | None) -> TableInfo:
        """The table after so many commits of the history; None: as the step leaves it."""
        if not self.versions:
            return self.table
        if commits is None:
            return self.versions[-1]
        passed = (commits - self.first_transaction) // (self.ddl_every + 1)
        return self.versions[min(max(passed, 0), len(self.versions) - 1)]

    @cached_property
    def eras(self) -> tuple[int, ...]:
        """How often the table was truncated before each of its versions; empty if it never is."""
        ids = [table.table_id for table in self.versions]
        counts = tuple(accumulate((one != other for one, other in pairwise(ids)), initial=0))
        return counts if ids and counts[-1] else ()

    @property
    def events(self) -> int:
        """Row changes of the table in all."""
        if self.each:
            return self.rows + self.visits + self._second_changes
        if self.turns == ALWAYS:
            return self.rows + self.transactions * self.rows_per_transaction
        return self.rows + self.visits * self.changes_per_row

    @cached_property
    def _second_changes(self) -> int:
        """How often a statement of two changes falls to the table."""
        picks, cycle = self.picks_per_transaction, self.turns.cycle
        whole, rest = divmod(self.transactions, cycle)
        found = 0
        for statement in (one.statement for one in self.each if one.deletes):
            mine = [self.turns.has(number * picks + statement) for number in range(cycle)]
            found += whole * sum(mine) + sum(mine[:rest])
        return found

    @property
    def picks_per_transaction(self) -> int:
        """Rows that a transaction picks, of any table, one after the other."""
        if self.each:
            return self.each[-1].statement + 1
        return -(-self.rows_per_transaction // self.changes_per_row)

    @property
    def visits(self) -> int:
        """How many of all picks are of the table."""
        return self.turns.count(self.transactions * self.picks_per_transaction)

    @property
    def all_rows(self) -> int:
        """Rows that ever exist; each keeps a number below it."""
        return self.rows + self.births

    @property
    def deletes(self) -> bool:
        """Whether a row is ever deleted, or goes with all others."""
        return self.delete_chance > 0 or self._second_changes > 0 or bool(self.eras)

    def births_before(self, pick: int) -> int:
        """How many rows are born in the transactions before a pick of the step."""
        if self.each:
            inserts = [one.statement for one in self.each if one.inserts]
            transaction, statement = divmod(pick, self.picks_per_transaction)
            return transaction * len(inserts) + sum(one < statement for one in inserts)
        visits = max(self.visits, 1)
        return (self.turns.count(pick) * self.births + visits - 1) // visits

    @cached_property
    def updatable(self) -> tuple[int, ...]:
        """Offsets of the columns that updates may change: all outside of unique keys that stay."""
        return tuple(column.offset for column in self.columns if not column.keyed and not column.since)

    def salt(self, purpose: str) -> int:
        """A number that parts the hashes of one purpose from those of all others, as a signed long."""
        return salt(f"{self.seed}/{self.step_commit}/{self.table.qualified_name}/{purpose}")

    def shared_salt(self, purpose: str) -> int:
        """The same for all tables of the step."""
        return salt(f"{self.seed}/{self.step_commit}/{purpose}")


def salt(name: str) -> int:
    """A signed long made of a name."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big", signed=True)
