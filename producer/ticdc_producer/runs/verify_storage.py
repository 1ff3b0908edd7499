"""Verifying a storage folder, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ArgumentError
from ticdc_producer.runs.change_log import upstream
from ticdc_producer.runs.expected_positions import expected_events
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.run_storage import layout_of, row_columns
from ticdc_producer.runs.storage_verification import judge_storage
from ticdc_producer.runs.verification import Observe
from ticdc_producer.spark.materialize import kept
from ticdc_producer.spark.session import spark_session
from ticdc_producer.targets.encoding.event_offsets import event_places
from ticdc_producer.targets.storage.directories import in_directories
from ticdc_producer.targets.storage.listing import list_storage
from ticdc_producer.verifier.verdict import Verdict


def verify_storage(
    feed: Changefeed, job: Job | None, *, say: Callable[[str], None], observe: Observe, **not_here: object
) -> Verdict:
    """Check a storage folder, and with a scenario that its rows are there, in its directories.

    :param not_here: options of ``verify`` that are of topics.
    :raises ArgumentError: if one of those is given.
    :raises ProducerError: for a folder that cannot be read; what is wrong in it is in the verdict.
    """
    for name, value in {**not_here, "inject": () if job is None else job.traps}.items():
        if value:
            what = f"--{name.replace('_', '-')} does not go with a storage"
            raise ArgumentError(what, argument=name, hint="it is of topics and golden folders")
    listing = list_storage(feed.sink_uri.place, feed.protocol)
    say("starting Spark")
    spark = spark_session(light=True)
    say("verifying")
    if job is None:
        return judge_storage(spark, feed, listing, observe=observe)
    plan, committed = layout_of(job), upstream(spark, job.history)
    rows = in_directories(committed.rows(job.stream), plan, job.history.catalog, feed)
    with kept(rows, in_order=True) as events:
        places = event_places(events, job.encode_plan(skip_refused=True))
        return judge_storage(
            spark,
            feed,
            listing,
            lambda: expected_events(job, events, places),
            row_columns(job, plan),
            scenario=job.scenario.name,
            observe=observe,
        )
