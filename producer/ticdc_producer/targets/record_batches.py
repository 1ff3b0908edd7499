"""Messages (shape ``MESSAGES``) as Arrow batches, and as they were stored.

A part decodes a piece of a partition, so it gets the table schemas of all parts as an option.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Part
from ticdc_producer.model import shapes
from ticdc_producer.model.event import ClaimObject, Record
from ticdc_producer.model.shapes import StoredMessageBatch
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.arrow_text import as_int64
from ticdc_producer.protocols.message_batch import Headers, MessageBatch
from ticdc_producer.protocols.spec import Options, ProtocolSpec

if TYPE_CHECKING:
    from ticdc_producer.targets.golden.read import MessageLine


BATCH_ROWS, BATCH_BYTES = 8192, 16 << 20
"""A batch of messages ends with the message that reaches one of them."""
_PLAIN = ("topic", "partition", "offset", "key", "value")


def record_batches(records: Iterable[Record | MessageLine]) -> Iterator[StoredMessageBatch]:
    """Convert records, or the lines of a golden folder, to Arrow batches of bounded size.

    :return: shape ``MESSAGES``, in the same order; ``timestamp`` is 0 if it is unknown, ``events`` is NULL.
    """
    for chunk in _chunks(records):
        columns: dict[str, Sequence[Any]] = {name: [*map(attrgetter(name), chunk)] for name in _PLAIN}
        columns["timestamp"] = [record.timestamp or 0 for record in chunk]
        columns["type"] = [record.type or None for record in chunk]
        columns["headers"] = [record.headers or () for record in chunk]
        yield message_batch(columns)


def message_batch(columns: Mapping[str, Sequence[object]]) -> StoredMessageBatch:
    """Convert columns of messages to an Arrow batch (shape ``MESSAGES``).

    :param columns: by name; the columns that are absent are NULL.
    """
    absent = [None] * len(columns["value"])
    arrays = [
        _header_lists(cast(Sequence[Sequence[tuple[str, bytes]]], columns[field.name]))
        if field.name == "headers"
        else pa.array(columns.get(field.name, absent), field.type)
        for field in shapes.MESSAGES
    ]
    batch: StoredMessageBatch = pa.RecordBatch.from_arrays(arrays, schema=shapes.MESSAGES)
    return batch


def _chunks(records: Iterable[Record | MessageLine]) -> Iterator[list[Record | MessageLine]]:
    chunk: list[Record | MessageLine] = []
    size = 0
    for record in records:
        chunk.append(record)
        size += len(record.key or b"") + len(record.value or b"")
        if len(chunk) == BATCH_ROWS or size >= BATCH_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _header_lists(of_messages: Sequence[Sequence[tuple[str, bytes]]]) -> pa.ListArray:
    pairs = [pair for headers in of_messages for pair in headers]
    fields = list(shapes.HEADERS.value_type)
    children = [pa.array([pair[at] for pair in pairs], field.type) for at, field in enumerate(fields)]
    starts = [0, *accumulate(map(len, of_messages))]
    return pa.ListArray.from_arrays(
        pa.array(starts, pa.int32()), pa.StructArray.from_arrays(children, fields=fields), shapes.HEADERS
    )


class TableDescriptions:
    """The messages that describe tables, the first for each version.

    :ivar values: their values.
    """

    def __init__(self, spec: ProtocolSpec) -> None:
        self.values: list[bytes] = []
        self._versions_of = spec.described_versions
        self._versions: set[Hashable] = set()

    def add(self, values: Iterable[bytes]) -> None:
        """Add the values of messages, of which some may describe tables."""
        if self._versions_of is None:
            return
        for value in values:
            versions = self._versions_of(value)
            if not versions <= self._versions:
                self._versions |= versions
                self.values.append(value)


def described_rows(spec: ProtocolSpec, messages: StoredMessageBatch) -> StoredMessageBatch:
    """Return the messages that may describe tables, in their order.

    :param messages: with the column ``value`` of ``MESSAGES``.
    """
    return messages.take(spec.describing(messages.column("value")))


def with_table_schemas(messages: Dataset, protocol: str, options: Options) -> Options:
    """Add all table schemas in the messages to the options of a decoder; they are few.

    Only protocols with separate schema messages cost a pass over the messages.

    :param messages: with the column ``value`` of ``MESSAGES``, in any order.
    """
    spec = registry.protocol_spec(protocol)
    if spec.described_versions is None:
        return options

    def of_part(_part: Part, batches: Batches) -> list[bytes]:
        descriptions = TableDescriptions(spec)
        for batch in batches:
            descriptions.add(filter(None, described_rows(spec, batch).column("value").to_pylist()))
        return descriptions.values

    descriptions = TableDescriptions(spec)
    for values in messages.select("value").results(of_part):
        descriptions.add(values)
    return {**options, "table_descriptions": tuple(descriptions.values)}


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
                headers=headers_of(batch.column("headers")),
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


def headers_of(headers: pa.ListArray) -> dict[int, Headers]:
    """Return the headers of the messages that have any, by message index."""
    with_headers = np.flatnonzero(as_int64(pc.list_value_length(headers)))
    return {
        index: tuple((header["key"], header["value"]) for header in headers[index].as_py())
        for index in with_headers.tolist()
    }
