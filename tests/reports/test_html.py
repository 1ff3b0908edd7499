"""The page loads nothing, whatever the content and the size of the topic."""

from __future__ import annotations

import dataclasses
import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.reports.verdicts import BANK, START, compared, event, finding, timeline, verdict
from ticdc_producer.cli.reports import source_of
from ticdc_producer.page.sample import LONGEST_EVENT, MOST_BYTES, Sample
from ticdc_producer.page.timeline import ALL_BUCKETS, DRAWN, FaultOccurrence, Timeline
from ticdc_producer.reports.html import page
from ticdc_producer.reports.report import Subject
from ticdc_producer.verifier.invariants.registry import INVARIANTS
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import RequestedFaults

HOSTILE = "</script><!--<script>alert('x')</script><img src=http://evil.example/x onerror=alert(1)>{{ 7*7 }}"
_LOADING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "xlink:href"}


class _Reader(HTMLParser):
    """Elements, attributes and texts of a page, as a browser parses it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.texts.append("")
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data

    def text_of(self, tag: str) -> list[str]:
        """The texts in elements of one name, up to the next element."""
        return [text for of_tag, text in zip(self.tags, self.texts, strict=True) if of_tag == tag]


def content_of(text: str) -> Any:
    """The data in a page, as the script reads them."""
    return json.loads(_Reader(text).text_of("script")[0])


def assert_self_contained(text: str) -> None:
    """No element that could load anything, and a policy that allows the own script and style alone."""
    seen = _Reader(text)
    assert not {"link", "iframe", "object", "embed", "img", "base", "form"} & set(seen.tags)
    assert (seen.tags.count("script"), seen.tags.count("style")) == (2, 1)
    assert not [name for name, _ in seen.attributes if name in _LOADING or name.startswith("on")]
    assert all(value.startswith("#") for name, value in seen.attributes if name == "href")
    (style,), (_, script) = seen.text_of("style"), seen.text_of("script")
    assert "url(" not in style
    assert "@import" not in style
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    assert set(re.findall(r"https?://[^\s'\"`)]+", style + script)) == {"http://www.w3.org/2000/svg"}
    policies = [value for name, value in seen.attributes if name == "content" and "default-src" in value]
    policy = dict(part.split(" ", 1) for part in policies[0].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == f"'{_digest(script)}'"
    assert policy["style-src"] == f"'{_digest(style)}'"
    assert policy["require-trusted-types-for"] == "'script'"


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def lines(text: str) -> dict[str, tuple[str, str]]:
    """What was checked: the text of each line and its state, by name."""
    of_verdict = content_of(text)["verified"]["verdict"]["lines"]
    return {line["name"]: (line["text"], line["state"]) for line in of_verdict}


@pytest.mark.parametrize(
    ("reported", "sentence"),
    [
        (("INV-FRAME",), "every illegal fault was detected"),
        ((), "poison was not detected; illegal faults must be detected"),
    ],
)
def test_requested_faults(reported: tuple[str, ...], sentence: str) -> None:
    requested = RequestedFaults(reported_by={"poison": reported}, may_cause={"poison": ("INV-FRAME",)})
    failed = verdict(finding("INV-FRAME", "error", 1))
    assert sentence in lines(page(BANK, failed, timeline(), requested=requested))["requested"][0]
    assert "requested" not in lines(page(BANK, failed, timeline(), requested=RequestedFaults()))


@pytest.mark.parametrize(
    ("requested", "ok"),
    [
        (RequestedFaults(reported_by={"poison": ("INV-FRAME",)}, may_cause={"poison": ("INV-FRAME",)}), True),
        (RequestedFaults(reported_by={"poison": ()}, may_cause={"poison": ("INV-FRAME",)}), False),
        (RequestedFaults(not_injected={"poison": "the stream lacks a row"}), False),
        (None, False),
    ],
)
def test_the_badge_is_that_of_the_run(requested: RequestedFaults | None, ok: bool) -> None:
    text = page(BANK, verdict(finding("INV-FRAME", "error", 1)), timeline(), requested=requested)
    assert content_of(text)["verified"]["ok"] is ok
    assert ("verified, as requested" in _Reader(text).text_of("title")[0]) == ok


def test_a_trap_that_was_not_injected_is_named_with_the_reason() -> None:
    requested = RequestedFaults(not_injected={"poison": "the stream lacks a row"})
    text = page(BANK, verdict(), timeline(), requested=requested)
    assert not content_of(text)["verified"]["ok"]
    assert "poison was not injected, because the stream lacks a row" in lines(text)["requested"][0]


def test_a_verified_stream() -> None:
    state = StateComparison(tables=2, rows=2, missing=0, unexpected=0)
    text = page(BANK, verdict(comparison=compared(), state=state), timeline())
    assert_self_contained(text)
    assert _Reader(text).text_of("title") == ["bank: verified"]
    assert lines(text)["events"] == ("all 6 expected events came, in order", "fine")
    assert lines(text)["rows"] == ("2 in 2 tables, as expected", "fine")
    content = content_of(text)["verified"]["verdict"]
    assert (content["findings"], content["checked"]) == ([], ["INV-FRAME"])


def test_what_was_not_compared_is_reported() -> None:
    reasons = {"bank.a": "no key", "bank.b": "no key"}
    state = StateComparison(tables=1, rows=2, missing=0, unexpected=0, not_compared=reasons)
    rows = lines(page(BANK, verdict(comparison=compared(), state=state), timeline()))["rows"]
    assert "1 of 3 tables compared; not bank.a, bank.b (no key)" in rows[0]
    assert rows[1] == "warned"
    assert lines(page(BANK, verdict(), timeline()))["compared"] == ("neither events nor rows", "warned")


def test_differences_are_listed() -> None:
    at = StateComparison(tables=1, rows=2, missing=1, unexpected=0, diff=("- bank.a id=1",))
    failed = dataclasses.replace(
        verdict(comparison=compared(1, ("- bank/0@3[0] update",))), states={START: at}
    )
    text = page(BANK, failed, timeline())
    assert content_of(text)["verified"]["verdict"]["differences"] == [
        {"name": "events", "lines": ["- bank/0@3[0] update"]},
        {"name": f"rows at {START}", "lines": ["- bank.a id=1"]},
    ]
    assert lines(text)["events"] == ("1 missing, of 6 expected", "wrong")


def test_findings_list_their_events_with_values() -> None:
    violation = finding("INV-RESOLVED", "error", 5, event(7), event(9))
    sample = Sample(examples={("bank", 0, 7, 0): "bank/0@7[0] balance='1.50'"})
    content = content_of(page(BANK, verdict(violation), timeline(), sample=sample))
    (of_finding,) = content["verified"]["verdict"]["findings"]
    assert (of_finding["id"], of_finding["count"]) == ("INV-RESOLVED", 5)
    first, second = of_finding["examples"][0]["events"]
    assert (first["location"], first["text"]) == ("bank/0@7[0]", "balance='1.50'")
    assert second["text"].startswith("update bank.accounts id=1"), "an event that is not in the sample"
    assert "VIOLATED: 1 error" in content["verified"]["verdict"]["summary"]


def test_what_was_not_checked_is_reported() -> None:
    gap = finding("INV-ORDER-KEY", "not checked", 12, event(1), hint="rows without handle key")
    content = content_of(page(BANK, verdict(gap), timeline()))["verified"]["verdict"]
    assert content["not_checked"] == [{"id": "INV-ORDER-KEY", "text": "rows without handle key (12 rows)"}]
    assert content["summary"] == "verified", "apart from the verdict"


def test_the_page_names_its_tool_and_date_and_the_sentences_of_invariants() -> None:
    content = content_of(page(replace(BANK, created="ticdc-producer 1.2, 2026-01-02"), verdict(), timeline()))
    assert content["created"] == "ticdc-producer 1.2, 2026-01-02"
    assert content["invariants"] == {invariant.id: invariant.statement for invariant in INVARIANTS}


def test_hostile_topics_are_text() -> None:
    violation = finding("INV-RESOLVED", "error", 1, event(1, HOSTILE, HOSTILE, HOSTILE), hint=HOSTILE)
    failed = verdict(
        violation,
        comparison=compared(1, (HOSTILE,)),
        state=StateComparison(tables=1, rows=1, missing=1, unexpected=0, not_compared={HOSTILE: HOSTILE}),
    )
    sample = Sample(examples={(HOSTILE, 0, 1, 0): HOSTILE}, messages=[{"topic": HOSTILE}])
    fault = FaultOccurrence(trap=HOSTILE, topic=HOSTILE, partition=0, offset=5, commit_ts=START)
    text = page(
        Subject(name=HOSTILE, protocol=HOSTILE), failed, timeline(topic=HOSTILE), [fault], sample=sample
    )
    assert_self_contained(text)
    assert content_of(text)["name"] == HOSTILE
    assert _Reader(text).text_of("title")[0].startswith(HOSTILE)


def test_a_large_topic_gives_a_small_page() -> None:
    busy = timeline(partitions=3000, buckets=ALL_BUCKETS // DRAWN)
    long_text = "x" * 1_000_000
    many = [finding(f"INV-{n}", "error", 9, *(event(n, long_text) for n in range(3))) for n in range(14)]
    large_verdict = verdict(*many, comparison=compared(1, (long_text,) * 15))
    faults = [
        FaultOccurrence(trap="late", topic="bank", partition=n % 64, offset=n, commit_ts=START)
        for n in range(20_000)
    ]
    text = page(BANK, large_verdict, busy, faults)
    assert len(text.encode()) < 5_000_000 - MOST_BYTES
    assert "x" * (LONGEST_EVENT + 1) not in text
    content = content_of(text)
    assert len(content["charts"]) == 64
    assert len(content["partitions"]) + content["more_partitions"] == 3000


def test_without_its_data_the_page_is_small_and_has_no_editor() -> None:
    text = page(BANK, verdict(), Timeline(partitions=(), buckets={}, sizes={}))
    assert len(text.encode()) < 200_000
    assert "codemirror" not in text.lower()
    assert_self_contained(text)
    assert content_of(text)["charts"] == []


def test_faults_have_marks_in_the_chart_and_are_counted() -> None:
    fault = FaultOccurrence(trap="replay", topic="bank", partition=0, offset=5, commit_ts=None)
    elsewhere = FaultOccurrence(trap="replay", topic="other", partition=0, offset=5, commit_ts=None)
    text = page(BANK, verdict(), timeline(), [fault, elsewhere])
    assert [(mark["trap"], mark["offset"]) for mark in content_of(text)["verified"]["faults"]] == [
        ("replay", 5)
    ]
    assert lines(text)["faults"][0] == "injected: replay (2)"


def test_the_text_of_the_scenario_is_on_the_page() -> None:
    source = f"INSERT INTO t VALUES ('{HOSTILE}');\n" * 1000
    text = page(replace(BANK, source=source), verdict(), timeline())
    assert_self_contained(text)
    content = content_of(text)
    assert (content["lines"], f"({len(source):,} characters)" in content["source"]) == (1000, True)
    assert content_of(page(BANK, verdict(), timeline()))["source"] == ""


@pytest.mark.parametrize(
    ("file", "text", "on_the_page"),
    [
        ("a.sql", "CREATE TABLE t (password INT)", True),
        ("a.yaml", "steps: [{sql: SELECT 1}]", True),
        ("a.yaml", "changefeed: {sink-uri: 'kafka://h/t?sasl-password=x'}", False),
        ("a.yaml", "steps: [{data: {options: {Token: x}}}]", False),
    ],
)
def test_a_scenario_that_may_hold_a_password_is_not_on_the_page(
    file: str, text: str, on_the_page: bool
) -> None:
    assert bool(source_of(file, text)) is on_the_page


def test_the_same_verdict_gives_the_same_page() -> None:
    violation = finding("INV-RESOLVED", "error", 1, event(1))
    assert page(BANK, verdict(violation), timeline()) == page(BANK, verdict(violation), timeline())
