"""A ``generate`` step bound to its tables: everything that does not fit is refused here, with its line."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ticdc_producer.errors import ScenarioError, UnsupportedSQL, nearest
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.bind_added import check_added
from ticdc_producer.scenario.generate.bind_column import bind_column, numbers_fit
from ticdc_producer.scenario.generate.bind_reference import bind_reference
from ticdc_producer.scenario.generate.column_form import ColumnForm
from ticdc_producer.scenario.generate.domain import refuse_type
from ticdc_producer.scenario.generate.form import Generate, Statement
from ticdc_producer.scenario.generate.places import Lines
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan, Place, Reference, salt
from ticdc_producer.scenario.generate.rates import Rates, rates
from ticdc_producer.scenario.generate.table_form import TableWork, load_commits
from ticdc_producer.scenario.generate.turns import ALWAYS, Turns, turns_by_share, turns_by_statement

_USUAL = ColumnForm()
_CHANGES = {"insert": 1, "update": 1, "replace": 2}
"""Row changes of a statement."""


def bind(
    form: Generate,
    tables: Sequence[TableInfo],
    *,
    first_commit: int,
    seed: int,
    file: str,
    lines: Lines,
    earlier: Sequence[GeneratePlan] = (),
) -> tuple[GeneratePlan, ...]:
    """The plans of a step, one for each table.

    :param tables: of the form, in its order.
    :param first_commit: number of the step's first transaction.
    :param earlier: plans of the steps before.
    :raises ScenarioError: for what does not fit the tables, with file and line.
    """
    works = form.works()
    loads = [load_commits(work.rows) for work in works]
    found: list[GeneratePlan] = []
    for number, (work, turns) in enumerate(zip(works, _turns(form, seed, first_commit), strict=True)):
        binder = _Binder(
            step=form,
            form=work,
            table=tables[number],
            turns=turns,
            step_commit=first_commit,
            first_commit=first_commit + sum(loads[:number]),
            first_transaction=first_commit + sum(loads),
            seed=seed,
            file=file,
            lines=lines.of_table(number) if form.tables else lines,
            earlier=(*earlier, *found),
        )
        found.append(binder.plan())
    return tuple(found)


def _turns(form: Generate, seed: int, first_commit: int) -> list[Turns]:
    works = form.works()
    if form.each is not None and form.names_tables:
        numbers = {work.table.lower(): number for number, work in enumerate(works)}
        return turns_by_statement([numbers[(one.table or "").lower()] for one in form.each], len(works))
    return turns_by_share([work.share for work in works], f"{seed}/{first_commit}")


@dataclass(frozen=True, kw_only=True)
class _Binder:
    step: Generate
    form: TableWork
    table: TableInfo
    turns: Turns
    step_commit: int
    first_commit: int
    first_transaction: int
    seed: int
    file: str
    lines: Lines
    earlier: tuple[GeneratePlan, ...]

    def plan(self) -> GeneratePlan:
        self._check_table()
        forms = self._forms()
        found = self._rates()
        sequences = self._sequences(forms, self._last_number(found, keyed=True))
        columns = self._columns(forms, sequences, found)
        plan = GeneratePlan(
            file=self.file,
            line=self.lines.of(),
            seed=self.seed,
            table=self.table,
            step_commit=self.step_commit,
            first_commit=self.first_commit,
            first_transaction=self.first_transaction,
            rows=self.form.rows,
            transactions=self.step.transactions,
            rows_per_transaction=self._rows_per_transaction(),
            changes_per_row=self.step.changes_per_row,
            turns=self.turns,
            births=found.births,
            delete_chance=found.delete,
            hot_keys=self.form.hot_keys,
            updates=self._updates(columns),
            key_changes=self.form.key_changes,
            each=self._places(columns),
            columns=columns,
            ddl_every=self.step.ddl.every if self.step.ddl else 0,
        )
        for column in columns:
            if column.adds:
                try:
                    check_added(plan, column)
                except ScenarioError as error:
                    raise error.at(self.file, self.lines.of("columns", column.column.name, "adds")) from None
        return plan

    def _check_table(self) -> None:
        name = self.table.qualified_name
        if self.table.partitions:
            raise self._unsupported(f"table {name} is partitioned: its rows cannot be generated")
        if self.table.is_view or not self.table.columns:
            raise self._unsupported(f"{name} is no table")
        if self.table.handle_index is None:
            what = f"table {name} has no primary key and no unique index without NULLs"
            raise self._error(what, "table", hint="generated rows are told apart by their key")
        for column in self.table.sent_columns:
            if column.generated:
                what = f"column {column.name!r} is generated and stored: its values cannot be generated"
                raise self._unsupported(what)
            try:
                refuse_type(column)
            except ScenarioError as error:
                raise error.at(self.file, self.lines.of("table")) from None

    def _forms(self) -> dict[int, ColumnForm]:
        """What the step says of columns, by offset."""
        offsets = {self.table.columns[offset].name.lower(): offset for offset in self.table.sent}
        forms: dict[int, ColumnForm] = {}
        for name, form in self.form.columns.items():
            forms[self._offset(offsets, name, "columns", name)] = form
        return forms

    def _offset(self, offsets: Mapping[str, int], name: str, *place: str) -> int:
        offset = offsets.get(name.lower())
        if offset is None:
            names = [column.name for column in self.table.sent_columns]
            what = f"table {self.table.qualified_name} has no column {name!r}"
            raise self._error(what, *place, hint=nearest(name, names))
        return offset

    def _rates(self) -> Rates:
        if self.step.each is not None:
            inserts = sum(statement.does == "insert" for statement in self._statements())
            return Rates(inserts * self.step.transactions, 0.0)
        mix, per_row = self.form.mix, self.step.changes_per_row
        total = mix.insert + mix.update + mix.delete
        visits = self.turns.count(self.step.transactions * -(-self.step.rows_per_transaction // per_row))
        if not visits:
            return Rates(0, 0.0)
        alone = self.turns == ALWAYS
        events = self.step.transactions * self.step.rows_per_transaction if alone else visits * per_row
        found = rates(mix.insert / total, mix.delete / total, self.form.rows, events)
        if found.births > visits:
            what = f"{found.births} rows to be born, and only {visits} are picked"
            raise self._error(what, "mix", hint="changes-per-row leaves room for fewer inserts")
        return found

    def _statements(self) -> list[Statement]:
        """The statements that may be of this table."""
        each = self.step.each or ()
        return [one for one in each if one.table is None or one.table.lower() == self.form.table.lower()]

    def _last_number(self, found: Rates, *, keyed: bool) -> int:
        """The largest number that a sequence reaches: rows are numbered first, then changes."""
        rows = self.form.rows + found.births
        if keyed and not self.form.key_changes:
            return rows - 1
        return rows + self.form.rows + self.step.transactions * self._rows_per_transaction() - 1

    def _sequences(self, forms: Mapping[int, ColumnForm], last: int) -> set[int]:
        """Offsets of the columns whose values are all different: one per unique key at least."""
        chosen = {offset for offset, form in forms.items() if form.distribution == "sequence"}
        for index in self._unique_keys():
            if not chosen & set(index.offsets):
                chosen.add(self._numbered(index, forms, last))
        return chosen

    def _numbered(self, index: IndexInfo, forms: Mapping[int, ColumnForm], last: int) -> int:
        """The column of a unique key that shall hold the number."""
        lengths = index.lengths or (-1,) * len(index.offsets)
        for offset, length in zip(index.offsets, lengths, strict=True):
            column = self.table.columns[offset]
            free = offset not in forms or forms[offset] == ColumnForm(
                min=forms[offset].min, max=forms[offset].max
            )
            if (
                free
                and not column.is_virtual
                and numbers_fit(column, forms.get(offset, _USUAL), last, length)
            ):
                return offset
        what = f"no column of key {index.name!r} has room for {last + 1} different values"
        raise self._error(what, "table", hint="give one of them distribution: sequence, or a wider type")

    def _unique_keys(self) -> list[IndexInfo]:
        return [index for index in self.table.indexes if index.unique]

    def _columns(
        self, forms: Mapping[int, ColumnForm], sequences: Collection[int], found: Rates
    ) -> tuple[ColumnPlan, ...]:
        keyed = {offset for index in self._unique_keys() for offset in index.offsets}
        columns: list[ColumnPlan] = []
        for offset in self.table.sent:
            column = self.table.columns[offset]
            line = self.lines.of("columns", column.name)
            form, last = forms.get(offset, _USUAL), -1
            if offset in sequences:
                last = self._last_number(found, keyed=offset in keyed)
            try:
                plan = bind_column(
                    column,
                    offset,
                    form,
                    keyed=offset in keyed,
                    last_number=last,
                    line=line,
                    seed=salt(f"{self.seed}/{self.table.qualified_name}/{column.name}/faker"),
                )
                columns.append(replace(plan, reference=self._reference(form, column)))
            except ScenarioError as error:
                raise error.at(self.file, line) from None
        return tuple(columns)

    def _reference(self, form: ColumnForm, column: ColumnInfo) -> Reference | None:
        first = self.step_commit, self.form.rows
        return bind_reference(form, column, self.table, self.earlier, first, self.turns)

    def _rows_per_transaction(self) -> int:
        if self.step.each is None:
            return self.step.rows_per_transaction
        return sum(_CHANGES[statement.does] for statement in self.step.each)

    def _places(self, columns: tuple[ColumnPlan, ...]) -> tuple[Place, ...]:
        places: list[Place] = []
        mine = self._statements()
        for number, statement in enumerate(self.step.each or ()):
            is_mine = any(statement is one for one in mine)
            names = statement.columns if is_mine else ()
            updates = self._updated(names, columns, "each", str(number))
            if statement.does == "replace":
                places.append(Place(number, deletes=True))
            places.append(Place(number, inserts=is_mine and statement.does == "insert", updates=updates))
        return tuple(places)

    def _updated(self, names: Sequence[str], columns: tuple[ColumnPlan, ...], *place: str) -> tuple[int, ...]:
        """Offsets of columns that updates shall change."""
        offsets = {column.column.name.lower(): column.offset for column in columns}
        keyed = {column.offset for column in columns if column.keyed}
        found = tuple(self._offset(offsets, name, *place) for name in names)
        for name, offset in zip(names, found, strict=True):
            if offset in keyed:
                what = f"column {name!r} belongs to a unique key"
                raise self._error(what, *place, hint="key-changes says how many updates change keys")
        return found

    def _updates(self, columns: tuple[ColumnPlan, ...]) -> tuple[int, ...]:
        keyed = {column.offset for column in columns if column.keyed}
        updates = self._updated(self.form.updates, columns, "updates")
        if (
            not self.step.each
            and self.form.mix.update
            and self.form.key_changes < 1
            and len(keyed) == len(columns)
        ):
            what = (
                f"table {self.table.qualified_name} has columns of unique keys only: updates change nothing"
            )
            raise self._error(what, "mix", hint="key-changes: 1, or no updates")
        return updates

    def _error(self, what: str, *place: str, hint: str = "") -> ScenarioError:
        return ScenarioError(what, file=self.file, line=self.lines.of(*place), hint=hint)

    def _unsupported(self, what: str) -> UnsupportedSQL:
        return UnsupportedSQL(what, file=self.file, line=self.lines.of("table"))
