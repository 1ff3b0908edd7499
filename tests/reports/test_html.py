"""The page loads nothing, whatever the content and the size of the topic."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tests.reports.verdicts import BANK, START, compared, event, finding, timeline, verdict
from ticdc_producer.cli.reports import source_of
from ticdc_producer.reports.html import page
from ticdc_producer.reports.report import FaultOccurrence, Subject
from ticdc_producer.reports.timeline import ALL_BUCKETS, DRAWN, LONGEST_EVENT, Timeline
from ticdc_producer.verifier.invariants.registry import INVARIANTS
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import RequestedFaults

HOSTILE = "<script>alert('x')</script><img src=http://evil.example/x onerror=alert(1)>{{ 7*7 }}"
_LOADING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "xlink:href"}


class _Reader(HTMLParser):
    """Elements, attributes and text of a page, as a browser parses it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def assert_self_contained(text: str) -> None:
    """No element that could load or run anything."""
    seen = _Reader(text)
    assert not {"script", "link", "iframe", "object", "embed", "img", "base", "form"} & set(seen.tags)
    assert not [name for name, _ in seen.attributes if name in _LOADING or name.startswith("on")]
    assert all(value.startswith("#") for name, value in seen.attributes if name == "href")
    styles = " ".join(re.findall(r"<style>.*?</style>", text, re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
    assert all("url(#" in value for _, value in seen.attributes if "url(" in value)
    assert not re.search(r"https?://", re.sub("http://evil", "", text))


@pytest.mark.parametrize(
    ("reported", "words"),
    [
        (("INV-FRAME",), "every illegal fault was detected"),
        ((), "poison was not detected; illegal faults must be detected"),
    ],
)
def test_requested_faults(reported: tuple[str, ...], words: str) -> None:
    requested = RequestedFaults(reported_by={"poison": reported}, may_cause={"poison": ("INV-FRAME",)})
    failed = verdict(finding("INV-FRAME", "error", 1))
    assert words in _Reader(page(BANK, failed, timeline(), requested=requested)).text
    assert "illegal" not in _Reader(page(BANK, failed, timeline(), requested=RequestedFaults())).text


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
    assert f'<header class="{"ok" if ok else "bad"}">' in text


def test_a_trap_that_was_not_injected_is_named_with_the_reason() -> None:
    requested = RequestedFaults(not_injected={"poison": "the stream lacks a row"})
    text = page(BANK, verdict(), timeline(), requested=requested)
    assert '<header class="bad">' in text
    assert "poison was not injected, because the stream lacks a row" in _Reader(text).text


def test_a_verified_stream() -> None:
    state = StateComparison(tables=2, rows=2, missing=0, unexpected=0)
    text = page(BANK, verdict(comparison=compared(), state=state), timeline())
    assert_self_contained(text)
    seen = _Reader(text)
    assert "all 6 expected events came, in order" in seen.text
    assert "2 in 2 tables, as expected" in seen.text
    assert "Findings" not in seen.text
    assert "INV-FRAME" in seen.text


def test_what_was_not_compared_is_reported() -> None:
    reasons = {"bank.a": "no key", "bank.b": "no key"}
    state = StateComparison(tables=1, rows=2, missing=0, unexpected=0, not_compared=reasons)
    seen = _Reader(page(BANK, verdict(comparison=compared(), state=state), timeline()))
    assert "1 of 3 tables compared; not bank.a, bank.b (no key)" in seen.text
    assert "neither events nor rows" in _Reader(page(BANK, verdict(), timeline())).text


def test_findings_list_their_events_with_values() -> None:
    violation = finding("INV-RESOLVED", "error", 5, event(7), event(9))
    with_examples = dataclasses.replace(
        timeline(), examples={("bank", 0, 7, 0): "bank/0@7[0] balance='1.50'"}
    )
    seen = _Reader(page(BANK, verdict(violation), with_examples))
    assert "VIOLATED: 1 error" in seen.text
    assert "5 times" in seen.text
    assert "balance='1.50'" in seen.text
    assert "bank/0@9[0] update bank.accounts id=1" in seen.text, "an event that the stream does not contain"


def test_what_was_not_checked_is_reported() -> None:
    gap = finding("INV-ORDER-KEY", "not checked", 12, event(1), hint="rows without handle key")
    text = _Reader(page(BANK, verdict(gap), timeline())).text
    assert "INV-ORDER-KEY rows without handle key (12 rows)" in text
    assert "verified 1 not checked" in text, "apart from the verdict"


def test_the_page_names_its_tool_and_date_and_the_sentences_of_invariants() -> None:
    text = _Reader(page(replace(BANK, created="ticdc-producer 1.2, 2026-01-02"), verdict(), timeline())).text
    assert "ticdc-producer 1.2, 2026-01-02" in text
    for name in verdict().checked:
        sentence = next(invariant.statement for invariant in INVARIANTS if invariant.id == name)
        assert f"{name} {sentence}" in text


def test_hostile_topics_are_text() -> None:
    violation = finding("INV-RESOLVED", "error", 1, event(1, HOSTILE, HOSTILE, HOSTILE), hint=HOSTILE)
    failed = verdict(
        violation,
        comparison=compared(1, (HOSTILE,)),
        state=StateComparison(tables=1, rows=1, missing=1, unexpected=0, not_compared={HOSTILE: HOSTILE}),
    )
    with_examples = dataclasses.replace(timeline(topic=HOSTILE), examples={(HOSTILE, 0, 1, 0): HOSTILE})
    fault = FaultOccurrence(trap=HOSTILE, topic=HOSTILE, partition=0, offset=5, commit_ts=START)
    text = page(Subject(name=HOSTILE, protocol=HOSTILE), failed, with_examples, [fault])
    assert_self_contained(text)
    assert "{{ 7*7 }}" in _Reader(text).text


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
    assert len(text.encode()) < 5_000_000
    assert "x" * (LONGEST_EVENT + 1) not in text
    assert "64 of 3,000 partitions are drawn" in _Reader(text).text


def test_marks_are_drawn_and_explained() -> None:
    violation = finding("INV-RESOLVED", "error", 1, event(1))
    plain, marked = page(BANK, verdict(), timeline()), page(BANK, verdict(violation), timeline())
    fault = FaultOccurrence(trap="replay", topic="bank", partition=0, offset=5, commit_ts=None)
    faulty = page(BANK, verdict(), timeline(), [fault])
    assert 'class="error"' not in plain
    assert marked.count('<g class="error"') == 2, "in the chart, and in the legend"
    assert faulty.count('<g class="fault">') == 2
    assert "replay (1)" in _Reader(faulty).text


def test_a_finding_links_to_its_point() -> None:
    violation = finding("INV-RESOLVED", "error", 1, event(1), event(99, "elsewhere"))
    text = page(BANK, verdict(violation), timeline())
    reader = _Reader(text)
    ids = [value for name, value in reader.attributes if name == "id" and value.startswith("at-")]
    links = [value for name, value in reader.attributes if name == "href" and value.startswith("#at-")]
    assert len(links) == 2
    assert sorted(link.removeprefix("#") for link in links) == sorted(ids)


def test_the_text_of_the_scenario_is_on_the_page() -> None:
    source = f"INSERT INTO t VALUES ('{HOSTILE}');\n" * 1000
    text = page(replace(BANK, source=source), verdict(), timeline())
    assert_self_contained(text)
    assert "1,000 lines" in _Reader(text).text
    assert f"({len(source):,} characters)" in _Reader(text).text
    assert "Scenario" not in _Reader(page(BANK, verdict(), timeline())).text


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


def test_an_empty_stream_has_a_page() -> None:
    text = page(BANK, verdict(), Timeline(partitions=(), buckets={}, sizes={}))
    assert_self_contained(text)
    assert "Timeline" not in _Reader(text).text


def test_the_same_verdict_gives_the_same_page() -> None:
    violation = finding("INV-RESOLVED", "error", 1, event(1))
    assert page(BANK, verdict(violation), timeline()) == page(BANK, verdict(violation), timeline())
