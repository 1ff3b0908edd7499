"""Small SQL scripts with what a real TiDB 8.4 made of them: which statements failed, and the final rows.

``tidb_cases/AREA.jsonl`` has a case per line: the statements with TiDB's error code (0: it ran), and the
tables. Lines from BEGIN to COMMIT are one statement: its first error ends it with a ROLLBACK. Each statement
runs, whatever became of those before it. Values are the text of MySQL's protocol; ENUM, SET and BIT are
numbers, TIMESTAMP is in UTC, columns that are VIRTUAL are left out, and the database is called ``test``.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import FLOATS, MySQLType
from ticdc_producer.model.values.number_text import narrow
from ticdc_producer.scenario.history import History, RowImage
from ticdc_producer.scenario.sql.session.session import Session

CASES = Path(__file__).parent / "tidb_cases"
AREAS = sorted(path.stem for path in CASES.glob("*.jsonl"))
NOW = datetime.fromtimestamp(1_700_000_000, UTC)


@dataclass(frozen=True)
class Case:
    """A case as TiDB ran it."""

    name: str
    statements: list[tuple[str, int]]
    tables: dict[str, dict[str, list[Any]]]


@dataclass(frozen=True)
class OwnTable:
    """The columns and rows of a table here, without VIRTUAL columns."""

    columns: tuple[ColumnInfo, ...]
    rows: tuple[RowImage, ...]


@dataclass
class Outcome:
    """What became of a case here.

    :param refused: errors that name SQL that this tool does not support, but TiDB does.
    :param differences: statements that fail here alone or in TiDB alone, and tables with other rows.
    """

    refused: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)


def cases_of(area: str) -> list[Case]:
    lines = (CASES / f"{area}.jsonl").read_text("utf-8").splitlines()
    return [Case(**json.loads(line)) for line in lines]


def outcome_of(case: Case) -> Outcome:
    outcome, session = Outcome(), Session(now=NOW, force_replicate=True)
    for sql, code in case.statements:
        try:
            session.run(sql)
        except UnsupportedSQL as error:
            if not code:
                outcome.refused.append(f"{sql}: {error.what}")
        except ScenarioError as error:
            if not code:
                outcome.differences.append(f"{sql}: {error.what}")
        else:
            if code:
                outcome.differences.append(f"{sql}: TiDB's error {code}")
            continue
        with suppress(ScenarioError):
            session.run("rollback")
    own = tables_of(session.history())
    for name in sorted(own.keys() | case.tables.keys()):
        outcome.differences += differences(name, own.get(name), case.tables.get(name))
    return outcome


def differences(name: str, own: OwnTable | None, theirs: dict[str, list[Any]] | None) -> list[str]:
    """Compare a table here with that of a server; None where it does not exist."""
    if own is None or theirs is None:
        return [f"{name} exists {'in the server' if own is None else 'here'} alone"]
    names = [column.name for column in own.columns]
    if names != theirs["columns"]:
        return [f"{name} has the columns {names}, in the server {theirs['columns']}"]
    ours = Counter(repr(list(map(_own_value, own.columns, row))) for row in own.rows)
    rows = Counter(repr(list(map(_tidb_value, own.columns, row))) for row in theirs["rows"])
    return [f"{name} here alone: {row}" for row in (ours - rows).elements()] + [
        f"{name} in the server alone: {row}" for row in (rows - ours).elements()
    ]


def _own_value(column: ColumnInfo, value: Value) -> float | bytes | None:
    """Return a stored value; a FLOAT as the DOUBLE that it is, because a case has it as ``col+0e0``."""
    if value is None or column.type not in FLOATS:
        return value
    return narrow(float(value), column.type)


def _tidb_value(column: ColumnInfo, value: Any) -> float | bytes | None:
    if value is None:
        return None
    if isinstance(value, dict):
        return base64.b64decode(value["b64"])
    if column.type in FLOATS:
        return float(value)
    text: str = value
    return str(int(text)).encode() if column.type == MySQLType.YEAR else text.encode()


def tables_of(history: History) -> dict[str, OwnTable]:
    """The tables at the end of a history, by database and name."""
    return {
        f"{schema}.{name}": OwnTable(history.catalog.tables[state.version].sent_columns, state.rows)
        for (schema, name), state in history.state.items()
    }
