"""Where the faults of a stream of any size happened, as a DataFrame."""

from __future__ import annotations

from collections import Counter

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.runs.fault_occurrences import MAX_LISTED, FaultSummary, summarize_faults
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.encoded_stream import FAULT

_OCCURRENCE = "trap string, topic string, partition int, offset long, until long, events long, commit_ts long"


def fault_occurrences(entries: DataFrame) -> DataFrame:
    """One row per fault, in order: the fields of ``runs.fault_occurrences``.

    :param entries: the encoded stream, with its faults (shape ``ENCODED``).
    """
    found = F.from_json(F.col("value").cast("string"), _OCCURRENCE)
    occurrences = entries.where(F.col("type") == FAULT).select(found.alias("fault")).select("fault.*")
    return occurrences.orderBy("topic", "partition", "commit_ts", "offset", "trap")


def summarized(job: Job, occurrences: DataFrame) -> FaultSummary:
    """The number of occurrences of each trap, and the first occurrences."""
    listed = [row.asDict() for row in occurrences.limit(MAX_LISTED).collect()]
    if len(listed) < MAX_LISTED:
        return summarize_faults(job, listed)
    counted = occurrences.groupBy("trap").count().collect()  # one row per trap
    return summarize_faults(job, listed, Counter({row["trap"]: row["count"] for row in counted}))
