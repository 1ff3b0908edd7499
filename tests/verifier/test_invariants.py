"""Each invariant finds the streams that violate it, names the events, and accepts legal streams."""

from __future__ import annotations

import dataclasses
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from tests.verifier.topic import ACCOUNTS, PLAIN, Topic, account, ts
from ticdc_producer.model.event import WRONG_CHECKSUM
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.verifier.check import check
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.invariants.registry import INVARIANTS
from ticdc_producer.verifier.options import ExpectedDispatch, VerifyOptions

CREATE = "CREATE TABLE bank.accounts (id BIGINT PRIMARY KEY, email VARCHAR(64) UNIQUE, balance BIGINT)"


def test_the_page_lists_each_invariant_with_its_severity_and_sentence() -> None:
    page = Path(__file__).parents[2] / "docs/stream-semantics.md"
    listed = re.findall(
        r"^\| `(INV-[A-Z-]+)` \| (error|warning|info) \| ([^|]+) \|", page.read_text("utf-8"), re.MULTILINE
    )
    assert listed == [(each.id, each.severity, each.statement) for each in INVARIANTS]


def crc(*parts: str) -> int:
    return zlib.crc32("".join(parts).encode())


HOME = crc("bank", "accounts") % 2
"""Partition of bank.accounts under table dispatch."""
AWAY = 1 - HOME
TABLE = ExpectedDispatch(schema="bank", table="accounts", rule="table")
VALUE = ExpectedDispatch(schema="bank", table="accounts", rule="index-value")
OPTIONS = VerifyOptions(rules=[TABLE], partitions={"bank": 2}, max_batch_size=16, max_message_bytes=4096)
BY_VALUE = dataclasses.replace(OPTIONS, rules=[VALUE])


def home(key: int) -> int:
    """Partition of an account under index-value dispatch."""
    return (crc("bank", "accounts") ^ crc("id", str(key))) % 2


def created() -> Topic:
    return Topic().ddl(ts(0), CREATE).resolved(ts(0))


def valid() -> Topic:
    topic = created()
    topic.row(HOME, ts(1), after=account(1)).row(HOME, ts(1), after=account(2)).resolved(ts(1))
    topic.row(HOME, ts(2), before=account(3), index=0).row(
        HOME, ts(2), before=account(1), after=account(1, 5)
    )
    topic.row(HOME, ts(2), after=account(4)).resolved(ts(2))
    topic.ddl(ts(3), "ALTER TABLE bank.accounts ADD INDEX (balance)", ddl_type=7).resolved(ts(3))
    return topic.row(HOME, ts(4), before=account(1, 5)).resolved(ts(4))


def by_value(*seconds_and_keys: tuple[int, int]) -> Topic:
    topic = created()
    for second, key in seconds_and_keys:
        topic.row(home(key), ts(second), after=account(key, second))
    return topic


def together(topics: Mapping[str, Topic]) -> pa.Table:
    """Several streams as topics of one."""
    for name, topic in topics.items():
        for event in topic.events:
            event["topic"] = name
    return Topic(events=[event for topic in topics.values() for event in topic.events]).table()


def on_topics(names: Iterable[str]) -> VerifyOptions:
    return dataclasses.replace(OPTIONS, partitions=dict.fromkeys(names, 2))


def violations(findings: Iterable[Finding]) -> dict[str, str]:
    """Id and severity of the errors and warnings."""
    return {finding.id: finding.severity for finding in findings if finding.severity in ("error", "warning")}


def finding_of(findings: list[Finding], invariant: str) -> Finding:
    (finding,) = (f for f in findings if f.id == invariant and f.severity != "not checked")
    return finding


def offsets(finding: Finding) -> list[tuple[int, int | None]]:
    """Partition and offset of the events of the first example."""
    return [(event.partition, event.offset) for event in finding.examples[0].events]


# -- violations of one invariant---------------------------------------------------------------------------


def undecodable() -> Topic:
    return valid().add(AWAY, "error", error="OPEN-KEY-SHORT", error_byte=8, error_expected="a length")


def oversized() -> Topic:
    return created().row(HOME, ts(1), after=account(1), events=17).resolved(ts(1))


def swapped_rows() -> Topic:
    return created().row(HOME, ts(2), after=account(1)).row(HOME, ts(1), after=account(2))


