"""Rows that a message only names the place of, read from there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from ticdc_producer.config.claim_storage import claim_storage
from ticdc_producer.config.file_system import failures
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Event, Image, RowEvent
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.protocols.claim_check import claimed_message
from ticdc_producer.protocols.compression import MOST_BYTES

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}")


class ClaimReader:
    """Reads objects of one storage.

    Of a location only the file name counts, as for TiCDC's own consumers: messages do not choose which
    storage is read.

    :param place: ``claim-check-storage-uri``, or the path of a local folder.
    """

    def __init__(self, place: str, most: int = MOST_BYTES) -> None:
        self._system, self._folder = claim_storage(place)
        self._most = most

    def read(self, location: str) -> bytes:
        """The object at a location.

        :raises DecodeError: if there is none, or none that a row could be.
        """
        name = location.rpartition("/")[2]
        if _NAME.fullmatch(name) is None:
            raise _error("CLAIM-NAME", "a location that ends with a file name", location)
        try:
            with self._system.open(f"{self._folder}/{name}", "rb") as file:
                content = bytes(file.read(self._most + 1))
        except failures() as error:
            reason = type(error).__name__
            raise _error("CLAIM-MISSING", f"a claim-check object ({reason})", location) from None
        if len(content) > self._most:
            raise _error("CLAIM-SIZE", f"a claim-check object of at most {self._most} bytes", location)
        return content


class ClaimCheckDecoder:
    """A decoder that gives the whole row where a message tells where it is stored."""

    def __init__(self, decoder: Decoder, reader: ClaimReader) -> None:
        self._decoder = decoder
        self._reader = reader

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """The events of one message, in order.

        :raises DecodeError: for what the protocol's decoder refuses, in the message or in an object.
        """
        for event in self._decoder.events(key, value):
            if isinstance(event, RowEvent) and event.claim_check:
                yield self._whole(event)
            else:
                yield event

    def _whole(self, told: RowEvent) -> RowEvent:
        content = self._reader.read(told.claim_check)
        try:
            match list(self._decoder.events(*claimed_message(content))):
                case [RowEvent() as stored] if _is_of(stored, told):
                    return replace(stored, claim_check=told.claim_check)
        except DecodeError as error:
            raise _error(error.code, error.expected, told.claim_check, error.byte) from None
        raise _error("CLAIM-OTHER", "the row that the message names", told.claim_check)


def _is_of(stored: RowEvent, told: RowEvent) -> bool:
    """Whether this is the row of which the message shows the handle key."""
    if stored.handle_key_only:
        return False
    same = (stored.commit_ts, stored.schema, stored.table, stored.table_id)
    return same == (told.commit_ts, told.schema, told.table, told.table_id) and (
        _shows(stored.after, told.after) if told.after else _shows(stored.before, told.before)
    )


def _shows(whole: Image | None, part: Image | None) -> bool:
    return dict(part or {}).items() <= dict(whole or {}).items()


def whole_rows(decoder: Decoder, place: str) -> Decoder:
    """The decoder, with claim-check objects where a storage is known; without, handle keys stay alone."""
    return ClaimCheckDecoder(decoder, ClaimReader(place)) if place else decoder


def _error(code: str, expected: str, location: str, byte: int = 0) -> DecodeError:
    return DecodeError(code, f"{expected}, at {location}", part="claim", byte=byte)
