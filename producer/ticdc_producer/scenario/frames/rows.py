"""The rows of a small frame as transactions of statements and row changes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Any, TypeAlias

import pyarrow as pa

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import shortened
from ticdc_producer.model import tso
from ticdc_producer.model.event import OP_OF_LABEL, Op
from ticdc_producer.scenario.data_steps import Changes
from ticdc_producer.scenario.frames.plain_table import FrameColumns, python_values
from ticdc_producer.scenario.generate.table_spec import MOST_EVENTS

Values: TypeAlias = Mapping[str, object]
"""Python's values of the columns of a row."""

COLUMNS = (
    "txn", "commit_ts", "seq", "statement", "op", "schema", "table", "before", "after", "row_id", "resolved",
    "origin",
)  # fmt: skip
"""The columns of a frame that has no table of its own."""
_IMAGES = ("before", "after")
_LONGEST_CONTENT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRow:
    """One row of a frame: a statement, a row change, or a resolved event.

    :param number: its number in the frame, from 0.
    :param position: its position in the transaction; None: the frame has the rows in order.
    :param schema: empty for the current database; of a statement the database that is current for it.
    :param before: values that the changed row has before; None: they are not given.
    :param after: values that the row has after the change; of a delete without ``before`` those of the row.
    :param others: columns for another purpose, in lower case, which need not be columns of the table.
    :param row_id: of an inserted row, if the table has hidden row ids; None: the next one.
    :param resolved: resolved-ts of a resolved event that follows the transactions before it.
    :param origin: where the row was recorded, for messages.
    """

    number: int
    position: int | None = None
    statement: str | None = None
    op: Op = Op.INSERT
    schema: str = ""
    table: str = ""
    before: Values | None = None
    after: Values | None = None
    others: frozenset[str] = frozenset()
    row_id: int | None = None
    resolved: int | None = None
    origin: str = ""

    @property
    def content(self) -> str:
        """The row as text, for messages."""
        if self.statement is not None:
            return _cut(" ".join(self.statement.split()))
        images = [text_of(image, self.others) for image in (self.before, self.after) if image is not None]
        return _cut(f"{self.op.name.lower()} {' → '.join(images)}")


@dataclass(frozen=True, slots=True)
class FrameTransaction:
    """The rows of a frame that commit together.

    :param number: number of the commit after those before the step; None: the next one.
    :param commit_ts: its TSO; None: the clock's.
    """

    rows: Sequence[FrameRow]
    number: int | None = None
    commit_ts: int | None = None


def text_of(values: Values, others: Collection[str] = ()) -> str:
    """Return values as text for messages.

    :param others: names that are left out, in lower case.

    >>> text_of({"id": 1, "name": "ann"})
    "(id=1, name='ann')"
    """
    named = [f"{name}={value!r}" for name, value in values.items() if name.lower() not in others]
    return _cut(f"({', '.join(named)})")


def _cut(text: str) -> str:
    return shortened(text, _LONGEST_CONTENT)


def transactions_of(spec: Changes, table: pa.Table) -> Iterator[FrameTransaction]:
    """Yield the transactions of a frame, in order.

    :raises ScenarioError: for a missing column, and for a row that does not say what it does.
    """
    if spec.table is None:
        return _of_all_tables(spec, table)
    return _of_one_table(spec, spec.table, spec.order or (), table)


def _of_one_table(
    spec: Changes, name: str, order: Sequence[str], table: pa.Table
) -> Iterator[FrameTransaction]:
    columns = FrameColumns(table)
    numbers = columns.integers(order[0])
    positions = columns.integers(order[1]) if len(order) > 1 else None
    ops, others = columns.texts(spec.op), frozenset(column.lower() for column in (*order, spec.op))
    before = columns.images(spec.before) if spec.before is not None else None
    old_name = (spec.before or "").lower()
    names = [column for column in table.column_names if column.lower() != old_name]
    images = list(zip(*(python_values(table.column(column), column) for column in names), strict=True))
    schema, _, plain_name = name.rpartition(".")

    def row(number: int) -> FrameRow:
        image = dict(zip(names, images[number], strict=True)) if names else {}
        op = _op(ops[number], number)
        old = None if before is None else _mapping(before[number], spec.before or "", number)
        if before is not None and (old is not None) != (op == Op.UPDATE):
            what = "is NULL for an update" if old is None else "must be NULL for inserts and deletes"
            raise _row_error(f"{spec.before!r} {what}", number, text_of(image, others))
        deleted = op == Op.DELETE and before is not None
        return FrameRow(
            number=number,
            position=None if positions is None else positions[number],
            op=op,
            schema=schema,
            table=plain_name,
            before=image if deleted else old,
            after=None if deleted else image,
            others=others,
        )

    for commit, members in _by_transaction(numbers, positions):
        rows = [row(number) for number in members]
        if not 0 <= commit < MOST_EVENTS:
            what = f"{order[0]!r} counts transactions from 0 to {MOST_EVENTS - 1}, and is {commit}"
            raise _row_error(what, rows[0].number, rows[0].content)
        yield FrameTransaction(rows, number=commit)


