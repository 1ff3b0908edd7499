"""Whatever a topic holds, the verification ends with findings, and the order of its input does not matter."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.streams import CheckedEvents
from tests.verifier.topic import HANDLE, PLAIN, UNIQUE
from ticdc_producer.model.event import MAX_EVENTS
from ticdc_producer.model.shapes import DECODED, STATE
from ticdc_producer.verifier.options import ExpectedDispatch, VerifyOptions

NAMES = st.sampled_from(["id", "email", "", "a\0b", "é"])
IMAGES = st.none() | st.lists(st.tuples(NAMES, st.none() | st.binary(max_size=3)), max_size=3)
COLUMNS = st.none() | st.lists(
    st.fixed_dictionaries(
        {
            "name": NAMES,
            "type": st.sampled_from(["bigint", "json", "", "bit"]),
            "flag": st.sampled_from([HANDLE, UNIQUE, PLAIN, 0, -1]),
        }
    ),
    max_size=3,
)
TIMES = st.sampled_from([0, 1, 5, 1 << 61, (1 << 63) - 1])
TABLES = st.none() | st.sampled_from(["", "t", "a\0b"])
PARTITIONS = "PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (3), PARTITION b VALUES LESS THAN (9))"
DDLS = (
    "", "TRUNCATE TABLE t", "RENAME TABLE t TO u", "RENAME TABLE t TO u, u TO t", "DROP DATABASE t",
    "CREATE TABLE t (id INT PRIMARY KEY, email INT)", "CREATE TABLE u (id INT PRIMARY KEY, email INT)",
    f"CREATE TABLE t (id INT PRIMARY KEY, email INT) {PARTITIONS}", "ALTER TABLE t TRUNCATE PARTITION a",
    "ALTER TABLE t EXCHANGE PARTITION b WITH TABLE u", "ALTER TABLE t MODIFY COLUMN email DATE",
    "ALTER TABLE t ADD COLUMN c INT DEFAULT 1", "ALTER TABLE t CHANGE id email INT",
    "ALTER TABLE t DROP COLUMN id", "ALTER TABLE t ADD (",
)  # fmt: skip
EVENTS = st.fixed_dictionaries(
    {
        "topic": st.sampled_from(["one", "two"]),
        "partition": st.integers(0, 2),
        "index": st.sampled_from([0, 1, MAX_EVENTS - 1]),
        "events": st.integers(1, 3),
        "size": st.integers(0, 9),
        "commit_ts": TIMES,
        "schema": TABLES,
        "table": TABLES,
        "table_id": st.none() | st.integers(0, 2),
        "columns": COLUMNS,
        "before": IMAGES,
        "after": IMAGES,
        "handle_key_only": st.sampled_from([0, 1]),
        "query": st.none() | st.sampled_from(DDLS),
        "ddl_type": st.none() | st.sampled_from([0, 3, 4, 11, 99]),
        "error": st.sampled_from(["CODE"]),
    }
)
KINDS = st.sampled_from(["row", "row", "row", "ddl", "resolved", "error"])
OPS = st.sampled_from(["insert", "update", "delete"])
HISTORIES = st.lists(st.tuples(KINDS, OPS, EVENTS), max_size=12)
OPTIONS = [
    VerifyOptions(
        rules=[ExpectedDispatch(schema="t", table="t", rule=rule)],
        partitions={"one": 3, "two": 2},
        from_beginning=True,
        resolved_gap_ms=1,
        max_batch_size=1,
        max_message_bytes=4,
    )
    for rule in ("table", "index-value", "ts")
]


def stream(events: list[tuple[str, str, dict[str, Any]]]) -> pa.Table:
    rows = [
        {**event, "kind": kind, "op": op if kind == "row" else None, "offset": offset}
        for offset, (kind, op, event) in enumerate(events)
    ]
    return pa.Table.from_pylist(rows, DECODED)


@pytest.mark.parametrize(
    "examples", [pytest.param(15, id="fast"), pytest.param(300, id="full", marks=pytest.mark.slow)]
)
def test_any_events_give_findings(examples: int) -> None:
    settings(max_examples=examples)(given(HISTORIES, st.sampled_from(OPTIONS), st.randoms())(_check))()


def _check(events: list[Any], options: VerifyOptions, random: Any) -> None:
    decoded = stream(events)
    checked = CheckedEvents(decoded, options)
    assert sum(checked.kinds[kind] for kind in ("row", "ddl", "resolved", "error")) == len(events)
    shuffled = random.sample(range(len(events)), len(events))
    again = CheckedEvents(decoded.take(pa.array(shuffled, pa.int64())), options)
    assert again.findings == checked.findings
    tables = [{"schema": "t", "table": table, "row": None} for table in ("t", "u")]
    states = [events.state(pa.Table.from_pylist(tables, STATE), {}) for events in (checked, again)]
    assert states[0] == states[1]
    assert checked.comparison(decoded.filter(pc.not_equal(decoded["kind"], "error"))).ok
