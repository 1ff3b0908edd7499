"""The plans of a ``generate`` step on the driver: numbers and columns, never rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.domain import is_string
from ticdc_producer.scenario.generate.edits import Edits
from ticdc_producer.scenario.generate.table_schedule import ALWAYS, TableSchedule
from ticdc_producer.scenario.generate.table_spec import Distribution

if TYPE_CHECKING:
    from ticdc_producer.scenario.sql.definition.partitioning import Partitioning

_MOST_BYTES_OF_OTHERS = 70
"""A DECIMAL has at most 65 digits, a sign and a point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPlan:
    """The plan of the values of one column.

    :param offset: offset in the table; columns that a DDL of the step adds follow.
    :param keyed: whether it belongs to a unique key; then it changes only with the key.
    :param sequence: whether each value comes from a different number.
    :param low: smallest ordinal (see ``domain``) that is drawn.
    :param high: largest ordinal that is drawn.
    :param real: bounds of FLOAT and DOUBLE values.
    :param length: minimum and maximum length of strings, in characters or bytes.
    :param choices: canonical values to choose from; empty: values of the type are drawn.
    :param expression: Spark SQL of the value; the other settings of values then have no effect.
    :param adds: SQL of the number that each update adds to the inserted value.
    :param nulls: ratio of NULLs.
    :param boundary_share: ratio of the canonical values in ``boundary_values``.
    :param line: line in the scenario file.
    :param reference: the key of another table that values refer to, if any.
    :param since: first event with the column; rows written before show its ``origin_default``.
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
    boundary_share: float
    boundary_values: tuple[Value, ...]
    line: int
    reference: Reference | None = None
    since: int = 0

    @property
    def most_bytes(self) -> int:
        """An upper limit of the size of values, except boundary values and those of an ``expression``."""
        if self.choices:
            return max(len(choice or b"") for choice in self.choices)
        return self.length[1] if is_string(self.column) else _MOST_BYTES_OF_OTHERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The reference of a column to another table.

    :param parent: plan of the referenced table, whose rows are never deleted.
    :param column: the referenced key column.
    :param same_step: whether both tables belong to one step, so that the parent may get new rows during it.
    """

    parent: GeneratePlan
    column: ColumnPlan
    same_step: bool


