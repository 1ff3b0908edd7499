"""Reads the messages of one partition as they were stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import ClaimObject
from ticdc_producer.protocols.arrow_text import as_int64
from ticdc_producer.protocols.message_batch import Headers, MessageBatch

SENT_COLUMNS = ("topic", "partition", "key", "value", "headers", "type", "events", "commit_ts", "claims")
"""The columns of ``message_rows.STORED_MESSAGES`` that writers read."""


def stored_messages(batches: Iterable[pa.RecordBatch]) -> Iterator[MessageBatch]:
    """Yield the messages of one partition, with their claim-check objects.

    :param batches: its stored messages in order, with :data:`SENT_COLUMNS`.
    """
    for batch in batches:
        if batch.num_rows:
            yield MessageBatch(
                key=batch.column("key"),
                value=batch.column("value"),
                commit_ts=batch.column("commit_ts"),
                events=batch.column("events"),
                types=batch.column("type"),
                claims=_claims(batch.column("claims")),
                headers=_headers(batch.column("headers")),
            )


def claim_objects(batches: Iterable[pa.RecordBatch]) -> Iterator[ClaimObject]:
    """Yield the claim-check objects of messages.

    :param batches: with the column ``claims`` of ``message_rows.STORED_MESSAGES``.
    """
    for batch in batches:
        for claims in _claims(batch.column("claims")).values():
            yield from claims


def _claims(claims: pa.ListArray) -> dict[int, tuple[ClaimObject, ...]]:
    """Return the claim-check objects of the messages that have any, by message index."""
    if claims.null_count == len(claims):
        return {}
    rows = enumerate(claims.to_pylist())
    return {
        index: tuple(ClaimObject(claim["name"], claim["content"]) for claim in row)
        for index, row in rows
        if row
    }


def _headers(headers: pa.ListArray) -> dict[int, Headers]:
    """Return the headers of the messages that have any, by message index."""
    with_headers = np.flatnonzero(as_int64(pc.list_value_length(headers)))
    return {
        index: tuple((one["key"], one["value"]) for one in headers[index].as_py())
        for index in with_headers.tolist()
    }