def late_row() -> Topic:
    topic = created().row(HOME, ts(1), after=account(1), table="accounts")
    return topic.resolved(ts(3)).row(HOME, ts(2), after=account(2))


def late_ddl() -> Topic:
    return (
        created()
        .row(HOME, ts(1), after=account(1))
        .resolved(ts(3))
        .ddl(ts(2), "CREATE TABLE bank.t (id INT)", table="t")
    )


def half_resolved() -> Topic:
    return valid().resolved(ts(5), only=[HOME]).resolved(ts(6))


def half_ddl() -> Topic:
    return valid().ddl(ts(5), "CREATE TABLE bank.t (id INT)", table="t", only=[HOME]).resolved(ts(6))


def row_after_ddl() -> Topic:
    """Two DDLs, so that the row before the barrier follows no newer row and no resolved event."""
    return (
        created()
        .ddl(ts(2), "ALTER TABLE bank.accounts ADD INDEX (balance)", ddl_type=7)
        .row(HOME, ts(2), after=account(1))
    )


def row_before_ddl() -> Topic:
    return (
        created()
        .row(HOME, ts(3), after=account(1))
        .ddl(ts(2), "ALTER TABLE bank.accounts ADD INDEX (balance)")
    )


def stray_row() -> Topic:
    return created().row(AWAY, ts(1), after=account(1)).resolved(ts(1))


def insert_and_update() -> Topic:
    topic = created().row(HOME, ts(1), after=account(1))
    return topic.row(HOME, ts(1), before=account(1), after=account(1, 1))


def unsplit() -> Topic:
    return created().row(HOME, ts(1), before=account(1), after=account(1, email="new@bank"))


def insert_first() -> Topic:
    return created().row(HOME, ts(1), after=account(1)).row(HOME, ts(1), before=account(2))


def mixed_message() -> Topic:
    topic = created().row(HOME, ts(1), after=account(1), events=2)
    return topic.add(HOME, "resolved", commit_ts=ts(1), offset=2, index=1, events=2).resolved(
        ts(1), only=[AWAY]
    )


def two_tables_in_a_message() -> Topic:
    topic = created().row(HOME, ts(1), after=account(1), events=2)
    return topic.row(HOME, ts(1), after=account(2), table="other", offset=2, index=1, events=2)


def far_future() -> Topic:
    return created().row(HOME, ts(10_000_000_000), after=account(1))


def falling_resolved() -> Topic:
    return created().resolved(ts(3)).resolved(ts(2))


def swapped_ddls() -> Topic:
    """Two DDLs of one ts, in another order in each partition."""
    topic = created()
    for partition, tables in ((0, "tu"), (1, "ut")):
        for table in tables:
            topic.ddl(ts(1), f"DROP TABLE bank.{table}", table=table, ddl_type=4, only=[partition])
    return topic


def older_ddl() -> Topic:
    topic = created().ddl(ts(3), "CREATE TABLE bank.t (id INT)", table="t")
    return topic.ddl(ts(2), "CREATE TABLE bank.u (id INT)", table="u")


def keyless() -> Topic:
    return created().row(HOME, ts(1), after=account(1), flags=dict.fromkeys(ACCOUNTS, PLAIN))


def inserted_twice() -> Topic:
    return created().row(HOME, ts(1), after=account(1)).row(HOME, ts(2), after=account(1, 2))


def other_old_image() -> Topic:
    topic = created().row(HOME, ts(1), after=account(1, 5))
    return topic.row(HOME, ts(2), before=account(1, 6), after=account(1, 7))


def lost_column() -> Topic:
    return created().row(HOME, ts(1), after=account(1)).row(HOME, ts(2), after={"id": "2", "email": "2@bank"})


def deposits(count: int) -> Topic:
    """A row at each of some seconds, from offset 2 on."""
    topic = created()
    for second in range(1, count + 1):
        topic.row(HOME, ts(second), after=account(second))
    return topic


def repeated(topic: Topic, *seconds: int) -> Topic:
    for second in seconds:
        topic.row(HOME, ts(second), after=account(second))
    return topic


def replay_with_a_hole() -> Topic:
    return repeated(deposits(6), 1, 2, 4, 5, 6)


