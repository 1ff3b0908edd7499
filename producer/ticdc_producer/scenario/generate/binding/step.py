"""Binds a ``generate`` step to its tables. Settings that do not fit are rejected with their line."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.hints import nearest
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.binding.bounds import check_added
from ticdc_producer.scenario.generate.binding.column import bind_column, numbers_fit
from ticdc_producer.scenario.generate.binding.reference import bind_reference
from ticdc_producer.scenario.generate.domain import reject_type
from ticdc_producer.scenario.generate.partitions import check_partitions
from ticdc_producer.scenario.generate.plan import (
    ColumnPlan,
    GeneratePlan,
    Reference,
    TxnStep,
    check_state_size,
    salt,
)
from ticdc_producer.scenario.generate.spec import Generate, SourceLines, StatementSpec
from ticdc_producer.scenario.generate.table_schedule import (
    ALWAYS,
    Rates,
    TableSchedule,
    operation_rates,
    schedules_by_share,
    schedules_by_statement,
)
from ticdc_producer.scenario.generate.table_spec import ColumnSpec, ResolvedTableSpec, load_commits
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning

_DEFAULT_SPEC = ColumnSpec()
_CHANGES = {"insert": 1, "update": 1, "replace": 2}
"""Number of row changes of a statement."""


def bind(
    spec: Generate,
    tables: Sequence[tuple[TableInfo, Partitioning | None]],
    *,
    first_commit: int,
    seed: int,
    file: str,
    lines: SourceLines,
    earlier: Sequence[GeneratePlan] = (),
) -> tuple[GeneratePlan, ...]:
    """Build the plans of a step, one for each table.

    :param spec: the keys of the step.
    :param tables: the tables of the step with their partitioning, in the order of ``spec``.
    :param first_commit: number of the step's first transaction.
    :param seed: random seed of the scenario.
    :param file: the scenario file, for messages.
    :param lines: the lines of the step's keys.
    :param earlier: plans of the earlier steps.
    :raises ScenarioError: for settings that do not fit the tables, with file and line.
    """
    resolved_tables = spec.resolved_tables()
    loads = [load_commits(table_spec.rows) for table_spec in resolved_tables]
    plans: list[GeneratePlan] = []
    for number, (table_spec, table_schedule) in enumerate(
        zip(resolved_tables, _table_schedules(spec, seed, first_commit), strict=True)
    ):
        binder = _Binder(
            step=spec,
            table_spec=table_spec,
            table=tables[number][0],
            partitioning=tables[number][1],
            table_schedule=table_schedule,
            step_commit=first_commit,
            first_commit=first_commit + sum(loads[:number]),
            first_transaction=first_commit + sum(loads),
            seed=seed,
            file=file,
            lines=lines.of_table(number) if spec.tables else lines,
            earlier=(*earlier, *plans),
        )
        plans.append(binder.plan())
    return tuple(plans)


def _table_schedules(spec: Generate, seed: int, first_commit: int) -> list[TableSchedule]:
    resolved_tables = spec.resolved_tables()
    if spec.each is not None and spec.names_tables:
        numbers = {table_spec.table.lower(): number for number, table_spec in enumerate(resolved_tables)}
        return schedules_by_statement(
            [numbers[(statement.table or "").lower()] for statement in spec.each], len(resolved_tables)
        )
    return schedules_by_share([table_spec.share for table_spec in resolved_tables], f"{seed}/{first_commit}")


@dataclass(frozen=True, kw_only=True)
class _Binder:
    step: Generate
    table_spec: ResolvedTableSpec
    table: TableInfo
    partitioning: Partitioning | None
    table_schedule: TableSchedule
    step_commit: int
    first_commit: int
    first_transaction: int
    seed: int
    file: str
    lines: SourceLines
    earlier: tuple[GeneratePlan, ...]

    def plan(self) -> GeneratePlan:
        self._check_table()
        specs = self._column_specs()
        rates = self._rates()
        sequences = self._sequences(specs, self._last_number(rates, keyed=True))
        columns = self._columns(specs, sequences, rates)
        plan = GeneratePlan(
            file=self.file,
            line=self.lines.of(),
            seed=self.seed,
            table=self.table,
            step_commit=self.step_commit,
            first_commit=self.first_commit,
            first_transaction=self.first_transaction,
            rows=self.table_spec.rows,
            transactions=self.step.transactions,
            rows_per_transaction=self._rows_per_transaction(),
            changes_per_row=self.step.changes_per_row,
            table_schedule=self.table_schedule,
            new_rows=rates.new_rows,
            delete_chance=rates.delete,
            hot_keys=self.table_spec.hot_keys,
            updates=self._updates(columns),
            key_changes=self.table_spec.key_changes,
            each=self._txn_steps(columns),
            columns=columns,
            ddl_every=self.step.ddl.every if self.step.ddl else 0,
            partitioning=self.partitioning,
        )
        check_state_size(plan)
        if self.partitioning is not None:
            check_partitions(plan, self.partitioning)
        for column in columns:
            if column.adds:
                try:
                    check_added(plan, column)
                except ScenarioError as error:
                    raise error.at(self.file, self.lines.of("columns", column.column.name, "adds")) from None
        return plan

    def _check_table(self) -> None:
        name = self.table.qualified_name
        if self.table.is_view or not self.table.columns:
            raise self._unsupported(f"{name} is not a table")
        if self.table.handle_index is None:
            what = f"table {name} has no primary key and no unique index without NULLs"
            raise self._error(what, "table", hint="generated rows are identified by their key")
        for column in self.table.sent_columns:
            if column.generated:
                what = f"column {column.name!r} is generated and stored: its values cannot be generated"
                raise self._unsupported(what)
            try:
                reject_type(column)
            except ScenarioError as error:
                raise error.at(self.file, self.lines.of("table")) from None

    def _column_specs(self) -> dict[int, ColumnSpec]:
        """Return the specs of columns, by offset."""
        offsets = {self.table.columns[offset].name.lower(): offset for offset in self.table.sent}
        specs: dict[int, ColumnSpec] = {}
        for name, spec in self.table_spec.columns.items():
            specs[self._offset(offsets, name, "columns", name)] = spec
        return specs

    def _offset(self, offsets: Mapping[str, int], name: str, *path: str) -> int:
        offset = offsets.get(name.lower())
        if offset is None:
            names = [column.name for column in self.table.sent_columns]
            what = f"table {self.table.qualified_name} has no column {name!r}"
            raise self._error(what, *path, hint=nearest(name, names))
        return offset

    def _rates(self) -> Rates:
        if self.step.each is not None:
            inserts = sum(statement.does == "insert" for statement in self._statements())
            return Rates(inserts * self.step.transactions, 0.0)
        mix, per_row = self.table_spec.mix, self.step.changes_per_row
        total = mix.insert + mix.update + mix.delete
        table_picks = self.table_schedule.count(
            self.step.transactions * -(-self.step.rows_per_transaction // per_row)
        )
        if not table_picks:
            return Rates(0, 0.0)
        alone = self.table_schedule == ALWAYS
        events = self.step.transactions * self.step.rows_per_transaction if alone else table_picks * per_row
        rates = operation_rates(mix.insert / total, mix.delete / total, self.table_spec.rows, events)
        if rates.new_rows > table_picks:
            what = f"{rates.new_rows} new rows are needed, but only {table_picks} rows are picked"
            raise self._error(what, "mix", hint="changes-per-row leaves room for fewer inserts")
        return rates

    def _statements(self) -> list[StatementSpec]:
        """Return the statements that may be of this table."""
        table = self.table_spec.table.lower()
        return [
            statement
            for statement in self.step.each or ()
            if statement.table is None or statement.table.lower() == table
        ]

    def _last_number(self, rates: Rates, *, keyed: bool) -> int:
        """Return the largest number of a sequence: rows are numbered first, then changes."""
        rows = self.table_spec.rows + rates.new_rows
        if keyed and not self.table_spec.key_changes:
            return rows - 1
        return rows + self.table_spec.rows + self.step.transactions * self._rows_per_transaction() - 1

    def _sequences(self, specs: Mapping[int, ColumnSpec], last: int) -> set[int]:
        """Return the offsets of the columns with different values: at least one per unique key."""
        offsets = {offset for offset, spec in specs.items() if spec.distribution == "sequence"}
        for index in self._unique_keys():
            if not offsets & set(index.offsets):
                offsets.add(self._numbered(index, specs, last))
        return offsets

    def _numbered(self, index: IndexInfo, specs: Mapping[int, ColumnSpec], last: int) -> int:
        """Return the column of a unique key that holds the number."""
        lengths = index.lengths or (-1,) * len(index.offsets)
        for offset, length in zip(index.offsets, lengths, strict=True):
            column = self.table.columns[offset]
            free = offset not in specs or specs[offset] == ColumnSpec(
                min=specs[offset].min, max=specs[offset].max
            )
            if (
                free
                and not column.is_virtual
                and numbers_fit(column, specs.get(offset, _DEFAULT_SPEC), last, length)
            ):
                return offset
        what = f"no column of key {index.name!r} has room for {last + 1} different values"
        raise self._error(what, "table", hint="give one of them distribution: sequence, or a wider type")

    def _unique_keys(self) -> list[IndexInfo]:
        return [index for index in self.table.indexes if index.unique]

    def _columns(
        self, specs: Mapping[int, ColumnSpec], sequences: Collection[int], rates: Rates
    ) -> tuple[ColumnPlan, ...]:
        keyed = {offset for index in self._unique_keys() for offset in index.offsets}
        columns: list[ColumnPlan] = []
        for offset in self.table.sent:
            column = self.table.columns[offset]
            line = self.lines.of("columns", column.name)
            spec, last = specs.get(offset, _DEFAULT_SPEC), -1
            if offset in sequences:
                last = self._last_number(rates, keyed=offset in keyed)
            try:
                plan = bind_column(
                    column,
                    offset,
                    spec,
                    keyed=offset in keyed,
                    last_number=last,
                    line=line,
                    seed=salt(f"{self.seed}/{self.table.qualified_name}/{column.name}/faker"),
                )
                columns.append(replace(plan, reference=self._reference(spec, column)))
            except ScenarioError as error:
                raise error.at(self.file, line) from None
        return tuple(columns)

    def _reference(self, spec: ColumnSpec, column: ColumnInfo) -> Reference | None:
        first = self.step_commit, self.table_spec.rows
        return bind_reference(spec, column, self.table, self.earlier, first, self.table_schedule)

    def _rows_per_transaction(self) -> int:
        if self.step.each is None:
            return self.step.rows_per_transaction
        return sum(_CHANGES[statement.does] for statement in self.step.each)

    def _txn_steps(self, columns: tuple[ColumnPlan, ...]) -> tuple[TxnStep, ...]:
        steps: list[TxnStep] = []
        mine = self._statements()
        for number, statement in enumerate(self.step.each or ()):
            is_mine = any(statement is of_table for of_table in mine)
            names = statement.columns if is_mine else ()
            updates = self._updated(names, columns, "each", str(number))
            if statement.does == "replace":
                steps.append(TxnStep(number, deletes=True))
            steps.append(TxnStep(number, inserts=is_mine and statement.does == "insert", updates=updates))
        return tuple(steps)

    def _updated(self, names: Sequence[str], columns: tuple[ColumnPlan, ...], *path: str) -> tuple[int, ...]:
        """Return the offsets of the columns that updates change."""
        offsets = {column.column.name.lower(): column.offset for column in columns}
        keyed = {column.offset for column in columns if column.keyed}
        updated = tuple(self._offset(offsets, name, *path) for name in names)
        for name, offset in zip(names, updated, strict=True):
            if offset in keyed:
                what = f"column {name!r} belongs to a unique key"
                raise self._error(what, *path, hint="key-changes sets the ratio of updates that change keys")
        return updated

    def _updates(self, columns: tuple[ColumnPlan, ...]) -> tuple[int, ...]:
        keyed = {column.offset for column in columns if column.keyed}
        updates = self._updated(self.table_spec.updates, columns, "updates")
        if (
            not self.step.each
            and self.table_spec.mix.update
            and self.table_spec.key_changes < 1
            and len(keyed) == len(columns)
        ):
            what = (
                f"table {self.table.qualified_name} has columns of unique keys only: updates change nothing"
            )
            raise self._error(what, "mix", hint="key-changes: 1, or no updates")
        return updates

    def _error(self, what: str, *path: str, hint: str = "") -> ScenarioError:
        return ScenarioError(what, file=self.file, line=self.lines.of(*path), hint=hint)

    def _unsupported(self, what: str) -> UnsupportedSQL:
        return UnsupportedSQL(what, file=self.file, line=self.lines.of("table"))
