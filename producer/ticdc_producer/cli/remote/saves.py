"""``--watch`` waits for files to be saved. Like ``server_client`` this module loads almost no other."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_POLL_SECONDS = 0.2


def saves(files: Sequence[str | Path], pause: Callable[[float], object] = time.sleep) -> Iterator[None]:
    """Yield at once, and after each change of one of the files.

    A file that is missing for a moment, because an editor replaces it, has not changed yet.

    :param pause: waits for a number of seconds.
    """
    seen = _states(files)
    yield
    while True:
        states = _states(files)
        if states != seen and None not in states:
            seen = states
            yield
        else:
            pause(_POLL_SECONDS)


def _states(files: Sequence[str | Path]) -> list[tuple[int, int] | None]:
    states: list[tuple[int, int] | None] = []
    for file in files:
        try:
            state = os.stat(file)
        except OSError:
            states.append(None)
        else:
            states.append((state.st_mtime_ns, state.st_size))
    return states
