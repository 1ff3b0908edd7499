"""Integers over 2^53 may come as decimal text: JavaScript writes a rounded number otherwise."""

from __future__ import annotations

import json

import jsonschema
import msgspec
import pytest

from ticdc_producer.conformance.wire import ApplyRequest, InvalidResponse, answer_of
from ticdc_producer.conformance.wire_schema import wire_schema

TS = 429918008428724226


def _line(**event: object) -> bytes:
    return json.dumps({"case": "a", "events": [{"kind": "row", **event}]}).encode()


@pytest.mark.parametrize(
    "event", [{"commit_ts": str(TS), "table_id": "77"}, {"commit_ts": TS, "table_id": "77"}]
)
def test_text_and_number_are_the_same_answer(event: dict[str, object]) -> None:
    assert answer_of(_line(**event), "a") == answer_of(_line(commit_ts=TS, table_id=77), "a")
    jsonschema.validate(json.loads(_line(**event)), wire_schema())


@pytest.mark.parametrize(
    "event",
    [
        {"commit_ts": "4e17"},
        {"commit_ts": ""},
        {"commit_ts": "-1"},
        {"commit_ts": None},
        {"commit_ts": str(TS), "handle_key_only": "true"},
        {"commit_ts": str(TS), "ddl_type": "3"},
        {"commit_ts": "٣"},
    ],
)
def test_other_text_is_no_number(event: dict[str, object]) -> None:
    with pytest.raises(InvalidResponse, match="does not have the published format"):
        answer_of(_line(**event), "a")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(_line(**event)), wire_schema())


def test_a_float_instead_of_an_integer_has_a_hint() -> None:
    answer = b'{"case":"c","events":[{"kind":"resolved","commit_ts":4.29918007904436e17}]}'
    with pytest.raises(InvalidResponse, match=r"got `float`.*write a 64-bit integer, or its digits as text"):
        answer_of(answer, "c")


def test_a_request_has_its_time_stamp_also_as_text() -> None:
    request = {
        "case": "c",
        "level": "apply",
        "protocol": "craft",
        "options": {},
        "messages": [],
        "tables": [],
    }
    at_ts, at_end = (
        json.loads(msgspec.json.encode(msgspec.convert({**request, "resolved_ts": moment}, ApplyRequest)))
        for moment in (TS, None)
    )
    assert (at_ts["resolved_ts"], at_ts["resolved_ts_text"]) == (TS, str(TS))
    assert at_end["resolved_ts"] is None
    assert "resolved_ts_text" not in at_end
