"""What a page of docs/extending lists is enough: the program with a toy of its kind works.

Each test changes the listed modules in a copy of the program.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import pytest

import ticdc_producer

SOURCE = Path(ticdc_producer.__file__).parent


class Copy:
    """A copy of the program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(SOURCE, folder / SOURCE.name, ignore=shutil.ignore_patterns("__pycache__"))

    def change(self, module: str, before: str, after: str) -> None:
        path = self.folder / SOURCE.name / module
        text = path.read_text("utf-8")
        assert text.count(before) == 1
        path.write_text(text.replace(before, after), "utf-8")

    def run(self, *arguments: str) -> str:
        command = [sys.executable, "-m", SOURCE.name, *arguments]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run_sql(self, sql: str, *options: str) -> str:
        """Run statements into the golden folder ``golden``."""
        (self.folder / "try.sql").write_text(sql)
        return self.run("run", "try.sql", "--out", "golden", "--engine", "local", *options)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


@pytest.mark.slow
def test_an_sql_function_is_a_function_and_a_line(copy: Copy) -> None:
    """docs/extending/sql-function.md."""
    copy.change(
        "scenario/sql/functions/text.py",
        "FUNCTIONS = {\n",
        'FUNCTIONS = {\n    "SHOUT": value_function(lambda value: f"{value}!", 1, type=E.TEXT),\n',
    )
    copy.run_sql("CREATE TABLE t (id INT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, SHOUT('ah'));")
    assert "ah!" in copy.run("decode", "--in", "golden")


@pytest.mark.slow
def test_a_section_of_the_reports_is_a_field_of_the_verdict(copy: Copy) -> None:
    """docs/extending/report-section.md."""
    copy.change(
        "verifier/verdict.py",
        "    engine: EngineChoice | None = None\n",
        "    engine: EngineChoice | None = None\n    planets: int = 0\n",
    )
    copy.change(
        "verifier/verdict.py",
        '            "ok": self.ok,\n',
        '            "ok": self.ok, "planets": self.planets,\n',
    )
    copy.change(
        "runs/verification.py", "        kinds=kinds,\n", "        kinds=kinds,\n        planets=9,\n"
    )
    copy.change(
        "cli/report_text.py",
        "        _checked(console, verdict)\n",
        '        _checked(console, verdict)\n        console.print(f"{verdict.planets} planets")\n',
    )
    assert "9 planets" in copy.run_sql("CREATE TABLE t (id INT PRIMARY KEY);")
    report = json.loads(copy.run("verify", "--in", "golden", "--engine", "local", "--json"))
    assert report["planets"] == 9


TWO_SCHEMAS = """
CREATE DATABASE shop;
CREATE TABLE shop.t (id INT PRIMARY KEY);
CREATE TABLE test.t (id INT PRIMARY KEY);
INSERT INTO shop.t VALUES (1), (2), (3);
INSERT INTO test.t VALUES (1), (2), (3);
"""


