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
    """Yields at once, and after each change of one of the files.

    A file that is missing for a moment, because an editor replaces it, has not changed yet.

    :param pause: waits for a number of seconds.
    """
    seen = _states(files)
    yield
    while True:
        found = _states(files)
        if found != seen and None not in found:
            seen = found
            yield
        else:
            pause(_POLL_SECONDS)


def _states(files: Sequence[str | Path]) -> list[tuple[int, int] | None]:
    found: list[tuple[int, int] | None] = []
    for file in files:
        try:
            state = os.stat(file)
        except OSError:
            found.append(None)
        else:
            found.append((state.st_mtime_ns, state.st_size))
    return found
