"""The keys of a ``generate`` step, and their lines in the scenario file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ticdc_producer.scenario.generate.table_spec import (
    MOST_DDLS,
    MOST_EVENTS,
    ColumnSpec,
    DDLMix,
    Exponent,
    Mix,
    ResolvedTableSpec,
    Rows,
    Share,
    TableSpec,
    load_commits,
)
from ticdc_producer.scenario.yaml_tree import StrictModel

MOST_ROWS_PER_TRANSACTION = 100_000
MOST_TABLES = 500
_INSTEAD_OF_EACH = ("mix", "updates", "rows_per_transaction", "changes_per_row", "key_changes")


class StatementSpec(StrictModel):
    """One statement that every transaction executes on a row of its own."""

    does: Literal["insert", "update", "replace"] = Field(
        description="insert a new row, update, or replace: delete and insert again."
    )
    table: str | None = Field(
        default=None, min_length=1, description="One of the tables; by default their shares decide."
    )
    columns: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        default=(), description="Columns that an update changes."
    )

    @model_validator(mode="after")
    def _check_columns(self) -> StatementSpec:
        if (self.does == "update") != bool(self.columns):
            raise ValueError(f"an update requires columns, {_with_article(self.does)} has none")
        return self


def _with_article(does: str) -> str:
    return "an insert" if does == "insert" else "a replace"


class Generate(StrictModel):
    """Transactions of generated changes of one table, or of several."""

    table: str | None = Field(
        default=None, min_length=1, description="Table that an earlier step created and left empty."
    )
    tables: (
        Annotated[tuple[TableSpec, ...], Field(strict=False, min_length=1, max_length=MOST_TABLES)] | None
    ) = Field(default=None, description="Several tables instead of one.")
    transactions: int = Field(ge=1, le=MOST_EVENTS, description="Number of transactions.")
    rows_per_transaction: int = Field(
        default=1, ge=1, le=MOST_ROWS_PER_TRANSACTION, description="Row changes in each."
    )
    changes_per_row: int = Field(
        default=1,
        ge=1,
        le=1000,
        description="Number of consecutive changes of a transaction that hit the same row.",
    )
    rows: Rows = Field(default=0, description="Rows inserted first, up to 1000 per transaction.")
    mix: Mix = Field(
        default_factory=lambda: Mix(insert=20, update=70, delete=10), description="Shares of the operations."
    )
    each: Annotated[tuple[StatementSpec, ...], Field(strict=False, max_length=1000)] | None = Field(
        default=None, description="Statements of each transaction, instead of a mix."
    )
    hot_keys: Exponent = Field(
        default=0.0, description="Zipf exponent with which rows are picked; 0: uniformly."
    )
    updates: Annotated[tuple[str, ...], Field(strict=False)] | None = Field(
        default=None, description="Columns that every update changes; default: random columns."
    )
    key_changes: Share = Field(default=0.0, description="Ratio of updates that also change the keys.")
    columns: dict[str, ColumnSpec] = Field(default_factory=dict, description="Columns by name.")
    ddl: DDLMix | None = Field(default=None, description="DDLs of the table between its transactions.")

    def resolved_tables(self) -> tuple[ResolvedTableSpec, ...]:
        """Return the settings of each table, with all defaults."""
        specs = self.tables or (TableSpec(table=self.table or ""),)
        return tuple(self._resolve(spec) for spec in specs)

    def _resolve(self, spec: TableSpec) -> ResolvedTableSpec:
        of_table = {name.lower() for name in spec.columns}
        rest = {name: column for name, column in self.columns.items() if name.lower() not in of_table}
        return ResolvedTableSpec(
            table=spec.table,
            share=1.0 if spec.share is None else spec.share,
            rows=self.rows if spec.rows is None else spec.rows,
            mix=spec.mix or self.mix,
            hot_keys=self.hot_keys if spec.hot_keys is None else spec.hot_keys,
            updates=(self.updates or ()) if spec.updates is None else spec.updates,
            key_changes=self.key_changes if spec.key_changes is None else spec.key_changes,
            columns={**rest, **spec.columns},
        )

    @property
    def commits(self) -> int:
        """Number of all transactions, including those of the rows inserted first, and of DDLs."""
        return (
            sum(load_commits(table_spec.rows) for table_spec in self.resolved_tables())
            + self.transactions
            + self.ddls
        )

    @property
    def ddls(self) -> int:
        """Number of DDLs between the transactions."""
        return self.ddl.count(self.transactions) if self.ddl else 0

    @property
    def names_tables(self) -> bool:
        """Whether each statement names its table."""
        return any(statement.table is not None for statement in self.each or ())

    @model_validator(mode="after")
    def _fits_together(self) -> Generate:
        if (self.table is None) == (self.tables is None):
            raise ValueError("a step has either table or tables")
        if len({table_spec.table.lower() for table_spec in self.resolved_tables()}) < len(
            self.resolved_tables()
        ):
            raise ValueError("tables names one table twice")
        if self.each is not None:
            self._check_each(self.each)
        elif len(self.resolved_tables()) > 1 and self.rows_per_transaction % self.changes_per_row:
            raise ValueError("with several tables, rows-per-transaction is a multiple of changes-per-row")
        if (
            sum(table_spec.rows for table_spec in self.resolved_tables())
            + self.transactions * self._changes()
            > MOST_EVENTS
        ):
            raise ValueError(f"more than {MOST_EVENTS} row changes")
        if not self.names_tables and not any(table_spec.share for table_spec in self.resolved_tables()):
            raise ValueError("the shares are all 0")
        self._check_ddl()
        for table_spec in self.resolved_tables():
            if not table_spec.rows and self._needs_rows(table_spec):
                of_table = f"{table_spec.table}: " if self.tables else ""
                what = "there are no rows at the start; set rows, or insert"
                raise ValueError(f"{of_table}{what} {'first' if self.each else 'more'}")
        return self

    def _check_ddl(self) -> None:
        if self.ddl is not None and (self.tables is not None or self.each is not None):
            raise ValueError("ddl requires a step with one table and a mix")
        if self.ddls > MOST_DDLS:
            raise ValueError(f"{self.ddls} DDLs, more than {MOST_DDLS}; increase every")

    def _changes(self) -> int:
        """Return the number of row changes of a transaction."""
        if self.each is None:
            return self.rows_per_transaction
        return sum(2 if statement.does == "replace" else 1 for statement in self.each)

    def _check_each(self, each: tuple[StatementSpec, ...]) -> None:
        both = sorted({key.replace("_", "-") for key in self._given_keys() if key in _INSTEAD_OF_EACH})
        if not each:
            raise ValueError("each is empty")
        if both:
            raise ValueError(f"each cannot be combined with {', '.join(both)}")
        tables = {table_spec.table.lower() for table_spec in self.resolved_tables()}
        for statement in each:
            if self.names_tables != (statement.table is not None):
                raise ValueError("either all statements of each name a table, or none does")
            if statement.table is not None and (self.tables is None or statement.table.lower() not in tables):
                raise ValueError(f"each: {statement.table!r} is not one of the tables")
            if statement.does == "insert" and statement.table is None and self.tables is not None:
                raise ValueError("each: an insert requires a table if there are several")
        if self.names_tables and any(spec.share is not None for spec in self.tables or ()):
            raise ValueError("each names the tables, so they have no shares")

    def _given_keys(self) -> Iterator[str]:
        """Yield the keys that are set in the step and its tables."""
        yield from self.model_fields_set
        for spec in self.tables or ():
            yield from spec.model_fields_set

    def _needs_rows(self, table_spec: ResolvedTableSpec) -> bool:
        if self.each is None:
            return table_spec.share > 0 and table_spec.mix.insert == table_spec.mix.delete
        if not self.names_tables:
            return table_spec.share > 0 and self.each[0].does != "insert"
        table = table_spec.table.lower()
        first = (statement.does for statement in self.each if (statement.table or "").lower() == table)
        return next(first, "insert") != "insert"


@dataclass(frozen=True)
class SourceLines:
    """The line of each key in the scenario file.

    :param lines: line by path below ``generate``; the step itself has the path ``()``.
    :param above: path of a table with keys of its own; empty: the step.
    """

    lines: Mapping[tuple[str, ...], int]
    above: tuple[str, ...] = ()

    def of_table(self, number: int) -> SourceLines:
        """Return the lines for one of several tables."""
        return SourceLines(self.lines, ("tables", str(number)))

    def of(self, *path: str) -> int:
        """Return the line of a key, or of the nearest key above it; the table's keys precede the step's."""
        lines = self._lower_case
        lower_path = tuple(part.lower() for part in path)
        for depth in range(len(lower_path), -1, -1):
            for candidate in (self.above + lower_path[:depth], lower_path[:depth]):
                if candidate in lines:
                    return lines[candidate]
        return 0

    @cached_property
    def _lower_case(self) -> Mapping[tuple[str, ...], int]:
        return {tuple(part.lower() for part in path): line for path, line in self.lines.items()}
