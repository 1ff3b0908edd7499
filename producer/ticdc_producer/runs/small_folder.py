"""Writes the golden folder of a small history in this process, without a Spark job."""

from __future__ import annotations

from pathlib import Path

from ticdc_producer.runs.counts import discarded
from ticdc_producer.runs.generated_rows import generated_rows
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.small_task import SmallTask
from ticdc_producer.runs.write_golden import write_files


def write_small_folder(path: Path, job: Job) -> None:
    """Write the messages, expected events and states of a job, as a run writes them.

    :raises FolderError: if the folder exists, or cannot be created.
    :raises EncodeError: for a row that TiCDC's encoder rejects, with ``on-error: stop``.
    """
    outcome = SmallTask(job=job, to_folder=True)(generated_rows(job))
    report = RunReport(
        scenario=job.scenario.name,
        target=str(path),
        dry_run=False,
        counts=outcome.counts,
        discarded=discarded(job),
        skipped=list(outcome.rejected),
        faults=outcome.faults,
    )
    write_files(path, job, outcome, report)