def replay_cut_short() -> Topic:
    return repeated(deposits(4), 1, 2).row(HOME, ts(5), after=account(5))


def odd_flags() -> Topic:
    flags = ACCOUNTS | {"id": 0x0B | 0x40, "balance": 0x40}
    return created().row(HOME, ts(1), after=account(1), flags=flags).resolved(ts(1))


BROKEN: dict[str, tuple[Callable[[], Topic], list[tuple[int, int]]]] = {
    "INV-FRAME": (undecodable, [(AWAY, 7)]),
    "INV-BATCH-SIZE": (oversized, [(HOME, 2)]),
    "INV-ORDER-TABLE": (swapped_rows, [(HOME, 2), (HOME, 3)]),
    "INV-RESOLVED": (late_row, [(HOME, 3), (HOME, 4)]),
    "INV-RESOLVED-DDL": (late_ddl, [(AWAY, 2), (AWAY, 3)]),
    "INV-RESOLVED-BROADCAST": (half_resolved, [(HOME, 13), (AWAY, 7)]),
    "INV-DDL-BROADCAST": (half_ddl, [(HOME, 13), (AWAY, 7)]),
    "INV-DDL-BARRIER-BEFORE": (row_after_ddl, [(HOME, 2), (HOME, 3)]),
    "INV-DDL-BARRIER-AFTER": (row_before_ddl, [(HOME, 2), (HOME, 3)]),
    "INV-ROW-PARTITION": (stray_row, [(AWAY, 2)]),
    "INV-COLLAPSE": (insert_and_update, [(HOME, 2), (HOME, 3)]),
    "INV-KEY-UPDATE-SPLIT": (unsplit, [(HOME, 2)]),
    "INV-TXN-DELETE-FIRST": (insert_first, [(HOME, 2), (HOME, 3)]),
    "INV-BATCH-KIND": (mixed_message, [(HOME, 2)]),
    "INV-BATCH-KEY": (two_tables_in_a_message, [(HOME, 2), (HOME, 2)]),
    "INV-TS-SANE": (far_future, [(HOME, 2)]),
    "INV-RESOLVED-MONO": (falling_resolved, [(0, 2), (0, 3)]),
    "INV-DDL-SAME": (swapped_ddls, [(0, 2), (1, 2)]),
    "INV-DDL-ORDER": (older_ddl, [(0, 2), (0, 3)]),
    "INV-HANDLE": (keyless, [(HOME, 2)]),
    "INV-ROW-STATE": (inserted_twice, [(HOME, 2), (HOME, 3)]),
    "INV-OLD-IMAGE": (other_old_image, [(HOME, 2), (HOME, 3)]),
    "INV-SCHEMA": (lost_column, [(HOME, 2), (HOME, 3)]),
    "INV-FLAGS": (odd_flags, [(HOME, 2)]),
    "INV-DUP-ORDER": (replay_with_a_hole, [(HOME, 9), (HOME, 10)]),
    "INV-DUP-COMPLETE": (replay_cut_short, [(HOME, 7), (HOME, 8)]),
}
"""For each invariant a stream that violates it alone, and the partition and offset of the events to name."""
TWICE = ("INV-RESOLVED-DDL", "INV-RESOLVED-MONO", "INV-DDL-ORDER")
"""Violated in both partitions, because both get DDL and resolved events."""
SEVERITY = {invariant.id: invariant.severity for invariant in INVARIANTS}


def test_each_broken_invariant_is_found_alone_with_its_events() -> None:
    """Every stream is a topic of its own, so that one check covers them all."""
    findings = check(together({name: stream() for name, (stream, _) in BROKEN.items()}), on_topics(BROKEN))
    assert violations(findings) == {name: SEVERITY[name] for name in BROKEN}
    for finding in (violation for violation in findings if violation.severity in ("error", "warning")):
        assert {event.topic for example in finding.examples for event in example.events} == {finding.id}
        assert finding.count == (2 if finding.id in TWICE else 1)
        assert sorted(offsets(finding)) == sorted(BROKEN[finding.id][1])
        assert finding.examples[0].detail


