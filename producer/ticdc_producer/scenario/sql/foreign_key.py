"""Reads FOREIGN KEY definitions.

Rules: tidb ``pkg/ddl/foreign_key.go``: the referencing columns get an index if no index begins with them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.key_definition import KeyDraft, KeyPart

NO_ACTION = "NO ACTION"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
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
        """The constraint as TiDB's error messages display it."""
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


def read_foreign_key(cursor: Cursor, name: str, database: str) -> ForeignKey:
    """Read a foreign key after the words FOREIGN KEY.

    :param name: from ``CONSTRAINT name`` before it.
    :param database: the database of the referencing table.
    """
    line = cursor.line
    if cursor.word() != "(":
        own = cursor.identifier("a foreign key name")
        name = name or own
    columns = cursor.column_names()
    key = read_references(cursor, database)
    if len(key.parent_columns) != len(columns):
        raise ScenarioError(
            f"Incorrect foreign key definition for {name or 'foreign key without name'!r}:"
            " Key reference and table reference don't match",
            line=line,
        )
    return replace(key, name=name, columns=columns, line=line)


def read_references(cursor: Cursor, database: str) -> ForeignKey:
    """Read ``REFERENCES table (columns) [ON DELETE …] [ON UPDATE …]``."""
    cursor.expect("REFERENCES")
    parent = cursor.qualified_name(database)
    columns = cursor.column_names() if cursor.word() == "(" else ()
    if cursor.accept("MATCH"):
        cursor.identifier("FULL, PARTIAL or SIMPLE")
    rules = {"DELETE": NO_ACTION, "UPDATE": NO_ACTION}
    while cursor.accept("ON"):
        event = cursor.accept_any("DELETE", "UPDATE")
        if not event:
            raise cursor.error("expected DELETE or UPDATE")
        rules[event] = _rule(cursor)
    return ForeignKey(
        name="",
        columns=(),
        parent=parent,
        parent_columns=columns,
        on_delete=rules["DELETE"],
        on_update=rules["UPDATE"],
    )


def _rule(cursor: Cursor) -> str:
    for words in (("NO", "ACTION"), ("SET", "NULL"), ("CASCADE",), ("RESTRICT",)):
        if cursor.accept(*words):
            return " ".join(words)
    raise cursor.unsupported(f"the foreign key rule {cursor.word() or 'here'}")


def missing_index(table: TableInfo, key: ForeignKey) -> KeyDraft | None:
    """The index that must be added for a foreign key; None if an index begins with its columns."""
    wanted = [name.lower() for name in key.columns]
    for index in table.indexes:
        held = [table.columns[offset].name.lower() for offset in index.offsets]
        if held[: len(wanted)] == wanted:
            return None
    parts = tuple(KeyPart(name) for name in key.columns)
    return KeyDraft(kind="index", name=key.name, parts=parts, line=key.line)


def free_name(taken: list[ForeignKey]) -> str:
    """The name that TiDB gives a foreign key without a name."""
    names = {key.name.lower() for key in taken}
    return next(f"fk_{n}" for n in range(1, len(names) + 2) if f"fk_{n}" not in names)