def _of_all_tables(spec: Changes, table: pa.Table) -> Iterator[FrameTransaction]:
    columns = FrameColumns(table)
    columns.check_names(COLUMNS)
    if columns.has("row_id") and not spec.canonical:
        raise ScenarioError("a column row_id requires canonical values", column="row_id")
    by_ts = columns.has("commit_ts")
    if by_ts == columns.has("txn"):
        what = "the DataFrame has both txn and commit_ts" if by_ts else "the DataFrame has no column txn"
        raise ScenarioError(what, column="txn", hint="txn or commit_ts says which rows commit together")
    numbers = columns.integers("commit_ts" if by_ts else "txn")
    positions = columns.integers("seq") if columns.has("seq") else None
    cells = {
        name: columns.images(name) if name in _IMAGES else columns.values(name)
        for name in COLUMNS
        if columns.has(name)
    }
    for commit, members in _by_transaction(numbers, positions):
        rows = [_row(number, {name: cells[name][number] for name in cells}) for number in members]
        changes = [row for row in rows if row.resolved is None]
        if changes:
            yield FrameTransaction(changes, commit_ts=commit if by_ts else None)
        if len(changes) < len(rows):
            yield FrameTransaction([row for row in rows if row.resolved is not None])


def _by_transaction(
    numbers: Sequence[int], positions: Sequence[int] | None
) -> Iterator[tuple[int, Iterator[int]]]:
    """Yield the number of each transaction, and its rows by their position, else as the frame has them."""
    ordered = sorted(
        range(len(numbers)), key=lambda row: (numbers[row], 0 if positions is None else positions[row])
    )
    return groupby(ordered, key=lambda row: numbers[row])


def _row(number: int, cells: Mapping[str, Any]) -> FrameRow:
    """Return a row of a frame that has no table of its own."""
    content = text_of({name: value for name, value in cells.items() if value is not None})
    statement, resolved = cells.get("statement"), cells.get("resolved")
    before, after = (_mapping(cells.get(name), name, number) for name in _IMAGES)
    schema, origin = str(cells.get("schema") or ""), str(cells.get("origin") or "")
    if resolved is not None:
        if not isinstance(resolved, int) or not 0 < resolved <= tso.MAX_TS:
            raise _row_error(f"{resolved!r} is no resolved-ts: 1 to {tso.MAX_TS}", number, content)
        return FrameRow(number=number, resolved=resolved, origin=origin)
    if statement is not None:
        if not isinstance(statement, str) or not statement.strip():
            raise _row_error("the statement is not SQL text", number, content)
        if before is not None or after is not None or cells.get("op") is not None:
            raise _row_error("a row has either a statement or a row change", number, content)
        return FrameRow(number=number, statement=statement, schema=schema, origin=origin)
    table = cells.get("table")
    if not isinstance(table, str) or not table:
        raise _row_error("the row has neither a statement nor a table", number, content)
    op = _op_of(cells.get("op"), before, after, number, content)
    return FrameRow(
        number=number,
        position=cells.get("seq"),
        op=op,
        schema=schema,
        table=table,
        before=before,
        after=after,
        row_id=_row_id(cells.get("row_id"), number, content),
        origin=origin,
    )


def _row_id(value: Any, number: int, content: str) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise _row_error("row_id is not an integer", number, content)
    return value


def _op_of(label: Any, before: Values | None, after: Values | None, number: int, content: str) -> Op:
    """Return the operation of a row change: the given one, or the one that its images show."""
    if before is None and after is None:
        raise _row_error("the row has neither before nor after", number, content)
    implied = Op.INSERT if before is None else Op.DELETE if after is None else Op.UPDATE
    if label is None:
        return implied
    op = _op(label, number)
    if op != implied and not (op == Op.UPDATE and before is None):
        needed = {Op.INSERT: "after alone", Op.DELETE: "before alone", Op.UPDATE: "after"}[op]
        raise _row_error(f"a row with op {label!r} has {needed}", number, content)
    return op


def _op(label: Any, number: int) -> Op:
    op = OP_OF_LABEL.get(label.lower()) if isinstance(label, str) else None
    if op is None:
        raise _row_error(f"the operation must be insert, update or delete, not {label!r}", number, "")
    return op


def _mapping(value: Any, name: str, number: int) -> Values | None:
    """Return the values of a struct, a map or a JSON text; None for NULL."""
    if value is None or isinstance(value, dict):
        return value
    if isinstance(value, list):  # a map
        values, names = dict(value), [column for column, _ in value]
        if len(values) < len(names):
            twice = next(column for column in names if names.count(column) > 1)
            raise _row_error(f"{name!r} has two values of {twice!r}", number, "")
        return values
    try:
        document = json.loads(value, parse_float=_Number)
    except (TypeError, ValueError, RecursionError) as error:
        raise _row_error(f"{name!r} is no JSON text: {error}", number, _cut(repr(value))) from None
    if not isinstance(document, dict):
        raise _row_error(f"{name!r} is no JSON object", number, _cut(repr(value)))
    return {key: _exact(cell) for key, cell in document.items()}


class _Number(float):
    """A number of a JSON text with its digits, which a DECIMAL needs."""

    text: str

    def __new__(cls, text: str) -> _Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def _exact(cell: Any) -> Any:
    return Decimal(cell.text) if isinstance(cell, _Number) else cell


def _row_error(what: str, number: int, content: str) -> ScenarioError:
    return ScenarioError(f"{what}, in row {number}{': ' if content else ''}{content}")


def qualified_hint(table: str) -> str:
    """Return the hint for the name of a table that does not exist.

    >>> qualified_hint("shop.items"), qualified_hint("items")
    ("give the database in the column 'schema': schema='shop', table='items'", '')
    """
    schema, point, name = table.partition(".")
    return f"give the database in the column 'schema': schema={schema!r}, table={name!r}" if point else ""
