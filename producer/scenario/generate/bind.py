"""A ``generate`` step bound to its table: everything that does not fit is refused here, with its line."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from producer.errors import ScenarioError, UnsupportedSQL, nearest
from producer.model.table import IndexInfo, TableInfo
from producer.scenario.generate.bind_column import bind_column, numbers_fit
from producer.scenario.generate.domain import refuse_type
from producer.scenario.generate.form import ColumnForm, Generate
from producer.scenario.generate.plan import ColumnPlan, GeneratePlan, Place
from producer.scenario.generate.rates import Rates, rates

_USUAL = ColumnForm()
_CHANGES = {"update": 1, "replace": 2}
"""Row changes of a statement."""
Lines = Mapping[tuple[str, ...], int]
"""Lines of the keys inside of the step."""


def bind(
    form: Generate, table: TableInfo, *, first_commit: int, seed: int, file: str, lines: Lines
) -> GeneratePlan:
    """The plan of a step.

    :param first_commit: number of its first transaction.
    :param lines: by path below ``generate``; that of the step itself under ``()``.
    :raises ScenarioError: for what does not fit the table, with file and line.
    """
    return _Binder(form, table, first_commit, seed, file, lines).plan()


@dataclass(frozen=True)
class _Binder:
    form: Generate
    table: TableInfo
    first_commit: int
    seed: int
    file: str
    lines: Lines

    def plan(self) -> GeneratePlan:
        self._check_table()
        forms = self._forms()
        found = self._rates()
        sequences = self._sequences(forms, self._last_number(found, keyed=True))
        columns = self._columns(forms, sequences, found)
        return GeneratePlan(
            file=self.file,
            line=self._line(),
            seed=self.seed,
            table=self.table,
            first_commit=self.first_commit,
            rows=self.form.rows,
            transactions=self.form.transactions,
            rows_per_transaction=self._rows_per_transaction(),
            changes_per_row=self.form.changes_per_row,
            births=found.births,
            delete_chance=found.delete,
            hot_keys=self.form.hot_keys,
            updates=self._updates(columns),
            key_changes=self.form.key_changes,
            each=self._places(columns),
            columns=columns,
        )

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
                raise error.at(self.file, self._line("table")) from None

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
        mix, form = self.form.mix, self.form
        if form.each is not None:
            return Rates(0, 0.0)
        total = mix.insert + mix.update + mix.delete
        events = form.transactions * form.rows_per_transaction
        found = rates(mix.insert / total, mix.delete / total, form.rows, events)
        visits = form.transactions * -(-form.rows_per_transaction // form.changes_per_row)
        if found.births > visits:
            what = f"{found.births} rows to be born, and only {visits} are picked"
            raise self._error(what, "mix", hint="changes-per-row leaves room for fewer inserts")
        return found

    def _last_number(self, found: Rates, *, keyed: bool) -> int:
        """The largest number that a sequence reaches: rows are numbered first, then changes."""
        rows = self.form.rows + found.births
        if keyed and not self.form.key_changes:
            return rows - 1
        return rows + self.form.rows + self.form.transactions * self._rows_per_transaction() - 1

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
            line = self._line("columns", column.name)
            try:
                columns.append(
                    bind_column(
                        column,
                        offset,
                        forms.get(offset, _USUAL),
                        keyed=offset in keyed,
                        last_number=self._last_number(found, keyed=offset in keyed)
                        if offset in sequences
                        else -1,
                        line=line,
                    )
                )
            except ScenarioError as error:
                raise error.at(self.file, line) from None
        return tuple(columns)

    def _rows_per_transaction(self) -> int:
        if self.form.each is None:
            return self.form.rows_per_transaction
        return sum(_CHANGES[statement.does] for statement in self.form.each)

    def _places(self, columns: tuple[ColumnPlan, ...]) -> tuple[Place, ...]:
        places: list[Place] = []
        for number, statement in enumerate(self.form.each or ()):
            updates = self._updated(statement.columns, columns, "each", str(number))
            if statement.does == "replace":
                places.append(Place(number, deletes=True))
            places.append(Place(number, updates=updates))
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
        updates = self._updated(self.form.updates or (), columns, "updates")
        if (
            not self.form.each
            and self.form.mix.update
            and self.form.key_changes < 1
            and len(keyed) == len(columns)
        ):
            what = (
                f"table {self.table.qualified_name} has columns of unique keys only: updates change nothing"
            )
            raise self._error(what, "mix", hint="key-changes: 1, or no updates")
        return updates

    def _line(self, *place: str) -> int:
        """The line of a key, or of the nearest one above it."""
        wanted = tuple(part.lower() for part in place)
        found = {tuple(part.lower() for part in path): line for path, line in self.lines.items()}
        return next(
            (found[wanted[:depth]] for depth in range(len(wanted), -1, -1) if wanted[:depth] in found), 0
        )

    def _error(self, what: str, *place: str, hint: str = "") -> ScenarioError:
        return ScenarioError(what, file=self.file, line=self._line(*place), hint=hint)

    def _unsupported(self, what: str) -> UnsupportedSQL:
        return UnsupportedSQL(what, file=self.file, line=self._line("table"))
