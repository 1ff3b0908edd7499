"""Foreign keys and the indexes that they need.

Rules: tidb ``pkg/ddl/foreign_key.go``: the referencing columns get an index if no index begins with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.definition.key_definition import KeyDraft, KeyPartDraft
from ticdc_producer.scenario.sql.syntax import key as syntax

NO_ACTION = "NO ACTION"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKeyInfo:
    """One foreign key of the referencing table.

    :param parent: schema and name of the referenced table.
    """

    name: str
    columns: tuple[str, ...]
    parent: tuple[str, str]
    parent_columns: tuple[str, ...]
    on_delete: str = NO_ACTION
    on_update: str = NO_ACTION
    line: int = 0

    def constraint_text(self, child: TableInfo) -> str:
        """Return the constraint as TiDB's error messages display it."""
        schema = "" if self.parent[0].lower() == child.schema.lower() else f"`{self.parent[0]}`."
        rules = [f" ON {event} {rule}" for event, rule in self._rules() if rule != NO_ACTION]
        return (
            f"`{child.schema}`.`{child.name}`, CONSTRAINT `{self.name}` FOREIGN KEY ({_listed(self.columns)})"
            f" REFERENCES {schema}`{self.parent[1]}` ({_listed(self.parent_columns)}){''.join(rules)}"
        )

    def _rules(self) -> tuple[tuple[str, str], ...]:
        return ("DELETE", self.on_delete), ("UPDATE", self.on_update)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def make_foreign_key(node: syntax.ForeignKey, database: str) -> ForeignKeyInfo:
    """Build a foreign key; its name is empty if the definition has none.

    :param database: the database of the referencing table.
    :raises ScenarioError: if it refers to another number of columns than it has.
    :raises UnsupportedSQL: for SET DEFAULT.
    """
    name, references = node.symbol or node.name, node.references
    rules = dict(references.rules)
    if "SET DEFAULT" in rules.values():
        raise references.source.unsupported("the foreign key rule SET DEFAULT")
    columns, parent_columns = _names(node.columns), _names(references.columns)
    if len(parent_columns) != len(columns):
        raise ScenarioError(
            f"Incorrect foreign key definition for {name or 'foreign key without name'!r}:"
            " Key reference and table reference don't match",
            line=node.source.line,
        )
    return ForeignKeyInfo(
        name=name,
        columns=columns,
        parent=references.table.within(database),
        parent_columns=parent_columns,
        on_delete=rules.get("DELETE", NO_ACTION),
        on_update=rules.get("UPDATE", NO_ACTION),
        line=node.source.line,
    )


def _names(parts: tuple[syntax.KeyPart, ...]) -> tuple[str, ...]:
    return tuple(part.name[-1] if part.name else "" for part in parts)


def serving_indexes(table: TableInfo, columns: Sequence[str]) -> list[IndexInfo]:
    """Return the indexes that begin with the columns of a foreign key, and not with prefixes of their values.

    Source: tidb ``IsIndexPrefixCovered``.
    """
    names = [name.lower() for name in columns]
    return [
        index
        for index in table.indexes
        if [table.columns[offset].name.lower() for offset in index.offsets][: len(names)] == names
        and all(length < 0 for length in index.lengths[: len(names)])
    ]


def missing_index(table: TableInfo, key: ForeignKeyInfo) -> KeyDraft | None:
    """Return the index that must be added for a foreign key; None if an index begins with its columns."""
    if serving_indexes(table, key.columns):
        return None
    parts = tuple(KeyPartDraft(name) for name in key.columns)
    return KeyDraft(kind="index", name=key.name, parts=parts, line=key.line)


def check_new_name(key: ForeignKeyInfo, others: Iterable[ForeignKeyInfo]) -> None:
    """Check that no other foreign key of the table has the name of a new one.

    :raises ScenarioError: if one has.
    """
    if any(other.name.lower() == key.name.lower() for other in others):
        raise ScenarioError(f"Duplicate foreign key constraint name {key.name!r}", line=key.line)


def free_name(taken: list[ForeignKeyInfo]) -> str:
    """Return the name that TiDB gives a foreign key without a name."""
    names = {key.name.lower() for key in taken}
    return next(f"fk_{n}" for n in range(1, len(names) + 2) if f"fk_{n}" not in names)
