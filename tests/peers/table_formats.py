"""Table formats, each with an environment of a Spark that supports it, and the recipes of docs/spark.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ticdc_producer
from tests.conftest import SMALL_DATA
from tests.docs.page_commands import blocks, page_text
from tests.peers.software import NotRun, maven
from tests.peers.table_scenarios import Case
from ticdc_producer.java import spark_java_home

ROOT = Path(__file__).parents[2]
SESSION = {
    **SMALL_DATA,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.warehouse.dir": "{work}/warehouse",
    "spark.python.daemon.module": "ticdc_producer.spark.worker_daemon",
}


@dataclass(frozen=True)
class TableFormat:
    """A table format and a recipe of the page.

    :param spark: a release.
    :param packages: of PyPI, in addition to Spark.
    :param scd_type: of AUTO CDC; 0: MERGE.
    :param tables: where `verify state` finds the tables without Spark's source of the format; empty: nowhere.
    :param library: reads them.
    """

    name: str
    spark: str
    session: dict[str, str]
    packages: tuple[str, ...] = ()
    scd_type: int = 0
    tables: str = ""
    library: str = ""

    @property
    def column(self) -> int:
        """The number of the recipe's column in the table of DDLs."""
        return 2 if self.scd_type else 1


DELTA = TableFormat(
    name="delta",
    spark="4.2.0",
    session={
        "spark.jars.packages": "io.delta:delta-spark_4.2_2.13:4.4.0",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "1",
    },
    tables="delta:{work}/warehouse/{{table}}?deleted=ticdc_deleted",
    library="deltalake",
)
ICEBERG = TableFormat(
    name="iceberg",
    spark="4.1.4",
    session={
        "spark.jars.packages": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.local": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.local.type": "hadoop",
        "spark.sql.catalog.local.warehouse": "{work}/warehouse",
        "spark.sql.catalog.local.default-namespace": "default",
        "spark.sql.defaultCatalog": "local",
    },
    tables="iceberg:{work}/warehouse/default/{{table}}?deleted=ticdc_deleted",
    library="pyiceberg",
)
TESTS_OF_CATALYST = "org.apache.spark:spark-catalyst_2.13:4.2.0:jar:tests"
"""It has a catalog whose tables are in memory and support row-level operations, as AUTO CDC requires."""
AUTO_CDC = [
    TableFormat(
        name=f"scd{scd_type}",
        spark="4.3.0",
        packages=(
            "grpcio==1.85.3", "grpcio-status==1.85.3", "googleapis-common-protos==1.76.0",
            "zstandard==0.25.0",
        ),
        session={
            "spark.jars": "{work}/spark-catalyst_2.13-4.2.0-tests.jar",
            "spark.sql.catalog.local":
                "org.apache.spark.sql.connector.catalog.SharedTablesInMemoryRowLevelOperationTableCatalog",
            "spark.sql.defaultCatalog": "local",
            "spark.driver.extraJavaOptions": "-Xss16m",  # for 300 columns
        },
        scd_type=scd_type,
    )
    for scd_type in (1, 2)
]  # fmt: skip
RECIPE = "\n".join(
    block
    for block in blocks("spark.md", "python")
    if re.search("def (merge_into|exchange_partition|auto_cdc)", block)
)
FORMATS = [DELTA, ICEBERG, *AUTO_CDC]


def environment(table_format: TableFormat, environments: Path) -> Path:
    """Return the Python of an environment with a release of Spark, and the packages of this one.

    :param environments: the folder that has or gets it.
    :raises NotRun: pip cannot install it.
    """
    folder = environments / f"spark-{table_format.spark}"
    python = folder / "bin" / "python"
    if python.exists():
        return python
    venv.create(folder, with_pip=True)
    packages = [f"pyspark=={table_format.spark}", *table_format.packages]
    done = subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-compile", *packages], capture_output=True, text=True
    )
    if done.returncode:
        raise NotRun(f"pip cannot install {packages[0]}: {done.stderr.strip().splitlines()[-1]}")
    (site,) = (folder / "lib").glob("python3*/site-packages")
    (site / "of_the_tests.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    return python


def apply(table_format: TableFormat, plans: Iterable[dict[str, Any]], work: Path, environments: Path) -> None:
    """Apply the changes of cases in a process of their own.

    :raises NotRun: software cannot be fetched.
    """
    python = environment(table_format, environments)
    if table_format.scd_type:
        maven(work, "dependency:copy", f"-Dartifact={TESTS_OF_CATALYST}", f"-DoutputDirectory={work}")
    session = {**SESSION, **table_format.session}
    plan = {
        "session": {name: value.format(work=work) for name, value in session.items()},
        "format": table_format.name,
        "scd_type": table_format.scd_type,
        "cases": [with_code(each, table_format.column) for each in plans],
    }
    (work / "plan.json").write_text(json.dumps(plan), "utf-8")
    variables = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    variables["PYTHONPATH"] = os.pathsep.join([str(ROOT / "producer"), str(ROOT)])
    variables["PYSPARK_PYTHON"] = str(python)
    variables["JAVA_HOME"] = str(spark_java_home())
    command = [str(python), "-m", "tests.peers.applied_tables", str(work)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=work, env=variables)
    if any(reason in done.stdout + done.stderr for reason in ("unresolved dependency", "download failed")):
        raise NotRun(f"Spark cannot fetch {session['spark.jars.packages']}")
    assert done.returncode == 0, done.stderr[-6000:]


def with_code(plan: dict[str, Any], column: int) -> dict[str, Any]:
    """Return a plan with the code of the page for its DDLs."""
    ddls = [{**ddl, "code": code_of_page(ddl["kind"], column)} for ddl in plan["ddls"]]
    tables = [{**table, "rename": code_of_page("RENAME COLUMN", 1)} for table in plan["tables"]]
    return {"recipe": RECIPE, "where": "true", **plan, "tables": tables, "ddls": ddls}


def code_of_page(ddl: str, column: int) -> str:
    """Return the code of a cell of the page's table of DDLs."""
    lines = [line.split(" | ") for line in page_text("spark.md").splitlines() if line.startswith("| ")]
    (cell,) = (line[column] for line in lines if len(line) == 3 and re.search(rf"\b{ddl}\b", line[0]))
    code = re.search("`(.+?)`", cell)
    assert code is not None
    return code[1]


def compared_by_library(
    table_format: TableFormat, case: Case, golden: Path, work: Path
) -> ticdc_producer.StateOutcome:
    """Compare the tables that the recipe left, read by the Python library of the format."""
    return ticdc_producer.verify_state(
        golden,
        table_format.tables.format(work=work),
        tables=[*case.targets],
        table_map=case.targets,
        ignore_columns=["ticdc_version"],
    )
