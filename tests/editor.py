"""A person who edits a watched file whenever the command waits for it, and presses Ctrl-C in the end."""

from __future__ import annotations

import io
import signal
from collections.abc import Sequence
from pathlib import Path


class Editor(io.StringIO):
    """Standard error of a command with ``--watch``.

    :param file: the watched file.
    :param texts: its contents, one per time that the command waits.
    """

    def __init__(self, file: Path, texts: Sequence[str]) -> None:
        super().__init__()
        self._file, self._texts = file, iter(texts)

    def write(self, text: str) -> int:
        written = super().write(text)
        if "waiting for" in text:
            edited = next(self._texts, None)
            if edited is None:
                signal.raise_signal(signal.SIGINT)
            else:
                self._file.write_text(edited)
        return written
