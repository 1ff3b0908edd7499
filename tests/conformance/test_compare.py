"""Which events are equal, and how differences are reported."""

from __future__ import annotations

from msgspec.structs import replace

from ticdc_producer.conformance.compare import differences
from ticdc_producer.conformance.wire import Base64, Event

ROW = Event(
    kind="row",
    commit_ts=(1 << 53) + 1,
    schema="s",
    table="t",
    op="update",
    before={"id": "1", "f": None},
    after={"id": "1", "f": "0.1", "d": "1.50", "b": Base64("w/8=")},
    columns=[("id", "int", 11), ("f", "float unsigned", 65), ("d", "decimal", 65), ("b", "blob", 65)],
    table_id=5,
)


ROUNDED = (
    " (only rounded to a float64, which holds integers up to 2^53: "
    'read it as a 64-bit integer, and answer "9007199254740993" as text)'
)


def test_the_same_events_do_not_differ() -> None:
    assert differences([ROW], [ROW]) == []


def test_optional_fields_are_compared_only_if_the_consumer_returns_them() -> None:
    assert differences([ROW], [replace(ROW, columns=None, table_id=None)]) == []
    assert differences([ROW], [replace(ROW, table_id=0)]) == ["event 0: table_id is 0, expected 5"]
    assert ROW.columns is not None
    assert differences([ROW], [replace(ROW, columns=ROW.columns[::-1])]) == []
    (text,) = differences([ROW], [replace(ROW, columns=ROW.columns[1:])])
    assert "columns" in text


def test_every_other_difference_is_one_sentence() -> None:
    other = replace(
        ROW, commit_ts=1 << 53, op="insert", before=None, after={"id": "2", "d": "1.5", "b": "Ãÿ", "x": None}
    )
    assert differences([ROW], [other]) == [
        f"event 0: commit_ts is 9007199254740992, expected 9007199254740993{ROUNDED}",
        'event 0: op is "insert", expected "update"',
        'event 0: before is null, expected {"id": "1", "f": null}',
        'event 0: after["id"] is "2", expected "1"',
        'event 0: after["f"] is missing',
        'event 0: after["d"] is "1.5", expected "1.50"',
        'event 0: after["b"] is "Ãÿ", expected {"b64": "w/8="}',
        'event 0: after["x"] is not in the message',
    ]


def test_only_a_rounded_integer_is_called_rounded() -> None:
    def value(text: str) -> str:
        (sentence,) = differences(
            [replace(ROW, after={"v": "429918008428724226"})], [replace(ROW, after={"v": text})]
        )
        return sentence

    assert value("429918008428724200").endswith("read it as a 64-bit integer)")
    for other in ("429918008428724100", "4.2991800842872422e17", "", "x"):
        assert "rounded" not in value(other)


def test_null_empty_and_the_text_null_are_three_values() -> None:
    actual = [replace(ROW, after={"v": value}) for value in (None, "", "null")]
    differ = [[bool(differences([row], [other])) for other in actual] for row in actual]
    assert differ == [[False, True, True], [True, False, True], [True, True, False]]


def test_floats_are_compared_as_numbers_of_their_width() -> None:
    def compared(value: str) -> list[str]:
        return differences([ROW], [replace(ROW, after={**(ROW.after or {}), "f": value})])

    assert compared("1E-1") == compared("0.10000000149011612") == []
    assert compared("0.1000001") != []
    assert compared("one") != []


def test_decimals_are_numbers_only_where_they_are_sent_as_such() -> None:
    actual = [replace(ROW, after={**(ROW.after or {}), "d": "1.5"})]
    assert differences([ROW], actual) != []
    assert differences([ROW], actual, frozenset({"float", "decimal"})) == []


def test_events_too_few_and_too_many() -> None:
    assert differences([ROW, ROW], [ROW]) == ["1 events, expected 2"]
    assert differences([], [ROW]) == ["1 events, expected 0"]


def test_a_ddl_of_a_database_has_an_empty_table_or_none() -> None:
    ddl = Event(kind="ddl", commit_ts=1, schema="s", table="", query="CREATE DATABASE s", ddl_type=1)
    assert differences([ddl], [replace(ddl, table=None)]) == []
    assert differences([ddl], [replace(ddl, query="")]) != []
