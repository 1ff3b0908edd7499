"""Random histories of tables as DataFrames with columns for several tables: rows, and DDL among them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from tests.conftest import EXHAUSTIVE

Images: TypeAlias = Literal["json", "struct", "map"]
Row: TypeAlias = dict[str, Any]
Record: TypeAlias = tuple[str | None, str | None, Row | None, Row | None]
"""Statement or, without a row before, the operation; table, and the row before and after."""

START = 429918007904436226
_COLUMNS = {"id": pa.int64(), "k": pa.string(), "v": pa.string(), "d": pa.string(), "n": pa.int32(),
            "w": pa.string()}  # fmt: skip
CREATE_T = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9), d DECIMAL(8,2) NOT NULL, UNIQUE (id, v))"
CREATE_U = "CREATE TABLE u (k VARCHAR(5) COLLATE utf8mb4_general_ci PRIMARY KEY CLUSTERED, n INT DEFAULT 4)"


@dataclass
class Tables:
    """The tables of a history while it is drawn.

    :param given_before: the share of updates with the row before.
    :ivar is_partitioned: whether ``t`` has partitions, of which TiDB converts no values.
    :ivar columns: the columns of each table; the first one is its key.
    """

    draw: random.Random
    given_before: float = 0.6
    is_partitioned: bool = False
    columns: dict[str, list[str]] = field(default_factory=lambda: {"t": ["id", "v", "d"], "u": ["k", "n"]})
    rows: dict[str, dict[Any, Row]] = field(default_factory=lambda: {"t": {}, "u": {}})

    def value(self, column: str) -> Any:
        """A value of a column."""
        match column:
            case "id":
                return self.draw.randrange(8)
            case "k":
                return self.draw.choice("abcdef")
            case "d":
                return f"{self.draw.randrange(-500, 500) / 100:.2f}"
            case "n":
                return self.draw.choice([None, 1, -7])
            case _:
                return self.draw.choice([None, "", "a b", "ä", "long enough"[:9]])

    def change(self, *, may_move: bool) -> Record:
        """A change of a row that fits the rows so far."""
        name = self.draw.choice(sorted(self.rows))
        rows, columns = self.rows[name], self.columns[name]
        row = {column: self.value(column) for column in columns}
        key = row[columns[0]]
        if key not in rows:
            rows[key] = row
            return "insert", name, None, {**row}
        old = rows[key]
        if self.draw.random() < 0.3:
            del rows[key]
            return None, name, {**old}, None
        free = self.value(columns[0])
        if may_move and free not in rows:
            row[columns[0]] = free
        del rows[key]
        rows[row[columns[0]]] = row
        moved = row[columns[0]] != key
        given = moved or self.draw.random() < self.given_before
        return "u", name, {**old} if given else None, {**row}

    def ddl(self) -> Record:
        """A DDL; the rows follow it."""
        possible = {
            "ALTER TABLE t ADD n INT DEFAULT 7": "n" not in self.columns.get("t", ["n"]),
            "ALTER TABLE t DROP n": "n" in self.columns.get("t", ()),
            "ALTER TABLE t RENAME COLUMN v TO w": "v" in self.columns.get("t", ()),
            "ALTER TABLE t MODIFY d DECIMAL(10,3) NOT NULL FIRST": "t" in self.columns
            and not self.is_partitioned,
            "ALTER TABLE u ADD v VARCHAR(9) DEFAULT 'x' FIRST": "v" not in self.columns.get("u", "v"),
            "TRUNCATE TABLE u": "u" in self.columns,
            "RENAME TABLE u TO u2": "u" in self.columns,
            "ALTER TABLE t COMMENT 'c'": "t" in self.columns,
        }
        statement = self.draw.choice(sorted(text for text, fits in possible.items() if fits))
        word = statement.split()
        if word[0] == "TRUNCATE":
            self.rows["u"].clear()
        elif word[0] == "RENAME":
            self.columns["u2"], self.rows["u2"] = self.columns.pop("u"), self.rows.pop("u")
        elif word[3] == "ADD":
            name, column = word[2], word[4]
            self.columns[name].append(column)
            for row in self.rows[name].values():
                row[column] = 7 if column == "n" else "x"
        elif word[3] == "DROP":
            self.columns["t"].remove("n")
            for row in self.rows["t"].values():
                del row["n"]
        elif word[3] == "RENAME":
            self.columns["t"] = ["w" if column == "v" else column for column in self.columns["t"]]
            for row in self.rows["t"].values():
                row["w"] = row.pop("v")
        return statement, None, None, None


PARTITIONS = (
    "",
    " PARTITION BY HASH (id) PARTITIONS 3",
    " PARTITION BY KEY (id) PARTITIONS 2",
    " PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (3), PARTITION q VALUES LESS THAN MAXVALUE)",
    " PARTITION BY LIST (id) (PARTITION p VALUES IN (0,2,4,6), PARTITION q VALUES IN (1,3,5,7))",
)


def hidden(create: str) -> str:
    """A CREATE TABLE whose table has the same key, and no clustered one."""
    nonclustered = create.replace("INT PRIMARY KEY", "INT PRIMARY KEY NONCLUSTERED")
    return nonclustered.replace("PRIMARY KEY CLUSTERED", "NOT NULL UNIQUE")


def transactions(
    seed: int, count: int = 14, most: int = 5, *, are_hidden: bool = False, may_move: bool = True
) -> Iterator[list[Record]]:
    """Random transactions: rows of several tables, or a DDL.

    :param most: rows of a transaction.
    :param are_hidden: whether the rows have hidden row ids.
    :param may_move: whether rows change their keys.
    """
    tables = Tables(random.Random(seed))
    partitions = tables.draw.choice(PARTITIONS)
    tables.is_partitioned = bool(partitions)
    for create in (CREATE_T + partitions, CREATE_U):
        yield [(hidden(create) if are_hidden else create, None, None, None)]
    for _ in range(count):
        if tables.draw.random() < 0.2:
            yield [tables.ddl()]
        else:
            yield [tables.change(may_move=may_move) for _ in range(tables.draw.randint(1, most))]


def frame(seed: int, number: Literal["txn", "commit_ts"], images: Images, **of_rows: Any) -> pa.Table:
    """A random history; its rows are in no order.

    :param of_rows: see ``transactions``.
    """
    draw, records, ts = random.Random(f"{seed}/order"), list[Mapping[str, Any]](), START
    for txn, transaction in enumerate(transactions(seed, **of_rows)):
        ts += draw.choice([1, 1000 << 18, (700 << 18) + 5])
        for seq, (statement, table, before, after) in enumerate(transaction):
            records.append({"number": txn + 3 if number == "txn" else ts, "seq": seq,
                            "statement": None if table else statement, "op": statement if table else None,
                            "table": table, "before": before, "after": after,
                            "schema": "TEST" if table and draw.random() < 0.5 else None})  # fmt: skip
    draw.shuffle(records)
    columns = {name: [record[name] for record in records] for name in records[0]}
    kind = {"json": pa.string(), "struct": pa.struct([*_COLUMNS.items()]),
            "map": pa.map_(pa.string(), pa.string())}[images]  # fmt: skip
    for name in ("before", "after"):
        columns[name] = pa.array([_image(image, images) for image in columns[name]], kind)
    return pa.table({number if name == "number" else name: column for name, column in columns.items()})


def _image(image: Row | None, images: Images) -> Any:
    if image is None or images == "struct":
        return image
    if images == "json":
        return json.dumps(image)
    return [(name, None if value is None else str(value)) for name, value in image.items()]


def flat_frame(seed: int, *, before: bool) -> pa.Table:
    """A random history of the table ``t`` alone, with a column for each of its columns; in no order.

    :param before: whether updates have the row before, and may change the key.
    """
    tables, records = Tables(random.Random(seed), given_before=1), list[Row]()
    del tables.rows["u"]
    for number in range(20):
        for seq in range(tables.draw.randint(0, 4)):  # some numbers are left out
            _, _, old, new = tables.change(may_move=before)
            record = {"x": number, "y": seq, "old": old if before and new else None, **(new or old or {})}
            op = "insert" if old is None else "delete" if new is None else "u"
            records.append({**record, "op": op})
    tables.draw.shuffle(records)
    columns = {name: [record[name] for record in records] for name in ("x", "y", "op", "id", "v", "d")}
    kind = pa.struct([(name, _COLUMNS[name]) for name in ("id", "v", "d")])
    old_rows = {"old": pa.array([record["old"] for record in records], kind)} if before else {}
    return pa.table({**columns, **old_rows})


def halves(rows: pa.Table, number: str) -> list[pa.Table]:
    """The first transactions of a history, and the others."""
    numbers = rows.column(number)
    middle = sorted(set(numbers.to_pylist()))[len(set(numbers.to_pylist())) // 2]
    first = pc.less(numbers, middle)
    return [rows.filter(first), rows.filter(pc.invert(first))]


def scenario(
    folder: Path,
    name: str,
    rows: pa.Table | list[pa.Table],
    later: str = "",
    *,
    large: bool,
    between: str = "",
    earlier: str = "",
    parts: int = 3,
    **changes: Any,
) -> Path:
    """A scenario file of a DataFrame; a path with a scheme is read as a large one.

    :param rows: of one or several steps.
    :param later: SQL after the DataFrame.
    :param between: SQL between two of them.
    :param earlier: SQL before the first one.
    :param parts: files of a large one: Spark reads each in a task of its own.
    :param changes: other keys of the step; with ``table`` the table ``t`` exists before.
    """
    steps: list[Any] = [{"sql": f"{CREATE_T}; INSERT INTO t VALUES (9, 'x', 1)"}] if changes else []
    steps = [{"sql": earlier}] if earlier else steps
    for number, each in enumerate([rows] if isinstance(rows, pa.Table) else rows):
        path = folder / f"{name}{number}.parquet"
        if large:
            _write_parts(each, path, parts)
        else:
            pq.write_table(each, path)
        steps += [{"sql": between}] if between and number else []
        steps += [{"changes": {"path": path.as_uri() if large else str(path), **changes}}]
    steps += [{"sql": later}] if later else []
    (folder / f"{name}.yaml").write_text(yaml.safe_dump({"version": 1, "name": "s", "steps": steps}))
    return folder / f"{name}.yaml"


def _write_parts(rows: pa.Table, folder: Path, parts: int) -> None:
    folder.mkdir()
    size = max(1, -(-rows.num_rows // parts))
    for number in range(parts):
        pq.write_table(rows.slice(number * size, size), folder / f"{number}.parquet")


TIERS = [
    pytest.param((Phase.explicit,), id="fast"),
    pytest.param(tuple(Phase), id="full", marks=pytest.mark.slow),
]
"""The phases of ``check_histories``: the named examples alone, or random ones, too."""
_HISTORIES = {
    "seed": st.integers(0, 1 << 32),
    "number": st.sampled_from(("txn", "commit_ts")),
    "images": st.sampled_from(("json", "struct", "map")),
}


def check_histories(
    check: Callable[..., None],
    phases: Sequence[Phase],
    cases: Sequence[Mapping[str, Any]],
    **strategies: st.SearchStrategy[Any],
) -> None:
    """Check named and random histories.

    :param check: gets ``seed``, ``number`` and ``images`` of ``frame``, and a value of each strategy.
    :param cases: the named ones.
    """
    random_check = given(**_HISTORIES, **strategies)(check)
    for case in cases:
        random_check = example(**case)(random_check)
    settings(max_examples=300 if EXHAUSTIVE else 40, phases=phases)(random_check)()