def test_every_invariant_is_broken_by_some_test() -> None:
    other_tests = {"INV-ORDER-KEY", "INV-KEY-PARTITION", "INV-DUP-CONTENT", "INV-TOPIC", "INV-CHECKSUM"}
    assert {invariant.id for invariant in INVARIANTS} == {*BROKEN, *INFORMATION, *other_tests}


@pytest.mark.parametrize(("row_checksums", "invariant"), [(True, "INV-CHECKSUM"), (False, "INV-FRAME")])
def test_a_wrong_checksum_is_an_invariant_of_its_own_where_rows_have_checksums(
    row_checksums: bool, invariant: str
) -> None:
    topic = created().row(HOME, ts(1), after=account(1))
    topic.add(HOME, "error", error=WRONG_CHECKSUM, error_byte=0, error_expected="a checksum")
    options = dataclasses.replace(OPTIONS, fidelity=Fidelity(row_checksums=row_checksums))
    findings = check(topic.table(), options)
    assert violations(findings) == {invariant: "error"}
    assert offsets(finding_of(findings, invariant)) == [(HOME, 3)]


def test_a_row_that_overtakes_itself_breaks_both_orders() -> None:
    """Under table dispatch the order of a row cannot break without the order of its table."""
    topic = created().row(HOME, ts(1), after=account(2))
    topic.row(HOME, ts(3), before=account(1), after=account(1, 3)).row(HOME, ts(2), after=account(1))
    findings = check(topic.table(), OPTIONS)
    assert violations(findings) == {"INV-ORDER-TABLE": "error", "INV-ORDER-KEY": "error"}
    assert offsets(finding_of(findings, "INV-ORDER-KEY")) == [(HOME, 3), (HOME, 4)]
    assert "1000 ms" in finding_of(findings, "INV-ORDER-KEY").examples[0].detail


def test_rows_of_two_tables_may_share_a_message_where_their_hashes_are_equal() -> None:
    """CRC-32 is linear: the difference of the keys cancels the difference of the table names."""
    names, keys = ("t3", "t4"), (6, 1)
    hashes = [crc("bank", name) ^ crc("id", str(key)) for name, key in zip(names, keys, strict=True)]
    assert hashes[0] == hashes[1]
    topic = created().row(hashes[0] % 2, ts(1), after=account(6), table="t3", offset=2, events=2)
    topic.row(hashes[0] % 2, ts(1), after=account(1), table="t4", offset=2, index=1, events=2)
    rules = [ExpectedDispatch(schema="bank", table=name, rule="index-value") for name in names]
    findings = check(topic.table(), dataclasses.replace(OPTIONS, rules=rules))
    assert {"INV-BATCH-KEY", "INV-ROW-PARTITION"}.isdisjoint(violations(findings))


def unfinished() -> Topic:
    return created().row(HOME, ts(1), after=account(1)).row(HOME, ts(2), after=account(2))


def stalled() -> Topic:
    return created().resolved(ts(61)).resolved(ts(62))


INFORMATION: dict[str, tuple[Callable[[], Topic], str]] = {
    "INV-COMPLETE": (unfinished, "2 rows in 1000 ms"),
    "INV-RESOLVED-STALL": (stalled, "61000 ms"),
}
"""Streams with findings of severity info, and a part of their detail."""


def test_findings_that_are_not_violations_are_information() -> None:
    options = dataclasses.replace(on_topics(INFORMATION), resolved_gap_ms=60_000)
    findings = check(together({name: stream() for name, (stream, _) in INFORMATION.items()}), options)
    assert violations(findings) == {}
    for name, (_, words) in INFORMATION.items():
        finding = finding_of(findings, name)
        assert finding.severity == "info"
        assert words in finding.examples[0].detail
        assert {event.topic for example in finding.examples for event in example.events} == {name}


# -- severities ---------------------------------------------------------------------------------------------


def keys_at(partition: int) -> list[int]:
    return [key for key in range(1, 100) if home(key) == partition]


def test_index_value_rows_may_swap_between_keys() -> None:
    first, second = keys_at(0)[:2]
    stream = by_value((2, first), (1, second)).table()
    assert violations(check(stream, BY_VALUE)) == {"INV-ORDER-TABLE": "warning"}
    strict = dataclasses.replace(BY_VALUE, strict_table_order=True)
    assert violations(check(stream, strict)) == {"INV-ORDER-TABLE": "error"}
    unknown = dataclasses.replace(OPTIONS, rules=None)
    assert violations(check(stream, unknown)) == {"INV-ORDER-TABLE": "warning"}


