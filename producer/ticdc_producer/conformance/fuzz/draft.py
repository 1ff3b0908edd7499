"""A history while it is written: statements, and the tables and rows that they leave."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from ticdc_producer.conformance.fuzz.random_columns import RandomColumn, random_value
from ticdc_producer.conformance.fuzz.random_tables import Key, RandomTable


@dataclass
class Draft:
    """The statements so far.

    :param focus: traps that the history should have.
    :ivar traps: traps that it has.
    :ivar ddl_kinds: kinds of DDL that it has.
    :ivar created: number of CREATE TABLE statements for new tables.
    """

    random: Random
    focus: frozenset[str]
    statements: list[str] = field(default_factory=list)
    traps: set[str] = field(default_factory=set)
    tables: list[RandomTable] = field(default_factory=list)
    ddl_kinds: set[str] = field(default_factory=set)
    created: int = 0

    def add(self, statement: str, ddl_kind: str = "") -> None:
        """Write a statement."""
        self.statements.append(statement)
        if ddl_kind:
            self.ddl_kinds.add(ddl_kind)

    @property
    def in_transaction(self) -> bool:
        """Whether a BEGIN has no COMMIT yet."""
        return self.statements.count("BEGIN") > self.statements.count("COMMIT")

    def table(self) -> RandomTable:
        """Any table."""
        return self.random.choice(self.tables)

    def row(self, table: RandomTable) -> Key:
        """The key of any row of a table that has some."""
        return self.random.choice(sorted(table.rows))

    def value(self, column: RandomColumn) -> str:
        """A literal of a column that is no part of a key."""
        value = random_value(self.random, column, self.focus)
        self.traps |= {value.trap} - {""}
        return value.literal
