"""A row's events against each other: what a reader knows of the row, and where it knows nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from pyspark.sql import SparkSession

from tests.verifier.test_invariants import (
    AWAY,
    BROKEN,
    HOME,
    OPTIONS,
    begun,
    inserted_twice,
    lost_column,
    on_topics,
    one,
    other_old_image,
    places,
    together,
    told,
    unchecked,
)
from tests.verifier.topic import ACCOUNTS, PLAIN, Topic, account, ts
from ticdc_producer.verifier import DispatchRule, VerifyOptions, check

TRUNCATE, ADD_COLUMN, DROP_TABLE, RENAME, EXCHANGE = 11, 5, 4, 14, 42
WIDER = ACCOUNTS | {"note": PLAIN}


def whole(options: VerifyOptions = OPTIONS) -> VerifyOptions:
    return dataclasses.replace(options, from_beginning=True)


def kept() -> Topic:
    """A row with a history that nothing is wrong with."""
    topic = begun().row(HOME, ts(1), after=account(1))
    return topic.row(HOME, ts(2), before=account(1), after=account(1, 1))


# -- from the beginning -------------------------------------------------------------------------------------


def never_inserted() -> Topic:
    return begun().row(HOME, ts(1), before=account(1), after=account(1, 1))


def deleted_twice() -> Topic:
    return kept().row(HOME, ts(3), before=account(1, 1)).row(HOME, ts(4), before=account(1, 1))


def truncated_and_updated() -> Topic:
    topic = kept().ddl(ts(3), "TRUNCATE TABLE bank.accounts", ddl_type=TRUNCATE)
    return topic.row(HOME, ts(4), before=account(1, 1), after=account(1, 2))


STATES = {
    "never-inserted": (never_inserted, "never inserted"),
    "deleted-twice": (deleted_twice, "delete of a row that was deleted"),
    "inserted-twice": (inserted_twice, "is there since"),
    "truncated": (truncated_and_updated, "never inserted"),
}


def test_from_the_beginning_a_row_has_its_whole_history(spark: SparkSession) -> None:
    topics = {name: stream() for name, (stream, _) in STATES.items()}
    topics |= {"INV-OLD-IMAGE": other_old_image(), "INV-SCHEMA": lost_column()}
    options = dataclasses.replace(whole(on_topics(topics)), witnesses=9)
    findings = check(together(spark, topics), options)
    assert told(findings) == dict.fromkeys(("INV-ROW-STATE", "INV-OLD-IMAGE", "INV-SCHEMA"), "error")
    for name in ("INV-OLD-IMAGE", "INV-SCHEMA"):
        assert [witness.events[0].topic for witness in one(findings, name).witnesses] == [name]
        assert places(one(findings, name)) == BROKEN[name][1]
    assert "balance: the old image has 6, the event before left 5" in str(one(findings, "INV-OLD-IMAGE"))
    said = {witness.events[-1].topic: witness.detail for witness in one(findings, "INV-ROW-STATE").witnesses}
    assert said.keys() == STATES.keys()
    assert all(words in said[name] for name, (_, words) in STATES.items())


def test_as_many_examples_come_as_are_asked_for(spark: SparkSession) -> None:
    topic = begun()
    for key in range(1, 6):
        topic.row(HOME, ts(key), before=account(key))
    few, many = (
        one(check(topic.frame(spark), dataclasses.replace(whole(), witnesses=number)), "INV-ROW-STATE")
        for number in (1, 4)
    )
    assert (few.count, len(few.witnesses), len(many.witnesses)) == (5, 1, 4)


# -- what is legal ------------------------------------------------------------------------------------------


def emptied() -> Topic:
    topic = kept().ddl(ts(3), "TRUNCATE TABLE bank.accounts", ddl_type=TRUNCATE)
    topic.row(HOME, ts(4), after=account(1))
    topic.ddl(ts(5), "DROP TABLE bank.accounts", ddl_type=DROP_TABLE)
    return topic.ddl(ts(6), "CREATE TABLE bank.accounts (id BIGINT)").row(HOME, ts(7), after=account(1))


def widened() -> Topic:
    """The old image has the default of a column that was added after the row was written."""
    topic = kept().ddl(ts(3), "ALTER TABLE bank.accounts ADD COLUMN note INT", ddl_type=ADD_COLUMN)
    old, new = account(1, 1, note="0"), account(1, 2, note="0")
    return topic.row(HOME, ts(4), before=old, after=new, flags=WIDER)


def row_at_the_ddl() -> Topic:
    """A row with the ts of the DDL belongs before it."""
    topic = kept().row(HOME, ts(3), before=account(1, 1), after=account(1, 2))
    return topic.ddl(ts(3), "ALTER TABLE bank.accounts ADD COLUMN note INT", ddl_type=ADD_COLUMN)


def split_pair() -> Topic:
    topic = kept().row(HOME, ts(3), before=account(1, 1))
    return topic.row(HOME, ts(3), after=account(1, 1, email="new@bank"))


def played_again() -> Topic:
    return kept().again(HOME, 2).row(HOME, ts(3), before=account(1, 1))


def shown_in_part() -> Topic:
    """A row too large for a message, and a delete of its key alone."""
    keys = {"id": "1"}
    topic = kept().row(HOME, ts(3), before=keys, after=keys, handle_key_only=1)
    topic.row(HOME, ts(4), before=account(1, 7), after=account(1, 8))
    return topic.row(HOME, ts(5), before=keys)


LEGAL = (emptied, widened, row_at_the_ddl, split_pair, played_again, shown_in_part)


def renamed() -> Topic:
    topic = kept().ddl(ts(3), "RENAME TABLE bank.accounts TO bank.clients", table="clients", ddl_type=RENAME)
    return topic.row(HOME, ts(4), before=account(1, 1), after=account(1, 2), table="clients")


def exchanged() -> Topic:
    """The event names one of the two tables."""
    query = "ALTER TABLE bank.parts EXCHANGE PARTITION p WITH TABLE bank.accounts"
    topic = kept().ddl(ts(3), query, table="parts", ddl_type=EXCHANGE)
    return topic.row(HOME, ts(4), before=account(9), after=account(9, 2))


def database_dropped() -> Topic:
    topic = kept().ddl(ts(5), "DROP DATABASE bank", table="", ddl_type=2)
    return topic.row(HOME, ts(6), after=account(1))


def found(spark: SparkSession, streams: tuple[Callable[[], Topic], ...]) -> dict[str, str]:
    topics = {stream.__name__: stream() for stream in streams}
    return told(check(together(spark, topics), whole(on_topics(topics))))


def test_legal_histories_give_nothing(spark: SparkSession) -> None:
    assert found(spark, LEGAL) == {}


def test_a_ddl_that_concerns_several_tables_counts_for_their_rows(spark: SparkSession) -> None:
    """Apart from the others: such a DDL counts in all topics."""
    assert found(spark, (renamed, exchanged, database_dropped)) == {}


# -- options ------------------------------------------------------------------------------------------------


def test_an_old_image_of_the_updated_columns_is_checked(spark: SparkSession) -> None:
    def stream(old: str) -> Topic:
        return kept().row(HOME, ts(3), before={"balance": old}, after=account(1, 2))

    options = dataclasses.replace(whole(on_topics(("right", "wrong"))), old_columns="updated")
    findings = check(together(spark, {"right": stream("1"), "wrong": stream("5")}), options)
    assert told(findings) == {"INV-OLD-IMAGE": "error"}
    assert places(one(findings, "INV-OLD-IMAGE")) == [(HOME, 3), (HOME, 4)]
    assert one(findings, "INV-OLD-IMAGE").witnesses[0].events[0].topic == "wrong"


def test_updates_that_read_as_inserts_are_no_second_insert(spark: SparkSession) -> None:
    options = dataclasses.replace(whole(), old_value=False, names_operation=False)
    topic = inserted_twice().row(HOME, ts(3), before=account(1, 2)).row(HOME, ts(4), before=account(1, 2))
    findings = check(topic.frame(spark), options)
    assert told(findings) == {"INV-ROW-STATE": "error"}
    assert one(findings, "INV-ROW-STATE").count == 1
    assert unchecked(findings)["INV-OLD-IMAGE"] == "updates carry no old image"


def test_an_update_of_the_key_ends_one_row_and_begins_another(spark: SparkSession) -> None:
    def moved() -> Topic:
        return kept().row(HOME, ts(3), before=account(1, 1), after=account(2, 1))

    right = moved().row(HOME, ts(4), after=account(1)).row(HOME, ts(5), before=account(2, 1))
    options = dataclasses.replace(whole(on_topics(("right", "wrong"))), raw_key_update=True)
    wrong = moved().row(HOME, ts(4), before=account(1, 1))
    findings = check(together(spark, {"right": right, "wrong": wrong}), options)
    assert told(findings) == {"INV-ROW-STATE": "error"}
    assert one(findings, "INV-ROW-STATE").witnesses[0].events[-1].topic == "wrong"


def test_milliseconds_leave_the_order_to_the_partition(spark: SparkSession) -> None:
    """Three transactions of one millisecond, and a row that is deleted twice later."""
    topic = begun().row(HOME, ts(1), after=account(1)).row(HOME, ts(1), before=account(1))
    topic.row(HOME, ts(1), after=account(1, 5)).row(HOME, ts(2), before=account(1, 5))
    options = dataclasses.replace(whole(), commit_ts="milliseconds")
    assert told(check(topic.frame(spark), options)) == {}
    findings = check(topic.row(HOME, ts(3), before=account(1, 5)).frame(spark), options)
    assert told(findings) == {"INV-ROW-STATE": "error"}
    assert "INV-DUP-CONTENT" in unchecked(findings)


def test_tables_that_cannot_be_followed_are_not_passed(spark: SparkSession) -> None:
    for untraced, reason in ((None, "tells no DDL"), (frozenset({"bank.accounts"}), "left out")):
        options = dataclasses.replace(whole(), untraced=untraced)
        findings = check(deleted_twice().frame(spark), options)
        assert told(findings) == {}
        reasons = unchecked(findings)
        assert all(reason in reasons[name] for name in ("INV-ROW-STATE", "INV-OLD-IMAGE", "INV-SCHEMA"))


# -- copies, partitions, topics -----------------------------------------------------------------------------


def test_a_row_stays_in_its_partition(spark: SparkSession) -> None:
    topic = begun().row(HOME, ts(1), after=account(1))
    frame = topic.row(AWAY, ts(2), before=account(1), after=account(1, 1)).frame(spark)
    findings = check(frame, OPTIONS)
    assert told(findings) == {"INV-ROW-PARTITION": "error", "INV-KEY-PARTITION": "error"}
    assert places(one(findings, "INV-KEY-PARTITION")) == [(HOME, 2), (AWAY, 2)]
    unknown = dataclasses.replace(OPTIONS, rules=None)
    assert told(check(frame, unknown)) == {"INV-KEY-PARTITION": "warning"}
    by_balance = DispatchRule(schema="bank", table="accounts", rule="columns", columns=("balance",))
    findings = check(frame, dataclasses.replace(OPTIONS, rules=[by_balance]))
    assert "INV-KEY-PARTITION" not in told(findings)
    assert "moves a row" in unchecked(findings)["INV-KEY-PARTITION"]


def test_events_go_to_the_topic_of_their_table(spark: SparkSession) -> None:
    accounts, other = (
        DispatchRule(schema="bank", table=table, rule="table", topic=table) for table in ("accounts", "other")
    )
    topics = {"accounts": kept(), "default": Topic().ddl(ts(0), "CREATE DATABASE bank", table="", ddl_type=1)}
    options = dataclasses.replace(on_topics(topics), rules=[accounts, other], default_topic="default")
    assert told(check(together(spark, topics), options)) == {}
    topics["accounts"].ddl(ts(3), "CREATE TABLE bank.other (id INT)", table="other")
    findings = check(together(spark, topics), options)
    assert told(findings) == {"INV-TOPIC": "error"}
    assert "topic other" in one(findings, "INV-TOPIC").witnesses[0].detail