@pytest.mark.parametrize(
    ("partitioned", "severity"),
    [(frozenset(), "error"), (frozenset({"bank.accounts"}), "warning"), (None, "warning")],
)
def test_rows_of_table_partitions_may_swap(partitioned: frozenset[str] | None, severity: str) -> None:
    """Canal-JSON does not name the physical table of a row, and each one has a dispatcher of its own."""
    options = dataclasses.replace(OPTIONS, fidelity=Fidelity(table_ids="none"), partitioned=partitioned)
    topic = created().row(HOME, ts(2), after=account(1)).row(HOME, ts(1), after=account(2))
    assert violations(check(topic.table(), options)) == {"INV-ORDER-TABLE": severity}
    strict = dataclasses.replace(options, strict_table_order=True)
    assert violations(check(topic.table(), strict)) == {"INV-ORDER-TABLE": "error"}


def test_index_value_rows_of_one_key_may_not_swap() -> None:
    findings = check(by_value((2, 1), (1, 1)).table(), BY_VALUE)
    # Both are inserts of the row.
    swapped = {"INV-ORDER-TABLE": "warning", "INV-ORDER-KEY": "error"}
    assert violations(findings) == {**swapped, "INV-ROW-STATE": "warning"}


def test_rows_of_other_tables_behind_a_ddl_are_a_warning() -> None:
    topic = created().ddl(ts(2), "ALTER TABLE bank.other ADD INDEX (x)", table="other", ddl_type=7)
    findings = check(topic.row(HOME, ts(1), after=account(1)).table(), OPTIONS)
    assert violations(findings) == {"INV-DDL-BARRIER-BEFORE": "warning"}


def test_a_ddl_of_a_database_concerns_its_tables() -> None:
    topic = (
        created().row(HOME, ts(3), after=account(1)).ddl(ts(2), "ALTER DATABASE bank", table="", ddl_type=26)
    )
    findings = check(topic.row(HOME, ts(2), after=account(2)).table(), OPTIONS)
    barriers = {name: severity for name, severity in violations(findings).items() if "BARRIER" in name}
    assert barriers == {"INV-DDL-BARRIER-BEFORE": "error", "INV-DDL-BARRIER-AFTER": "error"}
    assert finding_of(findings, "INV-DDL-BARRIER-AFTER").count == 1


def test_a_ddl_in_one_partition_is_a_warning_if_nothing_follows() -> None:
    topic = valid().ddl(ts(5), "CREATE TABLE bank.t (id INT)", table="t", only=[HOME])
    assert violations(check(topic.table(), OPTIONS)) == {"INV-DDL-BROADCAST": "warning"}


def test_canal_json_has_ddl_in_partition_0_only() -> None:
    options = dataclasses.replace(OPTIONS, ddl_broadcast=False)
    topic = Topic().ddl(ts(0), CREATE, only=[0]).resolved(ts(0)).row(HOME, ts(1), after=account(1))
    assert violations(check(topic.table(), options)) == {}
    assert violations(check(valid().table(), options)) == {"INV-DDL-BROADCAST": "error"}


def test_null_in_a_hashed_column_makes_the_partition_a_warning() -> None:
    rule = ExpectedDispatch(schema="bank", table="accounts", rule="columns", columns=("Email",))
    options = dataclasses.replace(OPTIONS, rules=[rule])
    right = (crc("bank", "accounts") ^ crc("email", "null")) % 2
    null = account(1, email=None)
    assert violations(check(created().row(right, ts(1), after=null).table(), options)) == {}
    astray = created().row(1 - right, ts(1), after=null).table()
    assert violations(check(astray, options)) == {"INV-ROW-PARTITION": "warning"}


# -- partitions ---------------------------------------------------------------------------------------------


