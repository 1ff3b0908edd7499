"""Random tables with keys of all kinds, and a history of them while it is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from ticdc_producer.conformance.fuzz.random_columns import (
    RandomColumn,
    RandomColumnType,
    Value,
    random_type,
    random_value,
    types,
    types_with,
    value_traps,
)

Key = tuple[str, ...]
"""The literals of a row's key."""

_NAMES = ("t", "u", "w")
_UNUSUAL_TABLES = ("`a b`", "`Order`", "`数`", "`a.b`", "`x'y`")
_UNUSUAL_COLUMNS = ("`select`", "`a b`", "`Ü`", '`c"d`', "`null`")
_KEY_VALUES: Mapping[str, tuple[str, ...]] = {
    "int": ("1", "2", "3", "4", "5", "6"),
    "bigint": (
        "1",
        "2",
        "9007199254740993",
        "9007199254740992",
        "9223372036854775807",
        "-9223372036854775808",
    ),
    "bigint-unsigned": ("1", "2", "9007199254740993", "9223372036854775808", "18446744073709551615"),
    "varchar": ("'a'", "'b'", "'null'", "'0012'", "'数据'", "'it''s'"),
    "date": ("'2000-01-01'", "'1969-12-31'", "'9999-12-31'", "'2000-01-02'"),
    "binary": ("x'61626364'", "x'fffefdfc'", "x'00000000'", "x'61620000'"),
}
_KEY_TRAPS = {
    "9007199254740993": "big-integers",
    "9223372036854775807": "big-integers",
    "-9223372036854775808": "big-integers",
    "9223372036854775808": "bigint-unsigned-range",
    "18446744073709551615": "bigint-unsigned-range",
}
_UNIQUE_VALUES = ("1", "2", "3", "4", "5", "6", "7")
_PARTITIONS = (
    "PARTITION BY HASH ({0}) PARTITIONS 3",
    "PARTITION BY RANGE ({0}) (PARTITION p0 VALUES LESS THAN (3), PARTITION p1 VALUES LESS THAN (MAXVALUE))",
)


@dataclass(kw_only=True)
class RandomTable:
    """A table with the keys of its rows, so that statements find rows and break no key.

    :ivar columns: as they are after the statements so far.
    :ivar as_defined: whether CREATE TABLE with these columns gives the same indexes and ids of columns.
    :ivar rows: value of the unique column (NULL without one) by key; tables without a key have none.
    """

    schema: str
    name: str
    columns: list[RandomColumn]
    key: Sequence[str]
    key_clause: str
    partitioning: str = ""
    as_defined: bool = True
    rows: dict[Key, str] = field(default_factory=dict)

    @property
    def sql_name(self) -> str:
        """The name with its database."""
        return f"{self.schema}.{self.name}"

    @property
    def definition(self) -> str:
        """CREATE TABLE."""
        parts = [column.definition for column in self.columns]
        if self.key_clause:
            parts.append(f"{self.key_clause.format(', '.join(self.key))}")
        return f"CREATE TABLE {self.sql_name} ({', '.join(parts)}) {self.partitioning}".rstrip()

    @property
    def written(self) -> list[RandomColumn]:
        """The columns that statements set."""
        return [column for column in self.columns if not column.generated]

    @property
    def values(self) -> list[RandomColumn]:
        """The columns that are neither generated nor part of a key."""
        return [column for column in self.written if column.name not in self.key and not column.unique]

    @property
    def independent(self) -> list[RandomColumn]:
        """The values that DDL may rename and drop: no generated column or partition depends on them."""
        expressions = " ".join([*(column.generated for column in self.columns), self.partitioning])
        return [
            column for column in self.values if not re.search(rf"\({re.escape(column.name)}[ )]", expressions)
        ]

    def in_first_partition(self, key: Key) -> bool:
        """Return whether the row of a key is in the partition ``p0``."""
        return int(key[0]) % 3 == 0 if "HASH" in self.partitioning else int(key[0]) < 3

    @property
    def unique(self) -> RandomColumn | None:
        """The nullable unique column, if there is one."""
        return next((column for column in self.columns if column.unique), None)

    def column(self, name: str) -> RandomColumn:
        """Return a column by name."""
        return next(column for column in self.columns if column.name == name)

    def free_keys(self, random: Random, count: int) -> list[Key]:
        """Draw some keys that no row has; fewer if there are not as many."""
        candidates = (
            tuple(random.choice(self.column(name).values) for name in self.key) for _ in range(4 * count)
        )
        return list(dict.fromkeys(key for key in candidates if key not in self.rows))[:count]

    def free_unique(self, random: Random) -> str:
        """Draw a value of the unique column that no row has, or NULL."""
        free = [value for value in _UNIQUE_VALUES if value not in self.rows.values()]
        return random.choice([*free, "NULL"])

    def where(self, key: Key) -> str:
        """Return the condition that selects the row of a key."""
        return " AND ".join(f"{name} = {value}" for name, value in zip(self.key, key, strict=True))


