"""The recipes of docs/spark.md for tables of Delta and Iceberg, and for AUTO CDC of declarative pipelines.

Each format has a virtual environment with the newest Spark that it supports. The folder that the environment
variable ``TABLE_FORMATS`` names has or gets the environments; without it they are made in a temporary one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from tests.conftest import EXHAUSTIVE, SMALL_DATA
from tests.docs.page_commands import blocks, page_text
from tests.faults.legal_together import legal_traps
from tests.peers.conftest import or_skipped
from tests.peers.software import NotRun, maven
from tests.peers.table_scenarios import CASES, SHIPPED, Case
from ticdc_producer.java import spark_java_home
from ticdc_producer.scenario.load import shipped
from ticdc_producer.simulate.prepare import prepare

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
WITHOUT_DDL = ("bank", "large-rows", "message-limit", "orders", "sysbench")
"""Cases of few types and no DDL: those of the others have their kinds of changes, too."""


def cases_of(table_format: TableFormat) -> list[Case]:
    """Return the cases that are applied to tables of a format: all of Delta."""
    every = EXHAUSTIVE or table_format == DELTA
    return [case for case in CASES if every or case.name not in WITHOUT_DDL]


@dataclass(frozen=True)
class Mistake:
    """A flow of AUTO CDC that the page warns of.

    :param written: what replaces code of the page's recipe.
    :param where: the changes that are the source.
    """

    name: str
    case: str
    table: str
    written: tuple[str, str] = ("", "")
    where: str = "true"

    @property
    def target(self) -> str:
        return f"{self.name}_{self.table.rpartition('.')[2]}"

    def plan(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Return the plan of its flow, without corrections for DDLs."""
        (index,) = (case.tables for case in CASES if case.name == self.case)
        (table,) = (
            each for each, of_case in zip(plan["tables"], index, strict=True) if of_case.name == self.table
        )
        assert self.written[0] in RECIPE
        recipe = RECIPE.replace(*self.written) if self.written[0] else RECIPE
        tables = [{**table, "target": self.target}]
        return {"tables": tables, "ddls": [], "recipe": recipe, "where": self.where}


TIED = Mistake(
    "tied",
    "swap",
    "test.swapped",
    ('F.struct(F.col("_commit_version"), (~deleted).alias("exists"))', '"_commit_version"'),
)
MISTAKES = [
    TIED,
    Mistake(
        "old_keys",
        "legal-traps",
        "test.jobs",
        ('isin("delete", "update_preimage")', 'isin("delete")'),
        "_change_type <> 'update_preimage'",
    ),
    Mistake("truncated", "legal-traps", "test.jobs"),
]


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
        "cases": [_with_code(each, table_format.column) for each in plans],
    }
    (work / "plan.json").write_text(json.dumps(plan), "utf-8")
    variables = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    variables["PYTHONPATH"] = os.pathsep.join([str(ROOT / "producer"), str(ROOT)])
    variables["PYSPARK_PYTHON"] = str(python)
    variables["JAVA_HOME"] = str(spark_java_home())
    command = [python, "-m", "tests.peers.applied_tables", work]
    done = subprocess.run(command, capture_output=True, text=True, cwd=work, env=variables)
    if "unresolved dependency" in done.stdout + done.stderr:
        raise NotRun(f"Spark cannot fetch {session['spark.jars.packages']}")
    assert done.returncode == 0, done.stderr[-6000:]


def _with_code(plan: dict[str, Any], column: int) -> dict[str, Any]:
    """Return a plan with the code of the page for its DDLs."""
    ddls = [{**ddl, "code": code_of_page(ddl["kind"], column)} for ddl in plan["ddls"]]
    tables = [{**table, "rename": code_of_page("RENAME COLUMN", 1)} for table in plan["tables"]]
    return {"recipe": RECIPE, "where": "true", **plan, "tables": tables, "ddls": ddls}


