"""Computes the timeline of a decoded stream, in two passes.

Consecutive offsets of a partition share a bucket, so that a chart of twenty million messages is as small as
one of twenty thousand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Part
from ticdc_producer.model.column_functions import of_partitions
from ticdc_producer.page.timeline import (
    ALL_BUCKETS,
    BUCKETS,
    DRAWN,
    Bucket,
    PartitionCount,
    Timeline,
)
from ticdc_producer.verifier.finding import Finding

_KINDS = {"row": "rows", "ddl": "ddls", "resolved": "resolved", "error": "errors"}
_PartitionName: TypeAlias = tuple[str, int]


def timeline_query(events: Dataset, findings: Sequence[Finding]) -> Timeline:
    """Return the timeline of decoded events.

    :param events: shape ``DECODED``; read twice.
    :param findings: the partitions of their events are drawn first.
    """
    named = {
        (event.topic, event.partition)
        for finding in findings
        for example in finding.examples
        for event in example.events
        if event.offset is not None
    }
    counts = _Counts()
    for of_part in events.results(_counted):
        counts.merge(of_part)
    partitions = tuple(counts.partitions[name].count(*name) for name in sorted(counts.partitions))
    charted = _drawn(partitions, named)
    return Timeline(
        partitions=partitions,
        buckets=_buckets(events, charted),
        sizes=dict(sorted(counts.sizes.items())),
    )


@dataclass
class _PartitionSums:
    """Sums over the events of a partition."""

    first: int
    last: int
    sums: Counter[str] = field(default_factory=Counter)

    def merge(self, other: _PartitionSums) -> None:
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        self.sums.update(other.sums)

    def count(self, topic: str, partition: int) -> PartitionCount:
        names = ("messages", "size", *_KINDS.values())
        sums = {name: self.sums[name] for name in names}
        return PartitionCount(topic=topic, partition=partition, first=self.first, last=self.last, **sums)


@dataclass
class _Counts:
    """The counts of partitions, and the number of messages by the logarithm of their size."""

    partitions: dict[_PartitionName, _PartitionSums] = field(default_factory=dict)
    sizes: Counter[int] = field(default_factory=Counter)

    def add(self, name: _PartitionName, sums: _PartitionSums) -> None:
        if name in self.partitions:
            self.partitions[name].merge(sums)
        else:
            self.partitions[name] = sums

    def merge(self, other: _Counts) -> None:
        for name, sums in other.partitions.items():
            self.add(name, sums)
        self.sizes.update(other.sizes)


def _counted(_part: Part, batches: Batches) -> _Counts:
    """Count the events and messages of a part; the size of a message counts once.

    >>> columns = {"topic": ["t"] * 3, "partition": [0] * 3, "offset": [7, 7, 8], "index": [0, 1, 0]}
    >>> batch = pa.record_batch(columns | {"size": [500, 500, 3], "kind": ["row", "row", "ddl"]})
    >>> counts = _counted(Part(0), [batch])
    >>> [counts.partitions["t", 0].sums[name] for name in ("messages", "size", "rows")], dict(counts.sizes)
    ([2, 503, 2], {2: 1, 9: 1})
    """
    counts = _Counts()
    for batch in batches:
        for name, rows in of_partitions(batch):
            events = batch.take(pa.array(rows))
            offsets = events.column("offset").to_numpy()
            begins = events.column("index").to_numpy() == 0
            sizes = events.column("size").to_numpy()[begins]
            sums = Counter({"messages": int(begins.sum()), "size": int(sizes.sum())})
            kinds = Counter(events.column("kind").to_pylist())
            sums.update({name: kinds[kind] for kind, name in _KINDS.items()})
            counts.add(name, _PartitionSums(int(offsets.min()), int(offsets.max()), sums))
            powers = np.floor(np.log2(np.maximum(sizes, 1))).astype(np.int64) + 1
            numbers, frequencies = np.unique(powers, return_counts=True)
            counts.sizes.update(dict(zip(numbers.tolist(), frequencies.tolist(), strict=True)))
    return counts


def _drawn(
    partitions: Sequence[PartitionCount], named: Set[_PartitionName]
) -> dict[_PartitionName, tuple[int, int]]:
    """Return the first offset and the offsets per bucket of the partitions that get a chart."""
    first_named = sorted(partitions, key=lambda count: (count.topic, count.partition) not in named)[:DRAWN]
    number = min(BUCKETS, ALL_BUCKETS // max(1, len(first_named)))
    return {
        (count.topic, count.partition): (count.first, -(-(count.last - count.first + 1) // number))
        for count in first_named
    }


_Fields: TypeAlias = dict[str, Any]


def _buckets(
    events: Dataset, charted: Mapping[_PartitionName, tuple[int, int]]
) -> dict[_PartitionName, tuple[Bucket, ...]]:
    buckets: dict[_PartitionName, dict[int, _Fields]] = {}
    for of_part in events.results(partial(_bucketed, charted)):
        for (name, number), fields in of_part.items():
            own = buckets.setdefault(name, {})
            own[number] = _merged(own[number], fields) if number in own else fields
    return {
        name: tuple(Bucket(**own[number]) for number in sorted(own)) for name, own in sorted(buckets.items())
    }


def _bucketed(
    charted: Mapping[_PartitionName, tuple[int, int]], _part: Part, batches: Batches
) -> dict[tuple[_PartitionName, int], _Fields]:
    buckets: dict[tuple[_PartitionName, int], _Fields] = {}
    for batch in batches:
        for name, rows in of_partitions(batch):
            if name not in charted:
                continue
            events = batch.take(pa.array(rows))
            start, width = charted[name]
            numbers = (events.column("offset").to_numpy() - start) // width
            for number in np.unique(numbers).tolist():
                fields = _bucket(events.filter(pa.array(numbers == number)))
                key = name, number
                buckets[key] = _merged(buckets[key], fields) if key in buckets else fields
    return buckets


def _bucket(events: pa.RecordBatch) -> _Fields:
    """Return the fields of a bucket with some events."""
    by_kind = {kind: events.filter(pc.equal(events.column("kind"), kind)) for kind in _KINDS}
    rows, resolved = by_kind["row"].column("commit_ts"), by_kind["resolved"]
    newest = [*zip(*(resolved.column(name).to_pylist() for name in ("commit_ts", "offset")), strict=True)]
    return {
        "first": pc.min(events.column("offset")).as_py(),
        "lowest": pc.min(rows).as_py(),
        "highest": pc.max(rows).as_py(),
        "ddl_offset": pc.min(by_kind["ddl"].column("offset")).as_py(),
        "resolved": max(((ts, offset) for ts, offset in newest if ts is not None), default=None),
        "error_offset": pc.min(by_kind["error"].column("offset")).as_py(),
    }


def _merged(first: _Fields, second: _Fields) -> _Fields:
    """Return the fields of a bucket of which two parts have events."""

    def merged(name: str) -> Any:
        known = [fields[name] for fields in (first, second) if fields[name] is not None]
        choose = max if name in ("highest", "resolved") else min
        return choose(known) if known else None

    return {name: merged(name) for name in first}
