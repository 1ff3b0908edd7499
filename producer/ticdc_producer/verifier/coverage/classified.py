"""The events with what the verifier knows of each, as rows for Spark."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.model.event import Op
from ticdc_producer.verifier.distributed_comparison import in_buckets
from ticdc_producer.verifier.event_blocks import gathered, whole_buckets
from ticdc_producer.verifier.event_columns import BLOCKS
from ticdc_producer.verifier.events import EventKind, Events, Rule
from ticdc_producer.verifier.key_groups import KeyGroups
from ticdc_producer.verifier.observe import Observer
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream_facts import StreamFacts

_KINDS = ["", *(kind.name.lower() for kind in EventKind)]
_OPS = ["", *(op.label for op in Op)]
_RULES = [None, *(rule.name.lower().replace("_", "-") for rule in Rule if rule != Rule.UNKNOWN)]
_CLASSIFIED = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("position", pa.int64()),
        ("kind", pa.string()),
        ("commit_ts", pa.int64()),
        ("schema", pa.string()),
        ("table", pa.string()),
        ("op", pa.string()),
        ("rule", pa.string()),
        ("row_key", pa.int64()),
        ("identity", pa.int64()),
        ("first_delivery", pa.bool_()),
        ("key_change", pa.list_(pa.string())),
    ]
)


def classify(decoded: DataFrame, options: VerifyOptions) -> DataFrame:
    """The events without their images.

    ``row_key`` is NULL for rows without handle key, ``rule`` where it is unknown; ``key_change`` has the
    unique and handle columns that an update changes.

    :param decoded: shape ``DECODED``, in any order.
    :return: ``topic``, ``partition``, ``position`` (``events.positions``), ``kind``, ``commit_ts`` (TSO),
        ``schema``, ``table``, ``op``, ``rule``, ``row_key``, ``identity``, ``first_delivery`` and
        ``key_change``, in no order.
    """
    facts = StreamFacts(options)

    def observe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        observer = Observer(options)
        events = (observer.observe(batch).events for batch in batches if batch.num_rows)
        return (part.by_key() for part in gathered(events))

    def classified(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in whole_buckets(batches):
            yield _classified(KeyGroups(Events.of(batch), options, facts))

    observed = decoded.mapInArrow(observe, from_arrow_schema(BLOCKS))
    return in_buckets(observed).mapInArrow(classified, from_arrow_schema(_CLASSIFIED))


def _classified(groups: KeyGroups) -> pa.RecordBatch:
    events = groups.events
    changed = pc.split_pattern(pc.if_else(pc.equal(events.key_change, ""), None, events.key_change), ", ")
    columns = {
        "kind": pa.array(_KINDS).take(pa.array(events.kind)),
        "op": pa.array(_OPS).take(pa.array(events.op)),
        "rule": pa.array(_RULES).take(pa.array(events.rule)),
        "row_key": pa.array(events.key, mask=~events.keyed),
        "first_delivery": pa.array(groups.first_delivery | (events.kind == EventKind.ERROR)),
        "key_change": changed,
    }
    arrays = [columns.get(field.name, getattr(events, field.name, None)) for field in _CLASSIFIED]
    return pa.record_batch(
        [pa.array(array).cast(field.type) for array, field in zip(arrays, _CLASSIFIED, strict=True)],
        schema=_CLASSIFIED,
    )