def code_of_page(ddl: str, column: int) -> str:
    """Return the code of a cell of the page's table of DDLs."""
    lines = [line.split(" | ") for line in page_text("spark.md").splitlines() if line.startswith("| ")]
    (cell,) = (line[column] for line in lines if len(line) == 3 and re.search(rf"\b{ddl}\b", line[0]))
    (code, *_) = re.findall("`(.+?)`", cell)
    return code


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the environments, which tests with the same release of Spark share."""
    return Path(os.environ.get("TABLE_FORMATS") or tmp_path_factory.mktemp("environments"))


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, dict[str, Any]]:
    """The golden folder of each case, and what a consumer reads."""
    folder = tmp_path_factory.mktemp("golden")
    return {folder / case.name: case.plan(folder / case.name) for case in CASES}


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


@pytest.mark.slow
@pytest.mark.parametrize("table_format", FORMATS, ids=lambda table_format: table_format.name)
def test_the_recipe_leaves_the_expected_rows(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    plans: dict[Path, dict[str, Any]],
    environments: Path,
    tmp_path: Path,
    table_format: TableFormat,
) -> None:
    """Every shipped scenario and legal trap in tables of Delta; without ``WITHOUT_DDL`` in the others."""
    mistakes = MISTAKES if table_format.scd_type else []
    cases = cases_of(table_format)
    by_name = {golden.name: plan for golden, plan in plans.items()}
    wrong = [mistake.plan(by_name[mistake.case]) for mistake in mistakes]
    with or_skipped(request):
        apply(table_format, [*(by_name[case.name] for case in cases), *wrong], tmp_path, environments)
    folders = ["rows"] if table_format.scd_type else ["rows", "again"]
    goldens = {golden.name: golden for golden in plans}
    for case in cases:
        golden = goldens[case.name]
        for folder in folders:
            rows = {
                name: spark.read.parquet(str(tmp_path / folder / target))
                for name, target in case.targets.items()
            }
            outcome = ticdc_producer.verify_state(golden, rows, tables=[*rows])
            assert outcome.ok, (case.name, folder, outcome)
        if table_format.library and find_spec(table_format.library):
            outcome = compared_by_library(table_format, case, golden, tmp_path)
            assert outcome.ok, (case.name, outcome)
    for mistake in mistakes:
        if (
            mistake != TIED or table_format.scd_type == 2
        ):  # with type 1 the order of equal sequences is undefined
            rows = {mistake.table: spark.read.parquet(str(tmp_path / "rows" / mistake.target))}
            (table,) = ticdc_producer.verify_state(goldens[mistake.case], rows, tables=[*rows]).tables
            assert bool(table.missing) == (mistake == TIED)
            assert bool(table.extra) == (mistake != TIED)


def test_the_cases_have_all_scenarios_and_traps() -> None:
    # The first rows of from-dump are in a dump, which a consumer loads before the changes.
    assert {case.name for case in SHIPPED} == set(shipped()) - {"from-dump"}
    traps = {trap for case in CASES for trap in case.traps}
    assert {*legal_traps("open-protocol")} - traps == {"handle-key-only"}


@pytest.mark.parametrize("case", SHIPPED, ids=lambda case: case.name)
def test_a_case_has_the_tables_with_a_key(case: Case) -> None:
    """Each table with rows at the end, and the DDLs that change rows without row events."""
    history = prepare(case.name).history
    catalog = history.catalog
    tables = {
        f"{schema}.{name}": catalog.tables[each.version] for (schema, name), each in history.state.items()
    }
    keys = {
        name: tuple(table.columns[number].name for number in table.handle_index.offsets)
        for name, table in tables.items()
        if table.handle_index
    }
    assert keys.items() <= {table.name: table.key for table in case.tables}.items()


@pytest.mark.parametrize("table_format", [DELTA, AUTO_CDC[0]], ids=["merge", "auto-cdc"])
def test_the_page_has_code_for_each_ddl(table_format: TableFormat) -> None:
    kinds = {ddl.kind for case in CASES for ddl in case.ddls}
    assert kinds == {
        "TRUNCATE TABLE", "ADD COLUMN", "EXCHANGE PARTITION", "TRUNCATE PARTITION", "DROP PARTITION",
    }  # fmt: skip
    for kind in kinds:
        code = code_of_page(kind, table_format.column)
        assert "TS" in code
        if not code.startswith("UPDATE"):
            compile(code, kind, "eval")
