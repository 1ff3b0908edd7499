"""Verify a storage folder, written by TiCDC or by this tool."""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ArgumentError
from ticdc_producer.runs.change_log import change_log
from ticdc_producer.runs.encoded import encode_once
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.run_storage import layout_of, row_columns, storage_verdict
from ticdc_producer.runs.verification import OnVerdict
from ticdc_producer.spark.session import announce_start, spark_session
from ticdc_producer.targets.encoding.ordered_events import EventFrame
from ticdc_producer.targets.storage.directories import in_directories
from ticdc_producer.targets.storage.listing import list_storage
from ticdc_producer.verifier.verdict import Verdict


def verify_storage(
    changefeed: Changefeed,
    job: Job | None,
    *,
    on_status: Callable[[str], None],
    on_verdict: OnVerdict,
    **rejected_options: object,
) -> Verdict:
    """Verify a storage folder; with a job also that the scenario's rows are in their directories.

    :param rejected_options: options of ``verify`` that apply to topics only.
    :raises ArgumentError: if one of these options is set.
    :raises ProducerError: for a folder that cannot be read; violations in it are part of the verdict.
    """
    for name, value in {**rejected_options, "inject": () if job is None else job.traps}.items():
        if value:
            what = f"--{name.replace('_', '-')} cannot be combined with a storage"
            raise ArgumentError(what, argument=name, hint="it applies to topics and golden folders")
    listing = list_storage(changefeed.sink_uri.path, changefeed.protocol)
    announce_start(on_status)
    spark = spark_session(light=True)
    on_status("verifying")
    if job is None:
        return storage_verdict(spark, changefeed, listing, on_verdict=on_verdict)
    plan, committed = layout_of(job), change_log(spark, job.history)
    rows = in_directories(committed.rows(job.stream), plan, job.history.catalog, changefeed)
    with encode_once(job, EventFrame(rows), carried=True, faults=False) as encoded:
        return storage_verdict(
            spark,
            changefeed,
            listing,
            encoded,
            row_columns(job, plan),
            scenario=job.scenario.name,
            on_verdict=on_verdict,
        )
