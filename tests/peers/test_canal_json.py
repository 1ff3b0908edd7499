"""Canal-JSON: canal's own FlatMessage, and Flink's canal-json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.golden_events import GOLDEN, GoldenDDL
from tests.peers.flink import CANAL, DECIMAL_DIGITS, Form, read
from tests.peers.golden_cases import CANAL_FILES, Case, canal_cases, ident
from tests.peers.limits import CANAL_CONSUMERS, DATED, FLAT, FLINK_CANAL, is_zero_date, refusal, zero_date
from tests.peers.software import Accepted, Answer, Refusal, Software
from tests.peers.table_state import state_of_changes, state_of_events
from ticdc_producer.model.event import Image, Op

pytestmark = pytest.mark.slow
FILES = pytest.mark.parametrize(("path", "variant"), CANAL_FILES, ids=map(ident, CANAL_FILES))


def answer_of(software: Software, consumer: str, case: Case) -> Answer:
    columns = CANAL.declared(case.columns)
    return software.ask(consumer, key=case.golden.key, value=case.golden.value, columns=columns)


@pytest.mark.parametrize("consumer", CANAL_CONSUMERS)
@FILES
def test_our_and_ticdcs_messages_are_read_alike(
    software: Software, consumer: str, path: Path, variant: str
) -> None:
    for case in canal_cases(path, variant):
        columns = CANAL.declared(case.columns)
        golden, ours = [
            software.ask(consumer, key=key, value=value, columns=columns) for key, value in case.sent
        ]
        assert ours == golden


@FILES
def test_flat_message_holds_the_event(software: Software, path: Path, variant: str) -> None:
    for case in canal_cases(path, variant):
        answer = answer_of(software, FLAT, case)
        assert isinstance(answer, Accepted)
        message = answer.content
        sent = json.loads(case.golden.value or b"")
        sent.pop("_tidb", None)  # FlatMessage has no place for TiDB's extension
        assert message == {**sent, "gtid": None}
        if case.row:
            assert (message["database"], message["table"]) == (case.row.schema, case.row.table)
            assert message["type"] == case.row.op.name
            old = case.row.before if case.row.op == Op.UPDATE else None
            new = case.row.before if case.row.op == Op.DELETE else case.row.after
            assert _images(case, message["data"]) == _expected(case, new)
            assert _images(case, message["old"]) == _expected(case, old)
        elif isinstance(case.event, GoldenDDL):
            assert (message["isDdl"], message["sql"]) == (True, case.event.query)


def _expected(case: Case, image: Image | None) -> list[dict[str, Any]]:
    return [] if image is None else [CANAL.sent_image(case.columns, image)]


def _images(case: Case, images: list[dict[str, str | None]] | None) -> list[dict[str, Any]]:
    return [_values(case, image) for image in images or ()]


def _values(case: Case, texts: dict[str, str | None]) -> dict[str, Any]:
    types = {column.name: CANAL.type_of(column) for column in case.columns}
    return {name: None if text is None else read(types[name], text) for name, text in texts.items()}


@FILES
def test_flink_gives_the_rows_of_the_events(software: Software, path: Path, variant: str) -> None:
    for case in canal_cases(path, variant):
        answer = answer_of(software, FLINK_CANAL, case)
        if limit := refusal(FLINK_CANAL, case):
            assert isinstance(answer, Refusal)
            assert answer.message.startswith(limit.answer)
        else:
            assert isinstance(answer, Accepted)
            changes = CANAL.arrived(case.columns, answer.content)
            assert changes == (CANAL.changes(case.columns, case.row) if case.row else [])


@FILES
def test_flinks_tables_have_the_rows_of_the_events(software: Software, path: Path, variant: str) -> None:
    cases = [case for case in canal_cases(path, variant) if case.row and not refusal(FLINK_CANAL, case)]
    answers = [answer_of(software, FLINK_CANAL, case) for case in cases]
    changes = [
        CANAL.arrived(case.columns, answer.content)
        for case, answer in zip(cases, answers, strict=True)
        if isinstance(answer, Accepted)
    ]
    assert state_of_changes(cases, changes) == state_of_events(cases, CANAL)


def test_what_helps_with_ddls_and_watermarks_makes_zero_dates_null(software: Software) -> None:
    path = GOLDEN / "visible" / "temporal.canal-json.tidb-extension.jsonl"
    others = zeros = 0
    for case in canal_cases(path, "canal-json.tidb-extension"):
        declared = CANAL.declared(case.columns)
        answer = software.ask(
            f"{FLINK_CANAL}-lenient", key=case.golden.key, value=case.golden.value, columns=declared
        )
        assert isinstance(answer, Accepted)
        if case.row is None:
            others += 1
            assert answer.content == []
        elif zero_date(case):
            zeros += 1
            row = replace(
                case.row,
                before=_without_zeros(case, case.row.before),
                after=_without_zeros(case, case.row.after),
            )
            assert CANAL.arrived(case.columns, answer.content) == CANAL.changes(case.columns, row)
    assert others
    assert zeros


def _without_zeros(case: Case, image: Image | None) -> Image | None:
    columns = {column.name: column for column in case.columns}
    return image and {
        name: None if is_zero_date(columns[name], value) else value for name, value in image.items()
    }


def test_zero_dates_can_be_declared_as_text(software: Software) -> None:
    path = GOLDEN / "visible" / "temporal.canal-json.jsonl"
    cases = [case for case in canal_cases(path, "canal-json") if zero_date(case)]
    assert cases
    for case in cases:
        declared = _WITH_TEXT_DATES.declared(case.columns)
        answer = software.ask(FLINK_CANAL, key=None, value=case.golden.value, columns=declared)
        assert isinstance(answer, Accepted)
        assert case.row
        expected = _WITH_TEXT_DATES.changes(case.columns, case.row)
        assert _WITH_TEXT_DATES.arrived(case.columns, answer.content) == expected


_WITH_TEXT_DATES = Form(
    lambda column: "STRING" if column.type in DATED else CANAL.type_of(column), CANAL.text_of
)


@pytest.mark.parametrize("digits", [DECIMAL_DIGITS, DECIMAL_DIGITS + 1])
def test_flink_declares_decimals_of_38_digits_at_most(software: Software, digits: int) -> None:
    answer = software.ask(FLINK_CANAL, key=None, value=b"{}", columns=f"d DECIMAL({digits}, 0)")
    assert isinstance(answer, Refusal)
    declared = "Decimal precision must be between 1 and 38" not in answer.message
    assert declared == (digits <= DECIMAL_DIGITS)
