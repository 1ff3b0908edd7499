"""The corpus: ids that last, every type and damage, and cases that our own decoders answer right."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import msgspec
import pytest

from tests.conformance.own_decoder import decoded, refuses
from ticdc_producer.conformance.case import Case, build
from ticdc_producer.conformance.damage import DAMAGES
from ticdc_producer.conformance.decode_spec import PROTOCOLS, tellings
from ticdc_producer.conformance.stream import played
from ticdc_producer.conformance.wire import exchange_schema
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.resources import shipped_folder

_ID = re.compile(rf"(required|recommended)\.({'|'.join(PROTOCOLS)})(\.[a-z0-9]+(-[a-z0-9]+)*){{2}}")
_NEVER_A_COLUMN = {
    MySQLType.UNSPECIFIED,
    MySQLType.NULL,
    MySQLType.NEW_DATE,
    MySQLType.VAR_STRING,
    MySQLType.GEOMETRY,
}


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [build(one) for one in tellings()]


def test_ids_are_unique_and_of_one_form() -> None:
    ids = [one.id for one in tellings()]
    assert len(set(ids)) == len(ids)
    assert [one for one in ids if _ID.fullmatch(one) is None] == []


def test_the_id_that_the_documentation_names_is_there() -> None:
    assert "required.open-protocol.types.bigint-unsigned-max" in {one.id for one in tellings()}


def test_every_column_type_has_cases_in_every_protocol() -> None:
    found = {
        (one.protocol, column.type)
        for one in tellings()
        if one.name.startswith("types.")
        for table in played(one.story.given, one.story.sql).catalog.tables
        for column in table.columns
    }
    missing = {(name, kind) for name in PROTOCOLS for kind in set(MySQLType) - _NEVER_A_COLUMN} - found
    assert missing == set()


def test_every_damage_is_used() -> None:
    assert {one.story.damage for one in tellings()} - {""} == set(DAMAGES)


def test_our_decoders_tell_what_a_message_tells(cases: list[Case]) -> None:
    wrong = [
        case.id
        for case in cases
        if case.expected is not None and tuple(decoded(case.request)) != case.expected
    ]
    assert wrong == []


def test_our_decoders_refuse_what_is_damaged(cases: list[Case]) -> None:
    damaged = [case for case in cases if case.expected is None]
    assert [case.id for case in damaged if not refuses(case.request)] == []
    assert {case.request.protocol for case in damaged} == set(PROTOCOLS)


def test_the_page_shows_a_true_request(cases: list[Case]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text("utf-8")
    (request,) = [case.request for case in cases if case.id == "required.open-protocol.rows.insert"]
    for part, told in (("key", request.key), ("value", request.value)):
        shown = re.findall(rf'"{part}": "([^"…]+)…"', page)
        assert len(shown) == 1
        assert (told or "").startswith(shown[0])


def test_what_is_expected_is_what_was_committed(cases: list[Case]) -> None:
    by_id = {case.id: case for case in cases}
    largest = by_id["required.open-protocol.types.bigint-unsigned-max"].expected
    assert largest is not None
    assert [event.after for event in largest] == [{"id": "1", "v": "18446744073709551615"}]
    zoned = by_id["required.canal-json.rows.time-zone"].expected
    assert zoned is not None
    assert [event.after for event in zoned] == [
        {"id": "1", "ts": "2021-12-21 04:30:49.500000", "dt": "2021-12-20 20:30:49.500000"}
    ]
    batch = by_id["required.open-protocol.batches.transactions"].expected
    assert batch is not None
    assert [event.op for event in batch] == ["insert", "update", "delete"]
    assert [event.commit_ts for event in batch] == sorted({event.commit_ts for event in batch})


def test_the_published_schema_is_current_and_every_line_of_it(cases: list[Case]) -> None:
    published = json.loads((shipped_folder("schemas") / "conformance.schema.json").read_text("utf-8"))
    assert published == exchange_schema(), (
        "python -m ticdc_producer.conformance.wire > schemas/conformance.schema.json"
    )
    validator = jsonschema.Draft202012Validator(published)
    for line in _lines(cases):
        validator.validate(line)
    assert not validator.is_valid({"case": "x", "events": [{"kind": "row"}]})


def _lines(cases: list[Case]) -> Iterator[object]:
    yield {"hello": 1}
    for case in cases:
        told = {"error": "damaged"} if case.expected is None else {"events": list(case.expected)}
        for line in (case.request, {"case": case.id, **told}):
            yield json.loads(msgspec.json.encode(line))
