"""How often a Python worker collects cyclic garbage.

The workers of a session of our own begin with this threshold. Those of a user have it for our tasks.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 100_000
"""A collection of garbage takes place after as many new objects. A batch of rows in Python's objects has some
ten thousands of them and no garbage: with Python's 700, two fifths of the time to decode a topic went into
collections."""


def collect_rarely() -> None:
    """Set the threshold for the rest of this process."""
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])


@contextmanager
def rare_collections() -> Iterator[None]:
    """Set the threshold for this context, unless collections are as rare or off."""
    before = gc.get_threshold()
    if 0 < before[0] < OBJECTS:
        collect_rarely()
    try:
        yield
    finally:
        gc.set_threshold(*before)