@dataclass(frozen=True, slots=True)
class TxnStep:
    """One change of each transaction, if the scenario lists its statements.

    :param statement: index of the statement; each statement picks a row.
    :param deletes: whether it deletes that row.
    :param inserts: whether it inserts a new row into the plan's table.
    :param updates: offsets of the columns that an update changes.
    """

    statement: int
    deletes: bool = False
    inserts: bool = False
    updates: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GeneratePlan:
    """The changes of a ``generate`` step to one of its tables, bound to their commits in the history.

    :param file: scenario file, and ``line`` in it, for errors that occur in the Spark job.
    :param seed: random seed of the scenario.
    :param step_commit: number of the step's first transaction.
    :param first_commit: number of the first transaction that inserts ``rows``.
    :param first_transaction: number of the first transaction after the first rows of all tables.
    :param rows: number of rows inserted first.
    :param transactions: number of transactions of the step.
    :param rows_per_transaction: number of row changes of each transaction, in all tables.
    :param changes_per_row: number of consecutive changes of a transaction that hit the same row.
    :param table_schedule: the picks that belong to this table.
    :param new_rows: number of new rows in the transactions; evenly distributed, except inserts of ``each``.
    :param delete_chance: probability that an event of an existing row deletes it.
    :param hot_keys: Zipf exponent with which rows are picked.
    :param updates: offsets of the columns that every update changes; empty: a hash chooses.
    :param key_changes: ratio of updates that change the key.
    :param each: the changes of every transaction; empty: a mix decides.
    :param columns: the columns of all versions of the table.
    :param ddl_every: number of transactions between two DDLs of the table; 0: no DDLs.
    :param versions: the table at the start of the step and after each of its DDLs; empty without DDLs.
    :param edits: the effects of SQL on the table after the step; None: there are none.
    :param partitioning: the partitioning of the table; None: it has no partitions.
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
    table_schedule: TableSchedule
    new_rows: int
    delete_chance: float
    hot_keys: float
    updates: tuple[int, ...]
    key_changes: float
    each: tuple[TxnStep, ...]
    columns: tuple[ColumnPlan, ...]
    ddl_every: int = 0
    versions: tuple[TableInfo, ...] = ()
    edits: Edits | None = None
    partitioning: Partitioning | None = None

    @property
    def most_bytes_of_a_row(self) -> int:
        """An upper limit of the size of most rows; see ``ColumnPlan.most_bytes``."""
        return sum(column.most_bytes for column in self.columns)

    @property
    def rows_move(self) -> bool:
        """Whether a row may get another key, or another hidden row id when it is inserted again."""
        return bool(self.key_changes) or self.table.clustered_key is None

    @property
    def hidden_ids_change(self) -> bool:
        """Whether an update may give a row a new hidden row id: it does not keep it in another partition."""
        return bool(self.key_changes) and self.partitioning is not None and self.table.clustered_key is None

    @property
    def revisits_rows(self) -> bool:
        """Whether transactions change rows that earlier ones inserted."""
        return self.table_picks > self.new_rows

    @property
    def commits_after(self) -> int:
        """Number of the first commit after the step."""
        return self.commit_of(self.transactions)

    def commit_of(self, transaction: int) -> int:
        """Return the number of a transaction's commit.

        For the number of transactions, the result is the first commit after the step.
        """
        ddls = min(transaction, self.transactions - 1) // self.ddl_every if self.ddl_every else 0
        return self.first_transaction + transaction + ddls

    def transactions_before(self, commit: int) -> int:
        """Return the number of transactions before a commit."""
        before = min(max(0, commit - self.first_transaction), self.commits_after - self.first_transaction)
        return before - before // (self.ddl_every + 1) if self.ddl_every else before

    def table_after(self, commits: int | None) -> TableInfo:
        """Return the table after a number of commits of the history; None: after the last commit."""
        edited = None if self.edits is None else self.edits.table_after(commits)
        return self.step_table_after(commits) if edited is None else edited

    def step_table_after(self, commits: int | None) -> TableInfo:
        """Return the table after a number of commits, without changes by SQL; None: after the step."""
        return self.versions[self._version_after(commits)] if self.versions else self.table

    def truncations_before(self, commits: int | None) -> int:
        """Return the number of truncations in a number of commits of the history; None: in all commits."""
        return self.truncate_generation[self._version_after(commits)] if self.truncate_generation else 0

    def _version_after(self, commits: int | None) -> int:
        if commits is None:
            return len(self.versions) - 1
        alterations = (commits - self.first_transaction) // (self.ddl_every + 1)
        return min(max(alterations, 0), len(self.versions) - 1)

    @cached_property
    def truncate_generation(self) -> tuple[int, ...]:
        """Number of truncations before each version of the table; empty if it is never truncated."""
        ids = [table.table_id for table in self.versions]
        counts = tuple(accumulate((before != after for before, after in pairwise(ids)), initial=0))
        return counts if ids and counts[-1] else ()

    @property
    def events(self) -> int:
        """Number of row changes of the table."""
        if self.each:
            return self.rows + self.table_picks + self._second_changes
        if self.table_schedule == ALWAYS:
            return self.rows + self.transactions * self.rows_per_transaction
        return self.rows + self.table_picks * self.changes_per_row

    @cached_property
    def _second_changes(self) -> int:
        """Number of statements with two changes that fall to the table."""
        picks, cycle = self.picks_per_transaction, self.table_schedule.cycle
        whole, rest = divmod(self.transactions, cycle)
        changes = 0
        for statement in (step.statement for step in self.each if step.deletes):
            mine = [self.table_schedule.has(number * picks + statement) for number in range(cycle)]
            changes += whole * sum(mine) + sum(mine[:rest])
        return changes

    @property
    def picks_per_transaction(self) -> int:
        """Number of rows that a transaction picks, in all tables."""
        if self.each:
            return self.each[-1].statement + 1
        return -(-self.rows_per_transaction // self.changes_per_row)

    @property
    def table_picks(self) -> int:
        """Number of picks that belong to the table."""
        return self.table_schedule.count(self.transactions * self.picks_per_transaction)

    @property
    def all_rows(self) -> int:
        """Number of different rows; each row has a fixed number below it."""
        return self.rows + self.new_rows

    @property
    def deletes(self) -> bool:
        """Whether rows are deleted or truncated."""
        return self.delete_chance > 0 or self._second_changes > 0 or bool(self.truncate_generation)

    def new_rows_before(self, pick: int) -> int:
        """Return the number of new rows in the transactions before a pick of the step."""
        if self.each:
            inserts = [step.statement for step in self.each if step.inserts]
            transaction, statement = divmod(pick, self.picks_per_transaction)
            return transaction * len(inserts) + sum(insert < statement for insert in inserts)
        table_picks = max(self.table_picks, 1)
        return (self.table_schedule.count(pick) * self.new_rows + table_picks - 1) // table_picks

    @cached_property
    def updatable(self) -> tuple[int, ...]:
        """Offsets of the columns that updates may change: outside of unique keys, and in all versions."""
        return tuple(column.offset for column in self.columns if not column.keyed and not column.since)

    def salt(self, purpose: str) -> int:
        """Return a signed long that separates the hashes of different purposes."""
        return salt(f"{self.seed}/{self.step_commit}/{self.table.qualified_name}/{purpose}")

    def shared_salt(self, purpose: str) -> int:
        """Return a salt like :meth:`salt` that is the same for all tables of the step."""
        return salt(f"{self.seed}/{self.step_commit}/{purpose}")


def salt(name: str) -> int:
    """Derive a signed long from a name."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big", signed=True)


MOST_STATE_BYTES = 4 << 30
"""Maximum size of the states of the rows that one task follows."""


def check_state_size(plan: GeneratePlan) -> None:
    """Check that the states of a table's rows fit into the memory of a task.

    :raises ScenarioError: with file and line of the step, if they do not.
    """
    columns = (
        3
        + plan.hidden_ids_change
        + sum(may_change(plan, column) or bool(column.adds) for column in plan.columns)
    )
    size = columns * 8 * plan.all_rows if plan.revisits_rows else 0
    if size > MOST_STATE_BYTES:
        what = (
            f"to follow the {plan.all_rows} rows of {plan.table.qualified_name}, each task needs "
            f"{size >> 20} MiB, more than {MOST_STATE_BYTES >> 20}"
        )
        hint = "set fewer rows, name the columns that updates change, or insert only"
        raise ScenarioError(what, file=plan.file, line=plan.line, hint=hint)


def may_change(plan: GeneratePlan, column: ColumnPlan) -> bool:
    """Return whether updates may give a column a new value, other than by adding to it or changing keys."""
    if column.keyed or column.adds:
        return False
    if plan.each:
        return any(column.offset in step.updates for step in plan.each)
    return not plan.updates or column.offset in plan.updates


def has_expressions(plans: Iterable[GeneratePlan]) -> bool:
    """Return whether any column has an expression."""
    return any(map(needs_expressions, plans))


def needs_expressions(plan: GeneratePlan) -> bool:
    """Return whether a column of the table has an expression."""
    return any(column.expression for column in plan.columns)
