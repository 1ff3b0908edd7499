"""The process that forks Python workers."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

from ticdc_producer.engine.dataset import Batches, Part
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.spark.worker_daemon import MODULES_VARIABLE, without_archives


def _origin(_part: Part, _batches: Batches) -> str:
    return str(pyspark.__file__)


def test_workers_import_pyspark_from_its_folder(spark: SparkSession) -> None:
    rows = SparkEngine(spark).of_parts(1, lambda _part: iter(()), pa.schema([("n", pa.int64())]))
    assert rows.results(_origin) == [pyspark.__file__]


def _installed(folder: Path, *packages: str) -> Path:
    for name in packages:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").touch()
    return folder


def _archive(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(path, "w") as file:
        file.writestr("pyspark/__init__.py", "")
    return str(path)


def test_only_archives_of_the_pyspark_that_is_found_without_them_are_removed(tmp_path: Path) -> None:
    site = _installed(tmp_path / "site", "pyspark", "py4j")
    own, other = _archive(site / "pyspark" / "lib" / "pyspark.zip"), _archive(tmp_path / "users.zip")
    assert without_archives([own, other, str(site)]) == [other, str(site)]


def test_archives_stay_if_nothing_else_has_pyspark(tmp_path: Path) -> None:
    archive = _archive(tmp_path / "spark" / "pyspark.zip")
    for packages in ((), ("pyspark",)):
        path = [archive, str(_installed(tmp_path / f"with-{len(packages)}", *packages))]
        assert without_archives(path) == path


def test_modules_are_imported_before_workers_are_forked() -> None:
    """What is missing is left to the workers, whose error names it."""
    code = (
        "import gc, sys; from ticdc_producer.spark.worker_daemon import import_modules; "
        "import_modules(['no_such_module', 'colorsys']); "
        "print('colorsys' in sys.modules, gc.get_freeze_count() > 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"


LASTING = """
import os
from importlib import import_module
import pyarrow as pa
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.spark.session import spark_session
from ticdc_producer.spark.worker_daemon import MODULES_VARIABLE
spark = spark_session(settings={f"spark.executorEnv.{MODULES_VARIABLE}": "imported"})
rows = SparkEngine(spark).of_parts(1, lambda _part: iter(()), pa.schema([("n", pa.int64())]))
print(rows.results(lambda _part, _batches: import_module("imported").PROCESS == os.getppid()))
"""


def _has_frozen_modules(_part: Part, _batches: Batches) -> bool:
    """Whether the worker has the modules of tasks from its parent, which alone freezes what it imports."""
    return {*os.environ[MODULES_VARIABLE].split()} <= sys.modules.keys() and gc.get_freeze_count() > 0


def test_workers_of_the_shared_session_have_their_modules(spark: SparkSession) -> None:
    rows = SparkEngine(spark).of_parts(1, lambda _part: iter(()), pa.schema([("n", pa.int64())]))
    assert rows.results(_has_frozen_modules) == [True]


@pytest.mark.slow
def test_workers_are_forked_with_their_modules(tmp_path: Path) -> None:
    (tmp_path / "imported.py").write_text("import os\nPROCESS = os.getpid()\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", LASTING],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[True]\n"
