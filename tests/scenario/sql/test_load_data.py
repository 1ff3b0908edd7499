"""LOAD DATA LOCAL INFILE: the rows of a file in the folder of the scenario, by TiDB's rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.scenario.parse import parse_scenario
from ticdc_producer.scenario.sql.text.delimited_rows import DelimitedFormat

T = "create table t (id int primary key, v varchar(5), n int not null);"


def history_of(folder: Path, sql: str, content: bytes) -> History:
    """Run SQL in a folder whose file ``rows`` has a content."""
    (folder / "rows").write_bytes(content)
    (folder / "main.sql").write_text(sql, "utf-8")
    return execute(load_scenario(folder / "main.sql"))


def rows_of(folder: Path, sql: str, content: bytes) -> list[tuple[bytes | None, ...]]:
    return [*history_of(folder, sql, content).state["test", "t"].rows]


def load(clauses: str = "", before: str = "") -> str:
    return f"{T} {before} load data local infile 'rows' {clauses or 'into table t'};"


def test_lines_of_fields_with_tabs_are_the_rows(tmp_path: Path) -> None:
    content = b"1\ta\\tb\t10\n2\t\\N\t-3\n3\t\t0"
    history = history_of(tmp_path, load(), content)
    assert [*history.state["test", "t"].rows] == [
        (b"1", b"a\tb", b"10"),
        (b"2", None, b"-3"),
        (b"3", b"", b"0"),
    ]
    assert [change.commit_seq for change in history.changes] == [1, 1, 1]


@pytest.mark.parametrize(
    ("form", "content", "rows"),
    [
        (DelimitedFormat(), "a\t\n\nb", [["a", ""], [""], ["b"]]),
        (
            DelimitedFormat(),
            "a\\\tb\\\\N\t\\N\t\\0\\b\\n\\r\\t\\Z\\x",
            [["a\tb\\N", None, "\0\b\n\r\t\x1ax"]],
        ),
        (DelimitedFormat(terminated=","), '"a",NULL\r\n', [['"a"', "NULL\r"]]),
        (DelimitedFormat(terminated=",", enclosed='"'), '"a,\n""",NULL,"NULL"\n', [['a,\n"', None, "NULL"]]),
        (DelimitedFormat(terminated=",", enclosed='"'), 'a"b,"c"d",""\n', [['a"b', 'c"d', ""]]),
        (DelimitedFormat(terminated=",", enclosed='"'), '"\\N","\\"",\\"\n', [[None, '"', '"']]),
        (DelimitedFormat(terminated=",", escaped=""), "\\N,a\\\n", [["\\N", "a\\"]]),
        (DelimitedFormat(terminated="||", line_end="\r\n"), "a|b||c\rd\r\n", [["a|b", "c\rd"]]),
        (DelimitedFormat(line_start="xx"), "junkxxa\tb\nno\nxxc", [["a", "b"], ["c"]]),
        (DelimitedFormat(null="nil"), "nil\tNULL\t\\N", [[None, "NULL", None]]),
        (
            DelimitedFormat(terminated=",", enclosed="'", null="", null_enclosed=True),
            "'',,'a'",
            [[None, None, "a"]],
        ),
    ],
)
def test_delimiters(form: DelimitedFormat, content: str, rows: list[list[str | None]]) -> None:
    assert [*form.rows(content)] == rows


@pytest.mark.parametrize(("ignored", "rows"), [(1, [["b\nc"], ["d"]]), (2, [['c"'], ["d"]]), (9, [])])
def test_ignored_lines_end_inside_of_quotes_too(ignored: int, rows: list[list[str | None]]) -> None:
    content = 'a\n"b\nc"\nd\n'
    assert [*DelimitedFormat(enclosed='"').rows(content, ignored)] == rows


@pytest.mark.parametrize(
    ("content", "what"), [('"a\n', "is enclosed and not closed"), ("a\\", "nothing follows the escape")]
)
def test_a_file_that_ends_inside_of_a_field(content: str, what: str) -> None:
    with pytest.raises(ScenarioError, match=what):
        [*DelimitedFormat(enclosed='"').rows(content)]


def test_clauses_of_fields_and_lines(tmp_path: Path) -> None:
    clauses = (
        "into table test.t character set utf8mb4 columns terminated by x'2c' optionally enclosed by '\"'"
        " escaped by '!' lines starting by '>' terminated by '\\r\\n' ignore 1 lines (n, `id`, v)"
    )
    content = b'n,id,v\r\n>7,1,"a,!n"\r\nnone\r\n >8,2,!N\r\n'
    assert rows_of(tmp_path, load(clauses), content) == [(b"1", b"a,\n", b"7"), (b"2", None, b"8")]


def test_variables_and_set(tmp_path: Path) -> None:
    sql = load(
        "into table t (id, @a, @b) set v = concat(@a, '-', @c), n = ifnull(@B, 0) + 1", "set @c = 'c';"
    )
    sql += "insert into t (id, v, n) values (9, @a, ifnull(@b, 5))"
    assert rows_of(tmp_path, sql, b"1\tx\t4\n2\ty\t\\N\n") == [
        (b"1", b"x-c", b"5"),
        (b"2", b"y-c", b"1"),
        (b"9", b"y", b"5"),
    ]


def test_columns_that_no_field_has_get_their_defaults(tmp_path: Path) -> None:
    columns = "v int default 5, g int as (v * 2) stored, d int not null"
    table = f"create table t (id bigint primary key auto_increment, {columns});"
    sql = f"{table} load data local infile 'rows' into table t (@x, d);"
    assert rows_of(tmp_path, sql, b"a\t1\nb\t2\n") == [(b"1", b"5", b"10", b"1"), (b"2", b"5", b"10", b"2")]
    every = f"{table} load data local infile 'rows' into table t"
    assert rows_of(tmp_path, every, b"4\t1\t99\t3\n") == [(b"4", b"1", b"2", b"3")]


