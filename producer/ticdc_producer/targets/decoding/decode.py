"""Decodes messages to Arrow batches of the shape ``DECODED``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from ticdc_producer.model.shapes import DECODED
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.spec import Options
from ticdc_producer.targets.decoding.claims import with_claim_check
from ticdc_producer.targets.decoding.event_rows import event_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_IMAGE = DECODED.field("before").type
_COLUMNS = DECODED.field("columns").type
_Cells: TypeAlias = Sequence[Any]


def event_batch(rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """Convert rows to an Arrow batch (shape ``DECODED``).

    :param rows: as returned by ``event_rows``, with all columns in their order.
    """
    cells = zip(*(row.values() for row in rows), strict=True) if rows else [()] * len(DECODED)
    return batch_of_columns(dict(zip(DECODED.names, cells, strict=True)), DECODED)


def batch_of_columns(columns: Mapping[str, _Cells], schema: pa.Schema) -> pa.RecordBatch:
    """Convert columns to an Arrow batch.

    :param columns: by name; the descriptions of a row's columns are dicts, its images map names to values.
    :param schema: columns of the shape ``DECODED``.
    """
    arrays = [_NESTED.get(field.name, _plain(field.type))(columns[field.name]) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _plain(kind: pa.DataType) -> Callable[[_Cells], pa.Array]:
    return lambda cells: pa.array(cells, kind)


def _descriptions(cells: _Cells) -> pa.Array:
    """Convert the column descriptions; rows of one table share one list, which is converted once."""
    numbers: dict[int, int] = {}
    indexes = [None if cell is None else numbers.setdefault(id(cell), len(numbers)) for cell in cells]
    distinct = {id(cell): cell for cell in cells if cell is not None}
    return pa.array([distinct[one] for one in numbers], _COLUMNS).take(pa.array(indexes, pa.int32()))


def _images(cells: _Cells) -> pa.Array:
    """Convert row images: concatenated names and values, and the start of each row."""
    names: list[str] = []
    values: list[bytes | str | None] = []
    starts: list[int | None] = []
    for image in cells:
        starts.append(None if image is None else len(names))
        if image is not None:
            names.extend(image)
            values.extend(image.values())
    starts.append(len(names))
    return pa.MapArray.from_arrays(
        pa.array(starts, pa.int32()), pa.array(names, pa.string()), pa.array(values, pa.binary())
    )


_NESTED: Mapping[str, Callable[[_Cells], pa.Array]] = {
    "columns": _descriptions,
    "before": _images,
    "after": _images,
}


Decode: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_CHUNK = 8192


def event_decoder(protocol: str, options: Options, claims: str = "") -> Decode:
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
            needed = batch.select(["topic", "partition", "offset", "key", "value"])
            for start in range(0, batch.num_rows, _CHUNK):
                records = needed.slice(start, _CHUNK).to_pylist()
                yield event_batch([row for record in records for row in event_rows(record, decoder)])

    return decode


def decoded(messages: DataFrame, protocol: str, options: Options, claims: str = "") -> DataFrame:
    """The events of a DataFrame of messages (shape ``DECODED``), see :func:`event_decoder`."""
    from ticdc_producer.model.dataframes import DECODED
    from ticdc_producer.targets.decoding.dataframes import with_table_schemas

    options = with_table_schemas(messages, protocol, options)
    needed = messages.select("topic", "partition", "offset", "key", "value")
    return needed.mapInArrow(event_decoder(protocol, options, claims), DECODED)
