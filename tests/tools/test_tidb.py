"""``python -m tools.tidb``: mutations of recorded cases, and what differs from a TiDB server."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pymysql
import pytest

from tests.consumer_state.servers import tidb
from tests.scenario.sql.tidb_results import AREAS, Case, cases_of
from tools.tidb.__main__ import differences, main, statements_of
from tools.tidb.mutations import Mutator
from tools.tidb.server import OtherDatabases, Server


def scripts(area: str, seed: int) -> list[list[str]]:
    mutator = Mutator(area, Random(seed))
    return [mutator.script() for _ in range(20)]


@pytest.mark.parametrize("area", AREAS)
def test_mutations_follow_from_the_seed(area: str) -> None:
    first = scripts(area, 1)
    assert first == scripts(area, 1) != scripts(area, 2)
    recorded = [[statement for statement, _ in case.statements] for case in cases_of(area)]
    assert [script for script in first if script not in recorded]


def test_a_case_that_ends_as_in_the_server_prints_nothing() -> None:
    case = cases_of("decimal")[0]
    assert list(differences(case)) == []


def test_a_case_that_ends_otherwise_is_printed_with_its_statements() -> None:
    case = cases_of("decimal")[0]
    (table, content), *_ = case.tables.items()
    other = dataclasses.replace(case, tables={**case.tables, table: {**content, "rows": []}})
    lines = list(differences(other))
    assert lines[0] == f"{case.name}:"
    assert lines[1 : len(case.statements) + 1] == [f"     ok {statement}" for statement, _ in case.statements]
    rows = lines[len(case.statements) + 1 :]
    assert len(rows) == len(content["rows"]) > 0
    assert all(f"differs: {table} here alone" in line for line in rows)


def test_a_script_has_a_statement_per_line(tmp_path: Path) -> None:
    file = tmp_path / "s.sql"
    file.write_text("-- a comment\nSELECT 1;\n\nBEGIN; SELECT 2; COMMIT;\n", "utf-8")
    assert statements_of(file) == ["SELECT 1", "BEGIN; SELECT 2; COMMIT"]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with tidb() as address:
        yield address


@pytest.mark.slow
def test_recorded_cases_are_those_of_a_server_of_this_machine(url: str) -> None:
    with Server(url) as server:
        for area in AREAS:
            case = cases_of(area)[0]
            answer = server.case(case.name, [statement for statement, _ in case.statements])
            assert in_any_order(answer) == in_any_order(case)


def in_any_order(case: Case) -> Case:
    """The case with the statements as tuples, and its rows in one order."""
    tables = {
        name: {**content, "rows": sorted(content["rows"], key=repr)} for name, content in case.tables.items()
    }
    return Case(case.name, [(sql, code) for sql, code in case.statements], tables)


@pytest.mark.slow
def test_mutations_are_counted(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--server", url, "mutate", "decimal", "--count", "2"]) in (0, 1)
    assert capsys.readouterr().out.endswith(" of 2 differ\n")


@pytest.mark.slow
def test_a_server_with_databases_of_others_is_refused(url: str) -> None:
    parts = url.rpartition(":")
    connection = pymysql.connect(host="127.0.0.1", port=int(parts[2]), user="root")
    with connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE shop")
        with pytest.raises(OtherDatabases, match="shop"):
            Server(url)
        cursor.execute("DROP DATABASE shop")
