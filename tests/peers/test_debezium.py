"""Debezium: Kafka Connect's JsonConverter, Debezium's own transform, and Flink's debezium-json."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.golden_events import GOLDEN
from tests.peers.connect import CHANGES, OTHER_VALUES, differences, kind_of
from tests.peers.flink import DEBEZIUM
from tests.peers.golden_cases import DEBEZIUM_FILES, Case, debezium_cases, ident
from tests.peers.limits import (
    CONNECT,
    DEBEZIUM_CONSUMERS,
    FLINK_DEBEZIUM,
    UNWRAP,
    lone_surrogate,
    not_utf8,
    refusal,
    watermark,
)  # fmt: skip
from tests.peers.software import Accepted, Answer, Refusal, Software, bytes_of
from tests.peers.table_state import state_of_changes, state_of_events
from tests.protocols.test_debezium_golden import VARIANTS, encoded
from ticdc_producer.model.event import Image, Message, Op
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder

pytestmark = pytest.mark.slow
FILES = pytest.mark.parametrize(("path", "variant"), DEBEZIUM_FILES, ids=map(ident, DEBEZIUM_FILES))
IMAGE = "/payload/after"
OPERATIONS = {Op.INSERT: "c", Op.UPDATE: "u", Op.DELETE: "d"}


def answer_of(software: Software, consumer: str, case: Case) -> tuple[Answer, bytes]:
    """The answer to TiCDC's message, or to ours if TiCDC panics, and the message's value."""
    key, value = case.sent[0]
    assert value is not None
    answer = software.ask(consumer, key=key, value=value, columns=DEBEZIUM.declared(case.columns))
    if limit := refusal(consumer, case):
        assert isinstance(answer, Refusal)
        assert answer.message.startswith(limit.answer)
    else:
        assert isinstance(answer, Accepted), answer
    return answer, value


def cases_of(path: Path, variant: str) -> list[Case]:
    """The cases, without events that neither TiCDC nor our encoder sends."""
    return [case for case in debezium_cases(path, variant) if case.sent]


@pytest.mark.parametrize("consumer", DEBEZIUM_CONSUMERS)
@FILES
def test_our_and_ticdcs_messages_are_read_alike(
    software: Software, consumer: str, path: Path, variant: str
) -> None:
    for case in debezium_cases(path, variant):
        columns = DEBEZIUM.declared(case.columns)
        answers = [software.ask(consumer, key=key, value=value, columns=columns) for key, value in case.sent]
        if len(answers) == 2:
            assert answers[0] == answers[1]


@FILES
def test_connect_returns_what_was_sent(software: Software, path: Path, variant: str) -> None:
    for case in cases_of(path, variant):
        answer, value = answer_of(software, CONNECT, case)
        if isinstance(answer, Accepted):
            returned = json.loads(bytes_of(answer.content["value"]))
            differing = list(differences(json.loads(value), returned))
            key = case.sent[0][0]
            differing += differences(json.loads(key or b""), json.loads(bytes_of(answer.content["key"])))
            assert [difference for difference in differing if kind_of(difference) is None] == []


@FILES
def test_connect_gives_the_rows_of_the_events(software: Software, path: Path, variant: str) -> None:
    for case in cases_of(path, variant):
        answer, value = answer_of(software, CONNECT, case)
        if isinstance(answer, Accepted) and case.row:
            sent, returned = (
                json.loads(value)["payload"],
                json.loads(bytes_of(answer.content["value"]))["payload"],
            )
            assert returned["op"] == OPERATIONS[case.row.op]
            for name, image in (("before", case.row.before), ("after", case.row.after)):
                if image is None:
                    assert returned[name] is None
                else:
                    assert _other(case, returned[name], image) == _changed(sent[name], returned[name])


def _other(case: Case, returned: dict[str, Any], image: Image) -> set[str]:
    """Columns whose value differs from the event's."""
    expected, arrived = DEBEZIUM.image(case.columns, image), DEBEZIUM.arrived_image(case.columns, returned)
    return {name for name, value in expected.items() if arrived[name] != value}


def _changed(sent: dict[str, Any], returned: dict[str, Any]) -> set[str]:
    """Columns whose value Connect is known to change."""
    differing = differences(sent, returned, IMAGE)
    return {each.path.removeprefix(f"{IMAGE}/") for each in differing if kind_of(each) in OTHER_VALUES}


@FILES
def test_the_transform_gives_flat_rows(software: Software, path: Path, variant: str) -> None:
    for case in cases_of(path, variant):
        answer, _ = answer_of(software, UNWRAP, case)
        if isinstance(answer, Accepted):
            assert case.row
            row = json.loads(bytes_of(answer.content["value"]))["payload"]
            connect, _ = answer_of(software, CONNECT, case)
            assert isinstance(connect, Accepted)
            envelope = json.loads(bytes_of(connect.content["value"]))["payload"]
            assert row == {
                **(envelope["before"] if case.row.op == Op.DELETE else envelope["after"]),
                "__op": OPERATIONS[case.row.op],
                "__deleted": "true" if case.row.op == Op.DELETE else "false",
                "__table": case.row.table,
                "__source_ts_ms": case.event.commit_ts >> LOGICAL_BITS,
            }


