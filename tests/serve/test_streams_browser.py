"""Streams of the service in a real browser: chosen by name, posted as a file, and as large as a topic."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.browser import MISSING, Browser, browser
from tests.serve.service_page import served, write_dump
from ticdc_producer import api
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.serve.settings import Limits, ServeSettings

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=MISSING)]
_PAGE = 500


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dump") / "orders.json"
    write_dump(path)
    return path


@pytest.fixture(scope="module")
def url(dump: Path) -> Iterator[str]:
    """The address of a service with one stream, and without a Kafka."""
    with served(ServeSettings(attachments={"orders": str(dump)})) as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as session:
        yield session


@pytest.fixture
def page(chromium: Browser, url: str) -> Iterator[Browser]:
    chromium.resize(1400)
    chromium.open(url)
    chromium.until_text("#badge", "correct")
    yield chromium
    assert [error for error in chromium.errors() if "favicon" not in error] == []


def test_a_large_stream_is_displayed_page_by_page(page: Browser) -> None:
    page.click("#open")
    page.click('[data-attachment="orders"]')
    page.until_text("#status", "orders: 100,000 messages, canal-json")
    assert page.texts("#tabs button") == ["Messages", "Row", "Timeline", "Tables", "Verdict"]
    page.until("return document.querySelectorAll('.message').length === arguments[0]", _PAGE)
    assert "1–500 of 100,000" in page.text(".pager")
    page.click("#page-last")
    page.until_text(".pager", "99,501–100,000")
    assert page.script("return document.querySelectorAll('.message').length") == _PAGE
    page.script(
        "const select = document.getElementById('partition'); select.value = 'orders/1';"
        "select.dispatchEvent(new Event('change'))"
    )
    page.until_text(".pager", "1–500 of 33,333")
    page.script(
        "document.getElementById('offset').value = 20000;"
        "document.getElementById('offset').form.requestSubmit()"
    )
    page.until_text(".detail h3", "orders/1@20000")
    assert "update" in page.text(".event h4")
    page.click(".event .link")
    page.until("return document.querySelectorAll('.history li').length >= 3")
    assert page.texts(".history .kind")[0] == "insert"


def test_the_other_views_of_a_large_stream(page: Browser) -> None:
    page.click("#open")
    page.click('[data-attachment="orders"]')
    page.until_text("#status", "orders: 100,000 messages")
    page.click("#tab-timeline")
    page.until("return document.querySelectorAll('.chart').length === 3")
    assert page.script("return document.querySelectorAll('#views *').length") < 5000
    page.click("#tab-tables")
    page.until_text(".state", "30,000 rows")
    assert page.script("return document.querySelectorAll('.state tbody tr').length") == _PAGE
    page.click('[aria-label="Earlier"]')
    page.until_text(".states[aria-busy=false] .state", "rows")
    page.click("#tab-history")
    page.script(
        "document.getElementById('find-key').value = '29999';"
        "document.getElementById('find-key').form.requestSubmit()"
    )
    page.until("return document.querySelectorAll('.history li').length === 3")
    page.click(".history .link")
    page.until_text(".detail h3", "orders/2@9999")
    page.click("#tab-verdict")
    page.until_text(".checks", "100,000 row events")
    page.type_text("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1);")
    page.until("return document.getElementById('tab-compare') !== null")  # it returns to the preview
    page.until_text(".checks", "1 row, 1 ddl")


def test_a_topic_above_the_limit_is_verified_on_request(
    chromium: Browser, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    (tmp_path / "scenario.sql").write_text(
        "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3);", "utf-8"
    )
    uri = f"kafka://{kafka.bootstrap}/large?protocol=open-protocol&partition-num=1"
    api.run(str(tmp_path / "scenario.sql"), sink_uri=uri, inject=["poison"])
    settings = ServeSettings(attachments={"large": uri}, limits=Limits(copied_messages=2))
    with served(settings) as url:
        chromium.open(url)
        chromium.until_text("#badge", "correct")
        chromium.click("#open")
        chromium.click('[data-attachment="large"]')
        chromium.until_text("#status", "large: 2 messages")
        chromium.click("#tab-verdict")
        assert "--sink-uri SINK_URI" in chromium.until_text(".empty", "These are the newest 2 of")
        assert chromium.text("#badge") == "not verified"
        chromium.click("#verify-whole")
        chromium.until_text("#badge", "not correct")
        events = chromium.texts(".finding .example li")
        links = chromium.texts(".finding .example .link")
    assert events
    assert len(links) < len(events), "messages that were not copied have no link"


def test_a_posted_file(page: Browser, dump: Path, tmp_path: Path) -> None:
    small = tmp_path / "few orders.json"
    small.write_text("".join(dump.read_text().splitlines(keepends=True)[:10]))
    page.click("#open")
    page.choose_file("#open-file", small)
    page.until_text("#status", "few-orders: 10 messages, canal-json")
    page.until("return document.querySelectorAll('.message').length === 10")
    page.until_text("#badge", "correct")
    api.run("seed_t1", sink_uri="kafka:///t?protocol=craft", out=tmp_path / "golden")
    shutil.make_archive(str(tmp_path / "golden"), "zip", tmp_path / "golden")
    page.click("#open")
    page.choose_file("#open-file", tmp_path / "golden.zip")
    page.until_text("#status", "messages, craft")
    page.until_text("#badge", "correct")
    page.click("#tab-verdict")
    page.until_text(".checks", "as expected")
    wrong = tmp_path / "wrong.json"
    wrong.write_text("<img src=x onerror='window.ran=1'>\n")
    page.click("#open")
    page.choose_file("#open-file", wrong)
    page.until("return document.querySelector('#open-status .error') !== null")
    assert page.script("return window.ran === undefined")
    page.errors()  # of the request, which the service refuses
