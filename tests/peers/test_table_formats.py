"""The recipes of docs/spark.md for tables of Delta and Iceberg, and for AUTO CDC of declarative pipelines.

Each format has a virtual environment with the newest Spark that it supports. The folder that the environment
variable ``TABLE_FORMATS`` names has or gets the environments; without it they are made in a temporary one.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from tests.conftest import EXHAUSTIVE
from tests.faults.legal_together import legal_traps
from tests.peers.applied_tables import Recipes, corrected
from tests.peers.conftest import or_skipped
from tests.peers.row_versions import BOUNDS, in_order, row_versions, rows_at
from tests.peers.table_formats import (
    AUTO_CDC,
    DELTA,
    FORMATS,
    RECIPE,
    TableFormat,
    apply,
    code_of_page,
    compared_by_library,
    with_code,
)
from tests.peers.table_scenarios import CASES, SHIPPED, Case, rows_of
from ticdc_producer.scenario.load import shipped
from ticdc_producer.simulate.prepare import prepare

WITHOUT_DDL = ("bank", "large-rows", "message-limit", "orders", "sysbench")
"""Cases of few types and no DDL: those of the others have their kinds of changes, too."""


def cases_of(table_format: TableFormat) -> list[Case]:
    """Return the cases that are applied to tables of a format: all of Delta and of AUTO CDC."""
    every = EXHAUSTIVE or table_format == DELTA or table_format.scd_type
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


def check_versions(spark: SparkSession, case: Case, plan: dict[str, Any], golden: Path, work: Path) -> None:
    """The versions of a table with history are those of the changes, and at any time they are the rows then.

    DDLs change rows without row events, so that the rows before them are other ones.
    """
    recipes = Recipes(spark, RECIPE)
    changes = corrected(recipes, with_code(plan, AUTO_CDC[1].column), recipes.batch)
    for table, applied in zip(plan["tables"], case.tables, strict=True):
        of_table, key = changes[table["target"]].toArrow(), table["key"]
        expected = row_versions(of_table, key)
        stored = spark.read.parquet(str(work / "versions" / table["target"])).orderBy(*key, BOUNDS[0])
        versions = stored.select(*expected.column_names).toArrow().cast(expected.schema)
        assert versions.equals(expected), (table["target"], versions.num_rows, expected.num_rows)
        times = pc.unique(of_table["_commit_version"]).sort()
        for ts in () if case.ddls else times.take(pa.array([0, len(times) // 2, len(times) - 1])).to_pylist():
            then = rows_of(golden, applied.name, ts)
            of_version = rows_at(versions, ts).select(then.column_names)
            assert of_version.equals(in_order(then, key).cast(of_version.schema)), (table["target"], ts)


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, dict[str, Any]]:
    """The golden folder of each case, and what a consumer reads."""
    folder = tmp_path_factory.mktemp("golden")
    return {folder / case.name: case.plan(folder / case.name) for case in CASES}


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
    """Every shipped scenario and legal trap; in tables of Iceberg without ``WITHOUT_DDL``."""
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
    if table_format.scd_type == 2:
        for case in cases:
            check_versions(spark, case, by_name[case.name], goldens[case.name], tmp_path)
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
