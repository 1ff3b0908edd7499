"""Rows that TiCDC's encoder refuses: the end of a run, or what it skips."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.errors import EncodeError
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.messages import REFUSED

MOST_SKIPPED = 1000
"""So many refused events are listed by name; all are counted."""


def skipped_events(job: Job, encoded: DataFrame, count: int) -> list[dict[str, Any]]:
    """What a run leaves out.

    :param count: how many refused events there are; finding them encodes everything once more.
    :raises EncodeError: for the first of them, where the scenario says stop.
    """
    found = refused(encoded) if count else []
    if found and job.scenario.on_error == "stop":
        raise _stops(found[0])
    return found


def refused(encoded: DataFrame) -> list[dict[str, Any]]:
    """The first refused events of a DataFrame of messages."""
    lines = encoded.where(F.col("type") == REFUSED).orderBy("timestamp", "topic", "partition")
    return [json.loads(row["value"]) for row in lines.select("value").limit(MOST_SKIPPED).collect()]


def _stops(refused: dict[str, Any]) -> EncodeError:
    return EncodeError(
        f"{refused['error'].removeprefix(refused['code'] + ': ')}, commit-ts {refused['commit_ts']}",
        code=refused["code"],
        table=refused["table"],
        commit_ts=refused["commit_ts"],
        hint="TiCDC's changefeed would stop here; on-error: skip leaves such events out",
    )
