"""The tables and rows with which a consumer starts, if the changefeed has a start-ts.

The reference consumer starts with them. Histories of rows start with them as well: an update of a row that
the snapshot has is not an update of an unknown row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.model.shapes import EXPECTED_EVENTS
from ticdc_producer.verifier.events import Events
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.observe import Observer


@dataclass(frozen=True, kw_only=True)
class SnapshotTable:
    """A table that exists when the changefeed starts.

    :param topic: that of its events.
    :param schema, table: as the messages name them.
    :param ts: a commit-ts before that of its rows.
    :param create: the CREATE TABLE statement.
    """

    topic: str
    schema: str
    table: str
    ts: int
    create: str


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The tables and rows with which a consumer starts.

    :param tables: those whose rows are all known.
    :param rows: their rows as inserts (shape ``EXPECTED_EVENTS``), numbered from 0.
    """

    tables: tuple[SnapshotTable, ...]
    rows: Dataset

    @cached_property
    def events(self) -> Dataset:
        """The rows as events before the stream (shape ``EXPECTED_EVENTS``): their offsets are negative."""
        return self.rows.map(_before_stream, EXPECTED_EVENTS)

    def observed(self, options: VerifyOptions) -> Dataset:
        """Return the rows as ``Events``."""
        return self.events.merged().map(partial(_observed, options), Events.arrow_schema())


def _before_stream(batches: Batches) -> Batches:
    offset = EXPECTED_EVENTS.get_field_index("offset")
    for batch in batches:
        before = pc.subtract(pa.scalar(-1, pa.int64()), batch.column("offset"))
        yield batch.set_column(offset, EXPECTED_EVENTS.field("offset"), before)


def _observed(options: VerifyOptions, batches: Batches) -> Batches:
    observer = Observer(options)
    for batch in batches:
        if batch.num_rows:
            yield observer.observe(batch).events.to_batch()
