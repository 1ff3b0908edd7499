"""The form of a ``generate`` step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ticdc_producer.scenario.generate.column_form import ColumnForm, Exponent, Share
from ticdc_producer.scenario.generate.ddl_form import MOST_DDLS, DDLMix
from ticdc_producer.scenario.generate.table_form import (
    MOST_EVENTS,
    Mix,
    Rows,
    TableForm,
    TableWork,
    load_commits,
)
from ticdc_producer.scenario.strict_model import Part

MOST_ROWS_PER_TRANSACTION = 100_000
MOST_TABLES = 500
_INSTEAD_OF_EACH = ("mix", "updates", "rows_per_transaction", "changes_per_row", "key_changes")


class Statement(Part):
    """One statement that every transaction runs on a row of its own."""

    does: Literal["insert", "update", "replace"] = Field(
        description="insert a new row, update, or replace: delete and insert again."
    )
    table: str | None = Field(
        default=None, min_length=1, description="One of the tables; without it their shares decide."
    )
    columns: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        default=(), description="Columns that an update changes."
    )

    @model_validator(mode="after")
    def _updates_something(self) -> Statement:
        if (self.does == "update") != bool(self.columns):
            raise ValueError(f"an update names columns, {_with_article(self.does)} does not")
        return self


def _with_article(does: str) -> str:
    return "an insert" if does == "insert" else "a replace"


class Generate(Part):
    """Transactions of generated changes of one table, or of several."""

    table: str | None = Field(
        default=None, min_length=1, description="Table that a step before created and left empty."
    )
    tables: (
        Annotated[tuple[TableForm, ...], Field(strict=False, min_length=1, max_length=MOST_TABLES)] | None
    ) = Field(default=None, description="Several tables instead of one.")
    transactions: int = Field(ge=1, le=MOST_EVENTS, description="How many.")
    rows_per_transaction: int = Field(
        default=1, ge=1, le=MOST_ROWS_PER_TRANSACTION, description="Row changes in each."
    )
    changes_per_row: int = Field(
        default=1, ge=1, le=1000, description="So many changes in succession of a transaction hit one row."
    )
    rows: Rows = Field(default=0, description="Rows inserted first, up to 1000 a transaction.")
    mix: Mix = Field(
        default_factory=lambda: Mix(insert=20, update=70, delete=10), description="Shares of the operations."
    )
    each: Annotated[tuple[Statement, ...], Field(strict=False, max_length=1000)] | None = Field(
        default=None, description="Statements of each transaction, instead of a mix."
    )
    hot_keys: Exponent = Field(
        default=0.0, description="Zipf exponent with which rows are picked; 0 picks all alike."
    )
    updates: Annotated[tuple[str, ...], Field(strict=False)] | None = Field(
        default=None, description="Columns that every update changes; without it a hash chooses."
    )
    key_changes: Share = Field(default=0.0, description="Ratio of updates that change the keys, too.")
    columns: dict[str, ColumnForm] = Field(default_factory=dict, description="Columns by name.")
    ddl: DDLMix | None = Field(default=None, description="DDL of the table between its transactions.")

    def works(self) -> tuple[TableWork, ...]:
        """What is asked of each table."""
        forms = self.tables or (TableForm(table=self.table or ""),)
        return tuple(self._work(form) for form in forms)

    def _work(self, form: TableForm) -> TableWork:
        of_table = {name.lower() for name in form.columns}
        rest = {name: column for name, column in self.columns.items() if name.lower() not in of_table}
        return TableWork(
            table=form.table,
            share=1.0 if form.share is None else form.share,
            rows=self.rows if form.rows is None else form.rows,
            mix=form.mix or self.mix,
            hot_keys=self.hot_keys if form.hot_keys is None else form.hot_keys,
            updates=(self.updates or ()) if form.updates is None else form.updates,
            key_changes=self.key_changes if form.key_changes is None else form.key_changes,
            columns={**rest, **form.columns},
        )

    @property
    def commits(self) -> int:
        """Transactions in all, those of the rows that come first included, and DDLs."""
        return sum(load_commits(work.rows) for work in self.works()) + self.transactions + self.ddls

    @property
    def ddls(self) -> int:
        """DDLs between the transactions."""
        return self.ddl.count(self.transactions) if self.ddl else 0

    @property
    def names_tables(self) -> bool:
        """Whether each statement names its table."""
        return any(statement.table is not None for statement in self.each or ())

    @model_validator(mode="after")
    def _fits_together(self) -> Generate:
        if (self.table is None) == (self.tables is None):
            raise ValueError("a step has either table or tables")
        if len({work.table.lower() for work in self.works()}) < len(self.works()):
            raise ValueError("tables names one table twice")
        if self.each is not None:
            self._check_each(self.each)
        elif len(self.works()) > 1 and self.rows_per_transaction % self.changes_per_row:
            raise ValueError("with several tables, rows-per-transaction is a multiple of changes-per-row")
        if sum(work.rows for work in self.works()) + self.transactions * self._changes() > MOST_EVENTS:
            raise ValueError(f"more than {MOST_EVENTS} row changes")
        if not self.names_tables and not any(work.share for work in self.works()):
            raise ValueError("the shares are all 0")
        self._check_ddl()
        for work in self.works():
            if not work.rows and self._needs_rows(work):
                of_table = f"{work.table}: " if self.tables else ""
                what = "there are no rows to begin with; say how many in rows, or insert"
                raise ValueError(f"{of_table}{what} {'first' if self.each else 'more'}")
        return self

    def _check_ddl(self) -> None:
        if self.ddl is not None and (self.tables is not None or self.each is not None):
            raise ValueError("ddl is of a step with one table, and with a mix")
        if self.ddls > MOST_DDLS:
            raise ValueError(f"{self.ddls} DDLs, more than {MOST_DDLS}: let more transactions come between")

    def _changes(self) -> int:
        """Row changes of a transaction."""
        if self.each is None:
            return self.rows_per_transaction
        return sum(2 if statement.does == "replace" else 1 for statement in self.each)

    def _check_each(self, each: tuple[Statement, ...]) -> None:
        both = sorted({key.replace("_", "-") for key in self._said() if key in _INSTEAD_OF_EACH})
        if both or not each:
            raise ValueError("each stands with rows, and without " + (", ".join(both) or "an empty list"))
        tables = {work.table.lower() for work in self.works()}
        for statement in each:
            if self.names_tables != (statement.table is not None):
                raise ValueError("either all statements of each name a table, or none does")
            if statement.table is not None and (self.tables is None or statement.table.lower() not in tables):
                raise ValueError(f"each: {statement.table!r} is not one of the tables")
            if statement.does == "insert" and statement.table is None and self.tables is not None:
                raise ValueError("each: an insert into one of several tables names it")
        if self.names_tables and any(form.share is not None for form in self.tables or ()):
            raise ValueError("each names the tables: there are no shares")

    def _said(self) -> Iterator[str]:
        """The keys that the step and its tables have."""
        yield from self.model_fields_set
        for form in self.tables or ():
            yield from form.model_fields_set

    def _needs_rows(self, work: TableWork) -> bool:
        if self.each is None:
            return work.share > 0 and work.mix.insert == work.mix.delete
        if not self.names_tables:
            return work.share > 0 and self.each[0].does != "insert"
        first = (one.does for one in self.each if (one.table or "").lower() == work.table.lower())
        return next(first, "insert") != "insert"
