"""Follows the DDLs of a stream: which versions its tables have, and where their rows go."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from ticdc_producer.errors import ProducerError
from ticdc_producer.model.collation import DEFAULT_COLLATIONS, charset_of
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.replica.alteration import Alteration
from ticdc_producer.replica.column_changes import ColumnChanges
from ticdc_producer.replica.partition_changes import exchanged, partitioned, read_partition_change
from ticdc_producer.replica.versions import LENIENT, Cell, Definition, Move, Version
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.key_definition import read_key_parts
from ticdc_producer.scenario.sql.statements import split_statements
from ticdc_producer.scenario.sql.table_definition import make_table, read_table

_Name = tuple[str, str]
_UNREADABLE = (ProducerError, LookupError, ValueError, RecursionError)
"""Errors of a DDL that cannot be read or applied: a topic may hold anything."""
_SERVER_CHARSET = "utf8mb4", "utf8mb4_bin"


@dataclass(frozen=True, order=True, kw_only=True)
class StreamDDL:
    """A DDL of a stream; DDLs are compared in the order in which they ran.

    :param order: position among those with the same commit-ts.
    :param schema, table: as the message names them; the table is empty for a DDL of a database.
    """

    commit_ts: int
    order: tuple[int, ...]
    schema: str
    table: str
    query: str


def follow(ddls: Iterable[StreamDDL], fidelity: Fidelity, profile: Profile = "classic") -> list[Version]:
    """The versions of all tables, in order.

    :param ddls: each DDL of the stream once.
    :param fidelity: what the messages carry of names and values.
    :param profile: the TiCDC program, which decides which keys may be the handle key.
    """
    follower = _Follower(ColumnChanges(fidelity), profile)
    for ddl in sorted(ddls):
        follower.follow(ddl)
    return follower.versions


@dataclass
class _Follower:
    """The tables as they are after the DDLs so far.

    :ivar tables: the present version by schema and table, in lower case.
    """

    changes: ColumnChanges
    profile: Profile
    versions: list[Version] = field(default_factory=list)
    tables: dict[_Name, Version] = field(default_factory=dict)
    charsets: dict[str, tuple[str, str]] = field(default_factory=dict)

    def follow(self, ddl: StreamDDL) -> None:
        """Apply a DDL. Rows of its table are unknown from then on if it cannot be read."""
        try:
            for statement in split_statements(ddl.query):
                self._run(Cursor(statement), ddl)
        except _UNREADABLE:
            self._doubt(ddl, f"this DDL cannot be applied: {ddl.query[:80]}")

    def _doubt(self, ddl: StreamDDL, why: str) -> None:
        table = self.tables.get(_key(ddl.schema, ddl.table))
        if table is None and ddl.table:
            info = TableInfo(schema=ddl.schema, name=ddl.table, table_id=0, columns=())
            table = self._begin(Definition(info=info), ddl)
        if table is not None:
            table.doubt = table.doubt or why

    def _run(self, cursor: Cursor, ddl: StreamDDL) -> None:
        for words, run in _STATEMENTS:
            if cursor.accept(*words):
                run(self, cursor, ddl)
                return

    def create_database(self, cursor: Cursor, _: StreamDDL) -> None:
        cursor.accept("IF", "NOT", "EXISTS")
        self._set_charset(cursor.identifier(), cursor)

    def alter_database(self, cursor: Cursor, ddl: StreamDDL) -> None:
        named = cursor.word() not in ("DEFAULT", "CHARSET", "CHARACTER", "COLLATE", "PLACEMENT")
        self._set_charset(cursor.identifier() if named else ddl.schema, cursor)

    def _set_charset(self, name: str, cursor: Cursor) -> None:
        charset, collation = "", ""
        while not cursor.at_end:
            if cursor.accept("CHARSET") or cursor.accept("CHARACTER", "SET"):
                cursor.accept("=")
                charset = cursor.identifier().lower()
            elif cursor.accept("COLLATE"):
                cursor.accept("=")
                collation = cursor.identifier().lower()
            else:
                cursor.position += 1
        if collation:
            self.charsets[name.lower()] = charset_of(collation), collation
        elif charset:
            self.charsets[name.lower()] = charset, DEFAULT_COLLATIONS[charset]

    def drop_database(self, cursor: Cursor, ddl: StreamDDL) -> None:
        cursor.accept("IF", "EXISTS")
        name = cursor.identifier().lower()
        for table in [table for key, table in self.tables.items() if key[0] == name]:
            self._end(table, ddl)

    def create_table(self, cursor: Cursor, ddl: StreamDDL) -> None:
        lenient = cursor.accept("IF", "NOT", "EXISTS")
        schema, name = cursor.qualified_name(ddl.schema)
        present = self.tables.get(_key(schema, name))
        if present is not None and lenient:
            return
        if present is not None:
            self._end(present, ddl)
        try:
            definition = self._like(cursor, ddl) or self._defined(cursor, schema, name)
        except _UNREADABLE:
            # Only if another DDL changes a table of this name, its rows depend on its definition.
            if any(_key(*version.name) == _key(schema, name) for version in self.versions):
                raise
            return
        info = replace(definition.info, schema=schema, name=name)
        self._begin(replace(definition, info=info), ddl)

    def _like(self, cursor: Cursor, ddl: StreamDDL) -> Definition | None:
        in_brackets = cursor.word() == "(" and cursor.word(1) == "LIKE"
        cursor.position += in_brackets
        return self._present(cursor, ddl).definition if cursor.accept("LIKE") else None

    def _defined(self, cursor: Cursor, schema: str, name: str) -> Definition:
        draft = read_table(cursor, schema)
        charset = self.charsets.get(schema.lower(), _SERVER_CHARSET)
        info, next_index_id = make_table(draft, schema, name, charset, LENIENT, cursor.line)
        found = Definition(info=replace(info, profile=self.profile), next_index_id=next_index_id)
        return found if draft.partitioning is None else partitioned(found, draft.partitioning)

    def drop_table(self, cursor: Cursor, ddl: StreamDDL) -> None:
        cursor.accept("IF", "EXISTS")
        self._end_named(cursor, ddl)
        while cursor.accept(","):
            self._end_named(cursor, ddl)

    def _end_named(self, cursor: Cursor, ddl: StreamDDL) -> None:
        table = self.tables.get(_key(*cursor.qualified_name(ddl.schema)))
        if table is not None:
            self._end(table, ddl)

    def truncate_table(self, cursor: Cursor, ddl: StreamDDL) -> None:
        cursor.accept("TABLE")
        table = self.tables.get(_key(*cursor.qualified_name(ddl.schema)))
        if table is not None:
            self._end(table, ddl)
            self._begin(table.definition, ddl)

    def rename_tables(self, cursor: Cursor, ddl: StreamDDL) -> None:
        self._rename(cursor, ddl)
        while cursor.accept(","):
            self._rename(cursor, ddl)

    def _rename(self, cursor: Cursor, ddl: StreamDDL) -> None:
        table = self._before_rename(cursor.qualified_name(ddl.schema))
        cursor.expect("TO")
        self._renamed(table, cursor.qualified_name(ddl.schema), ddl)

    def _renamed(self, table: Version, name: _Name, ddl: StreamDDL) -> None:
        info = replace(table.definition.info, schema=name[0], name=name[1])
        self._succeed(table, replace(table.definition, info=info), ddl)

    def create_index(self, cursor: Cursor, ddl: StreamDDL, kind: str = "index") -> None:
        cursor.accept("IF", "NOT", "EXISTS")
        name = cursor.identifier("an index name")
        if cursor.accept_any("USING", "TYPE"):
            cursor.position += 1
        cursor.expect("ON")
        table = self._present(cursor, ddl)
        alteration = Alteration(table.definition, self.changes)
        alteration.add_key(read_key_parts(cursor, kind, name, cursor.line))
        self._altered(table, alteration, ddl)

    def create_unique_index(self, cursor: Cursor, ddl: StreamDDL) -> None:
        self.create_index(cursor, ddl, "unique")

    def drop_index(self, cursor: Cursor, ddl: StreamDDL) -> None:
        cursor.accept("IF", "EXISTS")
        name = cursor.identifier("an index name")
        cursor.expect("ON")
        table = self._present(cursor, ddl)
        alteration = Alteration(table.definition, self.changes)
        alteration.drop_index(name)
        self._altered(table, alteration, ddl)

    def alter_table(self, cursor: Cursor, ddl: StreamDDL) -> None:
        lenient = cursor.accept("IF", "EXISTS")
        name = cursor.qualified_name(ddl.schema)
        if cursor.word() == "RENAME" and cursor.word(1) not in ("COLUMN", "INDEX", "KEY"):
            table = self._before_rename(name)
            cursor.position += 1
            cursor.accept_any("TO", "AS", "=")
            self._renamed(table, cursor.qualified_name(ddl.schema), ddl)
        elif not lenient or _key(*name) in self.tables:
            self._alter(cursor, self.tables[_key(*name)], ddl)

    def _alter(self, cursor: Cursor, table: Version, ddl: StreamDDL) -> None:
        if cursor.accept("EXCHANGE", "PARTITION"):
            self._exchange(cursor, table, ddl)
            return
        change = read_partition_change(cursor, table.definition)
        if change is not None:
            self._succeed(table, change.after, ddl, gone=change.gone)
            return
        alteration = Alteration(table.definition, self.changes)
        alteration.read(cursor)
        self._altered(table, alteration, ddl)

    def _altered(self, table: Version, alteration: Alteration, ddl: StreamDDL) -> None:
        """Begin a new version if rows look different, or have another key."""
        after = alteration.result
        if alteration.moves_values:
            cells = tuple(alteration.cells.values())
            self._succeed(table, after, ddl, cells=cells, doubt="; ".join(alteration.doubts))
        elif after.key != table.definition.key:
            self._succeed(table, after, ddl)
        else:
            table.definition = after

    def _exchange(self, cursor: Cursor, table: Version, ddl: StreamDDL) -> None:
        """A partition and a table exchange their rows."""
        partition, name = exchanged(cursor, table.definition, ddl.schema)
        other = self.tables[_key(*name)]
        others = frozenset(range(len(table.definition.info.partitions))) - {partition}
        for version in (table, other):
            self._end(version, ddl)
        after, other_after = (self._begin(version.definition, ddl) for version in (table, other))
        to_table, to_other = (_by_name(source, target) for source, target in ((other, after), (table, other)))
        table.moves = [
            Move(target=after.number, partitions=others),
            Move(target=other_after.number, partitions=frozenset({partition}), cells=to_other),
        ]
        other.moves = [Move(target=after.number, cells=to_table)]

    def _succeed(
        self,
        table: Version,
        definition: Definition,
        ddl: StreamDDL,
        *,
        cells: tuple[Cell, ...] | None = None,
        gone: frozenset[int] = frozenset(),
        doubt: str = "",
    ) -> None:
        """Replace a version by another one, which gets its rows.

        :param gone: indexes of the partitions whose rows it does not get.
        """
        if not table.definition.key and definition.key:
            doubt = doubt or "its rows had no handle key before a DDL"
        self._end(table, ddl)
        after = self._begin(definition, ddl)
        all_partitions = frozenset(range(len(table.definition.info.partitions)))
        partitions = all_partitions - gone if gone else None
        table.moves = [Move(target=after.number, cells=cells, partitions=partitions, doubt=doubt)]

    def _present(self, cursor: Cursor, ddl: StreamDDL) -> Version:
        """The table that comes next.

        :raises LookupError: if the stream did not create it.
        """
        return self.tables[_key(*cursor.qualified_name(ddl.schema))]

    def _before_rename(self, name: _Name) -> Version:
        """The table of a RENAME. The message of one to another database names the new database only.

        :raises LookupError: if the name could be that of several tables, or of none.
        """
        found = self.tables.get(_key(*name))
        others = [table for key, table in self.tables.items() if key[1] == name[1].lower()]
        if found is None and len(others) != 1:
            raise LookupError(".".join(name))
        return found or others[0]

    def _begin(self, definition: Definition, ddl: StreamDDL) -> Version:
        info, visible = definition.info, self.changes.fidelity.visible_name
        version = Version(
            number=len(self.versions),
            schema=visible(info.schema),
            table=visible(info.name),
            since=ddl.commit_ts,
            definition=definition,
        )
        self.versions.append(version)
        self.tables[_key(info.schema, info.name)] = version
        return version

    def _end(self, table: Version, ddl: StreamDDL) -> None:
        table.until = ddl.commit_ts
        info = table.definition.info
        self.tables.pop(_key(info.schema, info.name), None)


def _key(schema: str, table: str) -> _Name:
    return schema.lower(), table.lower()


def _by_name(source: Version, target: Version) -> tuple[Cell, ...]:
    """Columns of the target from those of the source with the same name, whose case may differ."""
    names = {column.name.lower(): column.name for column in source.definition.info.sent_columns}
    return tuple(
        Cell(name=column.name, source=names.get(column.name.lower(), ""))
        for column in target.definition.info.sent_columns
    )


_STATEMENTS: tuple[tuple[tuple[str, ...], Callable[[_Follower, Cursor, StreamDDL], None]], ...] = (
    (("CREATE", "DATABASE"), _Follower.create_database),
    (("CREATE", "SCHEMA"), _Follower.create_database),
    (("ALTER", "DATABASE"), _Follower.alter_database),
    (("ALTER", "SCHEMA"), _Follower.alter_database),
    (("DROP", "DATABASE"), _Follower.drop_database),
    (("DROP", "SCHEMA"), _Follower.drop_database),
    (("CREATE", "TABLE"), _Follower.create_table),
    (("DROP", "TABLE"), _Follower.drop_table),
    (("DROP", "TABLES"), _Follower.drop_table),
    (("TRUNCATE",), _Follower.truncate_table),
    (("RENAME", "TABLE"), _Follower.rename_tables),
    (("RENAME", "TABLES"), _Follower.rename_tables),
    (("ALTER", "TABLE"), _Follower.alter_table),
    (("DROP", "INDEX"), _Follower.drop_index),
    (("CREATE", "INDEX"), _Follower.create_index),
    (("CREATE", "UNIQUE", "INDEX"), _Follower.create_unique_index),
)
