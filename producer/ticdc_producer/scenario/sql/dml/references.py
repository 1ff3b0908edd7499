"""Enforces foreign keys: checks the changes of a finished statement, then runs its cascades.

Rules: tidb ``pkg/executor/foreign_key.go`` and ``adapter.go`` (``handleForeignKeyTrigger``): all checks of a
statement run before its cascades, and each cascade is checked like a statement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ticdc_producer.errors import RowConflict, ScenarioError
from ticdc_producer.model.event import Value
from ticdc_producer.model.row_key import columns_key
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.model.values.sql_value import SQLMode, display_value
from ticdc_producer.scenario.sql.definition.foreign_key import ForeignKeyInfo
from ticdc_producer.scenario.sql.dml.stored_rows import update_row
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.store.storage import Row, Table
from ticdc_producer.scenario.sql.store.transaction import OpenTransaction, Step

_MAX_CASCADE_DEPTH = 15
CASCADING_RULES = ("CASCADE", "SET NULL")


@dataclass(frozen=True, slots=True)
class ResolvedForeignKey:
    """A foreign key between two tables.

    :param parent: None if it does not exist, which ``foreign_key_checks = OFF`` allows.
    :param columns: offsets of the referencing columns in the child.
    :param parent_columns: offsets of the referenced columns; empty if they do not exist.
    """

    key: ForeignKeyInfo
    child: Table
    parent: Table | None
    columns: tuple[int, ...]
    parent_columns: tuple[int, ...]

    def has_parent(self, key: bytes) -> bool:
        return bool(
            self.parent and self.parent_columns and self.parent.rows_holding(self.parent_columns, key)
        )

    def children(self, key: bytes) -> list[Row]:
        return self.child.rows_holding(self.columns, key)

    def key_of_child(self, row: Row | None) -> bytes | None:
        return None if row is None else columns_key(self.child.info.columns, self.columns, row.values)

    def key_of_parent(self, row: Row | None) -> bytes | None:
        if row is None or self.parent is None or not self.parent_columns:
            return None
        return columns_key(self.parent.info.columns, self.parent_columns, row.values)

    def check_row(self, old: Row | None, new: Row) -> None:
        """Check that a new or changed child row has a parent row.

        :raises ScenarioError: if it has none.
        """
        key = self.key_of_child(new)
        if key is not None and key != self.key_of_child(old) and not self.has_parent(key):
            raise self.error("add or update a child", new, self.columns, self.child)

    def check_rows(self) -> None:
        """Check that every child row has a parent row.

        :raises ScenarioError: if one has none.
        """
        for row in self.child.scan():
            self.check_row(None, row)

    def error(self, what: str, row: Row, offsets: Sequence[int], table: Table) -> ScenarioError:
        """Return the error for a row of one of the two tables."""
        values = [(row.values[offset] or b"").decode("utf-8", "replace") for offset in offsets]
        constraint = self.key.constraint_text(self.child.info)
        return RowConflict(
            f"Cannot {what} row: a foreign key constraint fails ({constraint})",
            column=table.info.columns[offsets[0]].name,
            value=", ".join(display_value(value) for value in values),
        )


class ForeignKeys:
    """All foreign keys, by child table and by parent table.

    :param tables: all tables of the session.
    """

    def __init__(self, tables: Iterable[Table]) -> None:
        tables = list(tables)
        by_name = {_name(table.info.schema, table.info.name): table for table in tables}
        self.of_child: dict[tuple[str, str], list[ResolvedForeignKey]] = defaultdict(list)
        self.of_parent: dict[tuple[str, str], list[ResolvedForeignKey]] = defaultdict(list)
        for child in tables:
            for key in child.foreign_keys:
                reference = resolve_reference(child, key, by_name.get(_name(*key.parent)))
                self.of_child[_name(child.info.schema, child.info.name)].append(reference)
                self.of_parent[_name(*key.parent)].append(reference)

    def _of_child(self, table: Table) -> Sequence[ResolvedForeignKey]:
        """Return the foreign keys of a table; none for a temporary table, even if it hides one with some."""
        return () if table.temporary else self.of_child.get(_name(table.info.schema, table.info.name), ())

    def has_parents(self, child: Table, values: Sequence[Value]) -> bool:
        """Return whether each foreign key of a new row is NULL or has a parent row."""
        for reference in self._of_child(child):
            key = columns_key(child.info.columns, reference.columns, values)
            if key is not None and not reference.has_parent(key):
                return False
        return True

    def skips_update(self, table: Table, assigned: set[int], values: Sequence[Value]) -> bool:
        """Return whether a statement with IGNORE leaves a row as it is, because of its foreign keys.

        For the foreign keys to this table TiDB checks the new values, as if they were deleted: it changes a
        row with children, and leaves one that would get children. Source: tidb ``updateRecord``,
        ``checkFKIgnoreErr``.
        """
        if table.temporary:
            return False
        for reference in self._of_child(table):
            key = columns_key(table.info.columns, reference.columns, values)
            if key is not None and assigned & set(reference.columns) and not reference.has_parent(key):
                return True
        for reference in self.of_parent.get(_name(table.info.schema, table.info.name), ()):
            restricts = reference.key.on_update not in CASCADING_RULES
            if restricts and reference.parent_columns and assigned & set(reference.parent_columns):
                key = columns_key(table.info.columns, reference.parent_columns, values)
                if key is not None and reference.children(key):
                    return True
        return False

    def retains(self, parent: Table, row: Row) -> bool:
        """Return whether DELETE IGNORE leaves a row, because others refer to it."""
        if parent.temporary:
            return False
        for reference in self.of_parent.get(_name(parent.info.schema, parent.info.name), ()):
            key = reference.key_of_parent(row)
            restricts = reference.key.on_delete not in CASCADING_RULES
            if restricts and key is not None and reference.children(key):
                return True
        return False

    def enforce(
        self, transaction: OpenTransaction, since: int, mode: SQLMode, *, ignore: bool = False
    ) -> None:
        """Check the changes of a statement, and run its cascades.

        :param since: number of steps of the transaction before the statement.
        :param ignore: whether it has IGNORE; its updates were checked by ``skips_update``.
        :raises ScenarioError: for a child without a parent, and for a parent that must not be removed.
        """
        if mode.foreign_key_checks and self.of_child:
            self._check_and_cascade(transaction, since, mode, 1, ignore=ignore)

    def _check_and_cascade(
        self, transaction: OpenTransaction, since: int, mode: SQLMode, depth: int, *, ignore: bool = False
    ) -> None:
        steps = transaction.steps[since:]
        for step in steps:
            if not (ignore and _is_update(step)):
                self._check_parents(step)
        removed = list(self._removed_parent_keys(steps))
        for reference, old, new, rule in removed:
            if not (ignore and new is not None):
                _check_children(reference, old, rule)
        for reference, old, new, rule in removed:
            key = reference.key_of_parent(old)
            children = reference.children(key) if key is not None and rule in CASCADING_RULES else []
            if not children:
                continue
            if depth > _MAX_CASCADE_DEPTH:
                raise ScenarioError(
                    f"Foreign key cascade delete/update exceeds max depth of {_MAX_CASCADE_DEPTH}."
                )
            before = len(transaction.steps)
            for child in children:
                _cascade(reference, child, new, rule, transaction, mode)
            self._check_and_cascade(transaction, before, mode, depth + 1)

    def _check_parents(self, step: Step) -> None:
        table, old, new = step
        if new is None:
            return
        for reference in self._of_child(table):
            reference.check_row(old, new)

    def _removed_parent_keys(
        self, steps: Iterable[Step]
    ) -> Iterator[tuple[ResolvedForeignKey, Row, Row | None, str]]:
        """Yield, per foreign key, the parent rows that lost their referenced key, and the rule to apply."""
        for table, old, new in steps:
            if old is None or table.temporary:
                continue
            for reference in self.of_parent.get(_name(table.info.schema, table.info.name), ()):
                key = reference.key_of_parent(old)
                if key is not None and key != reference.key_of_parent(new):
                    rules = reference.key
                    yield reference, old, new, rules.on_delete if new is None else rules.on_update


def _is_update(step: Step) -> bool:
    _, old, new = step
    return old is not None and new is not None


def _check_children(reference: ResolvedForeignKey, old: Row, rule: str) -> None:
    key = reference.key_of_parent(old)
    if (
        rule not in CASCADING_RULES
        and key is not None
        and reference.parent is not None
        and reference.children(key)
    ):
        raise reference.error("delete or update a parent", old, reference.parent_columns, reference.parent)


def _cascade(
    reference: ResolvedForeignKey,
    child: Row,
    new: Row | None,
    rule: str,
    transaction: OpenTransaction,
    mode: SQLMode,
) -> None:
    """Delete or update one child row, as a statement would.

    :param new: the changed parent row; None if it was deleted.
    """
    table = reference.child
    if new is None and rule == "CASCADE":
        transaction.delete(table, child)
        return
    scope = Scope(mode, table.info, table.read(child))
    for offset, source in zip(reference.columns, reference.parent_columns, strict=True):
        if new is None or rule == "SET NULL":
            scope.row[offset] = None
        else:
            scope.row[offset] = _converted_parent_value(reference, offset, source, new, mode)
    update_row(table, child, scope, set(reference.columns), transaction)


def _converted_parent_value(
    reference: ResolvedForeignKey, offset: int, source: int, parent: Row, mode: SQLMode
) -> Value:
    """Convert a parent's value to the type of the child's column."""
    columns = reference.parent.info.columns if reference.parent else ()
    return coerce(
        reference.child.info.columns[offset], read(columns[source], parent.values[source], mode), mode
    )


def resolve_reference(child: Table, key: ForeignKeyInfo, parent: Table | None) -> ResolvedForeignKey:
    """Resolve a foreign key to the offsets of its columns."""
    parent_columns = () if parent is None else _offsets(parent, key.parent_columns)
    return ResolvedForeignKey(key, child, parent, _offsets(child, key.columns), parent_columns)


def _offsets(table: Table, names: Iterable[str]) -> tuple[int, ...]:
    """Return the offsets of columns; empty if a column does not exist."""
    offsets = {column.name.lower(): offset for offset, column in enumerate(table.info.columns)}
    resolved = tuple(offsets.get(name.lower(), -1) for name in names)
    return () if -1 in resolved else resolved


def _name(schema: str, name: str) -> tuple[str, str]:
    return schema.lower(), name.lower()
