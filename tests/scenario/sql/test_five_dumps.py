"""Databases of five kinds come back from their dumps with the rows of the server that wrote them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.scenario.sql.dump_programs import DATABASES, FIVE, make_dumps
from tests.scenario.sql.tidb_results import differences, tables_of
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import load_scenario

FORMS = ("default", "rows", "compact", "mydumper")


def history_of(folder: Path, form: str) -> History:
    """Run a dump; in one of ``--compact`` the tables are not in the order of their foreign keys."""
    file = folder / f"{form}.sql"
    if form == "mydumper":
        file = folder / form
    elif form == "compact":
        file = folder / "load.sql"
        file.write_text(f"SET foreign_key_checks = 0;\nSOURCE {form}.sql\n")
    return execute(load_scenario(file), force_replicate=True)


def check_rows(folder: Path, form: str) -> None:
    tables = tables_of(history_of(folder, form))
    rows = json.loads((folder / "rows.json").read_text("utf-8"))
    assert [
        difference
        for name in tables.keys() | rows
        for difference in differences(name, tables.get(name), rows.get(name))
    ] == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("database", DATABASES)
def test_a_dump_has_the_rows_of_the_server(database: str, form: str, tmp_path: Path) -> None:
    shutil.copytree(FIVE / database, tmp_path / database)
    check_rows(tmp_path / database, form)


@pytest.mark.slow  # fast: test_a_dump_has_the_rows_of_the_server
def test_dumps_that_are_made_now(tmp_path: Path) -> None:
    make_dumps(tmp_path)
    for database in DATABASES:
        for form in FORMS:
            if form != "mydumper" or shutil.which("mydumper"):
                check_rows(tmp_path / database, form)


def test_views_and_programs_of_a_mydumper_folder() -> None:
    history = history_of(FIVE / "rental", "mydumper")
    views = {
        view.name: [column.name for column in view.columns] for view in history.catalog.tables if view.is_view
    }
    assert views == {"film_actors": ["title", "last"], "short_films": ["title"]}
    [note] = history.ignored_statements.notes
    assert Path(note.file).name == "rental-schema-post.sql"
    assert note.text == "the file is ignored: TiDB has no stored procedures, stored functions and events"