def random_table(random: Random, number: int, focus: frozenset[str]) -> RandomTable:
    """Draw a table without rows.

    :param number: distinguishes the tables of a history.
    :param focus: traps that the table should allow.
    """
    key, clause = _random_key(random, focus)
    integer_key = bool(key) and key[0].type.name == "int"
    columns = [*key, *_random_values(random, focus)]
    if clause and _wants(random, focus, 0.2, "unique-key-update", "column-flags"):
        columns.append(RandomColumn(name="q", type=types()["int"], unique=True))
    if integer_key and _wants(random, focus, 0.15, "virtual-column"):
        columns.append(RandomColumn(name="g", type=types()["bigint"], generated="(k + 1) VIRTUAL"))
    if integer_key and _wants(random, focus, 0.1, "column-flags"):
        columns.append(RandomColumn(name="s", type=types()["bigint"], generated="(k * 2) STORED"))
    unusual = random.random() < 0.08
    name = random.choice(_UNUSUAL_TABLES) if unusual else _NAMES[number]
    partitioning = ""
    # A unique key of a partitioned table has to contain the columns of the partitioning.
    if (
        integer_key
        and not any(column.unique for column in columns)
        and _wants(random, focus, 0.15, "partitioned-table", "exchange-partition")
    ):
        partitioning = random.choice(_PARTITIONS).format("k")
    return RandomTable(
        schema="test",
        name=name,
        columns=columns,
        key=[column.name for column in key] if clause else [],
        key_clause=clause,
        partitioning=partitioning,
    )


def _random_key(random: Random, focus: frozenset[str]) -> tuple[list[RandomColumn], str]:
    """Draw the columns of the key and its clause. A table without a key has an empty clause."""
    names = (
        ["int"]
        if focus & {"partitioned-table", "exchange-partition", "virtual-column", "column-flags"}
        else _key_types(random, focus)
    )
    key = [
        RandomColumn(
            name="k" if not index else "k2", type=_key_type(name), nullable=False, values=_KEY_VALUES[name]
        )
        for index, name in enumerate(names)
    ]
    if _wants(random, focus, 0.03, "no-key-table"):
        return [RandomColumn(name=column.name, type=column.type) for column in key], ""
    if _wants(random, focus, 0.15, "raw-key-update"):
        return key, "PRIMARY KEY ({}) NONCLUSTERED"
    return key, "UNIQUE KEY ({})" if random.random() < 0.12 else "PRIMARY KEY ({})"


def _key_types(random: Random, focus: frozenset[str]) -> list[str]:
    if "bigint-unsigned-range" in focus and random.random() < 0.5:
        return ["bigint-unsigned"]
    first = "int" if random.random() < 0.6 else random.choice(list(_KEY_VALUES))
    return [first, random.choice(["int", "varchar"])] if random.random() < 0.15 else [first]


def _key_type(name: str) -> RandomColumnType:
    """Return the type of a key's column, which has a limited length."""
    values = tuple(Value(literal) for literal in _KEY_VALUES[name])
    return RandomColumnType(name, "VARCHAR(20)" if name == "varchar" else types()[name].sql, values)


def _random_values(random: Random, focus: frozenset[str]) -> list[RandomColumn]:
    in_focus = [random.choice(types_with(trap)) for trap in sorted(focus & value_traps())]
    count = random.choice((1, 1, 2, 2, 3, 5))
    kinds = [types()[name] for name in in_focus] + [random_type(random) for _ in range(count)]
    names = [f"v{number}" for number in range(1, len(kinds) + 1)]
    if random.random() < 0.08:
        names[0] = random.choice(_UNUSUAL_COLUMNS)
    return [_value_column(random, name, kind) for name, kind in zip(names, kinds, strict=True)]


def _value_column(random: Random, name: str, kind: RandomColumnType) -> RandomColumn:
    column = RandomColumn(name=name, type=kind, nullable=random.random() < 0.75)
    if random.random() < 0.2 and _takes_default(kind):
        value = random_value(random, RandomColumn(name=name, type=kind, nullable=False))
        if not value.literal.startswith(("UNHEX", "REPEAT")):
            return RandomColumn(name=name, type=kind, nullable=column.nullable, default=value.literal)
    return column


def _takes_default(kind: RandomColumnType) -> bool:
    """Return whether a type can have a default.

    TiDB has no defaults for some types, and zero dates depend on the session's mode.
    """
    without = ("TEXT", "BLOB", "JSON", "VECTOR")
    return not kind.sql_mode and not any(word in kind.sql for word in without)


def _wants(random: Random, focus: frozenset[str], share: float, *traps: str) -> bool:
    return bool(focus.intersection(traps)) or random.random() < share


def key_traps(key: Key) -> set[str]:
    """Return the traps that the values of a key produce."""
    return {_KEY_TRAPS[value] for value in key if value in _KEY_TRAPS}


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
        """Draw a table."""
        return self.random.choice(self.tables)

    def row(self, table: RandomTable) -> Key:
        """Draw the key of a row of a table that has some."""
        return self.random.choice(sorted(table.rows))

    def value(self, column: RandomColumn) -> str:
        """Draw a literal of a column that is not part of a key."""
        value = random_value(self.random, column, self.focus)
        self.traps |= {value.trap} - {""}
        return value.literal
