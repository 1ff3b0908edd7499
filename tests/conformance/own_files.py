"""Readers of the storage sink's folders that use our own decoders: a correct one, and some with a bug."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from tests.conformance.own_consumer import Consumer, _Rows
from ticdc_producer.conformance.wire import ApplyRequest, Image, StorageRequest
from ticdc_producer.model.event import DDLEvent, Event, RowEvent
from ticdc_producer.protocols import registry
from ticdc_producer.targets.storage.read import Listing, list_storage, reading_options, records

_ROW_END = "\r\n"


class FileReader(Consumer):
    """Sorts the rows of all directories and applies them, and the DDLs of the schema files."""

    def answer_files(self, request: StorageRequest) -> dict[str, list[Image]]:
        """The rows of the requested tables."""
        self._folder, self._protocol = request.folder, request.protocol
        own = ApplyRequest(
            case=request.case,
            level="apply",
            protocol="canal-json",  # rows have a commit-ts
            options=request.options,
            messages=[],
            tables=request.tables,
        )
        return self.answer(own)

    def events(self, request: ApplyRequest) -> Iterator[Event]:
        given = {name.replace("-", "_"): value for name, value in request.options.items()}
        options = registry.protocol_spec(self._protocol).select({"row_end": _ROW_END, **given})
        listing = self.listed(list_storage(f"file://{self._folder}", self._protocol))
        for schema in listing.tables.values():
            yield DDLEvent(
                commit_ts=schema.version,
                schema=schema.schema,
                table=schema.table,
                query=schema.query,
                ddl_type=schema.type,
            )
        decoder = registry.decoder(self._protocol, reading_options(listing, options))
        for record in records(listing, self._protocol, options):
            yield from decoder.events(record.key, record.value)

    def listed(self, listing: Listing) -> Listing:
        """The files in the order in which they are read."""
        return listing


class InNumberOrder(FileReader):
    """Applies rows as it reads them, and orders files by their number, which begins again on each date."""

    def listed(self, listing: Listing) -> Listing:
        return replace(listing, data=tuple(sorted(listing.data, key=lambda file: file.number)))

    def order(self, event: Event) -> tuple[int, ...]:
        return ()


class WithoutPartitions(FileReader):
    """Reads no directory of a partition."""

    def listed(self, listing: Listing) -> Listing:
        return replace(listing, data=tuple(file for file in listing.data if file.directory.count("/") == 3))


class OneVersion(FileReader):
    """Ignores that the rows of an earlier version may be gone."""

    def ddl(self, rows: _Rows, event: DDLEvent) -> None:
        pass


class QuotedNull(FileReader):
    """Takes a quoted text for NULL."""

    def row(self, rows: _Rows, event: RowEvent) -> None:
        after = {
            name: None if value in (b"\\N", b"NIL") else value for name, value in (event.after or {}).items()
        }
        super().row(rows, msgspec.structs.replace(event, after=after if event.after else None))
