"""The events that a reader of a job's messages must decode, made anew whenever they are needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.model.shapes import EXPECTED_EVENTS, BatchFunction
from ticdc_producer.pipeline.expected_events import ExpectedEvents
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.encoded_stream import carried_events
from ticdc_producer.targets.encoding.ordered_events import OrderedEvents
from ticdc_producer.verifier.distributed_comparison import ExpectedStream, observer_of
from ticdc_producer.verifier.event_columns import BLOCKS
from ticdc_producer.verifier.event_lookup import LOCATION
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.violations import EventID

_Batches: TypeAlias = Iterator[pa.RecordBatch]


def expecting(job: Job) -> BatchFunction:
    """A function that makes expected events (shape ``EXPECTED_EVENTS``) of those that messages carry."""
    catalog, fidelity = job.catalog, job.encoder.fidelity

    def expected(batches: _Batches) -> _Batches:
        reader = ExpectedEvents(catalog, fidelity)
        return (reader.expected(batch) for batch in batches if batch.num_rows)

    return expected


def observing(job: Job, options: VerifyOptions) -> BatchFunction:
    """A function that makes expected events of those that messages carry, as the verifier moves them.

    The function returns ``event_columns.BLOCKS`` of ``ComparedEvents``.
    """
    expected, observe = expecting(job), observer_of(options, expected=True)
    return lambda batches: observe(expected(batches))


@dataclass(frozen=True)
class ReencodedEvents(ExpectedStream):
    """The events that a reader of a job's messages must decode; encoded anew whenever they are needed.

    For events that are drawn where they are encoded this takes less time than to store and to read them.

    :param events: the ordered event stream, without illegal faults.
    """

    job: Job
    events: OrderedEvents

    def observed(self, options: VerifyOptions) -> DataFrame:
        return self._carried(observing(self.job, options), BLOCKS)

    def at(self, wanted: Collection[EventID]) -> dict[EventID, dict[str, Any]]:
        if not wanted:
            return {}
        expected = expecting(self.job)
        by_partition: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for topic, partition, offset, _ in wanted:
            by_partition[topic, partition].append(offset)

        def chosen(batches: _Batches) -> _Batches:
            for batch in batches:  # of one partition, as a task has no other
                offsets = by_partition.get(tuple(batch.column(name)[0].as_py() for name in LOCATION[:2]), [])
                own = batch.column("offset").to_numpy()
                yield from expected(iter([batch.filter(pa.array(np.isin(own, offsets)))]))
                if int(own[-1]) > max(offsets, default=-1):
                    return

        rows = self._carried(chosen, EXPECTED_EVENTS).toArrow().to_pylist()
        found = {tuple(row[name] for name in LOCATION): row for row in rows}
        return {event: found[event] for event in wanted if event in found}

    def _carried(self, function: BatchFunction, schema: pa.Schema) -> DataFrame:
        plan = self.job.encode_plan(skip_refused=True, faults=False)
        return carried_events(self.events, plan, function, from_arrow_schema(schema))
