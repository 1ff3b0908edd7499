"""What the process of a task does for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ticdc_producer.serve.child_messages import Result, Tell

if TYPE_CHECKING:
    from ticdc_producer.runs.run_report import RunReport
    from ticdc_producer.runs.verification import VerifiedStream
    from ticdc_producer.verifier.verdict import RequestedFaults, Verdict


class Work(Protocol):
    """The work of a task. The service pickles it."""

    def __call__(self, tell: Tell, /) -> Result:
        """Do it, in the process of the task."""


@dataclass(frozen=True)
class Texts:
    """How reports are printed: as by the commands, which are built on this package.

    :param run: (report, quiet, colours) → text; ``verdict`` likewise, with whether a scenario was given.
        Functions of modules, because they are pickled.
    """

    run: Callable[[RunReport, bool, bool], str]
    verdict: Callable[[Verdict, bool, bool, bool], str]


class ReportFiles(Protocol):
    """Report files of one run or verification, such as HTML."""

    def on_verdict(self, verified: VerifiedStream) -> None:
        """Query what the reports show, while the stream is materialized."""

    def write(
        self,
        verdict: Verdict | None,
        faults: Iterable[Mapping[str, Any]] = (),
        requested: RequestedFaults | None = None,
    ) -> None:
        """Write the files."""


MakeReports: TypeAlias = Callable[[Path], ReportFiles]
"""The report files of a task, to be written to its folder. It is pickled."""


class NoReports:
    """No report files."""

    def __init__(self, _folder: Path) -> None: ...

    def on_verdict(self, _verified: VerifiedStream) -> None:
        """Query nothing."""

    def write(self, *_result: object) -> None:
        """Write nothing."""


def config_file(text: str | None, folder: Path) -> Path | None:
    """A posted changefeed file, written to a folder of the service."""
    if text is None:
        return None
    path = folder / "changefeed.toml"
    path.write_text(text, "utf-8")
    return path
