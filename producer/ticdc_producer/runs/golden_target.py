"""A golden folder as the target of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from ticdc_producer.errors import FolderError
from ticdc_producer.runs.counts import Counts, discarded
from ticdc_producer.runs.encoded import Encoded
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.small_task import Outcome, SmallTask
from ticdc_producer.runs.step_rows import StepRows, generated_rows
from ticdc_producer.runs.target import MessageTarget
from ticdc_producer.runs.write_golden import (
    check_same_run,
    folder_messages,
    folder_table,
    write_files,
    write_folder,
    write_only_messages,
)
from ticdc_producer.targets.encoding.ordered_events import OrderedEvents
from ticdc_producer.targets.golden import read as source
from ticdc_producer.targets.golden.write import check_replaceable, is_empty
from ticdc_producer.verifier.messages import MessageFrame


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


class GoldenTarget(MessageTarget):
    """A golden folder.

    :param folder: its path; it gets this name when it is complete.
    """

    holds_expected_events = takes_files = True

    def __init__(self, job: Job, options: RunOptions, folder: Path) -> None:
        super().__init__(job, options)
        self.folder = folder

    @property
    def name(self) -> str:
        return str(self.folder)

    def check(self) -> None:
        """Check that the folder does not exist or is empty, or that this run may replace or resume it.

        :raises FolderError: if not.
        """
        if not self.folder.exists() or is_empty(self.folder):
            return
        if self.options.replace:
            check_replaceable(self.folder)
        elif self.options.resume:
            check_same_run(self.folder, self.job)
        else:
            hint = "name a new one, or use `replace`"
            raise FolderError("the folder already exists", path=self.name, hint=hint).about("replace")

    @property
    def is_complete(self) -> bool:
        return self.options.resume and self.folder.exists() and not is_empty(self.folder)

    def write(self, encoded: Encoded, steps: StepRows, report: RunReport, /) -> RunReport:
        self.options.on_status(f"writing {self.folder}")
        write_folder(self.folder, encoded, steps, report, replace=self.options.replace)
        return report

    def take(self, outcome: Outcome, report: RunReport, /) -> None:
        self.options.on_status(f"writing {self.folder}")
        write_files(self.folder, self.job, outcome, report, replace=self.options.replace)

    def write_in_one_pass(self, events: OrderedEvents) -> tuple[Counts, list[dict[str, Any]]]:
        self.options.on_status(f"writing {self.folder}")
        return write_only_messages(self.folder, self.job, events, replace=self.options.replace)

    def read(self, spark: SparkSession) -> MessageFrame:
        source.manifest(self.folder)  # checks all files
        return MessageFrame(folder_messages(spark, self.folder))

    def few_messages(self) -> pa.Table:
        source.manifest(self.folder)  # checks all files
        return folder_table(self.folder)

    @property
    def claims(self) -> str:
        return source.claims(self.folder)
