"""Runs a ``generate`` step in the session of a scenario, with the DDLs that it draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, TEMPORALS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.binding.column import with_table_versions
from ticdc_producer.scenario.generate.binding.step import bind
from ticdc_producer.scenario.generate.plan import GeneratePlan, salt
from ticdc_producer.scenario.generate.spec import Generate, SourceLines
from ticdc_producer.scenario.generate.table_spec import DDLMix
from ticdc_producer.scenario.scenario_file import GenerateStep, ScenarioFile
from ticdc_producer.scenario.sql.ddl.context import quoted
from ticdc_producer.scenario.sql.session.session import Session

_ADDED = (
    "INT DEFAULT 7",
    "VARCHAR(24) DEFAULT 'added'",
    "DECIMAL(10,2) NOT NULL DEFAULT 0.50",
    "DATETIME(3)",
)
"""Definitions of added columns: with and without a default, of number, text and time types."""
_INDEXED = INTEGERS | TEMPORALS | {MySQLType.NEW_DECIMAL}


@dataclass(frozen=True, slots=True)
class DrawnDDL:
    """One DDL.

    :param name: name of the table after it, without the database.
    """

    text: str
    name: str


class Alterations:
    """The DDLs of a step, drawn by weight among those that the table allows.

    :param weights: weight by key of the scenario.
    :param table: the table before the first DDL.
    :param seed: seed of the draws.
    """

    def __init__(self, weights: Mapping[str, float], table: TableInfo, seed: str) -> None:
        self._weights = weights
        self._first = table
        self._seed = seed
        self._number = 0
        self._added: list[str] = []
        self._indexes: dict[str, str] = {}

    def next(self, table: TableInfo) -> DrawnDDL:
        """Draw the next DDL.

        :param table: the table after the previous DDL.
        :raises ScenarioError: if no DDL with a weight is possible; without file and line.
        """
        self._number += 1
        ways = {kind: way for kind, way in self._ways(table).items() if self._weights[kind]}
        if not ways:
            what = f"DDL {self._number} of {self._first.qualified_name}: all columns have an index already"
            raise ScenarioError(what, hint="give drop-index or add-column a weight, or configure fewer DDLs")
        return ways[self._draw_kind({kind: self._weights[kind] for kind in ways})]()

    def _draw_kind(self, weights: Mapping[str, float]) -> str:
        position = self._hash("kind") / (1 << 64) * sum(weights.values())
        for kind, weight in weights.items():
            position -= weight
            if position < 0:
                return kind
        return kind

    def _hash(self, purpose: str) -> int:
        return salt(f"{self._seed}/ddl/{self._number}/{purpose}") % (1 << 64)

    def _ways(self, table: TableInfo) -> dict[str, Callable[[], DrawnDDL]]:
        """Return the possible DDLs, by key of the scenario."""
        ways: dict[str, Callable[[], DrawnDDL]] = {
            "add-column": lambda: self._add_column(table),
            "rename-table": lambda: self._rename(table),
            "truncate-table": lambda: DrawnDDL(f"TRUNCATE TABLE {_quoted(table)}", table.name),
        }
        bare = [name for name in self._added if name not in self._indexes.values()]
        free = [*self._not_indexed(table)]
        if bare:
            ways["drop-column"] = lambda: self._drop_column(table, bare[0])
        if free:
            ways["add-index"] = lambda: self._add_index(table, free)
        if self._indexes:
            ways["drop-index"] = lambda: self._drop_index(table)
        return ways

    def _not_indexed(self, table: TableInfo) -> Iterator[str]:
        """Yield the columns that can be indexed and that are not the first column of an index."""
        first = {index.offsets[0] for index in table.indexes}
        for offset in table.sent:
            if offset not in first and _short(table.columns[offset]):
                yield table.columns[offset].name

    def _add_column(self, table: TableInfo) -> DrawnDDL:
        name = self._free_name("added", {column.name.lower() for column in table.columns})
        self._added.append(name)
        return _alter_table(table, f"ADD COLUMN `{name}` {_ADDED[self._hash('type') % len(_ADDED)]}")

    def _drop_column(self, table: TableInfo, name: str) -> DrawnDDL:
        self._added.remove(name)
        return _alter_table(table, f"DROP COLUMN `{name}`")

    def _add_index(self, table: TableInfo, columns: list[str]) -> DrawnDDL:
        column = columns[self._hash("column") % len(columns)]
        name = self._free_name("by", {index.name.lower() for index in table.indexes})
        self._indexes[name] = column
        return _alter_table(table, f"ADD INDEX `{name}` (`{column}`)")

    def _drop_index(self, table: TableInfo) -> DrawnDDL:
        name = next(iter(self._indexes))
        del self._indexes[name]
        return _alter_table(table, f"DROP INDEX `{name}`")

    def _rename(self, table: TableInfo) -> DrawnDDL:
        name = f"{self._first.name}_{self._number}"
        return DrawnDDL(f"RENAME TABLE {_quoted(table)} TO {_quoted(table, name)}", name)

    def _free_name(self, word: str, taken: set[str]) -> str:
        name = f"{word}_{self._number}"
        while name in taken:
            name = f"{name}_"
        return name


def _short(column: ColumnInfo) -> bool:
    """Return whether the whole column fits into an index with every charset."""
    is_short_text = column.type in (MySQLType.VARCHAR, MySQLType.STRING) and column.length <= 64
    return (column.type in _INDEXED or is_short_text) and not column.is_virtual


def _alter_table(table: TableInfo, change: str) -> DrawnDDL:
    return DrawnDDL(f"ALTER TABLE {_quoted(table)} {change}", table.name)


def _quoted(table: TableInfo, name: str = "") -> str:
    return quoted(table.schema, name or table.name)


def run_generate_step(
    session: Session, step: GenerateStep, scenario: ScenarioFile, earlier: Sequence[GeneratePlan]
) -> tuple[GeneratePlan, ...]:
    """Bind a step to its tables, and let the session skip its commits.

    :param earlier: the plans of earlier steps, with the effects of SQL on their tables so far.
    :return: a plan per table.
    :raises ScenarioError: with file and line, for settings that do not fit the tables.
    """
    lines, first_commit = SourceLines(step.lines), session.commits
    names = {
        work.table: (lines.of_table(number) if step.spec.tables else lines).of("table")
        for number, work in enumerate(step.spec.resolved_tables())
    }
    tables = [session.table(name, line=line) for name, line in names.items()]
    plans = bind(
        step.spec,
        [(table, session.partitioning(name)) for table, name in zip(tables, names, strict=True)],
        first_commit=first_commit,
        seed=scenario.seed,
        file=scenario.file,
        lines=lines,
        earlier=earlier,
    )
    for name, line in names.items():
        session.reserve_table(name, line=line)
    if step.spec.ddl is None:
        session.skip_commits(step.spec.commits)
    else:
        [plan] = plans
        versions = _run_ddl_mix(session, step.spec, step.spec.ddl, plan, lines.of("ddl"))
        plans = (with_table_versions(plan, versions),)
    for plan in plans:
        session.open_generated(plan)
    return plans


def _run_ddl_mix(
    session: Session, spec: Generate, mix: DDLMix, plan: GeneratePlan, line: int
) -> list[TableInfo]:
    """Run the drawn DDLs of a step between its transactions; return all versions of its table."""
    versions = [plan.table]
    alterations = Alterations(mix.weights(), plan.table, f"{plan.seed}/{plan.step_commit}")
    session.skip_commits(plan.first_transaction - session.commits)
    for _ in range(spec.ddls):
        session.skip_commits(mix.every)
        try:
            alteration = alterations.next(versions[-1])
        except ScenarioError as error:
            raise error.at(plan.file, line) from None
        versions.append(session.alter_reserved(versions[-1], alteration.text, alteration.name, line=line))
    session.skip_commits(plan.commits_after - session.commits)
    return versions
