"""A golden folder as the target of a run."""

from __future__ import annotations

from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import FolderError
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport, report_of
from ticdc_producer.runs.target import MessageTarget
from ticdc_producer.runs.write_golden import (
    check_same_run,
    folder_messages,
    write_folder,
    write_only_messages,
)
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation, simulate
from ticdc_producer.targets.golden import read as source
from ticdc_producer.targets.golden.write import check_replaceable, is_empty
from ticdc_producer.verifier.messages import Messages


def write_small_folder(path: Path, job: Job) -> None:
    """Write the messages, expected events and states of a job, as a run writes them.

    :raises FolderError: if the folder exists, or cannot be created.
    :raises EncodeError: for a row that TiCDC's encoder rejects, with ``on-error: stop``.
    """
    with simulate(job, LocalEngine()) as simulation:
        stream = simulation.encoded
        report = report_of(simulation, stream.counts, stream.skipped_events(), ())
        write_folder(path, simulation, replaced(report, faults=stream.fault_summary))


class GoldenTarget(MessageTarget):
    """A golden folder.

    :param folder: its path; it gets this name when it is complete.
    """

    holds_expected_events = True

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

    def write(self, simulation: Simulation, report: RunReport, /) -> RunReport:
        self.options.on_status(f"writing {self.folder}")
        write_folder(self.folder, simulation, report, replace=self.options.replace)
        return report

    def write_in_one_pass(self, simulation: Simulation, /) -> tuple[Counts, list[dict[str, Any]]]:
        self.options.on_status(f"writing {self.folder}")
        return write_only_messages(self.folder, simulation, replace=self.options.replace)

    def read(self, simulation: Simulation) -> Messages:
        source.manifest(self.folder)  # checks all files
        return Messages(folder_messages(simulation.engine, self.folder))

    @property
    def claims(self) -> str:
        return source.claims(self.folder)
