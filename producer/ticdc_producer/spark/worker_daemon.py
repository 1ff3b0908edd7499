"""The process that forks Python workers: PySpark's, with PySpark imported from its folder.

Spark puts archives of PySpark before everything else on the path of its workers. Python compiles the modules
of an archive at each start, which takes as long as all other imports of a worker.

In a session of many runs it also imports the modules that workers need before it forks them, since Spark ends
workers that had nothing to do for a minute. And it sets how often workers collect cyclic garbage; in a
session of a user they collect as rarely during our tasks.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

MODULES_VARIABLE = "TICDC_PRODUCER_WORKER_MODULES"
"""Environment variable of workers: the modules that are imported before workers are forked."""
OBJECTS = 100_000
"""A collection of garbage takes place after as many new objects. A batch of rows in Python's objects has some
ten thousands of them and no garbage: with Python's 700, two fifths of the time to decode a topic went into
collections."""


def without_archives(path: Sequence[str]) -> list[str]:
    """Return Python's path without PySpark's archives; unchanged if only they contain PySpark."""
    files = [entry for entry in path if not Path(entry).is_file()]
    specs = [PathFinder.find_spec(name, files) for name in ("pyspark", "py4j")]
    if not all(specs) or specs[0] is None or specs[0].origin is None:
        return [*path]
    folder = Path(specs[0].origin).parent
    return [entry for entry in path if entry in files or not Path(entry).is_relative_to(folder)]


def import_modules(names: Sequence[str]) -> None:
    """Import modules, and pass them to later workers without copies of their memory.

    The workers import what cannot be imported here, and raise its error.
    """
    for name in names:
        with suppress(ImportError):
            import_module(name)
    gc.freeze()


def collect_rarely() -> None:
    """Collect garbage rarely for the rest of this process."""
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage rarely in this context, unless collections are as rare or off."""
    before = gc.get_threshold()
    if 0 < before[0] < OBJECTS:
        collect_rarely()
    try:
        yield
    finally:
        gc.set_threshold(*before)


if __name__ == "__main__":
    sys.path[:] = without_archives(sys.path)
    from pyspark.daemon import manager

    import_modules(os.environ.get(MODULES_VARIABLE, "").split())
    collect_rarely()
    manager()
