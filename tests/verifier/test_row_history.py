"""The history of a row: states and old images across its events, and where they are unknown."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from tests.verifier.test_invariants import (
    AWAY,
    BROKEN,
    HOME,
    OPTIONS,
    created,
    finding_of,
    inserted_twice,
    lost_column,
    offsets,
    on_topics,
    other_old_image,
    together,
    unchecked,
    violations,
)
from tests.verifier.topic import ACCOUNTS, PLAIN, Topic, account, ts
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.verifier.check import check
from ticdc_producer.verifier.options import ExpectedDispatch, VerifyOptions

TRUNCATE, ADD_COLUMN, DROP_TABLE, RENAME, EXCHANGE = 11, 5, 4, 14, 42
WIDER = ACCOUNTS | {"note": PLAIN}


def whole(options: VerifyOptions = OPTIONS) -> VerifyOptions:
    return dataclasses.replace(options, from_beginning=True)


def unbroken() -> Topic:
    """A row with a valid history."""
    topic = created().row(HOME, ts(1), after=account(1))
    return topic.row(HOME, ts(2), before=account(1), after=account(1, 1))


# -- from the beginning -------------------------------------------------------------------------------------


def never_inserted() -> Topic:
    return created().row(HOME, ts(1), before=account(1), after=account(1, 1))


def deleted_twice() -> Topic:
    return unbroken().row(HOME, ts(3), before=account(1, 1)).row(HOME, ts(4), before=account(1, 1))


def truncated_and_updated() -> Topic:
    topic = unbroken().ddl(ts(3), "TRUNCATE TABLE bank.accounts", ddl_type=TRUNCATE)
    return topic.row(HOME, ts(4), before=account(1, 1), after=account(1, 2))


STATES = {
    "never-inserted": (never_inserted, "never inserted"),
    "deleted-twice": (deleted_twice, "delete of a row that was deleted"),
    "inserted-twice": (inserted_twice, "exists since"),
    "truncated": (truncated_and_updated, "never inserted"),
}


def test_from_the_beginning_a_row_has_its_whole_history() -> None:
    topics = {name: stream() for name, (stream, _) in STATES.items()}
    topics |= {"INV-OLD-IMAGE": other_old_image(), "INV-SCHEMA": lost_column()}
    options = dataclasses.replace(whole(on_topics(topics)), examples=9)
    findings = check(together(topics), options)
    assert violations(findings) == dict.fromkeys(("INV-ROW-STATE", "INV-OLD-IMAGE", "INV-SCHEMA"), "error")
    for name in ("INV-OLD-IMAGE", "INV-SCHEMA"):
        assert [example.events[0].topic for example in finding_of(findings, name).examples] == [name]
        assert offsets(finding_of(findings, name)) == BROKEN[name][1]
    assert "balance: the old image has 6, the previous event left 5" in str(
        finding_of(findings, "INV-OLD-IMAGE")
    )
    details = {
        example.events[-1].topic: example.detail for example in finding_of(findings, "INV-ROW-STATE").examples
    }
    assert details.keys() == STATES.keys()
    assert all(words in details[name] for name, (_, words) in STATES.items())


def test_the_number_of_examples_is_configurable() -> None:
    topic = created()
    for key in range(1, 6):
        topic.row(HOME, ts(key), before=account(key))
    few, many = (
        finding_of(check(topic.table(), dataclasses.replace(whole(), examples=number)), "INV-ROW-STATE")
        for number in (1, 4)
    )
    assert (few.count, len(few.examples), len(many.examples)) == (5, 1, 4)


# -- what is legal ------------------------------------------------------------------------------------------


def emptied() -> Topic:
    topic = unbroken().ddl(ts(3), "TRUNCATE TABLE bank.accounts", ddl_type=TRUNCATE)
    topic.row(HOME, ts(4), after=account(1))
    topic.ddl(ts(5), "DROP TABLE bank.accounts", ddl_type=DROP_TABLE)
    return topic.ddl(ts(6), "CREATE TABLE bank.accounts (id BIGINT)").row(HOME, ts(7), after=account(1))


def widened() -> Topic:
    """The old image has the default of a column that was added after the row was written."""
    topic = unbroken().ddl(ts(3), "ALTER TABLE bank.accounts ADD COLUMN note INT", ddl_type=ADD_COLUMN)
    old, new = account(1, 1, note="0"), account(1, 2, note="0")
    return topic.row(HOME, ts(4), before=old, after=new, flags=WIDER)


def row_at_the_ddl() -> Topic:
    """A row with the ts of the DDL belongs before it."""
    topic = unbroken().row(HOME, ts(3), before=account(1, 1), after=account(1, 2))
    return topic.ddl(ts(3), "ALTER TABLE bank.accounts ADD COLUMN note INT", ddl_type=ADD_COLUMN)


def split_pair() -> Topic:
    topic = unbroken().row(HOME, ts(3), before=account(1, 1))
    return topic.row(HOME, ts(3), after=account(1, 1, email="new@bank"))


def replayed_rows() -> Topic:
    return unbroken().again(HOME, 2).row(HOME, ts(3), before=account(1, 1))


def handle_key_only() -> Topic:
    """A row too large for a message, and a delete with its key columns only."""
    keys = {"id": "1"}
    topic = unbroken().row(HOME, ts(3), before=keys, after=keys, handle_key_only=1)
    topic.row(HOME, ts(4), before=account(1, 7), after=account(1, 8))
    return topic.row(HOME, ts(5), before=keys)


LEGAL = (emptied, widened, row_at_the_ddl, split_pair, replayed_rows, handle_key_only)


def renamed() -> Topic:
    topic = unbroken().ddl(
        ts(3), "RENAME TABLE bank.accounts TO bank.clients", table="clients", ddl_type=RENAME
    )
    return topic.row(HOME, ts(4), before=account(1, 1), after=account(1, 2), table="clients")


def exchanged() -> Topic:
    """The event names one of the two tables."""
    query = "ALTER TABLE bank.parts EXCHANGE PARTITION p WITH TABLE bank.accounts"
    topic = unbroken().ddl(ts(3), query, table="parts", ddl_type=EXCHANGE)
    return topic.row(HOME, ts(4), before=account(9), after=account(9, 2))


def database_dropped() -> Topic:
    topic = unbroken().ddl(ts(5), "DROP DATABASE bank", table="", ddl_type=2)
    return topic.row(HOME, ts(6), after=account(1))


def violations_in(streams: tuple[Callable[[], Topic], ...]) -> dict[str, str]:
    topics = {stream.__name__: stream() for stream in streams}
    return violations(check(together(topics), whole(on_topics(topics))))


def test_legal_histories_give_nothing() -> None:
    assert violations_in(LEGAL) == {}


def test_a_ddl_that_concerns_several_tables_counts_for_their_rows() -> None:
    """In a stream of their own, because such a DDL counts in all topics."""
    assert violations_in((renamed, exchanged, database_dropped)) == {}


# -- options ------------------------------------------------------------------------------------------------


def test_an_old_image_of_the_updated_columns_is_checked() -> None:
    def stream(old: str) -> Topic:
        return unbroken().row(HOME, ts(3), before={"balance": old}, after=account(1, 2))

    updated = Fidelity(old_values="updated")
    options = dataclasses.replace(whole(on_topics(("right", "wrong"))), fidelity=updated)
    findings = check(together({"right": stream("1"), "wrong": stream("5")}), options)
    assert violations(findings) == {"INV-OLD-IMAGE": "error"}
    assert offsets(finding_of(findings, "INV-OLD-IMAGE")) == [(HOME, 3), (HOME, 4)]
    assert finding_of(findings, "INV-OLD-IMAGE").examples[0].events[0].topic == "wrong"


def test_updates_that_read_as_inserts_are_no_second_insert() -> None:
    options = dataclasses.replace(whole(), fidelity=Fidelity(old_values="none", names_operation=False))
    topic = inserted_twice().row(HOME, ts(3), before=account(1, 2)).row(HOME, ts(4), before=account(1, 2))
    findings = check(topic.table(), options)
    assert violations(findings) == {"INV-ROW-STATE": "error"}
    assert finding_of(findings, "INV-ROW-STATE").count == 1
    assert unchecked(findings)["INV-OLD-IMAGE"] == "updates carry no old image"


def test_an_update_of_the_key_ends_one_row_and_begins_another() -> None:
    def moved() -> Topic:
        return unbroken().row(HOME, ts(3), before=account(1, 1), after=account(2, 1))

    right = moved().row(HOME, ts(4), after=account(1)).row(HOME, ts(5), before=account(2, 1))
    options = dataclasses.replace(whole(on_topics(("right", "wrong"))), raw_key_update=True)
    wrong = moved().row(HOME, ts(4), before=account(1, 1))
    findings = check(together({"right": right, "wrong": wrong}), options)
    assert violations(findings) == {"INV-ROW-STATE": "error"}
    assert finding_of(findings, "INV-ROW-STATE").examples[0].events[-1].topic == "wrong"


def test_milliseconds_leave_the_order_to_the_partition() -> None:
    """Three transactions of one millisecond, and a row that is deleted twice later."""
    topic = created().row(HOME, ts(1), after=account(1)).row(HOME, ts(1), before=account(1))
    topic.row(HOME, ts(1), after=account(1, 5)).row(HOME, ts(2), before=account(1, 5))
    options = dataclasses.replace(whole(), fidelity=Fidelity(commit_ts="milliseconds"))
    assert violations(check(topic.table(), options)) == {}
    findings = check(topic.row(HOME, ts(3), before=account(1, 5)).table(), options)
    assert violations(findings) == {"INV-ROW-STATE": "error"}
    assert "INV-DUP-CONTENT" in unchecked(findings)


def test_tables_that_cannot_be_followed_are_not_passed() -> None:
    for uncomparable, reason in ((None, "sends no DDL"), (frozenset({"bank.accounts"}), "left out")):
        options = dataclasses.replace(whole(), uncomparable=uncomparable)
        findings = check(deleted_twice().table(), options)
        assert violations(findings) == {}
        reasons = unchecked(findings)
        assert all(reason in reasons[name] for name in ("INV-ROW-STATE", "INV-OLD-IMAGE", "INV-SCHEMA"))


# -- copies, partitions, topics -----------------------------------------------------------------------------


def test_a_row_stays_in_its_partition() -> None:
    topic = created().row(HOME, ts(1), after=account(1))
    frame = topic.row(AWAY, ts(2), before=account(1), after=account(1, 1)).table()
    findings = check(frame, OPTIONS)
    assert violations(findings) == {"INV-ROW-PARTITION": "error", "INV-KEY-PARTITION": "error"}
    assert offsets(finding_of(findings, "INV-KEY-PARTITION")) == [(HOME, 2), (AWAY, 2)]
    unknown = dataclasses.replace(OPTIONS, rules=None)
    assert violations(check(frame, unknown)) == {"INV-KEY-PARTITION": "warning"}
    by_balance = ExpectedDispatch(schema="bank", table="accounts", rule="columns", columns=("balance",))
    findings = check(frame, dataclasses.replace(OPTIONS, rules=[by_balance]))
    assert "INV-KEY-PARTITION" not in violations(findings)
    assert "events of one row to several partitions" in unchecked(findings)["INV-KEY-PARTITION"]


def test_events_go_to_the_topic_of_their_table() -> None:
    accounts, other = (
        ExpectedDispatch(schema="bank", table=table, rule="table", topic=table)
        for table in ("accounts", "other")
    )
    topics = {
        "accounts": unbroken(),
        "default": Topic().ddl(ts(0), "CREATE DATABASE bank", table="", ddl_type=1),
    }
    options = dataclasses.replace(on_topics(topics), rules=[accounts, other], default_topic="default")
    assert violations(check(together(topics), options)) == {}
    topics["accounts"].ddl(ts(3), "CREATE TABLE bank.other (id INT)", table="other")
    findings = check(together(topics), options)
    assert violations(findings) == {"INV-TOPIC": "error"}
    assert "topic other" in finding_of(findings, "INV-TOPIC").examples[0].detail
