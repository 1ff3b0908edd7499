"""The content of a scenario: its steps and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from ticdc_producer.scenario.data_steps import Changes, Data
from ticdc_producer.scenario.file_steps import DumpStep
from ticdc_producer.scenario.generate.spec import Generate
from ticdc_producer.scenario.sourced_files import SourcedFiles
from ticdc_producer.scenario.spec import Fault

if TYPE_CHECKING:
    from ticdc_producer.scenario.frames.frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLStep:
    """SQL to run.

    :param text: one or more statements.
    :param line: line of the scenario file on which the text starts.
    :param transaction: whether all statements are one transaction.
    :param commit_ts: TSO of its first commit; None: the clock's.
    """

    text: str
    line: int
    transaction: bool = False
    commit_ts: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedStep:
    """A resolved event with the TSO ``ts``."""

    ts: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotStep:
    """The point at which the changefeed starts."""

    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateStep:
    """Changes to generate.

    :param lines: lines of the keys inside of ``spec``, by path; ``()`` is the line of the step.
    :param commit_ts: TSO of the first commit; None: the clock's.
    """

    spec: Generate
    lines: Mapping[tuple[str, ...], int]
    commit_ts: int | None = None

    @property
    def line(self) -> int:
        """Line of the step."""
        return self.lines.get((), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataStep:
    """Changes to read from a file or database.

    :param commit_ts: TSO of the first commit; None: the clock's.
    """

    spec: Data
    line: int
    commit_ts: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesStep:
    """Changes in the rows of a DataFrame.

    :param file: the scenario file that has the step.
    :param frame: the rows.
    :param commit_ts: TSO of the first commit; None: the clock's.
    :param has_resolved: whether the rows have all resolved events up to the last of its commits.
    """

    spec: Changes
    file: str = field(repr=False)
    line: int
    frame: Frame = field(repr=False)
    commit_ts: int | None = None
    has_resolved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingStep:
    """A recording to replay.

    :param folder: its path.
    :param replay: what it replays; None: it was not read.
    """

    folder: str = field(repr=False)
    line: int
    replay: Replay | None = None
    commit_ts: None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The content of a recording, which runs in a session of its own.

    :param file: its scenario file.
    :param database: the current database at its beginning.
    :param time_zone: value of the session variable.
    :param steps: one ``changes`` step, with SQL before or after it.
    """

    file: str = field(repr=False)
    database: str
    time_zone: str
    steps: tuple[SQLStep | ChangesStep, ...]


ScenarioStep: TypeAlias = (
    SQLStep | ResolvedStep | SnapshotStep | GenerateStep | DataStep | ChangesStep | RecordingStep | DumpStep
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioFile:
    """A validated scenario; its SQL was not parsed yet.

    :param file: the file as the user named it; errors also name it.
    :param sha256: SHA-256 of the file's bytes, in hex.
    :param start: TSO of the first commit.
    :param every: time from one commit to the next.
    :param build_time: build time in messages; None: each message's commit time.
    :param now: result of ``NOW()``, in UTC; None: the time of each commit.
    :param resolved_every: time between resolved events; None: one after each transaction; zero: only those of
        the steps.
    :param changefeed: content of ``changefeed:``, for ``ticdc_producer.config.resolve``.
    :param start_given: whether the scenario sets ``start``.
    :param resolved_given: whether the scenario sets ``resolved``.
    :param start_ts: TSO after which the changefeed sends commits; None: from the first commit, or from the
        ``snapshot`` step on.
    :param target_ts: TSO up to which the changefeed sends commits; None: all.
    :param faults: traps to set, by id.
    :param fault_lines: lines of the traps in the file, by id.
    :param recorded_faults: path or URI of the events that are delivered again, and of damaged messages (shape
        ``RECORDED_FAULTS``).
    :param recorded_changefeed: the changefeed under which these events have their recorded positions; None:
        they have other ones.
    :param sourced: the files that SQL of the scenario sources.
    :param unread: the files with stored programs in the folder of a dump, and the plural of what they have.
    :param changefeed_lines: lines of the keys of ``changefeed``, spelled as in a changefeed file.
    """

    file: str
    sha256: str
    name: str
    description: str
    seed: int
    start: int
    every: timedelta
    build_time: datetime | Literal["now"] | None
    database: str
    time_zone: str
    now: datetime | None
    resolved_every: timedelta | None
    changefeed: Mapping[str, object]
    steps: tuple[ScenarioStep, ...]
    on_error: Literal["stop", "skip"]
    start_given: bool = False
    resolved_given: bool = False
    start_ts: int | None = None
    target_ts: int | None = None
    faults: Mapping[str, Fault] = field(default_factory=dict)
    fault_lines: Mapping[str, int] = field(default_factory=dict)
    changefeed_lines: Mapping[str, int] = field(default_factory=dict)
    recorded_faults: str | None = None
    recorded_changefeed: Mapping[str, object] | None = None
    sourced: SourcedFiles = field(default_factory=dict)
    unread: tuple[tuple[str, str], ...] = ()
