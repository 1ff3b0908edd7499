"""Row images as a decoder returns them, for protocols that alter values.

The codec's own functions project the values, one by one. Columns that a protocol carries unchanged are not
looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.row_images import numbers, present, replaced_values, starts


def project_values(events: pa.RecordBatch, tables: Iterable[TableInfo], fidelity: Fidelity) -> pa.RecordBatch:
    """Project the values of row images; invalid UTF-8 is handled elsewhere.

    :param events: with ``table_version``, ``before`` and ``after``.
    """
    projections = {
        table.version: changed
        for table in tables
        if (
            changed := [
                (index, projection)
                for index, column in enumerate(table.sent_columns)
                if (projection := fidelity.value_projection(column))
            ]
        )
    }
    if not projections:
        return events
    versions = numbers(events.column("table_version").fill_null(-1))
    for name in ("before", "after"):
        field = events.schema.get_field_index(name)
        images = events.column(field)
        for version in np.intersect1d(versions, list(projections)).tolist():
            first = starts(images)[present(images) & (versions == version)]
            for index, projection in projections[version]:
                values = images.values.take(pa.array(first + index)).to_pylist()
                projected = pa.array(map(projection, values), pa.binary())
                images = replaced_values(images, first + index, projected)
        events = events.set_column(field, events.schema.field(field), images)
    return events