def _with_java_text(image: Image | None) -> Image | None:
    """The image as Java prints it: a lone surrogate is allowed in its strings, but becomes ``?`` in UTF-8."""
    if image is None or not lone_surrogate(image):
        return image

    def java_text(value: bytes) -> bytes:
        return value.decode("utf-8", "surrogatepass").encode("utf-8", "replace")

    return {name: value and java_text(value) for name, value in image.items()}


@FILES
def test_flink_gives_the_rows_of_the_events(software: Software, path: Path, variant: str) -> None:
    for case in cases_of(path, variant):
        answer, _ = answer_of(software, FLINK_DEBEZIUM, case)
        if isinstance(answer, Accepted):
            assert case.row
            before, after = _with_java_text(case.row.before), _with_java_text(case.row.after)
            row = msgspec.structs.replace(case.row, before=before, after=after)
            assert DEBEZIUM.arrived(case.columns, answer.content) == DEBEZIUM.changes(case.columns, row)


@FILES
def test_flinks_tables_end_as_the_events_leave_them(software: Software, path: Path, variant: str) -> None:
    cases = [case for case in cases_of(path, variant) if case.row and not refusal(FLINK_DEBEZIUM, case)]
    cases = [case for case in cases if not any(map(lone_surrogate, case.images()))]
    answers = [answer_of(software, FLINK_DEBEZIUM, case)[0] for case in cases]
    changes = [
        DEBEZIUM.arrived(case.columns, answer.content)
        for case, answer in zip(cases, answers, strict=True)
        if isinstance(answer, Accepted)
    ]
    assert state_of_changes(cases, changes) == state_of_events(cases, DEBEZIUM)


DISABLE_SCHEMA = "debezium.tidb-extension.disable-schema"
WITHOUT_SCHEMA = [path for path, variant in DEBEZIUM_FILES if variant == DISABLE_SCHEMA]


@pytest.mark.parametrize("path", WITHOUT_SCHEMA, ids=lambda path: path.name.split(".")[0])
def test_messages_without_schema_need_a_converter_without(software: Software, path: Path) -> None:
    for case in cases_of(path, DISABLE_SCHEMA):
        key, value = case.sent[0]
        answer = software.ask(f"{CONNECT}-without-schemas", key=key, value=value)
        if case.row and not_utf8(case):
            assert isinstance(answer, Refusal)
        else:
            assert isinstance(answer, Accepted)
            assert json.loads(bytes_of(answer.content["key"])) == json.loads(key or b"")
            differing = differences(json.loads(value or b""), json.loads(bytes_of(answer.content["value"])))
            # A large DOUBLE or DECIMAL in plain digits is an integer to a reader without a schema.
            assert [each for each in differing if not _too_large(each.sent)] == []


def _too_large(number: object) -> bool:
    return isinstance(number, int) and not -(1 << 63) <= number < 1 << 63


def test_without_schema_large_doubles_wrap(software: Software) -> None:
    answer = software.ask(
        f"{CONNECT}-without-schemas", key=None, value=b'{"payload":{"d":18446744073709551617}}'
    )
    assert isinstance(answer, Accepted)
    assert json.loads(bytes_of(answer.content["value"])) == {"payload": {"d": 1}}


def test_flink_can_ignore_events_other_than_rows(software: Software) -> None:
    path = GOLDEN / "visible" / "ddl_many.debezium.tidb-extension.jsonl"
    others = [case for case in cases_of(path, "debezium.tidb-extension") if case.row is None]
    assert {watermark(case) for case in others} == {True, False}
    for case in others:
        key, value = case.sent[0]
        answer = software.ask(
            f"{FLINK_DEBEZIUM}-lenient", key=key, value=value, columns=DEBEZIUM.declared(case.columns)
        )
        assert answer == Accepted([])


@pytest.mark.parametrize("consumer", DEBEZIUM_CONSUMERS)
def test_text_that_is_not_utf8_is_accepted_after_replacement(software: Software, consumer: str) -> None:
    path = GOLDEN / "visible" / "strings.debezium.jsonl"
    encoder = DebeziumEncoder(replace(VARIANTS["debezium"], invalid_utf8="replace"))
    broken = [case for case in cases_of(path, "debezium") if case.row and refusal(consumer, case)]
    assert broken
    for case in broken:
        message = encoded(encoder, case.event)
        assert isinstance(message, Message)
        columns = DEBEZIUM.declared(case.columns)
        answer = software.ask(consumer, key=message.key, value=message.value, columns=columns)
        assert isinstance(answer, Accepted)
        assert "\ufffd" in _text(answer)


def _text(answer: Accepted) -> str:
    """The content as text."""
    if isinstance(answer.content, dict):
        return bytes_of(answer.content["value"]).decode()
    return json.dumps(answer.content, ensure_ascii=False)


def test_every_change_that_is_described_occurs(software: Software) -> None:
    kinds = set()
    for path, variant in DEBEZIUM_FILES:
        for case in cases_of(path, variant):
            answer, value = answer_of(software, CONNECT, case)
            if isinstance(answer, Accepted):
                returned = json.loads(bytes_of(answer.content["value"]))
                kinds |= {kind_of(difference) for difference in differences(json.loads(value), returned)}
    assert kinds == set(CHANGES)
