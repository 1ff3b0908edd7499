"""Runs the rows of small frames in the SQL session, so that they have its rules, rows and events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.row_key import index_key
from ticdc_producer.model.values.coerce import read
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.data_steps import Changes
from ticdc_producer.scenario.frames.image_values import frame_value
from ticdc_producer.scenario.frames.rows import (
    FrameRow,
    FrameTransaction,
    Values,
    qualified_hint,
    text_of,
    transactions_of,
)
from ticdc_producer.scenario.sql.dml.image_writer import ImageWriter
from ticdc_producer.scenario.sql.dml.row_writer import DuplicateRow, Given, RowWriter, has_values
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.store.storage import Row, RowLocation, Table

_GENERATES = "the changes before this row leave other rows in the table"


def run_changes_step(
    session: Session,
    spec: Changes,
    rows: pa.Table,
    *,
    file: str,
    line: int,
    pin: Callable[[int], None],
    resolve: Callable[[int], None],
) -> list[str]:
    """Run the rows of a frame.

    :param file: the scenario file; with ``line`` the location of the step, for errors.
    :param pin: sets the commit-ts of the next commit.
    :param resolve: adds a resolved event after the commits so far.
    :return: the warnings of the step.
    :raises ScenarioError: for the first row that cannot run, with its number and content.
    """
    step = _Step(session, file, line, pin, resolve, spec.canonical)
    try:
        first = session.commits
        for transaction in transactions_of(spec, rows):
            step.run(transaction, first)
    except ScenarioError as error:
        raise error.at(file, line) from None
    return step.warnings


def unchecked_keys(file: str, line: int, table: str) -> str:
    """Return the warning that rows of a frame do not check the foreign keys of a table."""
    return f"{file}:{line}: the foreign keys of {table} are not checked for the rows of a DataFrame"


def lacking_row_ids(file: str, line: int, table: str, reason: str) -> str:
    """Return the warning that the rows of a large frame in a table have no hidden row ids."""
    what = f"{file}:{line}: the rows of {table}, which has no clustered primary key, have no _tidb_rowid"
    return f"{what}: they come from a large DataFrame, and {reason}"


@dataclass
class _Step:
    """A ``changes`` step that runs.

    :param canonical: whether the images have canonical values.
    :ivar origins: numbers of the rows of the frame that wrote the stored rows, by their locations.
    :ivar _positions: numbers of the rows of the open transaction, by table, key and position.
    """

    session: Session
    file: str
    line: int
    pin: Callable[[int], None]
    resolve: Callable[[int], None]
    canonical: bool = False
    origins: dict[RowLocation, int] = field(default_factory=dict)
    _tables: dict[tuple[str, str], Table] = field(default_factory=dict)
    _unchecked: set[str] = field(default_factory=set)
    _positions: dict[tuple[str, bytes, int], int] = field(default_factory=dict)

    @property
    def warnings(self) -> list[str]:
        """The tables whose foreign keys the rows did not check."""
        return [unchecked_keys(self.file, self.line, name) for name in sorted(self._unchecked)]

    def run(self, transaction: FrameTransaction, first: int) -> None:
        """Run a transaction.

        :param first: number of the first commit of the step.
        """
        if transaction.number is not None:
            self.session.skip_commits(first + transaction.number - self.session.commits)
        row = transaction.rows[0]
        if row.resolved is not None:
            for row in transaction.rows:
                self.resolve(row.resolved or 0)
            return
        if transaction.commit_ts is not None:
            with self._described(row):
                self.pin(transaction.commit_ts)
        self._tables.clear()  # a statement may have replaced a table
        self._positions.clear()
        if self.canonical and row.statement is not None:
            with self._described(row):
                texts = [each.statement or "" for each in transaction.rows]
                self.session.run_sent(texts, row.schema, line=self.line)
            return
        if len(transaction.rows) == 1 and row.statement is not None:
            with self._described(row):
                self.session.run(row.statement, line=self.line)
            return
        with self.session.open_transaction(self.line) as writer:
            images = ImageWriter(writer.transaction, writer.context, self._inserts(transaction.rows))
            for row in transaction.rows:
                with self._described(row):
                    if self.canonical:
                        self._change_images(images, self._table(row), row)
                    elif row.statement is None:
                        self._change(writer, row)
                    else:
                        self.session.run_in_transaction(row.statement, line=self.line)

    def _inserts(self, rows: Iterable[FrameRow]) -> Counter[int]:
        """Return the number of inserted rows by the id of their table."""
        inserts: Counter[int] = Counter()
        for row in rows if self.canonical else ():
            if row.op == Op.INSERT:
                with self._described(row):
                    inserts[self._table(row).info.table_id] += 1
        return inserts

    @contextmanager
    def _described(self, row: FrameRow) -> Iterator[None]:
        """Add the number and the content of a row to errors in the context."""
        try:
            yield
        except ScenarioError as error:
            origin = f" ({row.origin})" if row.origin else ""
            raise type(error)(
                f"{error.what}, in row {row.number}{origin}: {row.content}",
                file=self.file,
                line=self.line,
                column=error.column,
                value=error.value,
                hint=error.hint,
            ) from None

    def _change(self, writer: RowWriter, row: FrameRow) -> None:
        table = self._table(row)
        after = None if row.after is None else _given(table, row.after, row, writer)
        if row.op == Op.INSERT:
            with self._with_other_row(table):
                self._note(table, writer.insert(table, after or {}), row)
            return
        old = self._old(writer, table, row, after or {})
        self._check_position(table, old, row)
        self.origins.pop(old.location, None)
        if row.op == Op.DELETE:
            writer.delete(table, old)
            return
        with self._with_other_row(table):
            self._note(table, writer.update(table, old, after or {}) or old, row)

    def _change_images(self, writer: ImageWriter, table: Table, row: FrameRow) -> None:
        before, after = (
            None if image is None else _values_by_offset(table, image) for image in (row.before, row.after)
        )
        if row.op == Op.INSERT:
            with self._with_other_row(table):
                self._note(table, writer.insert(table, after or {}, row.row_id), row)
            return
        old = writer.stored(table, {**(after or {}), **(before or {})})  # either may lack columns
        if old is None:
            raise ScenarioError(f"the {row.op.label} of a row that does not exist", hint=_GENERATES)
        self.origins.pop(old.location, None)
        if row.op == Op.DELETE:
            writer.delete(table, old, before or {})
            return
        with self._with_other_row(table):
            self._note(table, writer.update(table, old, before or {}, after or {}, row.row_id), row)

    def _table(self, row: FrameRow) -> Table:
        name = row.schema, row.table
        if name not in self._tables:
            try:
                table = self._tables[name] = self.session.writable_table(*name)
            except ScenarioError as error:
                raise type(error)(error.what, hint=qualified_hint(row.table) or error.hint) from None
            if self.session.has_enforced_keys(table):
                self._unchecked.add(table.info.qualified_name)
        return self._tables[name]

    def _note(self, table: Table, row: Row, origin: FrameRow) -> None:
        self._check_position(table, row, origin)
        self.origins[row.location] = origin.number

    def _check_position(self, table: Table, row: Row, origin: FrameRow) -> None:
        """Check that no other row of the frame changes a row at the same position of the transaction.

        :param row: before or after the change.
        """
        if origin.position is None:
            return
        index = table.info.clustered_key or table.info.handle_index
        key = None if index is None else index_key(table.info.columns, index, table.read(row))
        position = table.info.qualified_name, key or row.location[1], origin.position
        other = self._positions.setdefault(position, origin.number)
        if other != origin.number:
            what = f"row {other} changes the same row at the same position, {origin.position}"
            raise ScenarioError(what, hint="the positions give the order of the changes of one row")

    def _old(self, writer: RowWriter, table: Table, row: FrameRow, after: Given) -> Row:
        """Return the stored row that a row of the frame changes.

        :raises ScenarioError: if it does not exist, or differs from the given one.
        """
        given = after if row.before is None else _given(table, row.before, row, writer)
        old = writer.stored(table, given)
        if old is None:
            raise ScenarioError(f"the {row.op.label} of a row that does not exist", hint=_GENERATES)
        if row.before is not None and not has_values(table, old, writer.canonical(table, given)):
            what = f"{table.info.qualified_name} holds {self._text(table, old)} and not the row before"
            raise ScenarioError(what, hint=_GENERATES)
        return old

    def _text(self, table: Table, row: Row) -> str:
        """Return a stored row as text with its origin, for messages."""
        columns = zip(table.info.columns, table.read(row), strict=True)
        text = text_of({column.name: read(column, value) for column, value in columns if not column.hidden})
        number = self.origins.get(row.location)
        return f"{text} {'of an earlier step' if number is None else f'of row {number}'}"

    @contextmanager
    def _with_other_row(self, table: Table) -> Iterator[None]:
        """Add the row that has the same key to the error of a duplicate key in the context."""
        try:
            yield
        except DuplicateRow as error:
            what = f"{error.what}: it is the key of {self._text(table, error.other)}"
            raise ScenarioError(what, column=error.column, value=error.value) from None


def _given(table: Table, values: Values, row: FrameRow, writer: RowWriter) -> dict[int, SQLValue]:
    """Return the SQL values of a row, by the offsets of their columns.

    A name that the table does not have is accepted for NULL: the structs of all tables have equal fields.
    """
    offsets = table.info.visible_offsets
    given: dict[int, SQLValue] = {}
    for name, value in values.items():
        offset = offsets.get(name.lower())
        if offset is None:
            if value is None or name.lower() in row.others:
                continue
            what = f"table {table.info.qualified_name} has no column {name!r}"
            raise ScenarioError(what, column=name, hint=nearest(name, offsets))
        _check_single(name, offset in given)
        given[offset] = frame_value(table.info.columns[offset], value, writer.context.mode)
    return given


def _values_by_offset(table: Table, values: Values) -> dict[int, Value]:
    """Return the canonical values of an image, by the offsets of their columns."""
    offsets = table.info.visible_offsets
    image: dict[int, Value] = {}
    for name, value in values.items():
        offset = offsets.get(name.lower())
        if offset is None:
            what = f"table {table.info.qualified_name} has no column {name!r}"
            raise ScenarioError(what, column=name, hint=nearest(name, offsets))
        _check_single(name, offset in image)
        if not isinstance(value, bytes | None):
            raise ScenarioError(f"the value of column {name!r} is not bytes", column=name)
        image[offset] = value
    return image


def _check_single(name: str, is_given: bool) -> None:
    """Refuse a column whose value is already given: names are equal without case."""
    if is_given:
        raise ScenarioError(f"two columns for one: {name!r}", column=name)