def test_without_replace_it_ignores_errors_of_rows(tmp_path: Path) -> None:
    before = "insert into t values (1, 'old', 0);"
    content = b"1\tnew\t1\n2\tlonger text\tx\n3\n4\ta\t5\t6\n5\tb\t\\N\n"
    assert rows_of(tmp_path, load(before=before), content) == [
        (b"1", b"old", b"0"),
        (b"2", b"longe", b"0"),
        (b"3", None, b"0"),
        (b"4", b"a", b"5"),
        (b"5", b"b", b"0"),
    ]


def test_a_missing_date_is_the_time_of_the_statement(tmp_path: Path) -> None:
    table = "create table t (id int primary key, d datetime not null, e date); set timestamp = 86400;"
    sql = f"{table} load data local infile 'rows' into table t"
    assert rows_of(tmp_path, sql, b"1") == [(b"1", b"1970-01-02 00:00:00", None)]


def test_replace_replaces_rows_and_is_strict(tmp_path: Path) -> None:
    clauses, before = "replace into table t", "insert into t values (1, 'old', 0), (2, 'b', 2);"
    history = history_of(tmp_path, load(clauses, before), b"1\tnew\t1\n2\tb\t2\n")
    assert [*history.state["test", "t"].rows] == [(b"1", b"new", b"1"), (b"2", b"b", b"2")]
    lax = rows_of(tmp_path, load(clauses, "set sql_mode = '';"), b"1\ttoo long\n2\ta\t3\t4\n")
    assert lax == [(b"1", b"too l", b"0"), (b"2", b"a", b"3")]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"1\ta\t1\n2\ta\n", "Row 2 doesn't contain data for all columns"),
        (b"1\ta\t1\t1\n", "Row 1 was truncated; it contained more data"),
        (b"1\ttoo long\t1\n", "Data too long"),
        (b"1\ta\t\\N\n", "cannot be null"),
        (b"1\ta\tx\n", "Incorrect int"),
    ],
)
def test_replace_in_strict_mode_refuses(tmp_path: Path, content: bytes, what: str) -> None:
    with pytest.raises(ScenarioError, match=what) as error:
        history_of(tmp_path, load("replace into table t"), content)
    assert error.value.line == 1


def test_it_checks_no_foreign_keys(tmp_path: Path) -> None:
    sql = load(
        "into table t", "create table c (id int primary key, r int, foreign key (r) references t (id));"
    )
    sql = sql.replace("into table t;", "into table c;")
    history = history_of(tmp_path, sql, b"1\t77\n")
    assert [*history.state["test", "c"].rows] == [(b"1", b"77")]


def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    sql = "create table t (id int primary key, b blob); load data local infile 'rows' into table t"
    assert rows_of(tmp_path, sql, b"1\t\xff\xfe\n") == [(b"1", b"\xff\xfe")]


def test_it_belongs_to_an_open_transaction(tmp_path: Path) -> None:
    sql = f"{T} begin; load data local infile 'rows' into table t; rollback;"
    assert rows_of(tmp_path, sql, b"1\ta\t1\n") == []


@pytest.mark.parametrize(
    ("clauses", "what"),
    [
        ("into table t fields terminated by ''", "an empty TERMINATED BY"),
        ("into table t lines terminated by ''", "an empty TERMINATED BY"),
        ("into table t fields terminated by '\"' enclosed by '\"'", "must not be prefix of each other"),
        ("into table t fields enclosed by 'ab'", "are one character"),
        ("into table t lines starting by 'a\\n'", "cannot contain LINES TERMINATED BY"),
        ("into table t fields defined null by 'x' optionally enclosed", "needs ENCLOSED BY"),
        ("into table t (id) set v = n", "Unknown column 'n'"),
        ("into table t (id, x)", "Unknown column 'x'"),
        ("into table t (id, id)", "specified twice"),
        ("into table u", "doesn't exist"),
        ("into table t character set latin1", "the charset latin1 is not supported in LOAD DATA"),
        ("into table t with detached", "WITH in LOAD DATA"),
        ("into table t ignore lines", "expected a whole number"),
    ],
)
def test_clauses_that_are_refused(tmp_path: Path, clauses: str, what: str) -> None:
    with pytest.raises(ScenarioError, match=what):
        history_of(tmp_path, load(clauses), b"1\ta\t1\n")


@pytest.mark.parametrize("name", ["none", "../rows", "/etc/hostname", "folder"])
def test_only_files_of_the_folder_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(ScenarioError, match="LOAD DATA reads files of the folder") as error:
        history_of(tmp_path, f"{T}\nload data local infile '{name}' into table t", b"")
    assert (error.value.file, error.value.line) == (str(tmp_path / "main.sql"), 2)
    posted = f"{T} load data local infile '{tmp_path / 'rows'}' into table t".encode()
    with pytest.raises(ScenarioError, match="LOAD DATA reads files of the folder"):
        execute(parse_scenario(posted, "posted.sql"))


def test_a_sourced_file_loads_from_the_folder_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "more.sql").write_text('load data local infile "rows" into table t;')
    assert rows_of(tmp_path, f"{T}\nSOURCE more.sql\n", b"1\ta\t1\n") == [(b"1", b"a", b"1")]


def test_its_file_is_in_the_digest_of_the_scenario(tmp_path: Path) -> None:
    history_of(tmp_path, load(), b"1\ta\t1\n")
    first = load_scenario(tmp_path / "main.sql").sha256
    (tmp_path / "rows").write_bytes(b"1\ta\t2\n")
    assert load_scenario(tmp_path / "main.sql").sha256 != first
