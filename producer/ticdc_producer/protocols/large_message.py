"""What becomes of a row whose message is over ``max-message-bytes``.

Source: tiflow ``open_protocol_encoder.go`` and ``canal_json_row_event_encoder.go``
(``AppendRowChangedEvent``), which check rows and never DDLs, after compression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import ClaimObject
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import Numbers
from ticdc_producer.protocols.claim_check import claim_content, claim_location, claim_name
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowNote

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

    def length(self, rows: EncodedRows) -> Numbers:
        """Sizes of the rows' messages as TiCDC counts them."""
        ...

    def whole(self, key: bytes, value: bytes) -> tuple[bytes | None, bytes]:
        """Key and value of a row's message."""
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

    def handled(self, rows: EncodedRows, table: TableInfo, forms: RowMessages) -> EncodedRows:
        """The rows with those over the limit in their handle key form, or with a refusal."""
        lengths = forms.length(rows)
        large = self._too_large(lengths)
        if not large:
            return rows
        notes: dict[int, RowNote] = {}
        if self.options.large_message_handle_option != "none":
            claims = self._claims(rows, large, forms)
            locations = [claim_location(self.options.claim_check_storage_uri, claim) for claim in claims]
            rows = _replaced(rows, dict(zip(large, forms.handle_key_forms(large, locations), strict=True)))
            for place, claim in zip(large, claims or repeat(None, len(large)), strict=True):
                notes[place] = RowNote(handle_key_only=claim is None, claim=claim)
            lengths = forms.length(rows)
        commits = rows.column("commit_ts")
        for place in self._too_large(lengths):
            limit, ts = self.options.max_message_bytes, commits[place].as_py()
            refusal = too_large(int(lengths[place]), limit, table.schema, table.name, ts)
            notes[place] = replace(notes.get(place, RowNote()), refusal=refusal)
        return EncodedRows(rows.columns, notes)

    def _too_large(self, lengths: Numbers) -> list[int]:
        return [int(place) for place in np.flatnonzero(lengths > self.options.max_message_bytes)]

    def _claims(self, rows: EncodedRows, places: Sequence[int], forms: RowMessages) -> list[ClaimObject]:
        """The whole messages as what is stored, if they are."""
        if self.options.large_message_handle_option != "claim-check":
            return []
        contents = []
        for place in places:
            key, value = (rows.column(name)[place].as_py() for name in ("key", "value"))
            whole = forms.whole(key, value)
            contents.append(claim_content(*whole, raw_value=self.options.claim_check_raw_value))
        return [ClaimObject(self.name_claim(content), content) for content in contents]


def too_large(length: int, limit: int, schema: str, table: str, commit_ts: int) -> EncodeError:
    """TiCDC's refusal of a message over the limit.

    :param length: bytes of the message as TiCDC counts them.
    """
    return EncodeError(
        f"message is too large. table:{table}, length:{length}, maxMessageBytes:{limit}",
        code="CDC:ErrMessageTooLarge",
        table=f"{schema}.{table}",
        commit_ts=commit_ts,
        hint="raise max-message-bytes or make the row smaller",
    )


def _replaced(rows: EncodedRows, forms: Mapping[int, tuple[bytes, bytes]]) -> EncodedRows:
    """Other keys and values at some places."""
    columns = rows.columns
    for column, name in enumerate(("key", "value")):
        texts = rows.column(name).to_pylist()
        for place, form in forms.items():
            texts[place] = form[column]
        columns = columns.set_column(column, name, pa.array(texts, pa.binary()))
    return EncodedRows(columns, rows.notes)
