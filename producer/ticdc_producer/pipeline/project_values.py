"""Row images as a reader gets them, where a protocol's values do not arrive as they are.

What turns one value into what is told of it is the codec's own function, so that this runs in Python;
streams of protocols that carry every value pass by untouched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Losses, Reduction

_Reductions = Sequence[Reduction | None]


def told_values(events: DataFrame, catalog: Catalog, losses: Losses) -> DataFrame:
    """The event stream with its values reduced to what a reader gets, damage to text aside.

    :param events: shape ``EVENT_STREAM``.
    """
    if not _by_version(catalog, losses):
        return events

    def reduce(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reductions = _by_version(catalog, losses)
        for batch in batches:
            yield _reduced(batch, reductions)

    return events.mapInArrow(reduce, events.schema)


def _by_version(catalog: Catalog, losses: Losses) -> dict[int, _Reductions]:
    """The reductions of each table version that has any, column by column."""
    reductions = {
        table.version: [losses.told_value(column) for column in table.sent_columns]
        for table in catalog.tables
    }
    return {version: columns for version, columns in reductions.items() if any(columns)}


def _reduced(batch: pa.RecordBatch, reductions: Mapping[int, _Reductions]) -> pa.RecordBatch:
    versions = batch.column("table_version").to_pylist()
    for name in ("before", "after"):
        place = batch.schema.get_field_index(name)
        images = [
            _image(image, reductions.get(version))
            for version, image in zip(versions, batch.column(place).to_pylist(), strict=True)
        ]
        field = batch.schema.field(place)
        batch = batch.set_column(place, field, pa.array(images, type=field.type))
    return batch


def _image(image: list[Value] | None, columns: _Reductions | None) -> list[Value] | None:
    if image is None or columns is None:
        return image
    return [reduce(value) if reduce else value for reduce, value in zip(columns, image, strict=True)]
