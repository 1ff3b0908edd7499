"""What a running command says on stderr: one moving line on a terminal, plain lines elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status


class Progress:
    """Shows the current step."""

    def __init__(self) -> None:
        from rich.console import Console  # not at the top: --help has no use for it

        self._console = Console(stderr=True, highlight=False)
        self._status: Status | None = None

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            self._status = self._console.status("")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def say(self, line: str) -> None:
        """The step that begins now."""
        if self._status is not None:
            self._status.update(line)
        else:
            self._console.print(line, soft_wrap=True, markup=False)
