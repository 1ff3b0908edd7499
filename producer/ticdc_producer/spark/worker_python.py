"""The Python of the workers of a session that the user has started: whether our tasks can run in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from ticdc_producer.errors import SparkError

if TYPE_CHECKING:
    from pyspark import SparkContext

_MODULES = ("ticdc_producer", "pyarrow", "numpy")
_PROGRAM = """
import importlib.util, sys
print(*sys.version_info[:2], *(name for name in sys.argv[1:] if importlib.util.find_spec(name) is None))
"""
_TIMEOUT_S = 60.0
_VARIABLES = "spark.executorEnv."
_SHIPPED = ("spark.submit.pyFiles", "spark.archives", "spark.yarn.dist.archives")
"""Settings with which workers get packages that their Python does not have."""

_checked: set[str] = set()


def check_worker_python(context: SparkContext) -> None:
    """Check, once per application, that the workers of a local session can run our tasks.

    Without the packages the first job fails minutes later. The Python of a cluster's workers is on other
    machines, and so is not checked.

    :raises SparkError: if their Python lacks our packages, or is of another version than this one.
    """
    application = context.applicationId
    if application in _checked or not (context.master or "").startswith("local") or _ships_packages(context):
        return
    program = shutil.which(context.pythonExec) or context.pythonExec
    if program != sys.executable:
        check_python(program, dict(_variables(context)))
    _checked.add(application)


def _ships_packages(context: SparkContext) -> bool:
    return bool(context._python_includes) or any(context.getConf().get(name, "") for name in _SHIPPED)


def _variables(context: SparkContext) -> list[tuple[str, str]]:
    settings = context.getConf().getAll()
    return [(name.removeprefix(_VARIABLES), value) for name, value in settings if name.startswith(_VARIABLES)]


def check_python(program: str, variables: Mapping[str, str] = MappingProxyType({})) -> None:
    """Check that tasks can run in a Python.

    :param variables: environment variables of the workers, in addition to those of this process.
    :raises SparkError: if it lacks our packages, or is of another version than this one.
    """
    command = [program, "-c", _PROGRAM, *_MODULES]
    environment = {**os.environ, **variables}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise _error(program, f"does not start: {error}") from None
    major, minor, *missing = done.stdout.split()
    if missing:
        raise _error(program, f"lacks {', '.join(missing)}")
    if (int(major), int(minor)) != sys.version_info[:2]:
        own = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise _error(program, f"is {major}.{minor}, and this program runs in Python {own}")


def _error(program: str, what: str) -> SparkError:
    hint = (
        f"before the session is built, set the environment variable PYSPARK_PYTHON={sys.executable}; "
        f"with spark-submit --conf spark.pyspark.python={sys.executable}"
    )
    return SparkError(f"the Python of this Spark session's workers, {program}, {what}", hint=hint)