@pytest.mark.slow
def test_a_dispatch_rule_is_in_the_modules_of_its_page(copy: Copy) -> None:
    """docs/extending/dispatch-rule.md: the rule ``schema`` has the CRC-32 of the database as its number."""
    every_rule = [
        (
            "dispatch/rules.py",
            'RuleName: TypeAlias = Literal["table", ',
            'RuleName: TypeAlias = Literal["schema", "table", ',
        ),
        ("dispatch/rules.py", '    "": "table",', '    "": "table", "schema": "schema",'),
        ("dispatch/rules.py", '["default", "table",', '["default", "schema", "table",'),
        (
            "dispatch/rules.py",
            'crc32(f"{schema}{name}".encode())',
            'crc32((schema if entry.rule == "schema" else f"{schema}{name}").encode())',
        ),
        (
            "verifier/options.py",
            'Rule: TypeAlias = Literal["table", ',
            'Rule: TypeAlias = Literal["schema", "table", ',
        ),
        ("verifier/events.py", "    TS = 4\n", "    TS = 4\n    SCHEMA = 5\n"),
        ("verifier/row_digests.py", "RULES = {\n", 'RULES = {\n    "schema": Rule.SCHEMA,\n'),
        (
            "verifier/row_digests.py",
            '    if rule.rule == "table":\n',
            """    if rule.rule == "schema":
        return np.full(len(layout.rows), crc32(rule.schema.encode()))
    if rule.rule == "table":
""",
        ),
        ("verifier/invariants/events.py", '{1: "table", ', '{5: "schema", 1: "table", '),
        ("conformance/fuzz/random_example.py", '_RULES = ("", ', '_RULES = ("", "schema", '),
    ]
    one_partition_for_a_row = [
        (
            "verifier/passes/row_history.py",
            "(changes.rule == Rule.TABLE)",
            "np.isin(changes.rule, [Rule.TABLE, Rule.SCHEMA])",
        ),
        ("verifier/stream_stats.py", "(rule == Rule.TABLE)", "np.isin(rule, [Rule.TABLE, Rule.SCHEMA])"),
        ("oracle/comparable_tables.py", 'rule.rule in ("table", ', 'rule.rule in ("schema", "table", '),
    ]
    dispatch_key = [
        ("verifier/passes/partition_marks.py", "[Rule.INDEX_VALUE, ", "[Rule.SCHEMA, Rule.INDEX_VALUE, "),
        (
            "verifier/invariants/order.py",
            "(events.rule == Rule.TABLE)",
            "np.isin(events.rule, [Rule.TABLE, Rule.SCHEMA])",
        ),
    ]
    for change in (*every_rule, *one_partition_for_a_row, *dispatch_key):
        copy.change(*change)
    rule = "changefeed.sink.dispatchers=[{matcher: ['*.*'], partition: schema}]"
    uri = "kafka:///t?protocol=canal-json&enable-tidb-extension=true&partition-num=3"
    copy.run_sql(TWO_SCHEMAS, "--set", rule, "--sink-uri", uri)
    rows = re.findall(r"t/(\d)@.* insert (\w+)\.t ", copy.run("decode", "--in", "golden"))
    expected = {(str(crc32(schema.encode()) % 3), schema) for schema in ("shop", "test")}
    assert set(rows) == expected
    assert len(rows) == 6
    report = json.loads(copy.run("verify", "--in", "golden", "--engine", "local", "--json"))
    assert (report["ok"], report["findings"]) == (True, [])
    assert {"INV-ROW-PARTITION", "INV-KEY-PARTITION", "INV-ORDER-TABLE"} <= set(report["checked"])


WIDTH = """
def _check_width(checks: KeyChecks) -> Violations:
    events = checks.groups.events
    wide = events.width > 2
    return Violations.of_events(events, wide, "warning", lambda row: f"{events.width[row]} values")


WIDE = Invariant(
    id="INV-WIDE",
    severity="warning",
    statement="Rows have two columns at most.",
    hint="",
    by_key=_check_width,
    preconditions=preconditions.handle_key_rows,
)

"""


@pytest.mark.slow
def test_a_verifier_column_is_in_the_modules_of_its_page(copy: Copy) -> None:
    """docs/extending/verifier-column.md: a column that moves follows from the event, and a check reads it."""
    copy.change(
        "verifier/events.py",
        "    key_change: TextColumn\n",
        "    width: Int32Column\n    key_change: TextColumn\n",
    )
    copy.change(
        "verifier/passes/observe.py",
        '            "op": self.op,\n',
        '            "op": self.op,\n            "width": self.new.lists.ends - self.new.lists.starts,\n',
    )
    copy.change(
        "verifier/invariants/row_state.py", "OLD_IMAGE = Invariant(", f"{WIDTH}OLD_IMAGE = Invariant("
    )
    copy.change(
        "verifier/invariants/registry.py",
        "    row_state.SCHEMA,\n",
        "    row_state.SCHEMA,\n    row_state.WIDE,\n",
    )
    copy.run_sql(
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT); CREATE TABLE u (id INT PRIMARY KEY);"
        "INSERT INTO t VALUES (1, 2, 3); INSERT INTO u VALUES (1);"
    )
    report = json.loads(copy.run("verify", "--in", "golden", "--engine", "local", "--json"))
    (finding,) = report["findings"]
    assert (finding["id"], finding["count"]) == ("INV-WIDE", 1)
    assert finding["examples"][0]["detail"] == "3 values"
