"""A timeline as JSON for the page."""

from __future__ import annotations

from ticdc_producer.page.timeline import Bucket, PartitionCount, Timeline


def chart_objects(timeline: Timeline) -> list[dict[str, object]]:
    """Return the partitions that have a chart, with their buckets."""
    parts = {(part.topic, part.partition): part for part in timeline.partitions}
    return [_chart(parts[name], buckets) for name, buckets in timeline.buckets.items()]


def _chart(part: PartitionCount, buckets: tuple[Bucket, ...]) -> dict[str, object]:
    return {
        "topic": part.topic,
        "partition": part.partition,
        "first": part.first,
        "last": part.last,
        "buckets": [_bucket(bucket) for bucket in buckets],
    }


def _bucket(bucket: Bucket) -> list[object]:
    ts, offset = bucket.resolved or (None, None)
    return [
        bucket.first, bucket.lowest, bucket.highest, bucket.ddl_offset, ts, offset,
        bucket.error_offset,
    ]  # fmt: skip
