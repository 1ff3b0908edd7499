"""Speed of a large ``.sql`` file: plain INSERT, UPDATE and DELETE by primary key, one commit each.

The file is always the same: of ten statements six insert, three update and one deletes, on a table with a
secondary unique key. The two steps before the evaluation are also measured separately: splitting the script
into statements, and parsing them. ``--cli`` also measures ``scenario validate`` on the file, including the
start of Python.

    python benchmarks/sql_statements.py --statements 100000 --rounds 3 --cli --json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from ticdc_producer.scenario.sql.dml.statement_cache import StatementCache
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.text.parse import parse_dml
from ticdc_producer.scenario.sql.text.statements import split_statements

_TABLE = """\
CREATE TABLE accounts (id BIGINT PRIMARY KEY, email VARCHAR(60) NOT NULL, balance DECIMAL(12,2) NOT NULL,
  note VARCHAR(120), seen DATETIME(3), UNIQUE KEY email (email));
"""
_STEP = 7_919
"""A prime, which spreads the rows of UPDATE and DELETE over the whole table."""
_GOAL = 60.0


def statements(count: int) -> Iterator[str]:
    """The file, statement by statement."""
    yield _TABLE
    inserted, deleted = 0, set[int]()
    for number in range(count):
        kind = number % 10
        if kind < 6:
            inserted += 1
            yield _insert(inserted, number)
            continue
        key = number * _STEP % inserted + 1
        while key in deleted:
            key = key % inserted + 1
        if kind < 9:
            change = f"balance = balance + {number % 100}.50, note = 'changed in {number}'"
            yield f"UPDATE accounts SET {change} WHERE id = {key};\n"
        else:
            deleted.add(key)
            yield f"DELETE FROM accounts WHERE id = {key};\n"


def _insert(key: int, number: int) -> str:
    seen = f"2024-01-{number % 28 + 1:02d} 10:{number % 60:02d}:00.123"
    values = f"{key}, 'user{key}@example.com', {number * 37 % 10**7 / 100:.2f}, 'it''s {number}', '{seen}'"
    return f"INSERT INTO accounts (id, email, balance, note, seen) VALUES ({values});\n"


def run(text: str) -> None:
    session = Session()
    session.run(text)
    session.history()


def split(text: str) -> None:
    for _ in split_statements(text):
        pass


def split_and_parse(text: str) -> None:
    cache = StatementCache(lambda statement: parse_dml(statement.sql, statement.line))
    for statement in split_statements(text):
        if statement.verb != "CREATE":
            cache.parsed(statement)


def validate(text: str) -> None:
    """Run the command as users do, with cached byte code."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "big.sql"
        file.write_text(text)
        command = [sys.executable, "-m", "ticdc_producer", "scenario", "validate", str(file)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def seconds(task: Callable[[str], None], text: str, rounds: int) -> list[float]:
    """The time of each round."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        task(text)
        times.append(round(time.perf_counter() - start, 2))
    return times


def measure(count: int, rounds: int, *, cli: bool) -> dict[str, Any]:
    """Measure all tasks on the same file."""
    text = "".join(statements(count))
    tasks: dict[str, Callable[[str], None]] = {"run": run, "cut": split, "cut and parse": split_and_parse}
    if cli:
        tasks["scenario validate"] = validate
    times = {name: seconds(task, text, rounds) for name, task in tasks.items()}
    whole = median(times["run"])
    return {
        "statements": count,
        "bytes": len(text),
        "goal_seconds": _GOAL,
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "sqlglot": version("sqlglot"),
        },
        "seconds": times,
        "statements_per_second": {name: round(count / median(seconds)) for name, seconds in times.items()},
        "share_of_run": {name: round(median(times[name]) / whole, 3) for name in ("cut", "cut and parse")},
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--statements", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cli", action="store_true", help="time `scenario validate`, too")
    parser.add_argument("--json", action="store_true", help="print everything, as JSON")
    options = parser.parse_args()
    report = measure(options.statements, options.rounds, cli=options.cli)
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for name, rate in report["statements_per_second"].items():
        print(f"{name}: {median(report['seconds'][name])} s, {rate} statements/s")


if __name__ == "__main__":
    main()
