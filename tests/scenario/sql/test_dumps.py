"""Files of dump programs are scenarios; ``dumps/README.md`` says which program wrote which file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import load_scenario

DUMPS = Path(__file__).with_name("dumps")


def history_of(name: str) -> History:
    # Without --databases a dump does not name its database.
    overrides = ["session.database=warehouse"] if name == "mariadb-dump-plain" else []
    return execute(load_scenario(DUMPS / f"{name}.sql", overrides))


@pytest.fixture(scope="module")
def warehouse() -> History:
    """The database that was dumped."""
    return history_of("warehouse")


@pytest.mark.parametrize("name", ["mariadb-dump", "mariadb-dump-hex", "mariadb-dump-plain", "mydumper"])
def test_a_dump_has_the_rows_of_its_database(warehouse: History, name: str) -> None:
    tables = history_of(name).state
    assert len(warehouse.state) == 9
    for table, state in warehouse.state.items():
        rows = sorted(state.rows, key=repr)
        if table[1] == "no_key":  # its row ids follow the order of the dump
            assert sorted(tables[table].rows, key=repr) == rows
        else:
            assert tables[table].rows == state.rows, table


def test_bytes_of_a_dump_are_those_of_the_row(warehouse: History) -> None:
    history = history_of("mariadb-dump")
    state = history.state["warehouse", "every_type"]
    columns = [column.name for column in history.catalog.tables[state.version].columns]
    row = dict(zip(columns, state.rows[0], strict=True))
    assert row["c_varbinary"] == bytes.fromhex("0001020a0d1a22275cff")
    assert row["c_blob"] == bytes.fromhex("00270022005c000d0a1a")
    assert row["c_longblob"] == b"\xfe" * 30
    assert row["c_longtext"] == "grün 日本 🦀".encode()
    assert row["c_text"] == b"line one\nline two\r\n; -- not a comment\nDELIMITER //"
    assert row["c_bit"] == str(0b1111100000).encode()


@pytest.mark.parametrize("name", ["mariadb-dump", "mariadb-dump-hex"])
def test_programs_of_a_dump_are_noted(name: str) -> None:
    notes = [note.text.partition(" is ")[0] for note in history_of(name).ignored_statements.notes]
    assert [note for note in notes if note.startswith("CREATE")] == [
        "CREATE TRIGGER", "CREATE EVENT", "CREATE FUNCTION", "CREATE PROCEDURE",
    ]  # fmt: skip


def test_views_of_a_dump_are_created() -> None:
    views = [table for table in history_of("mariadb-dump").catalog.tables if table.is_view]
    assert {view.name: [column.name for column in view.columns] for view in views} == {
        "dear": ["nr", "price"],
        "names": ["name", "child"],
    }


def test_a_dump_of_mysqldump() -> None:
    history = history_of("mysqldump")
    quotes = b"\0\n\r\x1a\"'\\"
    assert history.state["depot", "goods"].rows == (
        (b"0", b"nothing; really", b"0.00", b"0.00", b"0", None, None, b"2020-01-01 00:00:00"),
        (b"1", b"it's -- new", b"5.00", b"6.00", b"1", quotes, b'{"name": "a\\\\b", "size": [1, 2]}', None),
        (b"2", "grün".encode(), b"12.50", b"15.00", b"2", b"\xde\xad\xbe\xef", b"[]", b"2020-01-03 00:00:00"),
    )
    assert history.state["depot", "history"].rows == (
        (b"1", b"1", b"1999", b"first\nline"),
        (b"2", None, b"2020", b""),
    )


def test_a_dump_of_dumpling() -> None:
    history = history_of("dumpling")
    assert history.state["depot", "goods"].rows == (
        (b"1152921504606846977", b"it's; new", b"\0\xff", b"2020-01-01 00:00:00"),
        (b"2305843009213693954", "grün".encode(), None, None),
    )
    assert sorted(history.state["depot", "history"].rows) == [(b"1", b"first\nline"), (b"2", None)]
