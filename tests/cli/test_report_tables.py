"""The tables in a report: those that a consumer has at a resolved-ts, within limits that it names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.reports.test_html import content_of
from tests.reports.verdicts import timeline
from ticdc_producer import api
from ticdc_producer.cli.reports import Reports, tables_of
from ticdc_producer.page.tables_content import MOST_BYTES, tables_content
from ticdc_producer.testing.topic import Golden

COUNT = 120
SQL = (
    "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));\n"
    + "".join(f"INSERT INTO t VALUES ({number}, 'v{number}');\n" for number in range(COUNT))
    + "UPDATE t SET v = 'new' WHERE id = 0;\nDELETE FROM t WHERE id < 2 AND id > 0;\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    (folder / "scenario.sql").write_text(SQL, "utf-8")
    uri = "kafka:///t?protocol=canal-json&enable-tidb-extension=true&partition-num=2"
    overrides = ["clock.every=5s", "resolved.every=5s"]
    api.run(str(folder / "scenario.sql"), sink_uri=uri, out=folder / "golden", overrides=overrides)
    return folder / "golden"


@pytest.fixture(scope="module")
def content(folder: Path) -> dict[str, Any]:
    reports = Reports(None, folder.parent / "page.html")
    reports.write(api.verify(folder=folder, on_verdict=reports.on_verdict))
    return dict(content_of((folder.parent / "page.html").read_text("utf-8"))["tables"])


def rows_at(content: dict[str, Any], name: str, time: int) -> list[dict[str, Any]]:
    return [content["rows"][number] for number in content["at"][name][time][2]]


def test_the_rows_at_the_last_time_are_the_expected_ones(content: dict[str, Any], folder: Path) -> None:
    assert content["resolved"]
    total, error, numbers = content["at"]["test.t"][-1]
    assert (total, error, len(numbers)) == (COUNT - 1, "", 100), "the first rows by handle key"
    expected: Any = Golden(folder).state["test.t"]
    assert len(expected) == total
    rows = rows_at(content, "test.t", -1)
    assert rows[0] == {"id": "0", "v": "new"}
    assert [row["id"] for row in rows[:4]] == ["0", "2", "3", "4"]
    assert all(row in expected for row in rows)


def test_earlier_times_have_the_rows_of_then(content: dict[str, Any]) -> None:
    totals = [total for total, _, _ in content["at"]["test.t"]]
    assert len(content["times"]) == len(totals)
    assert totals[0] < totals[1] < totals[-1] == COUNT - 1
    assert sorted(totals) == totals, "the delete is after all inserts"
    before = next(time for time, total in enumerate(totals) if total >= 1)
    assert rows_at(content, "test.t", before)[0] == {"id": "0", "v": "v0"}


def test_each_row_is_in_the_page_once(content: dict[str, Any]) -> None:
    assert len(content["rows"]) == len({str(row) for row in content["rows"]}) <= COUNT + 1


def test_what_is_left_out_is_named(content: dict[str, Any], folder: Path) -> None:
    assert len(content["times"]) <= 50 < COUNT
    assert content["note"].startswith(f"{len(content['times'])} of ")
    notes: list[Any] = []

    def large(verified: Any) -> None:
        notes.append(tables_of(verified, timeline(partitions=3, buckets=50)))

    api.verify(folder=folder, on_verdict=large)
    (tables,) = notes
    assert tables["times"] == []
    assert "serve --attach NAME=SOURCE" in tables["note"]


def tables_in_report(sql: str, folder: Path) -> dict[str, Any]:
    (folder / "scenario.sql").write_text(sql, "utf-8")
    reports = Reports(None, folder / "page.html")
    api.run(str(folder / "scenario.sql"), sink_uri="kafka:///t?protocol=craft", out=folder / "golden")
    reports.write(api.verify(folder=folder / "golden", on_verdict=reports.on_verdict))
    return dict(content_of((folder / "page.html").read_text("utf-8"))["tables"])


def test_rows_after_a_ddl_without_row_events_have_a_warning(tmp_path: Path) -> None:
    sql = (
        "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2);"
        "ALTER TABLE t ADD COLUMN v INT DEFAULT 7; INSERT INTO t VALUES (3, 8); DELETE FROM t WHERE id = 1;"
    )
    tables = tables_in_report(sql, tmp_path)
    total, error, _ = tables["at"]["test.t"][-1]
    assert total == 2
    assert "ADD COLUMN" in error
    assert error.endswith("rows without a later event are as before it")
    assert rows_at(tables, "test.t", -1) == [{"id": "2", "v": None}, {"id": "3", "v": "8"}]
    assert any(before == [2, "", before[2]] for before in tables["at"]["test.t"])


def test_the_first_of_many_tables_are_in_the_page(tmp_path: Path) -> None:
    sql = "".join(f"CREATE TABLE t{n} (id INT PRIMARY KEY); INSERT INTO t{n} VALUES (1);" for n in range(60))
    tables = tables_in_report(sql, tmp_path)
    assert len(tables["at"]) == 50
    assert "the first 50 of 60 tables" in tables["note"]


@dataclass(frozen=True)
class Table:
    rows: list[list[tuple[str, bytes | None]]]
    total: int = 1000
    error: str = ""


def test_large_rows_make_no_large_page() -> None:
    rows: list[list[tuple[str, bytes | None]]] = [
        [("id", str(number).encode()), ("v", b"x" * 5000)] for number in range(1000)
    ]
    tables = {"a": [Table(rows[::-1]), Table(rows)], "b": [Table([[("id", b"1")]], 1)] * 2}
    content: Any = tables_content([1, 2], tables, resolved=True, note="")
    assert len(str(content)) < 1.2 * MOST_BYTES
    first, last = content["at"]["a"]
    assert (last[0], len(last[2]) > 50, first[2]) == (1000, True, []), "those of the last time are kept"
    assert [len(numbers) for _, _, numbers in content["at"]["b"]] == [1, 1], "each table has a share"
