"""Arrow batches of the event stream as what an encoder takes, without a look at single values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from producer.codec.base import EncodedRow, Encoder, RowBatch
from producer.model.catalog import Catalog
from producer.model.event import DDLEvent, Kind, Message, Value
from producer.model.table import TableInfo


def encoded(batch: pa.RecordBatch, encoder: Encoder, catalog: Catalog) -> list[EncodedRow | Message | None]:
    """Every event of one Arrow batch, encoded, in the batch's order.

    None stands for an event that the protocol does not send.
    """
    out: list[EncodedRow | Message | None] = [None] * batch.num_rows
    for place, event in _barriers(batch, encoder, catalog):
        out[place] = event
    for version in pc.unique(batch.column("table_version")).drop_null().to_pylist():
        places = pc.indices_nonzero(pc.equal(batch.column("table_version"), version))
        rows = batch.take(places)
        table = catalog.tables[version]
        encoded_rows = encoder.rows(table, row_batch(rows, len(table.sent)))
        groups = rows.column("dispatch_key").to_pylist()
        for place, row, group in zip(places.to_pylist(), encoded_rows, groups, strict=True):
            row.group = group
            out[place] = row
    return out


def row_batch(rows: pa.RecordBatch, width: int) -> RowBatch:
    """Row events of one table version, column by column.

    :param width: number of columns in an image.
    """
    return RowBatch(
        op=rows.column("op").to_pylist(),
        commit_ts=rows.column("commit_ts").to_pylist(),
        table_id=rows.column("table_id").to_pylist(),
        row_id=rows.column("row_id").to_pylist(),
        before=_columns(rows.column("before"), width),
        after=_columns(rows.column("after"), width),
    )


def _columns(images: pa.ListArray, width: int) -> list[Sequence[Value]]:
    """The columns of an image array; rows without an image are left out."""
    flat = images.drop_null().flatten().to_pylist()
    return [flat[place::width] for place in range(width)]


def _barriers(
    batch: pa.RecordBatch, encoder: Encoder, catalog: Catalog
) -> Iterator[tuple[int, Message | None]]:
    places = pc.indices_nonzero(pc.not_equal(batch.column("kind"), int(Kind.ROW)))
    others = batch.select(["kind", "commit_ts", "ddl"]).take(places).to_pylist()
    for place, other in zip(places.to_pylist(), others, strict=True):
        if other["kind"] == Kind.RESOLVED:
            yield place, encoder.resolved(other["commit_ts"])
        else:
            event = ddl_event(catalog, other["ddl"], other["commit_ts"])
            yield place, encoder.ddl(event, *_tables(catalog, other["ddl"]))


def _tables(catalog: Catalog, index: int) -> tuple[TableInfo | None, TableInfo | None]:
    """The table of a DDL as it leaves it and as it found it."""
    job = catalog.ddls[index]
    after, before = (
        catalog.tables[version] if version >= 0 else None
        for version in (job.version_after, job.version_before)
    )
    return after, before


def ddl_event(catalog: Catalog, index: int, commit_ts: int) -> DDLEvent:
    """The event of one DDL of the catalog."""
    job = catalog.ddls[index]
    return DDLEvent(
        commit_ts=commit_ts, schema=job.schema, table=job.table, query=job.query, ddl_type=job.ddl_type
    )
