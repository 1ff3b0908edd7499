"""Makes the dumps of ``dumps/five`` with MariaDB, its dump program and mydumper.

``python -m tests.scenario.sql.dump_programs`` makes them again; mydumper must be on the PATH.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pymysql
from pymysql.converters import encoders

from tests.consumer_state.servers import mariadb

FIVE = Path(__file__).parent / "dumps" / "five"
DATABASES = ("blog", "framework", "rental", "shop", "telemetry")
OPTIONS = {
    "default": [],
    "rows": ["--skip-extended-insert", "--complete-insert", "--hex-blob"],
    "compact": ["--compact"],
}
"""The options of ``mariadb-dump``, by the form of the dump."""
_NUMBERS = {"enum": "0", "set": "0", "bit": "0", "float": "0e0", "double": "0e0"}


def make_dumps(folder: Path) -> None:
    """Make a folder of dumps for each database, each with the rows of the server."""
    with mariadb() as url:
        port = urlsplit(url).port or 0
        for database in DATABASES:
            target = folder / database
            target.mkdir(parents=True, exist_ok=True)
            _run(["mariadb"], port, stdin=(FIVE / database / "source.sql").read_bytes())
            for form, options in OPTIONS.items():
                program = ["mariadb-dump", *options, "--routines", "--events", "--databases", database]
                (target / f"{form}.sql").write_bytes(_run(program, port))
            if shutil.which("mydumper"):
                files = ["--triggers", "--routines", "--events", "--threads", "1", "-o", "mydumper"]
                _run(["mydumper", *files, "-B", database], port, cwd=target)
            tables = ",\n".join(
                f"{json.dumps(name)}: {json.dumps(table, ensure_ascii=False)}"
                for name, table in _rows(database, port).items()
            )
            (target / "rows.json").write_text(f"{{\n{tables}\n}}\n", "utf-8")


def _run(program: list[str], port: int, *, stdin: bytes = b"", cwd: Path | None = None) -> bytes:
    name, *options = program
    own = [] if name == "mydumper" else ["--no-defaults", "--default-character-set=utf8mb4"]
    server = [*own, "--host=127.0.0.1", f"--port={port}", "--user=root", "--password=geheim"]
    done = subprocess.run([name, *server, *options], input=stdin, check=True, capture_output=True, cwd=cwd)
    return done.stdout


def _rows(database: str, port: int) -> dict[str, dict[str, list[Any]]]:
    """The columns and rows of each table, in the form of ``tidb_cases``."""
    connection = pymysql.connect(
        host="127.0.0.1", port=port, user="root", password="geheim", conv=encoders, use_unicode=False
    )
    tables: dict[str, dict[str, list[Any]]] = {}
    with connection, connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+00:00', character_set_results = utf8mb4")
        cursor.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns JOIN "
            "information_schema.tables USING (table_schema, table_name) WHERE table_schema = %s "
            "AND table_type = 'BASE TABLE' ORDER BY table_name, ordinal_position",
            [database],
        )
        columns: dict[str, list[tuple[str, str]]] = {}
        for table, column, kind in cursor.fetchall():
            columns.setdefault(table.decode(), []).append((column.decode(), kind.decode()))
        for table, of_table in columns.items():
            values = [
                f"`{name}`" + (f"+{_NUMBERS[kind]}" if kind in _NUMBERS else "") for name, kind in of_table
            ]
            cursor.execute(f"SELECT {', '.join(values)} FROM `{database}`.`{table}`")
            rows = [[_json(value) for value in row] for row in cursor.fetchall()]
            tables[f"{database}.{table}"] = {"columns": [name for name, _ in of_table], "rows": rows}
    return tables


def _json(value: bytes | None) -> object:
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(value).decode()}


if __name__ == "__main__":
    make_dumps(FIVE)
