"""The process that forks Python workers: PySpark's, with PySpark imported from its folder.

Spark puts archives of PySpark before everything else on the path of its workers. Python compiles the modules
of an archive at each start, which takes as long as all other imports of a worker.

In a session of many runs it also imports the modules that workers need before it forks them, since Spark ends
workers that had nothing to do for a minute.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

from ticdc_producer.spark.collector import collect_rarely

MODULES_VARIABLE = "TICDC_PRODUCER_WORKER_MODULES"
"""Environment variable of workers: the modules that are imported before workers are forked."""


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


if __name__ == "__main__":
    sys.path[:] = without_archives(sys.path)
    from pyspark.daemon import manager

    import_modules(os.environ.get(MODULES_VARIABLE, "").split())
    collect_rarely()
    manager()
