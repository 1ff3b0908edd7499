"""The row events of generated rows."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.pipeline.event_filter import event_filter
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.spark.generated.commit import commit, localise
from ticdc_producer.spark.generated.dispatch import dispatch
from ticdc_producer.spark.generated.mutations import net_mutations
from ticdc_producer.spark.generated.select import select
from ticdc_producer.spark.generated.split import split
from ticdc_producer.spark.generated.table_metadata import table_metadata


def generated_row_events(net: DataFrame, plan: StreamPlan, *, moves: bool) -> DataFrame:
    """The row events of generated rows (shape ``EVENT_STREAM``), unordered.

    :param net: shape ``CHANGE_LOG``; no transaction changes a row twice.
    :param moves: whether any change may move its row to another key.
    """
    changefeed = plan.changefeed
    known = table_metadata(net.sparkSession, plan.replicated, plan.routes)
    committed = localise(commit(net, plan.resolved.clock), known, changefeed.time_zone)
    mutations = _filtered(net_mutations(committed, moves=moves), plan)
    rows = split(
        mutations, known, raw_change_event=changefeed.output_raw_change_event, profile=changefeed.profile
    )
    selected = select(rows, plan.replicated, plan.selection)
    return dispatch(selected, known, plan.topic_partitions, profile=changefeed.profile)


def _filtered(mutations: DataFrame, plan: StreamPlan) -> DataFrame:
    section = plan.changefeed.filter
    if not section.event_filters and not section.ignore_txn_start_ts:
        return mutations

    def remaining(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (event_filter(batch, plan.replicated, section) for batch in batches)

    return mutations.mapInArrow(remaining, mutations.schema)
