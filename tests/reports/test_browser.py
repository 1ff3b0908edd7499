"""The page in one file in a real browser: from a disk, of the width of a phone, in light and dark mode."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reports.verdicts import BANK, START, compared, event, finding, timeline, verdict
from tests.serve.browser import MISSING, Browser, browser
from ticdc_producer import api
from ticdc_producer.cli.reports import Reports
from ticdc_producer.page.timeline import FaultOccurrence
from ticdc_producer.reports.html import write_html
from ticdc_producer.verifier.table_state import StateComparison

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=MISSING)]
HOSTILE = "</script><script>window.ran=1</script><img src=x onerror='window.ran=1'>"


TABS = "return [...document.querySelectorAll('#tabs button')].map((tab) => [tab.offsetLeft, tab.offsetWidth])"
"""The tabs must not move when another one is chosen."""
REACHED = (
    "return [...document.querySelectorAll('.chart')].every((chart) =>"
    "chart.querySelector('.mark') === null || chart.querySelector('.mark[tabindex=\"0\"]') !== null)"
)
"""Whether the keyboard reaches the marks of each chart."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as session:
        yield session


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with long words, which can make it wider than the screen, and with hostile ones."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    long_event = event(7, f"id={HOSTILE}" + "0123456789" * 30, table="t" * 64)
    result = verdict(
        finding("INV-RESOLVED-BROADCAST", "error", 12_345, long_event),
        comparison=compared(1, ("- " + "x" * 500,)),
        state=StateComparison(tables=1, rows=1, missing=0, unexpected=0, not_compared={"y" * 300: "no key"}),
    )
    fault = FaultOccurrence(trap="replay", topic="topic" * 20, partition=0, offset=5, commit_ts=START)
    write_html(path, BANK, result, timeline(partitions=3, buckets=50, topic="topic" * 20), [fault])
    return path


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small folder."""
    folder = tmp_path_factory.mktemp("verified")
    api.run("seed_t1", out=folder / "golden")
    reports = Reports(None, folder / "page.html", source=lambda: "SELECT 1;")
    reports.write(api.verify(folder=folder / "golden", on_verdict=reports.on_verdict))
    return folder / "page.html"


@pytest.mark.parametrize("width", [380, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen(chromium: Browser, failed: Path, width: int, scheme: str) -> None:
    chromium.resize(width)
    chromium.prefer(scheme)
    chromium.open(failed.as_uri())
    assert "VIOLATED: 1 error" in chromium.until_text("#status", "VIOLATED")
    tabs = chromium.script(TABS)
    assert chromium.script("const {tabs} = window; return tabs.scrollWidth <= tabs.clientWidth")
    for view in ("messages", "history", "timeline", "tables", "verdict"):
        chromium.click(f"#tab-{view}")
        chromium.until("return document.getElementById('views').childElementCount > 0")
        assert chromium.script("return document.documentElement.scrollWidth") <= width, view
        assert chromium.script(TABS) == tabs, view
        assert chromium.script(REACHED), view
    background = chromium.script("return getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, background.removeprefix("rgb(").rstrip(")").split(","))) > 380
    assert light == (scheme == "light")
    assert HOSTILE in chromium.text(".finding .example")
    assert chromium.script("return window.ran === undefined && document.querySelector('img') === null")
    assert chromium.errors() == [], "the policy allows all that the page does"


def test_a_verified_stream_with_its_messages_and_its_timeline(chromium: Browser, verified: Path) -> None:
    chromium.resize(1400)
    chromium.open(verified.as_uri())
    assert chromium.until_text("#badge", "correct")
    assert "as expected" in chromium.text(".checks")
    assert "Scenario: 1 line" in chromium.text("#views")
    chromium.click("#tab-messages")
    chromium.until("return document.querySelectorAll('.message').length > 5")
    chromium.until(
        "const one = [...document.querySelectorAll('.message')].find((message) =>"
        "message.querySelector('.kind').innerText === 'insert'); one?.click(); return one !== undefined"
    )
    assert chromium.until("return document.querySelectorAll('.bytes .range').length > 0")
    chromium.click(".event .link")
    chromium.until("return document.querySelectorAll('.history li').length > 0")
    chromium.click("#tab-tables")
    last = chromium.until_text(".states[aria-busy=false]", "2 rows")
    chromium.click('[aria-label="Earlier"]')
    chromium.until("return document.querySelector('.states').innerText !== arguments[0]", last)
    chromium.click("#tab-timeline")
    chromium.until("return document.querySelectorAll('.chart').length === 2")
    assert "Partitions" in chromium.text("#views")
    assert "Message sizes" in chromium.text("#views")
    chromium.until(
        "const one = document.querySelector('.mark');"
        "one?.dispatchEvent(new MouseEvent('click', {bubbles: true})); return one !== null"
    )
    chromium.until("return document.querySelector('.detail h3') !== null")
    assert chromium.errors() == []
