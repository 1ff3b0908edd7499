"""Stage: the commit-ts of each change."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ticdc_producer.model.clock import Clock
from ticdc_producer.pipeline.row_images import Numbers, numbers


def commit(changes: pa.RecordBatch, clock: Clock) -> pa.RecordBatch:
    """Add ``commit_ts`` to a change log."""
    times = commit_ts(clock, numbers(changes.column("commit_seq")))
    return changes.append_column("commit_ts", pa.array(times, pa.int64()))


def commit_ts(clock: Clock, commit_seq: Numbers) -> Numbers:
    """The commit-ts of some commits."""
    first, start = (np.array(column, np.int64) for column in zip(*clock.segments, strict=True))
    segment = np.searchsorted(first, commit_seq, side="right") - 1
    return start[segment] + (commit_seq - first[segment]) * clock.step
