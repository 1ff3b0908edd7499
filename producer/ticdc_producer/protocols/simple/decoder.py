"""Strict decoder of Simple: every malformed message is a ``DecodeError`` with its place.

Rows name the version of their table; what its columns are, a DDL or BOOTSTRAP message tells. Rows of a
version that no message has described yet wait for the one that does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import DDLEvent, Event, Op, ResolvedEvent, RowEvent
from ticdc_producer.protocols.compression import plain
from ticdc_producer.protocols.simple.avro_envelope import is_avro, opened_avro
from ticdc_producer.protocols.simple.envelope import Envelope, TableSchema, opened
from ticdc_producer.protocols.simple.event_type import BOOTSTRAP, DDL_WORDS, OPS, WATERMARK, told_action
from ticdc_producer.protocols.simple.schema_cache import DescribedTable

_Version: TypeAlias = tuple[str, str, int]
"""Database, table, version."""


class SimpleDecoder:
    """Messages in, events out; remembers every table version that it was told.

    :param described: values of messages that describe tables, wherever they stand in the topic. With them
        no row waits: one of a version that none of them describes is a decode error. Of those that do not
        decode, none is kept; they are errors where they stand.
    """

    def __init__(self, described: Iterable[bytes] | None = None) -> None:
        self._tables: dict[_Version, DescribedTable] = {}
        self._waiting: dict[_Version, list[Envelope]] = defaultdict(list)
        self._complete = described is not None
        for value in described or ():
            self._remember(value)

    @property
    def waiting(self) -> int:
        """How many rows wait for a description of their table."""
        return sum(map(len, self._waiting.values()))

    def events(
        self,
        key: bytes | None,  # noqa: ARG002  # the protocol leaves it empty
        value: bytes | None,
    ) -> Iterator[Event]:
        """The events of one message, in order; of one that describes a table, also those that waited.

        :param key: of no meaning in this protocol.
        :raises DecodeError: for anything that is not a message of this protocol.
        """
        message = _opened(value or b"")
        if message.type in OPS:
            yield from self._row(message)
        elif message.type == WATERMARK:
            yield ResolvedEvent(commit_ts=message.commit_ts)
        elif message.type == BOOTSTRAP or message.type in DDL_WORDS:
            released = [each for schema in _schemas(message) for each in self._learn(schema)]
            if message.type != BOOTSTRAP:
                yield _ddl(message)
            for waiting in released:
                yield from self._row(waiting)
        else:
            known = ", ".join([*OPS, WATERMARK, BOOTSTRAP, *sorted(DDL_WORDS)])
            raise _error("TYPE", f"a type of {known}")

    def _remember(self, value: bytes) -> None:
        try:
            for schema in _schemas(_opened(value)):
                self._learn(schema)
        except DecodeError:
            return

    def _learn(self, schema: TableSchema) -> list[Envelope]:
        """Keep a description; the rows that waited for it."""
        version = schema.schema, schema.table, schema.version
        if version not in self._tables:
            self._tables[version] = DescribedTable(schema)
        return self._waiting.pop(version, [])

    def _row(self, message: Envelope) -> Iterator[RowEvent]:
        version = message.database, message.table, message.schema_version
        table = self._tables.get(version)
        if table is not None:
            yield _row_event(message, table)
        elif self._complete:
            raise _error("UNDESCRIBED", "a table version that a DDL or BOOTSTRAP message describes")
        else:
            _check_images(message)
            self._waiting[version].append(message)


def _opened(value: bytes) -> Envelope:
    """A message in either form; that of Avro is never compressed here."""
    return opened_avro(value) if is_avro(value) else opened(plain(value, "value"))


def described_versions(value: bytes) -> frozenset[Hashable]:
    """The table versions that a message describes; none, where it does not decode."""
    try:
        text = value if is_avro(value) else plain(value, "value")
        if not is_avro(value) and b'ableSchema"' not in text:
            return frozenset()
        return frozenset((schema.schema, schema.table, schema.version) for schema in _schemas(_opened(text)))
    except DecodeError:
        return frozenset()


def _error(code: str, expected: str) -> DecodeError:
    return DecodeError(f"SIMPLE-{code}", expected, part="value", byte=0)


def _schemas(message: Envelope) -> list[TableSchema]:
    """The tables that a message describes; a BOOTSTRAP does nothing else.

    :raises DecodeError: for one that does not.
    """
    if message.type == BOOTSTRAP and message.table_schema is None:
        raise _error("BOOTSTRAP", "a tableSchema in a BOOTSTRAP message")
    told = (message.pre_table_schema, message.table_schema)
    return [schema for schema in told if schema is not None]


def _ddl(message: Envelope) -> DDLEvent:
    table = message.table_schema
    return DDLEvent(
        commit_ts=message.commit_ts,
        schema="" if table is None else table.schema,
        table="" if table is None else table.table,
        query=message.sql,
        ddl_type=told_action(message.type),
    )


def _check_images(message: Envelope) -> None:
    """:raises DecodeError: for other images than the operation has."""
    op = OPS[message.type]
    if (message.data is None) != (op == Op.DELETE) or (message.old is None) != (op == Op.INSERT):
        raise _error("IMAGES", "data in inserts and updates alone, old in updates and deletes alone")
    if message.data is not None and message.old is not None and message.data.keys() != message.old.keys():
        raise _error("COLUMN", "the same columns in data and old")


def _row_event(message: Envelope, table: DescribedTable) -> RowEvent:
    _check_images(message)
    row = message.old if message.data is None else message.data
    return RowEvent(
        commit_ts=message.commit_ts,
        schema=message.database,
        table=message.table,
        op=OPS[message.type],
        columns=table.shown(row or {}),
        before=None if message.old is None else table.image(message.old),
        after=None if message.data is None else table.image(message.data),
        table_id=message.table_id,
        handle_key_only=message.handle_key_only,
        claim_check=message.claim_check_location,
    )
