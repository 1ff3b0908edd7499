"""A session of the user whose workers cannot run our tasks is an error before the first job."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ticdc_producer.errors import SparkError
from ticdc_producer.spark.session import check_python, check_worker_python

BARE = """#!/bin/sh
exec "{python}" -I -S "$@"
"""
OWN_SESSION = """
import ticdc_producer
from pyspark.sql import SparkSession
SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
ticdc_producer.run("seed_t1", out="out", engine="spark")
"""


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A Python of the same version without packages."""
    program = tmp_path / "python3"
    program.write_text(BARE.format(python=sys.executable))
    program.chmod(0o755)
    return str(program)


def test_the_python_of_our_own_session_is_right(spark: SparkSession) -> None:
    check_worker_python(spark.sparkContext)
    check_python(sys.executable)


def test_missing_packages_are_named_with_the_variable_to_set(bare: str) -> None:
    with pytest.raises(SparkError) as caught:
        check_python(bare)
    assert str(caught.value) == (
        f"the Python of this Spark session's workers, {bare}, lacks ticdc_producer, pyarrow, numpy "
        f"(before the session is built, set the environment variable PYSPARK_PYTHON={sys.executable}; "
        f"with spark-submit --conf spark.pyspark.python={sys.executable})"
    )


def test_a_program_that_does_not_start_or_is_no_python_is_named(tmp_path: Path) -> None:
    with pytest.raises(SparkError, match="nowhere/python3, does not start"):
        check_python(str(tmp_path / "nowhere" / "python3"))
    with pytest.raises(SparkError, match="/false, does not start"):
        check_python("/bin/false")


def test_another_version_is_an_error(tmp_path: Path) -> None:
    older = tmp_path / "python3"
    older.write_text("#!/bin/sh\necho 3 8\n")
    older.chmod(0o755)
    with pytest.raises(SparkError, match=r"is 3\.8, and this program runs in Python 3\.\d+"):
        check_python(str(older))


@pytest.mark.slow
def test_a_run_in_such_a_session_ends_at_once_and_writes_nothing(bare: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(bare).parent}:{os.environ['PATH']}"}
    environment.pop("PYSPARK_PYTHON", None)
    done = subprocess.run(
        [sys.executable, "-c", OWN_SESSION],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stderr.splitlines()[-1].startswith(
        "ticdc_producer.errors.SparkError: the Python of this Spark"
    )
    assert not (tmp_path / "out").exists()
