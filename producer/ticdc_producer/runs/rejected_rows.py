"""Rows that TiCDC's encoder rejects: they end the run, or are skipped."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.errors import EncodeError
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.messages import REFUSED

MAX_LISTED_SKIPPED = 1000
"""Rejected events that a report lists; it counts all of them."""


def skipped_events(job: Job, encoded: DataFrame, count: int) -> list[dict[str, Any]]:
    """The rejected events that a run leaves out.

    :param count: number of rejected events; if not 0, everything is encoded once more to list them.
    :raises EncodeError: for the first of them, if the scenario has ``on-error: stop``.
    """
    found = rejected_rows(encoded) if count else []
    if found and job.scenario.on_error == "stop":
        raise stop_error(found[0])
    return found


def rejected_rows(encoded: DataFrame) -> list[dict[str, Any]]:
    """The first rejected events of a DataFrame of messages."""
    rows = encoded.where(F.col("type") == REFUSED).orderBy("timestamp", "topic", "partition")
    return [json.loads(row["value"]) for row in rows.select("value").limit(MAX_LISTED_SKIPPED).collect()]


def stop_error(row: dict[str, Any]) -> EncodeError:
    """The error that ends a run with ``on-error: stop`` at a rejected event."""
    return EncodeError(
        f"{row['error'].removeprefix(row['code'] + ': ')}, commit-ts {row['commit_ts']}",
        code=row["code"],
        table=row["table"],
        commit_ts=row["commit_ts"],
        hint="TiCDC's changefeed would stop here; on-error: skip leaves such events out",
    )
