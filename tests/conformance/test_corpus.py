"""The corpus: stable ids, all types and damages, and our own decoders return the expected events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import msgspec
import pytest

from tests.conformance.own_decoder import decoded, refuses
from ticdc_producer.conformance.case import Case, build_decode_case
from ticdc_producer.conformance.case_spec import PROTOCOLS, decode_cases
from ticdc_producer.conformance.damage import DAMAGES
from ticdc_producer.conformance.stream import run_spec
from ticdc_producer.conformance.wire_schema import wire_schema
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.resources import bundled_dir

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
    return [build_decode_case(spec) for spec in decode_cases()]


def test_ids_are_unique_and_well_formed() -> None:
    ids = [spec.id for spec in decode_cases()]
    assert len(set(ids)) == len(ids)
    assert [name for name in ids if _ID.fullmatch(name) is None] == []


def test_the_id_in_the_documentation_exists() -> None:
    assert "required.open-protocol.types.bigint-unsigned-max" in {spec.id for spec in decode_cases()}


def test_every_column_type_has_cases_in_every_protocol() -> None:
    covered = {
        (spec.protocol, column.type)
        for spec in decode_cases()
        if spec.name.startswith("types.")
        for table in run_spec(spec.spec.setup, spec.spec.sql).catalog.tables
        for column in table.columns
    }
    missing = {(name, kind) for name in PROTOCOLS for kind in set(MySQLType) - _NEVER_A_COLUMN} - covered
    assert missing == set()


def test_every_damage_is_used() -> None:
    assert {spec.spec.damage for spec in decode_cases()} - {""} == set(DAMAGES)


def test_our_decoders_return_the_expected_events(cases: list[Case]) -> None:
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


def test_the_request_on_the_page_is_correct(cases: list[Case]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text("utf-8")
    (request,) = [case.request for case in cases if case.id == "required.open-protocol.rows.insert"]
    for part, value in (("key", request.key), ("value", request.value)):
        excerpt = re.findall(rf'"{part}": "([^"…]+)…"', page)
        assert len(excerpt) == 1
        assert (value or "").startswith(excerpt[0])


def test_the_expected_events_are_the_committed_changes(cases: list[Case]) -> None:
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


def test_the_published_schema_is_current_and_accepts_every_line(cases: list[Case]) -> None:
    published = json.loads((bundled_dir("schemas") / "conformance.schema.json").read_text("utf-8"))
    assert published == wire_schema(), (
        "python -m ticdc_producer.conformance.wire_schema > schemas/conformance.schema.json"
    )
    validator = jsonschema.Draft202012Validator(published)
    for line in _lines(cases):
        validator.validate(line)
    assert not validator.is_valid({"case": "x", "events": [{"kind": "row"}]})


def _lines(cases: list[Case]) -> Iterator[object]:
    yield {"hello": 1}
    for case in cases:
        answer = {"error": "damaged"} if case.expected is None else {"events": list(case.expected)}
        for line in (case.request, {"case": case.id, **answer}):
            yield json.loads(msgspec.json.encode(line))
