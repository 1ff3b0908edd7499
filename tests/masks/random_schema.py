"""Random tables with references, and rows whose values can be searched for."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

_DIGITS = "0123456789"
_KEYS = {
    "INT": lambda text: str(int(text, 36) % 2_000_000_000),
    "BIGINT": lambda text: str(int(text, 36) % 9_000_000_000_000_000_000),
    "BIGINT UNSIGNED": lambda text: str(int(text, 36) % 18_000_000_000_000_000_000),
    "VARCHAR(40)": lambda text: f"'{text}@mail.example'",
    "CHAR(40)": lambda text: f"'{text.upper()}-{text}'",
    "VARBINARY(40)": lambda text: f"x'{text.encode().hex()}'",
    "DECIMAL(20,2)": lambda text: f"{int(text, 36) % 10**16}.25",
    "DATETIME(6)": lambda text: f"'20{int(text, 36) % 30:02d}-03-04 05:06:07.{int(text, 36) % 10**6:06d}'",
}
_METHODS = {"VARCHAR(40)": ("format", "hash"), "CHAR(40)": ("format", "hash")}
_DATA = ("VARCHAR(60)", "TEXT", "JSON", "VARBINARY(60)")


@dataclass(frozen=True)
class Table:
    """A table: its key, the table that it refers to, and rows of its key, reference and data.

    :param parent: index of the table; -1: none.
    """

    name: str
    key: str
    method: str
    parent: int
    data: str
    rows: tuple[tuple[str, str | None, str], ...]


@dataclass(frozen=True)
class Schema:
    """Tables, each after the one that it refers to."""

    tables: tuple[Table, ...]
    seed: int

    @property
    def definitions(self) -> list[str]:
        return ["CREATE DATABASE s", "USE s", *map(self._create, self.tables)]

    def _create(self, table: Table) -> str:
        columns = [f"k {table.key} NOT NULL", f"d {table.data}"]
        if table.parent >= 0:
            parent = self.tables[table.parent]
            columns.append(f"{parent.name}_ref {parent.key}")
        return f"CREATE TABLE {table.name} ({', '.join(columns)}, UNIQUE KEY (k))"

    @property
    def inserts(self) -> list[str]:
        rows = (
            (table.name, [key, data, *([ref or "NULL"] if table.parent >= 0 else [])])
            for table in self.tables
            for key, ref, data in table.rows
        )
        return [f"INSERT INTO {name} VALUES ({', '.join(values)})" for name, values in rows]

    @property
    def rules(self) -> str:
        lines = ["rules:"]
        for table in self.tables:
            lines.append(f"- {{columns: [{table.name}.k, {table.name}_ref], method: {table.method}}}")
        return "\n".join([*lines, "- {columns: [d], method: format}"])

    @property
    def secrets(self) -> list[bytes]:
        """The distinctive values, as bytes that an output may hold."""
        texts = [text for table in self.tables for row in table.rows for text in (row[0], row[2])]
        return [_bytes(text) for text in texts if len(_bytes(text)) >= 8]


def _bytes(literal: str) -> bytes:
    if literal.startswith("x'"):
        return bytes.fromhex(literal[2:-1])
    return literal.strip("'").strip('["]').encode()


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Draw a schema."""
    seed = draw(st.integers(0, 1 << 30))
    word = st.integers(36**9, 36**10 - 1).map(_base36)
    tables: list[Table] = []
    for number in range(draw(st.integers(2, 4))):
        key, data = draw(st.sampled_from([*_KEYS])), draw(st.sampled_from(_DATA))
        method = draw(st.sampled_from(_METHODS.get(key, ("format", "hash"))))
        parent = draw(st.integers(-1, number - 1))
        words = draw(st.lists(word, min_size=1, max_size=5, unique=True))
        keys = {*map(_KEYS[key], words)}
        parents = [row[0] for row in tables[parent].rows] if parent >= 0 else []
        rows = [
            (value, draw(st.sampled_from(parents)) if parents else None, _data(data, draw(word)))
            for value in sorted(keys)
        ]
        tables.append(Table(f"t{number}", key, method, parent, data, tuple(rows)))
    return Schema(tuple(tables), seed)


def _data(kind: str, word: str) -> str:
    match kind:
        case "JSON":
            return f"'[\"{word}\"]'"
        case "VARBINARY(60)":
            return f"x'{word.encode().hex()}'"
    return f"'{word}'"


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits
