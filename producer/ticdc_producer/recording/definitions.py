"""The tables that existed before a recording begins, as CREATE TABLE statements.

They come from a dump, from the descriptions of tables in the messages, or from the columns of rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Part
from ticdc_producer.errors import RecordingError, ScenarioError
from ticdc_producer.model.column import ColumnFlag, ColumnInfo, IndexInfo
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import STRINGS, WITH_FSP, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.spec import DescribedTables
from ticdc_producer.recording.selection import Accepts
from ticdc_producer.recording.summary import FirstRow, TableName
from ticdc_producer.replica.stream_ddl import StreamDDL
from ticdc_producer.scenario.sql.ddl import is_ddl
from ticdc_producer.scenario.sql.definition.create_text import create_table_text
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.text.statements import split_statements
from ticdc_producer.verifier.event_layouts import DescribedColumn
from ticdc_producer.verifier.history.sides import described_column

_CREATES = re.compile(r"\s*(create\s+table|rename\s+table|alter\s+table\s.*\srename\s)", re.IGNORECASE)
_DATABASE = re.compile(
    r"\s*create\s+(?:database|schema)\s+(?:if\s+not\s+exists\s+)?`?([^`\s;]+)", re.IGNORECASE
)
_SETTINGS = ("SET", "USE")
_DIGITS, _BITS, _LENGTH = 65, 64, 255
SCHEMA_HINT = "give the CREATE TABLE statements of tables that existed before with `schema`"


@dataclass(frozen=True)
class EarlierTable:
    """A table that existed before the first DDL of the messages.

    :param create: its CREATE TABLE statement.
    :param since: commit-ts of the statement; 0: it is not known.
    """

    schema: str
    table: str
    create: str
    since: int = 0

    @property
    def name(self) -> TableName:
        """Schema and table."""
        return self.schema, self.table


@dataclass(frozen=True)
class CreatedNames:
    """The names of the tables and databases that DDLs of messages create.

    :param tables: the tables whose first DDL creates them, or gives them their name.
    :param databases: the databases with a CREATE DATABASE.
    """

    tables: frozenset[TableName]
    databases: frozenset[str]

    @classmethod
    def by(cls, ddls: Iterable[StreamDDL]) -> CreatedNames:
        """Return what DDLs create.

        :param ddls: in their order.
        """
        first: dict[TableName, str] = {}
        databases = set()
        for ddl in ddls:
            first.setdefault((ddl.schema, ddl.table), ddl.query)
            if (match := _DATABASE.match(ddl.query)) is not None:
                databases.add(match[1].lower())
        tables = (name for name, query in first.items() if _CREATES.match(query))
        return cls(frozenset(tables), frozenset(databases))

    def __contains__(self, name: TableName) -> bool:
        return name in self.tables or name[0].lower() in self.databases


def dumped_tables(dump: Path, accepts: Accepts, created: CreatedNames) -> list[EarlierTable]:
    """Return the tables of a dump; its rows are not read.

    :param created: tables that the messages create.
    :raises ScenarioError: for a file that is not SQL text, and for a definition that does not run.
    """
    try:
        text = dump.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ScenarioError(f"cannot read the dump: {reason}", file=str(dump)).about("schema") from None
    statements = split_statements(text)
    session = Session(file=str(dump))
    for statement in statements:
        if is_ddl(statement.verb) or statement.verb in _SETTINGS:
            session.run(statement.text, line=statement.line)
    return [
        EarlierTable(info.schema, info.name, create)
        for info, create in session.defined_tables()
        if accepts(info.schema, info.name) and (info.schema, info.name) not in created
    ]


def described_tables(
    describe: Callable[[bytes], DescribedTables],
    descriptions: Iterable[bytes],
    accepts: Accepts,
    created: CreatedNames,
) -> list[EarlierTable]:
    """Return the tables that messages describe, in their oldest version.

    :param descriptions: the values of the messages.
    :param created: tables that the messages create.
    """
    oldest: dict[TableName, TableInfo] = {}
    messages = [*map(describe, descriptions)]
    new = {(table.schema, table.name, table.update_ts) for tables in messages for table in tables.after}
    for table in (table for tables in messages for table in tables.before):
        name = table.schema, table.name
        known = oldest.setdefault(name, table)
        if (*name, table.update_ts) not in new and table.update_ts < known.update_ts:
            oldest[name] = table
    return [
        EarlierTable(*name, create_table_text(table), table.update_ts + 1)
        for name, table in oldest.items()
        if accepts(*name) and name not in created and (*name, table.update_ts) not in new
    ]


@dataclass(frozen=True)
class RowTables:
    """The tables whose definition follows from the columns of their first row.

    What a message lacks is the smallest that holds the values: digits of fractions, and lengths.
    """

    rows: Mapping[TableName, FirstRow]
    fidelity: Fidelity

    @classmethod
    def of(
        cls,
        rows: Mapping[TableName, FirstRow],
        known: Iterable[TableName],
        ddls: Sequence[StreamDDL],
        created: CreatedNames,
        fidelity: Fidelity,
    ) -> RowTables:
        """Return the tables with rows before which no DDL names them.

        :param known: tables whose definition is known.
        """
        names, until = {*known}, dict[TableName, int]()
        for ddl in ddls:
            until.setdefault((ddl.schema, ddl.table), ddl.commit_ts)
        unknown = {
            name: row
            for name, row in rows.items()
            if name not in names
            and name[0].lower() not in created.databases
            and row.commit_ts < until.get(name, row.commit_ts + 1)
        }
        return cls(unknown, fidelity)

    def tables(self, changes: Dataset) -> list[EarlierTable]:
        """Return the tables.

        :param changes: shape ``events.CHANGES``.
        :raises RecordingError: for a column whose type the messages do not have, with the place of a row.
        """
        if not self.rows:
            return []
        sizes: dict[tuple[str, str, str], tuple[int, int]] = {}
        for of_part in changes.results(self._sizes):
            for column, (fraction, length) in of_part.items():
                before = sizes.get(column, (0, 0))
                sizes[column] = max(fraction, before[0]), max(length, before[1])
        return [
            EarlierTable(*name, create_table_text(self._table(name, row, sizes)))
            for name, row in self.rows.items()
        ]

    def _sizes(self, _part: Part, batches: Batches) -> dict[tuple[str, str, str], tuple[int, int]]:
        """Return the most digits of a fraction and bytes of a value, by schema, table and column."""
        sizes: dict[tuple[str, str, str], tuple[int, int]] = {}
        for batch in batches:
            names = [*zip(*(batch.column(of).to_pylist() for of in ("schema", "table")), strict=True)]
            for name in {*names} & self.rows.keys():
                own = batch.filter(pa.array([other == name for other in names]))
                for images in (own.column("before"), own.column("after")):
                    for column, *size in _sizes_of(images):
                        before = sizes.get((*name, column), (0, 0))
                        sizes[(*name, column)] = max(size[0], before[0]), max(size[1], before[1])
        return sizes

    def _table(
        self, name: TableName, row: FirstRow, sizes: Mapping[tuple[str, str, str], tuple[int, int]]
    ) -> TableInfo:
        shows_null = bool(self.fidelity.visible_flag(ColumnFlag.NULLABLE))
        columns = tuple(
            _column(name, row, column, *sizes.get((*name, column.name), (0, 0)), shows_null=shows_null)
            for column in row.columns
        )
        flags = [column.flag for column in row.columns]
        key = tuple(offset for offset, flag in enumerate(flags) if flag & ColumnFlag.HANDLE_KEY)
        primary = any(flags[offset] & ColumnFlag.PRIMARY_KEY for offset in key)
        first = IndexInfo(id=1, name="key", offsets=key, unique=True, primary=primary, clustered=primary)
        others = (
            IndexInfo(id=offset + 2, name=columns[offset].name, offsets=(offset,), unique=unique)
            for offset, flag in enumerate(flags)
            for unique in [bool(flag & ColumnFlag.UNIQUE_KEY)]
            if offset not in key and (unique or flag & ColumnFlag.MULTIPLE_KEY)
        )
        indexes = (*((first,) if key else ()), *others)
        return TableInfo(schema=name[0], name=name[1], table_id=0, columns=columns, indexes=indexes)


def _sizes_of(images: pa.MapArray) -> Iterator[tuple[str, int, int]]:
    """Yield the columns of images, with the most digits of a fraction and bytes of a value."""
    flat = images.filter(images.is_valid())
    texts = flat.items
    lengths = pc.fill_null(pc.binary_length(texts), 0)
    points = pc.find_substring(texts, ".")
    fractions = pc.if_else(pc.greater_equal(points, 0), pc.subtract(pc.subtract(lengths, points), 1), 0)
    table = pa.table({"name": flat.keys, "fraction": pc.fill_null(fractions, 0), "length": lengths})
    grouped = table.group_by("name").aggregate([("fraction", "max"), ("length", "max")])
    names = ("name", "fraction_max", "length_max")
    yield from zip(*(grouped.column(name).to_pylist() for name in names), strict=True)


def _column(
    table: TableName, row: FirstRow, column: DescribedColumn, fraction: int, length: int, *, shows_null: bool
) -> ColumnInfo:
    known = described_column(column)
    members = known is not None and known.type in (MySQLType.ENUM, MySQLType.SET) and not known.elements
    if known is None or members:
        topic, partition, offset = row.position
        lacks = f"the members of column {column.name!r}" if members else f"the type of column {column.name!r}"
        what = f"no message creates {'.'.join(table)}, and its rows do not have {lacks}"
        raise RecordingError(what, where=f"{topic}/{partition}@{offset}", hint=SCHEMA_HINT).about("schema")
    code, in_key = known.type, bool(column.flag & ColumnFlag.HANDLE_KEY)
    size, decimal = -1, -1
    if code == MySQLType.NEW_DECIMAL:
        size, decimal = _DIGITS, fraction
    elif code in WITH_FSP:
        decimal = fraction
    elif code in STRINGS:
        size = max(length, 1 if known.binary else _LENGTH)
    elif code == MySQLType.BIT:
        size = _BITS
    return replace(
        known,
        length=size,
        decimal=decimal,
        collation="binary" if known.binary else "utf8mb4_bin",
        nullable=not in_key and (not shows_null or bool(column.flag & ColumnFlag.NULLABLE)),
    )
