"""Coverage finds every legal trap in its own topic, and in no other.

Each topic of the stream exercises one trap and has its name, so a rule that finds its trap in another topic
fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from pyspark.sql import SparkSession

from tests.verifier.topic import ACCOUNTS, HANDLE, PLAIN, Topic, account, ts
from ticdc_producer.engine.dataset import Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.shapes import DECODED
from ticdc_producer.model.trap_coverage import CoverageRule
from ticdc_producer.verifier.coverage import TrapOccurrences, Visibility, exercised
from ticdc_producer.verifier.options import ExpectedDispatch, VerifyOptions

RULES = {name: trap.coverage for name, trap in catalogue().items() if trap.coverage is not None}
CREATE = "CREATE TABLE bank.accounts (id BIGINT PRIMARY KEY)"
KEYED = {"id": HANDLE, "email": PLAIN, "balance": PLAIN}
RULES_OF_TABLES = [
    ExpectedDispatch(schema="bank", table="spread", rule="index-value"),
    *(ExpectedDispatch(schema="bank", table=name, rule="table") for name in ("accounts", "ledger")),
]
TWO_PARTITIONS = ("idle-partition", "replay-partial", "changed-dispatch-column")
LARGEST, BEYOND = str(2**64 - 1), str(2**63)
EVERY_BYTE = bytes(range(256))
Values = Sequence[tuple[str, str | bytes | None]]


def one_row(name: str = "", partitions: int = 1) -> Topic:
    """A stream that exercises nothing."""
    topic = Topic(name, partitions=partitions).ddl(ts(0), CREATE)
    return topic.row(0, ts(1), after=account(1)).resolved(ts(1))


def deliveries() -> dict[str, Topic]:
    topics = {name: one_row(name, 2 if name in TWO_PARTITIONS else 1) for name in RULES}
    on = topics.__getitem__
    on("duplicate-message").row(0, ts(2), after=account(2)).again(0, 3)
    on("duplicate-event").row(0, ts(2), after=account(2)).row(0, ts(3), after=account(3))
    on("duplicate-event").row(0, ts(2), after=account(2)).row(0, ts(4), after=account(4))
    on("replay-suffix").row(0, ts(2), after=account(2)).row(0, ts(3), after=account(3)).resolved(ts(3))
    on("replay-suffix").again(0, 3)
    ledger = {"table": "ledger", "flags": KEYED}
    on("replay-one-table").row(0, ts(2), after=account(2)).row(0, ts(3), after=account(3), **ledger)
    on("replay-one-table").row(0, ts(4), after=account(4)).row(0, ts(2), after=account(2))
    on("replay-one-table").row(0, ts(4), after=account(4)).row(0, ts(5), after=account(5), **ledger)
    in_flight(on("replay-partial"))
    on("resolved-fallback").row(0, ts(2), after=account(2)).resolved(ts(0))
    on("resolved-lag").row(0, ts(3), after=account(3)).resolved(ts(2))
    on("table-lag").row(0, ts(3), after=account(3)).row(0, ts(2), after=account(2), **ledger)
    on("duplicate-ddl").ddl(ts(0), CREATE)
    on("ddl-at-resolved-ts").resolved(ts(2)).ddl(ts(2), "DROP INDEX i ON bank.accounts")
    spread = {"table": "spread", "flags": KEYED}
    on("regrouped-batches").row(0, ts(3), after=account(3), **spread)
    on("regrouped-batches").row(0, ts(2), after=account(2), **spread)
    on("delete-dispatch").row(0, ts(2), before=account(2), **spread)
    on("changed-dispatch-column").row(1, ts(2), before=account(1), after=account(1, balance=1))
    on("update-after-delete").row(0, ts(2), before=account(1)).row(
        0, ts(3), before=account(1), after=account(1)
    )
    on("delete-without-value").row(0, 0, before={"id": "1"})
    on("batch-boundaries").row(0, ts(2), after=account(2), events=2)
    on("batch-boundaries").row(0, ts(2), after=account(3), events=2, offset=3, index=1)
    on("handle-key-only").row(0, ts(2), after={"id": "2"}, flags=ACCOUNTS, handle_key_only=1)
    add_definitions(on)
    add_keys(on)
    return topics


def in_flight(topic: Topic) -> None:
    """The newest row of partition 1 was not delivered before the restart."""
    topic.row(1, ts(1), after=account(9)).row(0, ts(3), after=account(3)).row(1, ts(2), after=account(2))
    topic.resolved(ts(1)).row(0, ts(3), after=account(3)).row(1, ts(2), after=account(2))
    topic.row(1, ts(3), after=account(4))


def add_definitions(on: Callable[[str], Topic]) -> None:
    on("split-ddl").ddl(ts(2), "DROP TABLE bank.a").ddl(ts(2), "DROP TABLE bank.b")
    on("rename-swap").ddl(ts(2), "RENAME TABLE b.x TO b.z, `b`.`y` TO b.x, b.z TO b.y")
    on("exchange-partition").ddl(ts(2), "alter table t exchange\npartition p with table u")
    on("virtual-column").ddl(ts(2), "CREATE TABLE t (a INT,\n b INT AS (a + 1))")
    on("exchange-partition").ddl(ts(3), "CREATE TABLE t (a INT, b INT AS (abs(a)) STORED)")
    queries = (
        "CREATE DATABASE d",
        "CREATE TABLE t (id INT)",
        "TRUNCATE TABLE t",
        "DROP TABLE t",
        "DROP VIEW v",
    )
    for second, query in enumerate(queries, start=2):
        on("ddl-zoo").ddl(ts(second), query)
    for part in (101, 102):
        on("partitioned-table").row(0, ts(2), after=account(part), table_id=part)


def add_keys(on: Callable[[str], Topic]) -> None:
    moved = {"email": "a", "balance": "7"}
    on("key-update").row(0, ts(2), before={"id": "2"} | moved).row(0, ts(2), after={"id": "3"} | moved)
    ann, bob = {"email": "ann"}, {"email": "bob"}
    on("key-swap").row(0, ts(2), before=account(2, **ann), after=account(2, **bob), flags=KEYED)
    on("key-swap").row(0, ts(2), before=account(3, balance=0, **bob), after=account(3, **ann), flags=KEYED)
    on("unique-key-update").row(0, ts(2), before=account(1)).row(0, ts(2), after=account(1, email="new"))
    on("raw-key-update").row(0, ts(2), before=account(1), after=account(1, email="new"))
    on("no-key-table").row(0, ts(2), after={"v": "1"}, flags={"v": PLAIN}, table="ledger")
    wider = account(1, state="new")
    on("schema-change").row(0, ts(2), after=account(2, state="old"), flags=ACCOUNTS | {"state": PLAIN})
    on("added-column-default").row(0, ts(2), before=wider, after=wider, flags=ACCOUNTS | {"state": PLAIN})


VALUES: dict[str, Values] = {
    "bigint-unsigned-range": [("bigint unsigned", BEYOND), ("bigint unsigned", "5")],
    "big-integers": [("bigint(20)", f"-{2**53 + 1}"), ("bigint", str(2**53))],
    "decimal-precision": [
        ("decimal(65,30)", "12345678.1234567891"),
        ("decimal(65,30)", "1.500000000000000000"),
    ],
    "float-digits": [("float", "123.99"), ("float", "0.5"), ("double", "123.99")],
    "enum-set-ordinals": [
        *(("enum", value) for value in ("1", "3", None)),
        *(("set", value) for value in ("0", "3", "4")),
    ],
    "bit-width": [("bit", "1"), ("bit", LARGEST), ("bit", BEYOND)],
    "binary-all-bytes": [("blob", EVERY_BYTE), ("varbinary", EVERY_BYTE[:255] + b"\0")],
    "text-charsets": [("varchar(9)", "😀"), ("text", "数据")],
    "timestamp-zone": [("timestamp", "2021-03-28 01:30:00.5"), ("datetime", "2021-03-28 02:30:00.5")],
    "zero-dates": [("date", "2021-00-01"), ("date", "2021-10-10")],
    "early-years": [("date", "0999-12-31"), ("date", "1000-01-01")],
    "time-range": [("time", "-00:00:00.5"), ("time", "24:00:00.5"), ("time", "23:59:59.5")],
    "fractional-seconds": [("time", "10:00:00"), ("time", "10:00:00.123456"), ("time", "10:00:00.12345")],
    "null-default-triad": [("varchar", None), ("varchar", ""), ("varchar", "null"), ("varchar", "NULL")],
    "unsigned-null": [("int unsigned", None), ("int", None)],
}


def valued(topic: Topic, values: Values) -> Topic:
    for number, (kind, value) in enumerate(values):
        stored = value.encode() if isinstance(value, str) else value
        image = {"id": str(number).encode(), "v": None if stored is None else bytearray(stored)}
        columns = [("id", "int", HANDLE), ("v", kind, PLAIN)]
        table = {"schema": "bank", "table": "ledger", "commit_ts": ts(2)}
        topic.add(0, "row", op="insert", columns=columns, after=image, **table)
    return topic


def searched(
    engine: Engine, topic: Topic, visibility: Visibility, rules: Mapping[str, CoverageRule] = RULES
) -> dict[str, TrapOccurrences | None]:
    decoded = engine.of_batches(topic.table().to_batches(), DECODED)
    return exercised(engine, decoded, visibility, rules)


@pytest.fixture(scope="module")
def stream() -> tuple[Topic, Visibility]:
    topics = deliveries()
    for name, values in VALUES.items():
        valued(topics[name], values)
    flags = dict(zip("abcd", (0x10, 0x04, 0x80, 0x40), strict=True))
    image = dict.fromkeys(flags, "1") | {"id": "7"}
    topics["column-flags"].row(0, ts(2), after=image, flags=flags | {"id": HANDLE}, table="ledger")
    for name, topic in topics.items():
        for event in topic.events:
            event["topic"] = name
    options = VerifyOptions(
        rules=RULES_OF_TABLES,
        partitions={name: 2 if name in TWO_PARTITIONS else 1 for name in topics},
        max_batch_size=2,
    )
    events = [event for topic in topics.values() for event in topic.events]
    return Topic(events=events), Visibility(options=options)


@pytest.fixture(scope="module")
def occurrences(stream: tuple[Topic, Visibility]) -> dict[str, TrapOccurrences | None]:
    return searched(LocalEngine(), *stream)


SAME_TOPIC = {"schema-change": "added-column-default"}
"""A trap that always comes with another."""
TWICE = {"schema-change", "big-integers"}
"""Also found in the topic of another trap: added columns change the schema, 2^63 is beyond 2^53."""


@pytest.mark.parametrize("trap", sorted({*RULES} - {"claim-check"}))
def test_a_trap_is_found_in_its_own_topic_only(
    trap: str, occurrences: Mapping[str, TrapOccurrences | None]
) -> None:
    seen = occurrences[trap]
    assert seen is not None
    assert seen.first[0] == SAME_TOPIC.get(trap, trap)
    assert seen.count == (2 if trap in TWICE else 1)


@pytest.mark.slow  # fast: runs/test_all_traps.py
def test_both_engines_find_the_same(
    spark: SparkSession, stream: tuple[Topic, Visibility], occurrences: Mapping[str, TrapOccurrences | None]
) -> None:
    from ticdc_producer.engine.spark import SparkEngine

    assert searched(SparkEngine(spark), *stream) == occurrences


def test_an_incomplete_row_is_a_claim_if_the_changefeed_stores_large_rows() -> None:
    topic = one_row().row(0, ts(2), after={"id": "2"}, flags=ACCOUNTS, handle_key_only=1)
    rules = {name: RULES[name] for name in ("claim-check", "handle-key-only")}
    visibility = Visibility(options=VerifyOptions(), claim_check=True)
    seen = searched(LocalEngine(), topic, visibility, rules)
    assert {name: occurrence is not None for name, occurrence in seen.items()} == {
        "claim-check": True,
        "handle-key-only": False,
    }


def test_unobservable_traps_are_neither_found_nor_missed() -> None:
    options = VerifyOptions(fidelity=Fidelity(resolved=False, commit_ts="milliseconds", table_ids="none"))
    damaged = one_row().add(0, "error", error="OPEN-KEY-SHORT")
    seen = searched(LocalEngine(), damaged, Visibility(options=options, types=False, flags=False))
    assert "duplicate-message" in seen
    assert {"resolved-fallback", "key-swap", "partitioned-table", "zero-dates", "column-flags"} & set(
        seen
    ) == set()
    assert set(seen.values()) == {None}


def test_an_empty_stream_exercises_nothing() -> None:
    seen = searched(LocalEngine(), Topic(), Visibility(options=VerifyOptions()))
    assert set(seen) == set(RULES)
    assert set(seen.values()) == {None}


def test_a_stream_in_parts_is_one_stream(
    stream: tuple[Topic, Visibility], occurrences: Mapping[str, TrapOccurrences | None]
) -> None:
    topic, visibility = stream
    batches = topic.table().combine_chunks().to_batches(max_chunksize=5)
    engine = LocalEngine()
    parts = engine.of_parts(len(batches), lambda part: iter(batches[part : part + 1]), DECODED)
    assert exercised(engine, parts, visibility, RULES) == occurrences
