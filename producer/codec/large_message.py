"""What becomes of a row whose message is over ``max-message-bytes``.

Source: tiflow ``open_protocol_encoder.go`` and ``canal_json_row_event_encoder.go``
(``AppendRowChangedEvent``), which check rows and never DDLs, after compression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from producer.codec.base import EncodedRow
from producer.codec.claim_check import claim_content, claim_location, claim_name
from producer.errors import EncodeError
from producer.model.event import ClaimObject
from producer.model.table import TableInfo

RECORD_OVERHEAD = 36
"""Bytes that TiCDC adds for Kafka's record header: five 32-bit varints, one 64-bit varint, a byte."""

NameClaim: TypeAlias = Callable[[bytes], str]
"""Content of a claim-check object to its file name."""


class LargeMessageOptions(Protocol):
    """The options of a protocol that has a way out for large rows."""

    @property
    def max_message_bytes(self) -> int: ...

    @property
    def large_message_handle_option(self) -> str: ...

    @property
    def claim_check_storage_uri(self) -> str: ...

    @property
    def claim_check_raw_value(self) -> bool: ...


class RowMessages(Protocol):
    """How a protocol writes the rows of one batch, each in a message of its own."""

    def length(self, row: EncodedRow) -> int:
        """Size of the row's message as TiCDC counts it."""
        ...

    def whole(self, row: EncodedRow) -> tuple[bytes | None, bytes]:
        """Key and value of the row's message."""
        ...

    def handle_key_forms(
        self, places: Sequence[int], locations: Sequence[str]
    ) -> Iterable[tuple[bytes, bytes]]:
        """Key and value of rows that show their handle key alone.

        :param places: of the rows in the batch, in its order.
        :param locations: of their claim-check objects; empty if nothing is stored.
        """
        ...


@dataclass(frozen=True, slots=True)
class LargeMessages:
    """Handles the rows over the limit."""

    options: LargeMessageOptions
    name_claim: NameClaim = claim_name

    def handle(self, rows: Sequence[EncodedRow], table: TableInfo, forms: RowMessages) -> None:
        """Give every row over the limit its handle key form, or a refusal."""
        large = self._too_large(rows, range(len(rows)), forms)
        if large and self.options.large_message_handle_option != "none":
            locations = self._store(rows, large, forms)
            for place, form in zip(large, forms.handle_key_forms(large, locations), strict=True):
                row = rows[place]
                row.key, row.value = form
                row.handle_key_only = not locations
            large = self._too_large(rows, large, forms)
        for place in large:
            rows[place].refusal = self._refusal(forms.length(rows[place]), table, rows[place].commit_ts)

    def _too_large(self, rows: Sequence[EncodedRow], places: Sequence[int], forms: RowMessages) -> list[int]:
        limit = self.options.max_message_bytes
        return [place for place in places if forms.length(rows[place]) > limit]

    def _store(self, rows: Sequence[EncodedRow], places: Sequence[int], forms: RowMessages) -> list[str]:
        """Put the whole message beside each row; their locations, in order."""
        options = self.options
        if options.large_message_handle_option != "claim-check":
            return []
        locations = []
        for place in places:
            content = claim_content(*forms.whole(rows[place]), raw_value=options.claim_check_raw_value)
            claim = ClaimObject(self.name_claim(content), content)
            rows[place].claim = claim
            locations.append(claim_location(options.claim_check_storage_uri, claim))
        return locations

    def _refusal(self, length: int, table: TableInfo, commit_ts: int) -> EncodeError:
        limit = self.options.max_message_bytes
        return EncodeError(
            f"message is too large. table:{table.name}, length:{length}, maxMessageBytes:{limit}",
            code="CDC:ErrMessageTooLarge",
            table=table.qualified_name,
            commit_ts=commit_ts,
            hint="raise max-message-bytes or make the row smaller",
        )
