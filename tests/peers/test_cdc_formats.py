"""Canal-JSON: Paimon's parser and SeaTunnel's canal_json, with the messages of TiCDC and ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.peers.golden_cases import CANAL_FILES, Case, canal_cases, ident
from tests.peers.software import Accepted, Answer, Refusal, Software
from ticdc_producer.model.event import Op

pytestmark = pytest.mark.slow
PAIMON, SEATUNNEL = "paimon-canal", "seatunnel-canal"
VARIANTS = ("canal-json", "canal-json.content-compatible", "canal-json.tidb-extension")
FILES = pytest.mark.parametrize(
    ("path", "variant"),
    [file for file in CANAL_FILES if file[1] in VARIANTS],
    ids=lambda value: value.name if isinstance(value, Path) else value,
)
KINDS = {
    PAIMON: {Op.INSERT: ["+I"], Op.UPDATE: ["-D", "+I"], Op.DELETE: ["-D"]},
    SEATUNNEL: {Op.INSERT: ["+I"], Op.UPDATE: ["-U", "+U"], Op.DELETE: ["-D"]},
}
REASONS = {
    "Expected node 'data'": "a watermark",
    "Binary string length must be": "BIT without its length",
    "begin 5, end 1": "SET without its members",
    "begin 6, end 2": "ENUM without its members",
    "For input string": "SET above 31 bits",
    "Index ": "ENUM out of range, or with a quote in a member",
    "Don't support MySQL type 'VECTOR'": "VECTOR",
}
"""How Paimon's error messages begin, and what it rejects."""


def answers(software: Software, name: str, path: Path, variant: str) -> Iterator[tuple[Case, Answer, Answer]]:
    """The answers to TiCDC's message and to ours for each event of a file."""
    for case in canal_cases(path, variant):
        columns = [column.name for column in case.columns] or ["id"]
        if len(case.sent) == 2:
            golden, ours = (
                software.ask(name, key=key, value=value, columns=columns) for key, value in case.sent
            )
            yield case, golden, ours


def sent_rows(case: Case) -> list[dict[str, str | None]]:
    """The images in a message of a row, the old one first."""
    content = json.loads(case.golden.value or b"")
    return [*(content["old"] or [] if content["type"] == "UPDATE" else []), *content["data"]]


def types_of(case: Case) -> dict[str, str]:
    """The MySQL type of each column, as the message has it."""
    types: dict[str, str] = json.loads(case.golden.value or b"")["mysqlType"]
    return types


@FILES
def test_seatunnel_has_the_texts_of_the_message(cdc_formats: Software, path: Path, variant: str) -> None:
    """All columns are declared as strings."""
    for case, golden, ours in answers(cdc_formats, SEATUNNEL, path, variant):
        if case.row is None:
            assert type(golden) is type(ours)
            assert golden == Accepted([]) or isinstance(golden, Refusal)
            assert isinstance(golden, Accepted) or golden.message.startswith("Null data value")
            continue
        assert golden == ours
        assert isinstance(golden, Accepted)
        assert [change["kind"] for change in golden.content] == KINDS[SEATUNNEL][case.row.op]
        for change, row in zip(golden.content, sent_rows(case), strict=True):
            assert {name: text for name, text in change["row"].items() if name in row} == row


@FILES
def test_paimon_has_the_texts_of_the_message(cdc_formats: Software, path: Path, variant: str) -> None:
    """ENUM and SET become the texts of their members, which the message has with content-compatible only."""
    for case, golden, ours in answers(cdc_formats, PAIMON, path, variant):
        assert type(golden) is type(ours)  # columns have no order, so the error may be that of another one
        if isinstance(golden, Refusal):
            assert any(golden.message.startswith(begin) for begin in REASONS), golden.message
            assert case.row is None or variant == "canal-json.content-compatible" or _incomplete(case)
            continue
        assert golden == ours
        if case.row is None:
            assert golden.content == []
            continue
        assert [change["kind"] for change in golden.content] == KINDS[PAIMON][case.row.op]
        assert _plain(case, golden.content[-1]["row"]) == _plain(case, sent_rows(case)[-1])


def _incomplete(case: Case) -> bool:
    """Whether a type lacks what Paimon needs, or Paimon does not know it."""
    types = types_of(case).values()
    return any(kind in ("bit", "enum", "set") or kind.startswith("vector") for kind in types)


def _plain(case: Case, row: dict[str, Any]) -> dict[str, Any]:
    """The columns of a row whose text is that of the message."""
    types = types_of(case)
    return {name: text for name, text in row.items() if not types[name].startswith(("enum", "set"))}


def test_every_reason_occurs(cdc_formats: Software) -> None:
    reasons = set()
    for path, variant in CANAL_FILES:
        if variant in VARIANTS and ident((path, variant)).startswith(("enum", "vector", "seed", "fuzz01")):
            for _, golden, _ in answers(cdc_formats, PAIMON, path, variant):
                if isinstance(golden, Refusal):
                    reasons |= {begin for begin in REASONS if golden.message.startswith(begin)}
    assert reasons == set(REASONS)
