"""Follows the DDLs of a stream: which versions its tables have, and where their rows go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ticdc_producer.errors import ProducerError
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.collation import DEFAULT_COLLATIONS, charset_of
from ticdc_producer.replica.alteration import AlteredDefinition
from ticdc_producer.replica.table_changes import (
    ColumnChanges,
    change_partitions,
    partition_index,
    partitioned,
)
from ticdc_producer.replica.versions import (
    LENIENT,
    ColumnMapping,
    Copies,
    Definition,
    RowMigration,
    Version,
)
from ticdc_producer.scenario.sql.definition.key_definition import draft_key
from ticdc_producer.scenario.sql.definition.table_definition import draft_table, make_table
from ticdc_producer.scenario.sql.syntax import parse_ddl
from ticdc_producer.scenario.sql.syntax.alter import RenameTo
from ticdc_producer.scenario.sql.syntax.names import TableName
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions
from ticdc_producer.scenario.sql.syntax.statement import (
    DDL,
    AlterTable,
    CreateIndex,
    CreateTable,
    DatabaseStatement,
    DropIndex,
    DropObjects,
    RenameTables,
    TruncateTable,
)
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.statements import split_statements

_Name = tuple[str, str]
UNREADABLE = (ProducerError, LookupError, ValueError, RecursionError)
"""Errors of a DDL that cannot be read or applied: a topic may hold anything."""
_SERVER_CHARSET = "utf8mb4", "utf8mb4_bin"


@dataclass(frozen=True, order=True, kw_only=True)
class StreamDDL:
    """A DDL of a stream; DDLs are compared in the order in which they ran.

    :param order: position among those with the same commit-ts.
    :param schema, table: as the message names them; the table is empty for a DDL of a database.
    :param copies: where its copies are.
    """

    commit_ts: int
    order: tuple[int, ...]
    schema: str
    table: str
    query: str
    copies: Copies = field(default_factory=dict, compare=False)


def parsed_ddl(query: str) -> list[DDL]:
    """Return the statements of a DDL; none if it cannot be read."""
    try:
        return [parse_ddl(Cursor(statement)) for statement in split_statements(query)]
    except UNREADABLE:
        return []


def apply_ddls(ddls: Iterable[StreamDDL], fidelity: Fidelity, profile: Profile = "classic") -> list[Version]:
    """Return the versions of all tables, in order.

    :param ddls: each DDL of the stream once.
    :param fidelity: what the messages carry of names and values.
    :param profile: the TiCDC program, which decides which keys may be the handle key.
    """
    tables = _DDLState(ColumnChanges(fidelity), profile)
    for ddl in sorted(ddls):
        tables.apply_ddl(ddl)
    return tables.versions


@dataclass
class _DDLState:
    """The tables as they are after the DDLs so far.

    :ivar tables: the present version by schema and table, in lower case.
    """

    changes: ColumnChanges
    profile: Profile
    versions: list[Version] = field(default_factory=list)
    tables: dict[_Name, Version] = field(default_factory=dict)
    charsets: dict[str, tuple[str, str]] = field(default_factory=dict)

    def apply_ddl(self, ddl: StreamDDL) -> None:
        """Apply a DDL. Rows of its table are unknown from then on if it cannot be read."""
        try:
            for statement in split_statements(ddl.query):
                self._run(parse_ddl(Cursor(statement)), ddl)
        except UNREADABLE:
            self._mark_uncomparable(ddl, f"this DDL cannot be applied: {ddl.query[:80]}")

    def _mark_uncomparable(self, ddl: StreamDDL, why: str) -> None:
        table = self.tables.get(_key(ddl.schema, ddl.table))
        if table is None and ddl.table:
            info = TableInfo(schema=ddl.schema, name=ddl.table, table_id=0, columns=())
            table = self._begin(Definition(info=info), ddl)
        if table is not None:
            table.uncomparable_reason = table.uncomparable_reason or why

    def _run(self, statement: DDL, ddl: StreamDDL) -> None:
        match statement:
            case DatabaseStatement():
                self._database(statement, ddl)
            case CreateTable():
                self._create_table(statement, ddl)
            case DropObjects(kind="TABLE", names=names):
                for name in names:
                    self._end_named(name, ddl)
            case TruncateTable(table=name):
                table = self._end_named(name, ddl)
                if table is not None:
                    self._begin(table.definition, ddl)
            case RenameTables(pairs=pairs):
                for old, new in pairs:
                    self._rename(old, new, ddl)
            case CreateIndex(key=key, table=name):
                table = self._present(name, ddl)
                alteration = AlteredDefinition(table.definition, self.changes)
                alteration.add_key(draft_key(key))
                self._altered(table, alteration, ddl)
            case DropIndex(name=index, table=name):
                table = self._present(name, ddl)
                alteration = AlteredDefinition(table.definition, self.changes)
                alteration.drop_index(index)
                self._altered(table, alteration, ddl)
            case AlterTable():
                self._alter_table(statement, ddl)

    def _database(self, statement: DatabaseStatement, ddl: StreamDDL) -> None:
        name = (statement.name or ddl.schema).lower()
        values = {option.kind: option.value for option in statement.options}
        if statement.verb == "DROP":
            for table in [table for key, table in self.tables.items() if key[0] == name]:
                self._end(table, ddl)
        elif collation := values.get("COLLATE"):
            self.charsets[name] = charset_of(collation), collation
        elif charset := values.get("CHARSET"):
            self.charsets[name] = charset, DEFAULT_COLLATIONS[charset]

    def _create_table(self, statement: CreateTable, ddl: StreamDDL) -> None:
        schema, name = statement.table.within(ddl.schema)
        present = self.tables.get(_key(schema, name))
        if present is not None and statement.if_not_exists:
            return
        if present is not None:
            self._end(present, ddl)
        try:
            if statement.like is None:
                definition = self._defined(statement, schema, name)
            else:
                definition = self._present(statement.like, ddl).definition
        except UNREADABLE:
            # Only if another DDL changes a table of this name, its rows depend on its definition.
            if any(_key(*version.name) == _key(schema, name) for version in self.versions):
                raise
            return
        info = replace(definition.info, schema=schema, name=name)
        self._begin(replace(definition, info=info), ddl)

    def _defined(self, statement: CreateTable, schema: str, name: str) -> Definition:
        draft = draft_table(statement, schema)
        charset = self.charsets.get(schema.lower(), _SERVER_CHARSET)
        info, next_index_id = make_table(draft, schema, name, charset, LENIENT, statement.source.line)
        definition = Definition(info=replace(info, profile=self.profile), next_index_id=next_index_id)
        return definition if draft.partitioning is None else partitioned(definition, draft.partitioning)

    def _end_named(self, name: TableName, ddl: StreamDDL) -> Version | None:
        """End a table, if the stream created it."""
        table = self.tables.get(_key(*name.within(ddl.schema)))
        if table is not None:
            self._end(table, ddl)
        return table

    def _rename(self, old: TableName, new: TableName, ddl: StreamDDL) -> None:
        table, name = self._before_rename(old.within(ddl.schema)), new.within(ddl.schema)
        info = replace(table.definition.info, schema=name[0], name=name[1])
        self._succeed(table, replace(table.definition, info=info), ddl)

    def _alter_table(self, statement: AlterTable, ddl: StreamDDL) -> None:
        name, first = statement.table, next(iter(statement.parts), None)
        if isinstance(first, RenameTo):
            self._rename(name, first.table, ddl)
            return
        if statement.if_exists and _key(*name.within(ddl.schema)) not in self.tables:
            return
        table = self._present(name, ddl)
        if isinstance(first, ChangePartitions) and first.table is not None:
            self._exchange(first.names[0], first.table, table, ddl)
        elif isinstance(first, PartitionBy | ChangePartitions):
            change = change_partitions(first, table.definition)
            self._succeed(table, change.after, ddl, gone=change.gone)
        else:
            alteration = AlteredDefinition(table.definition, self.changes)
            alteration.apply(statement.parts)
            self._altered(table, alteration, ddl)

    def _altered(self, table: Version, alteration: AlteredDefinition, ddl: StreamDDL) -> None:
        """Begin a new version if rows look different, or have another key."""
        after = alteration.result
        if alteration.moves_values:
            columns = tuple(alteration.mappings.values())
            self._succeed(
                table,
                after,
                ddl,
                columns=columns,
                uncomparable_reason="; ".join(alteration.uncomparable_reasons),
            )
        elif after.key != table.definition.key:
            self._succeed(table, after, ddl)
        else:
            table.definition = after

    def _exchange(self, partition_name: str, name: TableName, table: Version, ddl: StreamDDL) -> None:
        """Exchange the rows of a partition and a table."""
        partition, other = partition_index(table.definition, partition_name), self._present(name, ddl)
        others = frozenset(range(len(table.definition.info.partitions))) - {partition}
        for version in (table, other):
            self._end(version, ddl)
        after, other_after = (self._begin(version.definition, ddl) for version in (table, other))
        to_table, to_other = (_by_name(source, target) for source, target in ((other, after), (table, other)))
        table.migrations = [
            RowMigration(target=after.number, partitions=others),
            RowMigration(target=other_after.number, partitions=frozenset({partition}), columns=to_other),
        ]
        other.migrations = [RowMigration(target=after.number, columns=to_table)]

    def _succeed(
        self,
        table: Version,
        definition: Definition,
        ddl: StreamDDL,
        *,
        columns: tuple[ColumnMapping, ...] | None = None,
        gone: frozenset[int] = frozenset(),
        uncomparable_reason: str = "",
    ) -> None:
        """Replace a version by another one, which gets its rows.

        :param gone: indexes of the partitions whose rows it does not get.
        """
        if not table.definition.key and definition.key:
            uncomparable_reason = uncomparable_reason or "its rows had no handle key before a DDL"
        self._end(table, ddl)
        after = self._begin(definition, ddl)
        all_partitions = frozenset(range(len(table.definition.info.partitions)))
        partitions = all_partitions - gone if gone else None
        table.migrations = [
            RowMigration(
                target=after.number,
                columns=columns,
                partitions=partitions,
                uncomparable_reason=uncomparable_reason,
            )
        ]

    def _present(self, name: TableName, ddl: StreamDDL) -> Version:
        """Return a table.

        :raises LookupError: if the stream did not create it.
        """
        return self.tables[_key(*name.within(ddl.schema))]

    def _before_rename(self, name: _Name) -> Version:
        """Return the table of a RENAME. If it moves to another database, the message names the new one only.

        :raises LookupError: if the name could be that of several tables, or of none.
        """
        exact_match = self.tables.get(_key(*name))
        others = [table for key, table in self.tables.items() if key[1] == name[1].lower()]
        if exact_match is None and len(others) != 1:
            raise LookupError(".".join(name))
        return exact_match or others[0]

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
        table.until, table.ended_at = ddl.commit_ts, ddl.copies
        info = table.definition.info
        self.tables.pop(_key(info.schema, info.name), None)


def _key(schema: str, table: str) -> _Name:
    return schema.lower(), table.lower()


def _by_name(source: Version, target: Version) -> tuple[ColumnMapping, ...]:
    """Map the columns of the target to those of the source with the same name, whose case may differ."""
    names = {column.name.lower(): column.name for column in source.definition.info.sent_columns}
    return tuple(
        ColumnMapping(name=column.name, source=names.get(column.name.lower(), ""))
        for column in target.definition.info.sent_columns
    )
