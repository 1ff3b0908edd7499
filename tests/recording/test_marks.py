"""How far a partition has come: by the definition, for a transaction of many batches."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ticdc_producer.recording.marks import Marks


def test_the_different_events_of_a_time_are_counted_across_batches() -> None:
    random = np.random.default_rng(1)
    ts = np.sort(random.integers(1, 4, 600))
    digests = random.integers(0, 150, 600)
    marks, counts = Marks(), []
    for rows in np.array_split(np.arange(600), 40):
        batch = pa.record_batch({
            "topic": pa.repeat("t", len(rows)),
            "partition": np.zeros(len(rows), np.int32),
            "commit_ts": ts[rows],
        })  # fmt: skip
        none, every = np.zeros(len(rows), bool), np.ones(len(rows), bool)
        counts += marks.advance(batch, none, none, digests[rows], every).position_count.tolist()
    before = [ts[:number] for number in range(600)]
    assert counts == [
        len({*digests[:number][times == times.max(initial=0)].tolist()})
        for number, times in enumerate(before)
    ]
