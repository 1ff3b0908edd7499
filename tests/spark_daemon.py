"""The process that forks the Python workers of the tests' session: they have their modules when they start.

Spark ends a worker whose task fails or reads only a part of its rows, and each new one would spend a second
on imports. PySpark collects garbage after every task, which takes a tenth of a second in a process that has
imported so much; what exists before the fork is excluded from it. A program that a test starts has the usual
process, which imports nothing in advance.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module

from ticdc_producer.spark.worker_daemon import without_archives

MODULES = ("pandas", "ticdc_producer.runs.run", "ticdc_producer.verifier.distributed")
"""They import almost all that tasks use."""

if __name__ == "__main__":
    sys.path[:] = without_archives(sys.path)
    from pyspark.daemon import manager

    for module in MODULES:
        import_module(module)
    gc.collect()
    gc.freeze()
    manager()
