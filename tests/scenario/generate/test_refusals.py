"""Invalid steps are rejected with file and line, before Spark starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.errors import ScenarioError, ScenarioProblems
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.load import load_scenario

HEAD = """\
version: 1
steps:
  - sql: |
      CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, note VARCHAR(9), f FLOAT);
      CREATE TABLE full (id INT PRIMARY KEY, n INT); INSERT INTO full VALUES (1, 1);
      CREATE TABLE loose (n INT);
      CREATE TABLE parts (id INT KEY, n INT) PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (7));
      CREATE TABLE halves (id INT PRIMARY KEY, twice INT AS (id * 2) STORED);
      CREATE TABLE keys_only (id INT PRIMARY KEY);
      CREATE TABLE vectors (id INT PRIMARY KEY, v VECTOR(3));
      CREATE TABLE tiny (id TINYINT PRIMARY KEY);
      CREATE TABLE real_key (f DOUBLE PRIMARY KEY);
      CREATE TABLE child (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES full (id));
  - generate:
"""


def rejected(folder: Path, step: str, behind: str = "") -> str:
    path = folder / "s.yaml"
    lines = "".join(f"      {line}\n" for line in step.splitlines())
    path.write_text(HEAD + lines + behind)
    with pytest.raises((ScenarioError, ScenarioProblems)) as caught:
        execute(load_scenario(path))
    assert caught.value.exit_code == 2
    return str(caught.value).replace(str(folder) + "/", "")


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("table: t\ntransactions: 0", "s.yaml:16: steps[1].generate.transactions: input"),
        (
            "table: t\ntransactions: 5\nmix: {insert: -1}",
            "s.yaml:17: steps[1].generate.mix.insert: input",
        ),
        (
            "table: t\ntransactions: 5\nmix: {update: 1, delete: 1}",
            "s.yaml:17: steps[1].generate.mix: more",
        ),
        (
            "table: t\ntransactions: 5\nmix: {update: 1}",
            "s.yaml:14: steps[1].generate: there are no",
        ),
        (
            "table: t\ntransactions: 5\nupdate: [n]",
            "s.yaml:17: unknown key 'steps[1].generate.update' (",
        ),
        (
            "table: t\ntransactions: 5\ncolumns:\n  n: {distributon: zipf}",
            "s.yaml:18: unknown key 'steps[1].generate.columns.n.distributon' (did you mean 'distribution'?)",
        ),
        (
            "table: t\ntransactions: 1000000\nrows-per-transaction: 10000",
            "s.yaml:14: steps[1].generate: more than 2000000000 row changes",
        ),
        ("table: nope\ntransactions: 5", "s.yaml:15: Table 'test.nope' doesn't exist"),
        ("table: full\ntransactions: 5", "s.yaml:15: table test.full holds rows already"),
        ("table: loose\ntransactions: 5", "s.yaml:15: table test.loose has no primary key"),
        (
            "table: parts\ntransactions: 5\nrows: 7",
            "s.yaml:14: a generated row of test.parts has id = 8: Table has no partition for value 8 (",
        ),
        ("table: halves\ntransactions: 5", "s.yaml:15: column 'twice' is generated and stored"),
        ("table: vectors\ntransactions: 5", "s.yaml:15: values of type vector cannot be generated"),
        ("table: child\ntransactions: 5", "s.yaml:15: table test.child has a foreign key"),
        (
            "table: keys_only\ntransactions: 5",
            "s.yaml:14: table test.keys_only has columns of unique",
        ),
        (
            "table: tiny\ntransactions: 500\nmix: {insert: 1}",
            "s.yaml:15: no column of key 'PRIMARY'",
        ),
        (
            "table: real_key\ntransactions: 5\nmix: {insert: 1}",
            "s.yaml:15: no column of key 'PRIMARY'",
        ),
        (
            "table: t\ntransactions: 5\nrows-per-transaction: 4\nchanges-per-row: 4\nmix: {insert: 1}",
            "s.yaml:19: 20 new rows are needed, but only 5 rows are picked",
        ),
        ("table: t\ntransactions: 5\nupdates: [nn]", "s.yaml:17: table test.t has no column 'nn'"),
        (
            "table: t\ntransactions: 5\nrows: 5\nmix: {insert: 1}\neach: [{does: replace}]",
            "s.yaml:14: steps[1].generate: each cannot be combined with mix",
        ),
        (
            "table: t\ntransactions: 5\nrows: 5\neach:\n  - {does: update, columns: [id]}",
            "s.yaml:19: column 'id' belongs to a unique key",
        ),
        (
            "table: t\ntransactions: 5\nrows: 5\neach:\n  - {does: update}",
            "s.yaml:19: steps[1].generate.each[0]: an update requires columns, a replace has none",
        ),
        (
            "table: t\ntables: [{table: keys_only}]\ntransactions: 5",
            "s.yaml:14: steps[1].generate: a step has either table or tables",
        ),
        (
            "tables:\n  - {table: t}\n  - {table: T}\ntransactions: 5",
            "s.yaml:14: steps[1].generate: tables names one table twice",
        ),
        (
            "tables:\n  - {table: t, share: 0}\ntransactions: 5",
            "s.yaml:14: steps[1].generate: the shares are all 0",
        ),
        (
            "tables: [{table: t}, {table: a}]\nrows-per-transaction: 3\nchanges-per-row: 2\ntransactions: 5",
            "s.yaml:14: steps[1].generate: with several tables, rows-per-transaction is a multiple",
        ),
        (
            "tables:\n  - {table: t}\n  - table: real_key\ntransactions: 5",
            "s.yaml:17: no column of key 'PRIMARY'",
        ),
        (
            "tables:\n  - {table: t, rows: 1}\n  - {table: vectors, rows: 1}\ntransactions: 5",
            "s.yaml:17: values of type vector cannot be generated",
        ),
        (
            "tables:\n  - {table: t}\n  - {table: tiny}\ntransactions: 5\ncolumns: {note: {length: 3}}",
            "s.yaml:19: table test.tiny has no column 'note'",
        ),
        (
            "tables: [{table: t, rows: 1}]\ntransactions: 5\neach:\n  - {does: replace, table: tiny}",
            "s.yaml:14: steps[1].generate: each: 'tiny' is not one of the tables",
        ),
        (
            "tables: [{table: t}]\neach: [{does: replace, table: t}, {does: replace}]\ntransactions: 5",
            "s.yaml:14: steps[1].generate: either all statements of each name a table",
        ),
        (
            "tables: [{table: t}, {table: tiny, rows: 1}]\ntransactions: 5\neach: [{does: replace}]",
            "s.yaml:14: steps[1].generate: t: there are no rows",
        ),
        (
            "tables: [{table: t, rows: 1}, {table: tiny, rows: 1}]\ntransactions: 5\neach: [{does: insert}]",
            "s.yaml:14: steps[1].generate: each: an insert requires a table if there are several",
        ),
        ("table: t\ntransactions: 5\nupdates: [id]", "s.yaml:17: column 'id' belongs to a unique key"),
    ],
)
def test_steps(tmp_path: Path, step: str, message: str) -> None:
    assert rejected(tmp_path, step).startswith(message)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("nope: {nulls: 0}", "table test.t has no column 'nope' (did you mean 'note'?)"),
        ("n: {nulls: 0.5}", "column 'n' cannot be null"),
        ("n: {values: [1, null]}", "column 'n' cannot be null"),
        ("n: {values: [x]}", "Incorrect integer value for column 'n': 'x'"),
        ("n: {min: 9999999999}", "Out of range value for column 'n'"),
        ("n: {min: 2, max: 1}", "column 'n': no value lies between min and max"),
        ("n: {length: 3}", "column 'n' is int and has no length"),
        ("note: {length: 10}", "column 'note' holds 9 at most, not 10"),
        ("note: {min: a}", "column 'note' is varchar and has no min and max"),
        ("f: {distribution: sequence}", "column 'f' has no room for"),
        ("f: {adds: '1'}", "nothing can be added to column 'f'"),
        ("n: {adds: \"if(row LIKE '1%', 1, 0)\"}", "the condition \"row LIKE '1%'\" is not supported"),
        ("n: {expression: rand()}", "rand in the expression of column 'n' differs from run to run"),
    ],
)
def test_columns(tmp_path: Path, column: str, message: str) -> None:
    step = f"table: t\ntransactions: 5\ncolumns:\n  note: {{nulls: 0}}\n  {column}"
    if column.startswith("note"):
        step = step.replace("  note: {nulls: 0}\n", "  f: {nulls: 0}\n")
    assert rejected(tmp_path, step).startswith(f"s.yaml:19: {message}")


def test_a_year_begins_at_its_first(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        HEAD.replace("f FLOAT", "f YEAR") + "      {table: t, transactions: 5, columns: {f: {min: '0000'}}}\n"
    )
    with pytest.raises(ScenarioError, match="column 'f': min of a YEAR is at least 1901"):
        execute(load_scenario(path))


def test_states_that_do_not_fit_into_a_task(tmp_path: Path) -> None:
    step = "table: t\ntransactions: 5\nmix: MIX\nrows: 500000000"
    error = rejected(tmp_path, step.replace("MIX", "{update: 1}"))
    assert error.startswith("s.yaml:14: to follow the 500000000 rows of test.t, each task needs 22888 MiB")
    path = tmp_path / "inserts.yaml"
    path.write_text(HEAD + "      {table: t, transactions: 400000000, mix: {insert: 1}}\n")
    assert execute(load_scenario(path)).row_changes == 400_000_001


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("DELETE FROM t", "the rows of test.t were generated"),
        ("INSERT INTO full SELECT id, n FROM t", "the rows of test.t were generated"),
        ("RENAME TABLE t TO u", "DDL of test.t after its generate step is not supported"),
        ("DROP DATABASE test", "DDL of test.t after its generate step is not supported"),
        (
            "CREATE TABLE kid (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES t (id))",
            "a foreign key to test.t, whose rows were generated, is not supported",
        ),
    ],
)
def test_sql_behind_the_step(tmp_path: Path, sql: str, message: str) -> None:
    error = rejected(tmp_path, "table: t\ntransactions: 5", f"  - sql: {sql}\n")
    assert error.startswith(f"s.yaml:17: {message}")


def test_a_table_is_generated_only_once(tmp_path: Path) -> None:
    again = "  - generate: {table: T, transactions: 5}\n"
    assert rejected(tmp_path, "table: t\ntransactions: 5", again).startswith(
        "s.yaml:17: the rows of test.t were generated"
    )


def test_other_tables_can_be_changed_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        HEAD
        + "      table: t\n      transactions: 5\n      rows: 2500\n  - sql: INSERT INTO full VALUES (2, 2)\n"
    )
    history = execute(load_scenario(path))
    [plan] = history.generated
    # Three transactions of up to 1000 rows, and five.
    assert history.changes[-1].commit_seq == plan.first_commit + 8
    assert history.commits == plan.first_commit + 9
    assert ("test", "t") not in history.state
