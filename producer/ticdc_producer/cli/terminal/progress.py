"""The progress of a command on stderr: one updated line on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING

from ticdc_producer.model import tso

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import TaskID
    from rich.status import Status

    from ticdc_producer.runs.run_report import Progress


_LINE_SECONDS = 10.0


class ProgressDisplay:
    """The display of the current step, and of the progress of long steps."""

    def __init__(
        self, *, quiet: bool = False, participle: str = "written", clock: Callable[[], float] = monotonic
    ) -> None:
        """Show nothing yet.

        :param participle: word for what has happened to a message, for plain lines.
        :param clock: returns seconds.
        """
        from rich.console import Console  # not at the top: --help does not need it

        self._console = Console(stderr=True, highlight=False, quiet=quiet)
        self._status: Status | None = None
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._line = ""
        self._participle, self._clock = participle, clock
        self._next_line: float | None = None

    def __enter__(self) -> ProgressDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()

    def on_status(self, line: str) -> None:
        """Show the step that starts now."""
        self._line, self._next_line = line, None
        if not self._console.is_terminal:
            self._console.print(line, soft_wrap=True, markup=False)
            return
        if self._status is not None:
            self._status.update(line)
            return
        self._clear()
        self._status = self._console.status(line)
        self._status.start()

    def show(self, measured: Progress) -> None:
        """Show the progress of the current step: a line every ten seconds, or a bar on a terminal."""
        if not self._console.is_terminal:
            self._print_line(measured)
            return
        if self._bar is None or self._task is None:
            self._clear()
            self._bar = _bar(self._console)
            self._task = self._bar.add_task(self._line, total=measured.total, up_to="")
            self._bar.start()
        self._bar.update(
            self._task, completed=measured.messages, total=measured.total, up_to=up_to(measured.ts)
        )

    def _print_line(self, measured: Progress) -> None:
        now = self._clock()
        if self._next_line is not None and now >= self._next_line:
            total = "" if measured.total is None else f" of {measured.total:,}"
            self._console.print(f"{self._participle} {measured.messages:,}{total}", soft_wrap=True)
        if self._next_line is None or now >= self._next_line:
            self._next_line = now + _LINE_SECONDS

    def _clear(self) -> None:
        for display in (self._status, self._bar):
            if display is not None:
                display.stop()
        self._status = self._bar = self._task = None


def up_to(ts: int) -> str:
    """Return the TSO up to which everything is written, as text; empty if it is unknown."""
    if not ts:
        return ""
    moment = tso.to_datetime(ts).replace(tzinfo=None).isoformat(" ", "milliseconds")
    return f"up to {moment} ({ts})"


def _bar(console: Console) -> Bar:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Rate(ProgressColumn):
        """Messages per second; nothing before it is known."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{max(speed, 1):,.0f}/s" if speed else "")

    return Bar(
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[up_to]}"),
        console=console,
        transient=True,
    )
