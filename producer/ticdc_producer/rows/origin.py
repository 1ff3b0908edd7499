"""Messages that exist, in a golden folder, in the files of a storage or in topics, and how they decode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TypeAlias

from ticdc_producer.config import Changefeed
from ticdc_producer.dispatch.table_filter import ColumnSelection
from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.engine.local import LocalDataset, LocalEngine, local
from ticdc_producer.errors import FolderError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.shapes import DECODED, MESSAGES, BatchFunction
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.registry import fidelity
from ticdc_producer.protocols.spec import Options
from ticdc_producer.targets.decode import EventsFunction, event_decoder, events_decoder
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.targets.golden.parquet import message_groups, parquet_parts, read_group
from ticdc_producer.targets.golden.write import MESSAGE_FILES
from ticdc_producer.targets.kafka.read import OffsetRange, range_rows
from ticdc_producer.targets.kafka.schema_registry import registry_options
from ticdc_producer.targets.record_batches import record_batches, with_table_schemas
from ticdc_producer.targets.storage.read import Listing, Names, listing_of, reading_options, storage_rows
from ticdc_producer.verifier.consumer_state.plan import expected_tables

TABLE_DESCRIPTIONS = "table_descriptions"
"""The option of a decoder that ``with_table_schemas`` adds."""


@dataclass(frozen=True)
class KnownTable:
    """A table whose definition is known.

    :param columns: the columns that are sent, in table order.
    :param key: names of the handle key's columns; empty without a handle key.
    """

    columns: tuple[ColumnInfo, ...]
    key: tuple[str, ...]


ExpectedRows: TypeAlias = Callable[[str, int | None], Dataset | None]
"""Returns the rows (shape ``STATE``) that a table, ``SCHEMA.TABLE``, is expected to have at a TSO or, with
None, at the end; None: they are not known."""


def unknown_rows(_name: str, _ts: int | None, /) -> None:
    """Return None: no scenario is known."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Messages that exist, in parts, and what is needed to decode them.

    :param messages: shape ``MESSAGES``; a part has a range of a topic partition, in the order of its offsets.
    :param options: of the decoder, without the table schemas that are in the messages.
    :param claims: location of the claim-check objects; empty if unknown.
    :param tables: the tables whose definition is known, by ``SCHEMA.TABLE``.
    :param expected: of the scenario whose messages these are.
    """

    changefeed: Changefeed
    messages: LocalDataset
    options: Options
    claims: str = ""
    tables: Mapping[str, KnownTable] = field(default_factory=dict)
    expected: ExpectedRows = unknown_rows

    @property
    def fidelity(self) -> Fidelity:
        """What the messages carry."""
        return fidelity(self.changefeed.protocol, self.options)

    @cached_property
    def decoder(self) -> BatchFunction:
        """The function from messages to events (shape ``DECODED``)."""
        return event_decoder(self.changefeed.protocol, self._decoder_options, self.claims)

    @property
    def events_decoder(self) -> EventsFunction:
        """The function from messages to the same events, of which rows may be columns."""
        return events_decoder(self.changefeed.protocol, self._decoder_options, self.claims)

    @cached_property
    def _decoder_options(self) -> Options:
        """The options of the decoder.

        In some protocols the schemas of tables are messages of their own; then all messages are read once.
        """
        if TABLE_DESCRIPTIONS in self.options:
            return self.options
        return with_table_schemas(self.messages, self.changefeed.protocol, self.options)

    @property
    def events(self) -> LocalDataset:
        """The events of the messages (shape ``DECODED``)."""
        return local(self.messages.map(self.decoder, DECODED))


def known_tables(catalog: Catalog) -> Mapping[str, KnownTable]:
    """Return the newest version of each table of a catalog, by ``SCHEMA.TABLE``."""
    return {
        table.qualified_name: KnownTable(tuple(table.columns[offset] for offset in table.sent), _key(table))
        for table in catalog.tables
    }


def _key(table: TableInfo) -> tuple[str, ...]:
    handle = table.handle_index
    return () if handle is None else tuple(table.columns[offset].name for offset in handle.offsets)


def golden_folder(folder: Path) -> Origin:
    """Return the messages of a golden folder.

    :raises FolderError: for a damaged folder.
    """
    manifest = golden.manifest(folder)
    changefeed = golden.changefeed(folder, manifest)
    options = changefeed.codec_options()
    if changefeed.spec.schemas is not None:
        options["schemas"] = golden.schemas(folder)
    return Origin(
        changefeed=changefeed,
        messages=_folder_messages(folder),
        options=options,
        claims=golden.claims(folder),
        tables=folder_tables(folder, manifest),
        expected=partial(_expected_rows, folder.absolute()),
    )


def _expected_rows(folder: Path, name: str, ts: int | None) -> Dataset | None:
    """Return the rows that a golden folder has of a table."""
    from ticdc_producer.oracle.folder import rows_of_table  # imports much, and is seldom needed

    return rows_of_table(folder, name, ts)


def folder_tables(folder: Path, manifest: Mapping[str, object]) -> dict[str, KnownTable]:
    """Return the tables whose rows a golden folder expects, by ``SCHEMA.TABLE``.

    :param manifest: of the folder, whose files were checked.
    """
    try:
        tables = expected_tables(folder, manifest)
    except FolderError:  # a folder with messages only
        return {}
    return {table.qualified_name: KnownTable(table.columns, table.key) for table in tables}


def _folder_messages(folder: Path) -> LocalDataset:
    """Return the messages of a golden folder, which the tasks read."""
    engine, files = LocalEngine(), folder.absolute() / MESSAGE_FILES
    if files.exists():
        groups = message_groups(files)
        if groups is None:
            return local(parquet_parts(engine, files, MESSAGES))
        return local(engine.of_parts(len(groups), lambda part: read_group(*groups[part], MESSAGES), MESSAGES))
    lines = folder.absolute() / "messages.jsonl"
    return local(engine.of_parts(1, lambda _: record_batches(golden.message_lines(lines)), MESSAGES))


def selected_names(changefeed: Changefeed, listing: Listing) -> Names | None:
    """Return the columns that selectors leave in the rows of each directory; None without selectors.

    Schema files have all columns. Source: ticdc ``pkg/sink/codec/csv/csv_decoder.go``.
    """
    if not changefeed.column_selectors:
        return None
    selection = ColumnSelection(changefeed)
    return {
        folder: selection.names(file.schema, file.table, [name for name, _ in file.columns])
        for folder, file in listing.tables.items()
    }


def storage_folder(
    changefeed: Changefeed,
    tables: Mapping[str, KnownTable] | None = None,
    expected: ExpectedRows = unknown_rows,
) -> Origin:
    """Return the rows of a storage sink's files.

    :param tables: the tables whose definition is known, by ``SCHEMA.TABLE``.
    :param expected: of the scenario whose rows these are.
    """
    listing = listing_of(changefeed)
    options = changefeed.codec_options()
    rows = storage_rows(LocalEngine(), listing, changefeed.protocol, options)
    reading = reading_options(listing, options, selected_names(changefeed, listing))
    return Origin(
        changefeed=changefeed,
        messages=local(rows),
        options=reading,
        tables=tables or {},
        expected=expected,
    )


def broker_messages(
    changefeed: Changefeed, messages: LocalDataset, schemas: Mapping[int, str] | None = None
) -> Origin:
    """Return messages that were read from a topic, or from a file of its messages.

    :param schemas: the Avro schemas by their ids; None: those of the registry.
    :raises ChangefeedError: for a protocol with schemas, if no registry is named.
    """
    options = registry_options(changefeed) if schemas is None else changefeed.codec_options()
    if changefeed.spec.schemas is not None and schemas is not None:
        options["schemas"] = schemas
    return Origin(
        changefeed=changefeed,
        messages=messages,
        options=options,
        claims=changefeed.claim_check_storage_uri,
    )


def messages_of_topics(
    changefeed: Changefeed,
    brokers: Brokers,
    ranges: Sequence[OffsetRange],
    *,
    descriptions: Sequence[bytes] | None = None,
    schemas: Mapping[int, str] | None = None,
    tables: Mapping[str, KnownTable] | None = None,
    expected: ExpectedRows = unknown_rows,
) -> Origin:
    """Return the messages of topics, in a part per range.

    :param descriptions: the messages that describe tables; None: those in the ranges.
    :param schemas: the Avro schemas by their ids; None: those of the registry.
    :param tables: the tables whose definition is known, by ``SCHEMA.TABLE``.
    :param expected: of the scenario whose messages these are.
    :raises ChangefeedError: for a protocol with schemas, if no registry is named.
    """
    origin = broker_messages(changefeed, local(range_rows(LocalEngine(), brokers, ranges)), schemas)
    described = {} if descriptions is None else {TABLE_DESCRIPTIONS: tuple(descriptions)}
    return replace(origin, options={**origin.options, **described}, tables=tables or {}, expected=expected)