def test_worked_values_of_index_value_dispatch() -> None:
    """docs/stream-semantics.md §6.2: test.t1 with handle id, N=16."""
    topic = Topic(partitions=16)
    for key, partition in {1: 11, 2: 1, 3: 7, 4: 4}.items():
        topic.row(partition, ts(key), after={"id": str(key)}, table="t1")
        topic.events[-1]["schema"] = "test"
    options = VerifyOptions(
        rules=[ExpectedDispatch(schema="test", table="t1", rule="index-value")], partitions={"bank": 16}
    )
    assert violations(check(topic.table(), options)) == {}
    topic.events[2]["partition"] = 8
    assert violations(check(topic.table(), options)) == {"INV-ROW-PARTITION": "error"}


def test_rules_by_function_and_ts_dispatch() -> None:
    def rules(schema: str, table: str) -> ExpectedDispatch:
        return ExpectedDispatch(schema=schema, table=table, rule="ts")

    options = VerifyOptions(rules=rules, partitions={"bank": 3})
    topic = Topic(partitions=3).ddl(ts(0), CREATE)
    for second in (1, 2, 3):
        topic.row((ts(second) + second) % 3, ts(second) + second, after=account(second))
    assert violations(check(topic.table(), options)) == {}
    astray = topic.row((ts(4) + 1) % 3, ts(4), after=account(4))
    assert violations(check(astray.table(), options)) == {"INV-ROW-PARTITION": "error"}


@pytest.mark.parametrize(("batched", "severity"), [(True, "warning"), (False, "error")])
def test_only_batches_may_reorder_a_row_with_two_dispatch_keys(batched: bool, severity: str) -> None:
    """A row that moves to another dispatch key of the same partition is still one row."""
    rule = ExpectedDispatch(schema="bank", table="accounts", rule="columns", columns=("balance",))
    partitions = {b: (crc("bank", "accounts") ^ crc("balance", str(b))) % 2 for b in range(20)}
    old, new = [balance for balance, partition in partitions.items() if partition == 0][:2]
    topic = created().row(0, ts(2), before=account(1, old), after=account(1, new))
    topic.row(0, ts(1), after=account(1, old))
    findings = check(topic.table(), dataclasses.replace(OPTIONS, rules=[rule], batched=batched))
    assert violations(findings) == {"INV-ORDER-TABLE": "warning", "INV-ORDER-KEY": severity}


# -- what is legal ------------------------------------------------------------------------------------------


def replayed() -> Topic:
    """The changefeed restarted: each partition repeats a suffix, with older resolved events."""
    topic = valid().again(HOME, 3).again(AWAY, 2)
    return topic.row(HOME, ts(5), after=account(6)).resolved(ts(5))


def message_sent_twice() -> Topic:
    topic = created().row(HOME, ts(1), before=account(1)).row(HOME, ts(1), after=account(1, 1))
    return topic.row(HOME, ts(1), before=account(1))


def ddl_at_resolved() -> Topic:
    return (
        created()
        .row(HOME, ts(1), after=account(1))
        .resolved(ts(2))
        .ddl(ts(2), "TRUNCATE TABLE bank.accounts")
    )


def tail_missing() -> Topic:
    return valid().resolved(ts(5), only=[AWAY])


def partition_without_rows() -> Topic:
    topic = Topic(partitions=2).ddl(ts(0), CREATE).resolved(ts(0))
    return topic.row(HOME, ts(1), after=account(1)).resolved(ts(1))


def unique_change_split() -> Topic:
    topic = created().row(HOME, ts(1), before=account(1)).row(HOME, ts(1), before=account(2))
    return topic.row(HOME, ts(1), after=account(1, email="new@bank")).row(HOME, ts(1), after=account(3))


def equal_ts_in_tables() -> Topic:
    """Each physical table is sorted for itself."""
    topic = created().row(HOME, ts(2), after=account(1), table_id=11)
    return topic.row(HOME, ts(1), after=account(2), table_id=12).row(
        HOME, ts(3), before=account(1), table_id=11
    )


LEGAL = (
    valid, replayed, message_sent_twice, ddl_at_resolved, tail_missing, partition_without_rows,
    unique_change_split, equal_ts_in_tables,
)  # fmt: skip


def test_legal_streams_give_nothing() -> None:
    names = [stream.__name__ for stream in LEGAL]
    topics = {stream.__name__: stream() for stream in LEGAL}
    findings = check(together(topics), on_topics(names))
    assert violations(findings) == {}
    assert {finding.id for finding in findings if finding.severity == "info"} <= {"INV-COMPLETE"}


