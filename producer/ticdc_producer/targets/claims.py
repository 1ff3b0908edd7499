"""Writes and reads claim-check objects, to which large messages refer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ticdc_producer.config.storage import claim_storage, failures, make_folder, storage_error
from ticdc_producer.errors import DecodeError, StorageError
from ticdc_producer.model.event import ClaimObject, Event, Image, RowEvent
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.protocols.compression import MAX_BYTES, claimed_message
from ticdc_producer.protocols.wire_digests import Contents

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}")


class ClaimReader:
    """A reader of the objects of one storage.

    Only the file name of a location is used, as in TiCDC's own consumers: messages cannot select another
    storage.

    :param storage: ``claim-check-storage-uri``, or the path of a local folder.
    :param max_bytes: largest object that is accepted.
    """

    def __init__(self, storage: str, max_bytes: int = MAX_BYTES) -> None:
        self._system, self._folder = claim_storage(storage)
        self._max_bytes = max_bytes

    def read(self, location: str) -> bytes:
        """Read the object at a location.

        :raises DecodeError: if it does not exist or cannot be a row.
        """
        name = location.rpartition("/")[2]
        if _NAME.fullmatch(name) is None:
            raise _error("CLAIM-NAME", "a location that ends with a file name", location)
        try:
            with self._system.open(f"{self._folder}/{name}", "rb") as file:
                content = bytes(file.read(self._max_bytes + 1))
        except failures() as error:
            reason = type(error).__name__
            raise _error("CLAIM-MISSING", f"a claim-check object ({reason})", location) from None
        if len(content) > self._max_bytes:
            raise _error("CLAIM-SIZE", f"a claim-check object of at most {self._max_bytes} bytes", location)
        return content


class ClaimCheckDecoder:
    """A decoder that returns the row of the claim-check object if a message refers to one."""

    def __init__(self, decoder: Decoder, reader: ClaimReader) -> None:
        self._decoder = decoder
        self._reader = reader

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """Yield the events of one message, in order.

        :raises DecodeError: if the protocol's decoder rejects the message or the object.
        """
        for event in self._decoder.events(key, value):
            if isinstance(event, RowEvent) and event.claim_check:
                yield self._stored_row(event)
            else:
                yield event

    def _stored_row(self, reference: RowEvent) -> RowEvent:
        content = self._reader.read(reference.claim_check)
        try:
            match list(self._decoder.events(*claimed_message(content))):
                case [RowEvent() as stored] if _is_of(stored, reference):
                    return replace(stored, claim_check=reference.claim_check)
        except DecodeError as error:
            raise _error(error.code, error.expected, reference.claim_check, error.byte) from None
        raise _error("CLAIM-OTHER", "the row that the message names", reference.claim_check)


def _is_of(stored: RowEvent, reference: RowEvent) -> bool:
    """Return whether an object is the row whose handle key the message contains."""
    if stored.handle_key_only:
        return False
    same = (stored.commit_ts, stored.schema, stored.table, stored.table_id)
    return same == (reference.commit_ts, reference.schema, reference.table, reference.table_id) and (
        _contains(stored.after, reference.after)
        if reference.after
        else _contains(stored.before, reference.before)
    )


def _contains(whole: Image | None, part: Image | None) -> bool:
    return dict(part or {}).items() <= dict(whole or {}).items()


def with_claim_check(decoder: Decoder, storage: str) -> Decoder:
    """Make a decoder read claim-check objects.

    :param storage: as for ``ClaimReader``; if empty, rows have only the handle key of their message.
    """
    return ClaimCheckDecoder(decoder, ClaimReader(storage)) if storage else decoder


def claimed_contents(storage: str) -> Contents:
    """Return a reader of the claim-check objects of a storage.

    :param storage: as for ``ClaimReader``; if empty, no object can be read.
    """
    reader = ClaimReader(storage) if storage else None

    def content(_message: int, location: str) -> bytes:
        if reader is None:
            raise _error("CLAIM-MISSING", "a storage of claim-check objects", location)
        return reader.read(location)

    return content


def _error(code: str, expected: str, location: str, byte: int = 0) -> DecodeError:
    return DecodeError(code, f"{expected}, at {location}", part="claim", byte=byte)


class ClaimWriter:
    """A writer of objects to one storage.

    Existing objects are overwritten; their names are derived from their content, so this changes nothing.

    :param storage: ``claim-check-storage-uri``, or the path of a local folder.
    :raises StorageError: if the storage cannot be written.
    """

    def __init__(self, storage: str) -> None:
        self._storage = storage
        self._system, self._folder = claim_storage(storage)
        try:
            make_folder(self._system, self._folder)
        except failures() as error:
            raise self._failure(error) from None

    def write(self, claims: Iterable[ClaimObject]) -> None:
        """Store objects, before the message that names them is sent.

        :raises StorageError: if the storage rejects one.
        """
        try:
            for claim in claims:
                self._system.pipe_file(f"{self._folder}/{claim.name}", claim.content)
        except failures() as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> StorageError:
        return storage_error(
            f"claim-check objects cannot be written to {self._storage}", self._storage, error
        )
