"""A trap in a DataFrame is the same trap as in SQL: the messages are equal, and so are the faults in them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ticdc_producer
from tests.runs.features import FORMS, LARGE, TABLE, History, Row, RowChange
from tests.tiers import one_in
from ticdc_producer.engine import EngineOption
from ticdc_producer.faults.catalogue import catalogue, trap

CREATE = """
CREATE TABLE u (id INT PRIMARY KEY, n INT);
INSERT INTO u VALUES (1, 1), (2, 2), (3, 3);
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20) NOT NULL UNIQUE, n INT NOT NULL, note TEXT)
"""
LATER = """
ALTER TABLE u ADD INDEX (n);
UPDATE u SET n = n + 1;
ALTER TABLE u ADD m INT DEFAULT 3;
UPDATE u SET m = n;
UPDATE u SET m = m + 1
"""
DRAWN_ELSEWHERE = {(name, form) for name in ("ddl-before-its-rows",) for form in (LARGE, TABLE)}
"""In a small stream, a fault whose drawn position has nothing that fits moves to one that has it. The
positions of a large one are not counted, and the report says that nothing there fits."""
NAMES = [name for name, entry in catalogue().items() if entry.mechanism != "scenario"]
RATES = {
    "duplicate-event": "0.3",
    "duplicate-message": "0.3",
    "batch-boundaries": "0.5",
    "regrouped-batches": "1",
}
"""The rates of traps that are injected by rate."""
PROTOCOLS = ("open-protocol", "canal-json", "simple", "avro", "debezium", "craft")
SMALL_MESSAGES = ("claim-check", "handle-key-only")


def history() -> History:
    """Rows that are inserted, updated, moved, deleted and inserted again; some are large."""
    row: Row
    rows: dict[int, Row] = {}
    changes: list[RowChange] = []
    for number in range(24):
        for step in range(3):
            key = (7 * number + 5 * step) % 12
            note = "long" * 200 if number % 8 == 3 else None
            row = {"id": key, "v": f"v{key}" if number < 12 else f"w{key}", "n": number, "note": note}
            if key not in rows:
                changes.append((number, None, row))
            elif (number + step) % 6 == 0:
                changes.append((number, rows.pop(key), None))
                continue
            elif (number + step) % 6 == 1:
                row = {**row, "id": key + 100 * number, "v": f"x{key}-{number}"}
                changes.append((number, rows.pop(key), row))
                continue
            else:
                changes.append((number, rows[key], row))
            rows[key] = row
    return History(create=CREATE.strip(), changes=changes, later=LATER.strip())


def options_of(name: str) -> dict[str, Any]:
    """The arguments of a run in which a trap occurs."""
    kind = trap(name)
    protocol = next(each for each in PROTOCOLS if each in kind.protocols)
    profile = "classic" if "classic" in kind.profiles else "new"
    query = (
        f"protocol={protocol}&partition-num=3&profile={profile}&enable-tidb-extension=true&output-ddl=true"
    )
    query += "&avro-enable-watermark=true" if protocol == "avro" else ""
    query += "&max-message-bytes=700" if name in SMALL_MESSAGES else ""
    settings = {"matcher": ["*.*"], "partition": "index-value"}
    sink: dict[str, Any] = {"dispatchers": [settings]}
    overrides = []
    if name == "oversized":  # rows of one table share messages, so that too many of them can be in one
        settings["partition"], overrides = "table", ["resolved.every=1m"]
    if name == "idle-partition":  # it has dispatchers of its own
        query, sink = query.replace("num=3", "num=5"), {}
    if name == "claim-check":  # a folder has the objects itself
        storage = {"claim-check-storage-uri": "file:///claims"}
        sink["kafka-config"] = {"large-message-handle": storage}
    config = {"sink": sink}
    if name == "wrong-checksum":
        config["integrity"] = {"integrity-check-level": "correctness"}
    inject = f"{name}:rate={RATES[name]}" if name in RATES else name
    return {
        "sink_uri": f"kafka:///s?{query}",
        "config": config,
        "overrides": overrides,
        "inject": [inject],
        "verify_output": False,
    }


def written(form: str, name: str, engine: EngineOption, folder: Path) -> dict[str, bytes]:
    """The messages of a form with a trap, the events in them, and the faults."""
    source, out = FORMS[form](history(), folder), folder / "out"
    report = ticdc_producer.run(source, out=out, engine=engine, **options_of(name))
    occurs = (name, form) not in DRAWN_ELSEWHERE
    assert {fault["trap"]: fault["places"] > 0 for fault in report.faults.counts} == {name: occurs}
    if not occurs:
        assert "the positions that were drawn lack what it requires" in report.not_injected[name]
    files = [*out.glob("*.jsonl"), *(out / "claims").rglob("*")]
    return {str(file.relative_to(out)): file.read_bytes() for file in files if file.is_file()}


@pytest.fixture(scope="module")
def of_sql(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Returns what SQL writes with a trap."""

    @cache
    def expected(name: str) -> dict[str, bytes]:
        files = written("SQL", name, "local", tmp_path_factory.mktemp("sql"))
        assert {"messages.jsonl", "events.jsonl"} <= files.keys()
        return files

    return expected


def same_as_sql(name: str, form: str, engine: EngineOption, of_sql: Any, folder: Path) -> None:
    files = written(form, name, engine, folder)
    assert (files == of_sql(name)) is ((name, form) not in DRAWN_ELSEWHERE)


CASES = [(name, form) for name in NAMES for form in ("YAML", "DataFrame", LARGE, TABLE)]


@pytest.mark.parametrize(("name", "form"), one_in(13, CASES))
def test_a_trap_is_that_of_sql(name: str, form: str, of_sql: Any, tmp_path: Path) -> None:
    same_as_sql(name, form, "local", of_sql, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_trap_is_that_of_sql_on_spark(name: str, of_sql: Any, spark: object, tmp_path: Path) -> None:
    """Every other trap is in a DataFrame of one table."""
    form = (LARGE, TABLE)[NAMES.index(name) % 2]
    same_as_sql(name, form, "spark", of_sql, tmp_path)
