"""Decodes messages to Arrow batches of the shape ``DECODED``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.model.shapes import DECODED, BatchFunction
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.arrow_text import lengths
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.protocols.spec import Options
from ticdc_producer.targets.decoding.claims import with_claim_check
from ticdc_producer.targets.decoding.event_rows import event_columns

_IMAGE = DECODED.field("before").type
_COLUMNS = DECODED.field("columns").type
_Cells: TypeAlias = Sequence[Any] | pa.Array


def batch_of_columns(columns: Mapping[str, _Cells], schema: pa.Schema) -> pa.RecordBatch:
    """Convert columns to an Arrow batch.

    :param columns: by name; the descriptions of a row's columns are dicts, its images map names to values.
    :param schema: columns of the shape ``DECODED``.
    """
    arrays = [_NESTED.get(field.name, _plain(field.type))(columns[field.name]) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _plain(kind: pa.DataType) -> Callable[[_Cells], pa.Array]:
    return lambda cells: cells if isinstance(cells, pa.Array) else pa.array(cells, kind)


def _descriptions(cells: _Cells) -> pa.Array:
    """Convert the column descriptions; rows of one table share one list, which is converted once."""
    numbers: dict[int, int] = {}
    indexes = [None if cell is None else numbers.setdefault(id(cell), len(numbers)) for cell in cells]
    distinct = {id(cell): cell for cell in cells if cell is not None}
    return pa.array([distinct[one] for one in numbers], _COLUMNS).take(pa.array(indexes, pa.int32()))


def _images(cells: _Cells) -> pa.Array:
    """Convert row images: concatenated names and values, and the start of each row."""
    absent = np.array([image is None for image in cells], np.bool_)
    images = [image for image in cells if image is not None]
    starts = np.zeros(len(cells) + 1, np.int32)
    starts[1:][~absent] = [*map(len, images)]
    names = [*chain.from_iterable(images)]
    values = [*chain.from_iterable(image.values() for image in images)]
    return pa.MapArray.from_arrays(
        pa.array(np.cumsum(starts, dtype=np.int32), mask=np.append(absent, False)),
        pa.array(names, pa.string()),
        pa.array(values, pa.binary()),
    )


_NESTED: Mapping[str, Callable[[_Cells], pa.Array]] = {
    "columns": _descriptions,
    "before": _images,
    "after": _images,
}


_CHUNK = 8192


def event_decoder(protocol: str, options: Options, claims: str = "") -> BatchFunction:
    """Returns a function from messages (shape ``MESSAGES``) to events (shape ``DECODED``), in their order.

    A message that does not decode gives a row of kind ``error`` after the events before the error. The events
    of a message are never in two batches.

    :param options: with the table schemas in the messages, see ``with_table_schemas``.
    :param claims: URI or path of the storage of claim-check objects; if empty, rows that refer to one have
        only the handle key of their message.
    """

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        decoder = with_claim_check(registry.decoder(protocol, options), claims)
        for batch in batches:
            for start in range(0, batch.num_rows, _CHUNK):
                yield _decoded_batch(batch.slice(start, _CHUNK), decoder)

    return decode


def _decoded_batch(messages: pa.RecordBatch, decoder: Decoder) -> pa.RecordBatch:
    """The events of a few messages."""
    key, value = messages.column("key"), messages.column("value")
    counts, columns = event_columns(zip(key.to_pylist(), value.to_pylist(), strict=True), decoder)
    of_event = pa.array(np.repeat(np.arange(messages.num_rows), counts))
    of_messages = {name: messages.column(name) for name in ("topic", "partition", "offset")}
    of_messages["size"] = pa.array(lengths(key) + lengths(value))
    return batch_of_columns(
        columns | {name: column.take(of_event) for name, column in of_messages.items()}, DECODED
    )