def test_a_row_at_the_resolved_ts_is_information() -> None:
    topic = created().row(HOME, ts(1), after=account(1)).resolved(ts(1)).row(HOME, ts(1), after=account(2))
    findings = check(topic.table(), OPTIONS)
    assert [each.id for each in findings if each.severity != "not checked"] == ["INV-RESOLVED"]
    assert finding_of(findings, "INV-RESOLVED").severity == "info"


def test_a_repeated_row_with_other_content_is_no_duplicate() -> None:
    topic = valid().again(HOME, 9)
    changed = next(event for event in reversed(topic.events) if event["kind"] == "row")
    changed["before"] = {**changed["before"], "balance": bytearray(b"6")}
    assert violations(check(topic.table(), OPTIONS)) == {
        "INV-COLLAPSE": "error",
        "INV-DUP-CONTENT": "error",
    }


def test_null_and_a_value_are_not_identical() -> None:
    """Hashing passes over NULL: without care both images would be one sequence of bytes."""
    flags = {"id": ACCOUNTS["id"], "x": PLAIN, "y": PLAIN}
    topic = created().row(HOME, ts(1), after={"id": "1", "x": None, "y": "y"}, flags=flags)
    topic.row(HOME, ts(1), after={"id": "1", "x": "y", "y": None}, flags=flags)
    assert violations(check(topic.table(), OPTIONS)) == {
        "INV-COLLAPSE": "error",
        "INV-DUP-CONTENT": "error",
    }


# -- what cannot be checked ---------------------------------------------------------------------------------


def unchecked(findings: list[Finding]) -> dict[str, str]:
    return {finding.id: finding.hint for finding in findings if finding.severity == "not checked"}


def test_unknown_rules_and_partitions_are_not_passed() -> None:
    findings = check(valid().table(), VerifyOptions())
    assert violations(findings) == {}
    assert unchecked(findings).keys() == {
        "INV-BATCH-SIZE", "INV-RESOLVED-BROADCAST", "INV-DDL-BROADCAST", "INV-ROW-PARTITION",
        "INV-BATCH-KEY", "INV-COMPLETE", "INV-TOPIC",
    }  # fmt: skip


def test_a_stream_without_rows_proves_nothing_about_rows() -> None:
    reasons = unchecked(check(created().table(), OPTIONS))
    assert reasons["INV-ORDER-TABLE"] == "the stream has no row events"
    assert "INV-DDL-BROADCAST" not in reasons


def test_an_empty_stream_proves_nothing() -> None:
    reasons = unchecked(check(Topic().table(), OPTIONS))
    assert reasons.keys() == {invariant.id for invariant in INVARIANTS} - {
        "INV-FRAME",
        "INV-CHECKSUM",
        "INV-BATCH-SIZE",
        "INV-RESOLVED-STALL",
    }


def test_options_of_the_changefeed_take_checks_away() -> None:
    raw = dataclasses.replace(OPTIONS, raw_key_update=True, fidelity=Fidelity(resolved=False))
    findings = check(unsplit().table(), raw)
    assert violations(findings) == {}
    assert {"INV-KEY-UPDATE-SPLIT", "INV-RESOLVED", "INV-RESOLVED-BROADCAST"} <= unchecked(findings).keys()


def test_rows_without_handle_key_or_hashed_column_are_counted_as_not_checked() -> None:
    flags = dict.fromkeys(ACCOUNTS, PLAIN)
    rule = ExpectedDispatch(schema="bank", table="accounts", rule="columns", columns=("nothing",))
    topic = (
        created().row(0, ts(1), after=account(1), flags=flags).row(1, ts(1), after=account(2), flags=flags)
    )
    findings = check(topic.table(), dataclasses.replace(OPTIONS, rules=[rule]))
    counts = {finding.id: finding.count for finding in findings if finding.severity == "not checked"}
    of_rows = {"INV-ORDER-KEY", "INV-COLLAPSE", "INV-KEY-PARTITION", "INV-ROW-STATE", "INV-OLD-IMAGE"}
    of_rows |= {"INV-DUP-CONTENT", "INV-ROW-PARTITION", "INV-BATCH-KEY"}
    assert counts == {"INV-TOPIC": 0} | dict.fromkeys(of_rows, 2)
