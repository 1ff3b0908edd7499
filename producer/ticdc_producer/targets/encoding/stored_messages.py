"""Reads the messages of one partition from the stored entries of an encoded stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.event import ClaimObject
from ticdc_producer.protocols.arrow_text import as_int64
from ticdc_producer.protocols.message_batch import Headers, MessageBatch
from ticdc_producer.targets.encoding.encoded_stream import CLAIM, COUNTS, NOT_MESSAGES

_NEEDED = ("topic", "partition", "offset", "key", "value", "headers", "type", "events", "commit_ts")


def sendable(entries: DataFrame) -> DataFrame:
    """The entries that a writer reads; each partition that has events has at least one.

    :param entries: shape ``ENCODED``.
    :return: without ``timestamp`` and ``event``, in the same order.
    """
    types = [name for name in NOT_MESSAGES if name not in (CLAIM, COUNTS)]
    return entries.where(~F.col("type").isin(*types)).select(*_NEEDED)


def stored_messages(entries: Iterable[pa.RecordBatch]) -> Iterator[MessageBatch]:
    """The messages of one partition, with their claim-check objects.

    :param entries: the partition's entries (``ENCODED``) in order, as returned by ``sendable``.
    """
    claims: dict[int, tuple[ClaimObject, ...]] = {}
    for batch in entries:
        for one in batch.filter(pc.equal(batch.column("type"), CLAIM)).to_pylist():
            claim = ClaimObject(one["key"].decode(), one["value"])
            claims[one["offset"]] = (*claims.get(one["offset"], ()), claim)
        kind = batch.column("type")
        messages = batch.filter(pc.invert(pc.is_in(kind, pa.array(NOT_MESSAGES))))
        if not messages.num_rows:
            continue
        first = messages.column("offset")[0].as_py()
        end = first + messages.num_rows
        yield MessageBatch(
            key=messages.column("key"),
            value=messages.column("value"),
            commit_ts=messages.column("commit_ts"),
            events=messages.column("events"),
            types=messages.column("type"),
            claims={offset - first: objects for offset, objects in claims.items() if offset < end},
            headers=_headers(messages.column("headers")),
        )
        claims = {offset: objects for offset, objects in claims.items() if offset >= end}


def _headers(headers: pa.ListArray) -> dict[int, Headers]:
    """The headers of the messages that have any, by message index."""
    with_headers = np.flatnonzero(as_int64(pc.list_value_length(headers)))
    return {
        index: tuple((one["key"], one["value"]) for one in headers[index].as_py())
        for index in with_headers.tolist()
    }
