"""Handles rows whose message exceeds ``max-message-bytes``.

Source: tiflow ``open_protocol_encoder.go`` and ``canal_json_row_event_encoder.go``
(``AppendRowChangedEvent``), which check rows after compression, and never DDLs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import ClaimObject, Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import lengths
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.compression import all_compressed, claim_content, claim_location, claim_name
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowStatus

RECORD_OVERHEAD = 36
"""Bytes that TiCDC adds for Kafka's record header: five 32-bit varints, one 64-bit varint, a byte."""

NameClaim: TypeAlias = Callable[[bytes], str]
"""Maps the content of a claim-check object to its file name."""


class LargeMessageOptions(Protocol):
    """The options of a protocol that can send large rows in another way."""

    @property
    def max_message_bytes(self) -> int: ...

    @property
    def large_message_handle_option(self) -> str: ...

    @property
    def claim_check_storage_uri(self) -> str: ...

    @property
    def claim_check_raw_value(self) -> bool: ...


class RowMessages(Protocol):
    """The messages of the rows of one batch in one protocol, one message per row."""

    def length(self, rows: EncodedRows) -> Numbers:
        """Return the bytes of the rows' messages as TiCDC counts them."""
        ...

    def complete_message(self, key: bytes, value: bytes) -> tuple[bytes | None, bytes]:
        """Return the key and value of a row's framed message."""
        ...

    def handle_key_messages(
        self, rows: Sequence[int], locations: Sequence[str]
    ) -> Iterable[tuple[bytes, bytes]]:
        """Return the keys and values of rows that contain only their handle key.

        :param rows: indices of the rows in the batch, ascending.
        :param locations: locations of their claim-check objects; empty if nothing is stored.
        """
        ...


@dataclass(frozen=True, slots=True)
class LargeMessages:
    """The handling of the rows over the limit."""

    options: LargeMessageOptions
    name_claim: NameClaim = claim_name

    def apply_size_limit(self, rows: EncodedRows, table: TableInfo, forms: RowMessages) -> EncodedRows:
        """Reduce rows over the limit to their handle key, or mark them as rejected, by the options."""
        lengths = forms.length(rows)
        large = self._too_large(lengths)
        if not large:
            return rows
        statuses: dict[int, RowStatus] = {}
        if self.options.large_message_handle_option != "none":
            claims = self._claims(rows, large, forms)
            locations = [claim_location(self.options.claim_check_storage_uri, claim) for claim in claims]
            rows = _replaced(rows, dict(zip(large, forms.handle_key_messages(large, locations), strict=True)))
            for row, claim in zip(large, claims or repeat(None, len(large)), strict=True):
                statuses[row] = RowStatus(handle_key_only=claim is None, claim=claim)
            lengths = forms.length(rows)
        commits = rows.column("commit_ts")
        for row in self._too_large(lengths):
            limit, ts = self.options.max_message_bytes, commits[row].as_py()
            refusal = too_large(int(lengths[row]), limit, table.schema, table.name, ts)
            statuses[row] = replace(statuses.get(row, RowStatus()), refusal=refusal)
        return EncodedRows(rows.columns, statuses)

    def _too_large(self, lengths: Numbers) -> list[int]:
        return [int(row) for row in np.flatnonzero(lengths > self.options.max_message_bytes)]

    def _claims(self, rows: EncodedRows, large: Sequence[int], forms: RowMessages) -> list[ClaimObject]:
        """Return the objects that store the complete messages; empty without the claim check."""
        if self.options.large_message_handle_option != "claim-check":
            return []
        contents = []
        for row in large:
            key, value = (rows.column(name)[row].as_py() for name in ("key", "value"))
            message = forms.complete_message(key, value)
            contents.append(claim_content(*message, raw_value=self.options.claim_check_raw_value))
        return [ClaimObject(self.name_claim(content), content) for content in contents]


def too_large(length: int, limit: int, schema: str, table: str, commit_ts: int) -> EncodeError:
    """Return TiCDC's error for a message over the limit.

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
    """Return the rows with other keys and values at some indices."""
    columns = rows.columns
    for column, name in enumerate(("key", "value")):
        texts = rows.column(name).to_pylist()
        for row, form in forms.items():
            texts[row] = form[column]
        columns = columns.set_column(column, name, pa.array(texts, pa.binary()))
    return EncodedRows(columns, rows.statuses)


class RowTexts(Protocol):
    """One form of row message."""

    def texts(self, batch: RowBatch, locations: pa.Array | None = None) -> pa.Array:
        """Return one message per row.

        :param locations: encoded locations of the rows' claim-check objects; None if nothing is stored.
        """
        ...


@dataclass(frozen=True, slots=True)
class KeylessMessages:
    """The messages of one batch of rows.

    :param forms: by operation, and whether the row was too large and carries only its handle key.
    :param compression: compression of the messages: ``none``, ``snappy`` or ``lz4``.
    :param literal: encodes a text, such as the protocol's JSON string.
    """

    forms: Mapping[tuple[Op, bool], RowTexts]
    batch: RowBatch
    compression: str
    literal: Callable[[str], bytes]

    def values(self) -> pa.Array:
        """Return the message of every row."""
        return all_compressed(self.forms[self.batch.op, False].texts(self.batch), self.compression)

    def length(self, rows: EncodedRows) -> Numbers:
        return lengths(rows.column("value")) + RECORD_OVERHEAD

    def complete_message(self, _key: bytes, value: bytes) -> tuple[bytes | None, bytes]:
        return None, value

    def handle_key_messages(
        self, rows: Sequence[int], locations: Sequence[str]
    ) -> Iterator[tuple[bytes, bytes]]:
        large = self.batch.take(pa.array(rows))
        literals = pa.array(map(self.literal, locations), pa.binary()) if locations else None
        values = all_compressed(self.forms[self.batch.op, True].texts(large, literals), self.compression)
        return zip(repeat(b""), values.to_pylist(), strict=False)
