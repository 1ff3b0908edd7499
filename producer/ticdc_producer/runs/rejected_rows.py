"""Rows that TiCDC's encoder rejects: they end the run, or are skipped."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.errors import EncodeError
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.encode import MAX_LISTED_REFUSED
from ticdc_producer.targets.encoding.encoded_stream import REFUSED


def skipped_events(job: Job, entries: DataFrame, count: int) -> list[dict[str, Any]]:
    """The rejected events that a run leaves out.

    :param entries: the encoded stream (shape ``ENCODED``).
    :param count: number of rejected events.
    :raises EncodeError: for the first of them, if the scenario has ``on-error: stop``.
    """
    found = rejected_rows(entries) if count else []
    if found and job.scenario.on_error == "stop":
        raise stop_error(found[0])
    return found


def rejected_rows(entries: DataFrame) -> list[dict[str, Any]]:
    """The first rejected events of an encoded stream."""
    rows = entries.where(F.col("type") == REFUSED).orderBy("timestamp", "topic", "partition", "offset")
    return [json.loads(row["value"]) for row in rows.select("value").limit(MAX_LISTED_REFUSED).collect()]


def stop_error(row: dict[str, Any]) -> EncodeError:
    """The error that ends a run with ``on-error: stop`` at a rejected event."""
    return EncodeError(
        f"{row['error'].removeprefix(row['code'] + ': ')}, commit-ts {row['commit_ts']}",
        code=row["code"],
        table=row["table"],
        commit_ts=row["commit_ts"],
        hint="TiCDC's changefeed would stop here; on-error: skip leaves such events out",
    )
