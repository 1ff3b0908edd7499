"""The forms of a scenario, and what scenarios of each form have; a table of docs/python.md is made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from tests.docs.markdown import table
from ticdc_producer import Scenario

Row: TypeAlias = Mapping[str, Any]
RowChange: TypeAlias = tuple[int, Row | None, Row | None]
"""Number of the transaction, and the row before and after; None before an insert and after a delete."""
Source: TypeAlias = str | Path | Scenario


@dataclass(frozen=True, kw_only=True)
class History:
    """A history that each form can express.

    :param create: SQL before the changes.
    :param changes: of the table ``t``.
    :param later: SQL after the changes.
    """

    create: str
    changes: Sequence[RowChange]
    later: str = ""


def statement_of(change: RowChange) -> str:
    """The SQL statement of a row change; rows are named by all of their values."""
    _, before, after = change
    if before is None:
        assert after is not None
        return f"INSERT INTO t ({', '.join(after)}) VALUES ({', '.join(map(_sql, after.values()))})"
    where = " AND ".join(f"{name} <=> {_sql(value)}" for name, value in before.items())
    if after is None:
        return f"DELETE FROM t WHERE {where}"
    return (
        f"UPDATE t SET {', '.join(f'{name} = {_sql(value)}' for name, value in after.items())} WHERE {where}"
    )


def _sql(value: Any) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


def transactions_of(history: History) -> list[list[str]]:
    """The statements of each transaction."""
    numbers = sorted({number for number, _, _ in history.changes})
    return [[statement_of(change) for change in history.changes if change[0] == number] for number in numbers]


def of_sql(history: History, folder: Path) -> Source:
    """A ``.sql`` file."""
    transactions = [f"BEGIN; {'; '.join(each)}; COMMIT" for each in transactions_of(history)]
    (folder / "s.sql").write_text(";\n".join([history.create, *transactions, history.later]))
    return folder / "s.sql"


def of_yaml(history: History, folder: Path) -> Source:
    """A ``.yaml`` file."""
    steps = [{"sql": history.create}, *({"txn": "; ".join(each)} for each in transactions_of(history))]
    steps += [{"sql": history.later}] if history.later else []
    (folder / "s.yaml").write_text(yaml.safe_dump({"version": 1, "name": "s", "steps": steps}))
    return folder / "s.yaml"


def of_dataframe(history: History, _: Path) -> Source:
    """A DataFrame between two steps of SQL."""
    numbers, before, after = zip(*history.changes, strict=True)
    frame = pa.table({"txn": numbers, "table": ["t"] * len(numbers), "before": before, "after": after})
    scenario = Scenario("s").sql(history.create).changes(frame)
    return scenario.sql(history.later) if history.later else scenario


def of_large_dataframe(history: History, folder: Path) -> Source:
    """A Parquet file that is read as a large one, because it is given by a URI."""
    path = folder / "tables.parquet"
    numbers, before, after = zip(*history.changes, strict=True)
    columns = {"txn": numbers, "seq": [*range(len(numbers))], "table": ["t"] * len(numbers)}
    pq.write_table(pa.table({**columns, "before": before, "after": after}), path)
    return _in_file(history, folder, {"path": path.as_uri()})


def of_large_table(history: History, folder: Path) -> Source:
    """A Parquet file with the columns of one table."""
    path = folder / "large.parquet"
    pq.write_table(flat_changes(history), path)
    changes = {"path": path.as_uri(), "table": "t", "order": ["x", "y"], "before": "old"}
    return _in_file(history, folder, changes)


def _in_file(history: History, folder: Path, changes: Mapping[str, Any]) -> Source:
    steps: list[Any] = [{"sql": history.create}, {"changes": changes}]
    steps += [{"sql": history.later}] if history.later else []
    (folder / "s.yaml").write_text(yaml.safe_dump({"version": 1, "name": "s", "steps": steps}))
    return folder / "s.yaml"


def flat_changes(history: History) -> pa.Table:
    """The changes with a column for each column of the table: ``x``, ``y``, ``op``, ``old`` and those."""
    rows = [after or before or {} for _, before, after in history.changes]
    ops = ["insert" if b is None else "delete" if a is None else "update" for _, b, a in history.changes]
    old = [
        before if op == "update" else None for op, (_, before, _) in zip(ops, history.changes, strict=True)
    ]
    kinds = {
        name: pa.int64() if any(isinstance(row[name], int) for row in rows) else pa.string()
        for name in rows[0]
    }
    columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()}
    kind = pa.struct([*kinds.items()])
    return pa.table({
        "x": [number for number, _, _ in history.changes],
        "y": [*range(len(rows))],
        "op": ops,
        "old": pa.array(old, kind),
        **columns,
    })  # fmt: skip


FORMS: dict[str, Callable[[History, Path], Source]] = {
    "SQL": of_sql,
    "YAML": of_yaml,
    "DataFrame": of_dataframe,
    "large DataFrame": of_large_dataframe,
    "large, one `table`": of_large_table,
}

LARGE, TABLE = "large DataFrame", "large, one `table`"
FEW = "up to 100,000 rows"
FEATURES: dict[str, dict[str, str]] = {
    "expected events and rows": {},
    "rows at a time (`state_at`)": {},
    "a changefeed that starts later (`start_ts`, `target_ts`)": {},
    "traps (`inject`)": {},
    "`append`, `replace`, `resume` and all other options of `run`": {},
    "`verify` with the scenario": {},
    "SQL and DDL of other tables before and after": {},
    "rows of the table before the changes": {},
    "DDL of the table after the changes": {},
    "statements that use rows of the table after the changes": dict.fromkeys((LARGE, TABLE), FEW),
    "several tables in one transaction, and DDL between": {TABLE: "no"},
    "TiDB's conversion of values": {},
    "partitioned tables": {},
    "hidden row ids (`_tidb_rowid`)": dict.fromkeys((LARGE, TABLE), "if the position of each row is given"),
    "TiCDC's order of large transactions": dict.fromkeys((LARGE, TABLE), "not without hidden row ids"),
    "foreign keys are enforced": dict.fromkeys(("DataFrame", LARGE, TABLE), "no: a warning"),
}
"""By feature, the forms that lack it."""


def features() -> str:
    """The table of the features of each form."""
    rows = [[feature, *(lacking.get(form, "yes") for form in FORMS)] for feature, lacking in FEATURES.items()]
    return table(["", *FORMS], rows)
