"""Row images as a decoder returns them, for protocols that alter values.

The codec's own functions project the values, so this runs in Python. Streams of protocols that carry all
values unchanged are passed through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Fidelity, ValueProjection

_Projections = Sequence[ValueProjection | None]


def project_values(events: DataFrame, catalog: Catalog, fidelity: Fidelity) -> DataFrame:
    """Project the values of the event stream; invalid UTF-8 is handled elsewhere.

    :param events: shape ``EVENT_STREAM``.
    """
    if not _by_version(catalog, fidelity):
        return events

    def reduce(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        projections = _by_version(catalog, fidelity)
        for batch in batches:
            yield _projected(batch, projections)

    return events.mapInArrow(reduce, events.schema)


def _by_version(catalog: Catalog, fidelity: Fidelity) -> dict[int, _Projections]:
    """The projections of each table version that has any, column by column."""
    projections = {
        table.version: [fidelity.value_projection(column) for column in table.sent_columns]
        for table in catalog.tables
    }
    return {version: columns for version, columns in projections.items() if any(columns)}


def _projected(batch: pa.RecordBatch, projections: Mapping[int, _Projections]) -> pa.RecordBatch:
    versions = batch.column("table_version").to_pylist()
    for name in ("before", "after"):
        index = batch.schema.get_field_index(name)
        images = [
            _image(image, projections.get(version))
            for version, image in zip(versions, batch.column(index).to_pylist(), strict=True)
        ]
        field = batch.schema.field(index)
        batch = batch.set_column(index, field, pa.array(images, type=field.type))
    return batch


def _image(image: list[Value] | None, columns: _Projections | None) -> list[Value] | None:
    if image is None or columns is None:
        return image
    return [reduce(value) if reduce else value for reduce, value in zip(columns, image, strict=True)]
