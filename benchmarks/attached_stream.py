"""Times the page with an attached stream of 100,000 messages: ``python -m benchmarks.attached_stream``.

Prints how long the service takes to open the stream and to serve a page of it, and the longest time without a
frame in the browser during each step: until what the step asks for is displayed, and half a second more.
Needs chromium and chromedriver.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any
from urllib.request import Request, urlopen

from tests.serve.browser import Browser, browser
from tests.serve.service_page import COUNT, served, write_dump
from ticdc_producer.serve.settings import ServeSettings

_FIRST = (0, COUNT // 4, COUNT // 2, 3 * COUNT // 4, COUNT - 500)
_FRAMES = """
window.longest = 0;
let before = performance.now();
const frame = (now) => {
  window.longest = Math.max(window.longest, now - before);
  before = now;
  window.frame = requestAnimationFrame(frame);
};
cancelAnimationFrame(window.frame);
requestAnimationFrame((now) => { before = now; frame(now) });
"""
_HALF_A_SECOND = "const [done] = arguments; setTimeout(done, 500)"
STEPS = {
    "open": ("[data-attachment=orders]", "return document.querySelectorAll('.message').length === 500"),
    "last page": ("#page-last", "return document.querySelector('.pager').innerText.includes('99,501')"),
    "timeline": ("#tab-timeline", "return document.querySelectorAll('.chart').length === 3"),
    "tables": ("#tab-tables", "return document.querySelector('.state')?.innerText.includes('30,000 rows')"),
    "verdict": ("#tab-verdict", "return document.querySelector('.checks')?.innerText.includes('100,000')"),
}
"""Each step of the browser: what is clicked, and what is displayed at its end."""


def answer(url: str, body: object = None) -> tuple[Any, float]:
    """Return the JSON that a request gets, and its time in milliseconds."""
    data = None if body is None else json.dumps(body).encode()
    started = perf_counter()
    with urlopen(Request(url, data, {"Content-Type": "application/json"}), timeout=300) as response:
        content = response.read()
    return json.loads(content), 1000 * (perf_counter() - started)


def print_service(url: str) -> None:
    """Print the times of requests."""
    opened, time = answer(f"{url}/v1/streams", {"attachment": "orders"})
    print(f"open {COUNT:,} messages  {time:8.0f} ms")
    pages = f"{url}/v1/streams/{opened['id']}/messages"
    answer(f"{pages}?first=500")  # the process that reads pages has its modules then
    times = [answer(f"{pages}?first={first}")[1] for first in _FIRST for _ in range(3)]
    print(f"a page of 500 messages  {median(times):8.0f} ms, at most {max(times):.0f} ms")


def print_browser(url: str, page: Browser) -> None:
    """Print the stalls of each step."""
    page.resize(1400)
    page.open(url)
    page.until_text("#badge", "correct")
    page.click("#open")
    for name, (click, displayed) in STEPS.items():
        page.script(_FRAMES)
        started = perf_counter()
        page.click(click)
        page.until(displayed)
        time = 1000 * (perf_counter() - started)
        page.command("execute/async", {"script": _HALF_A_SECOND, "args": []})
        stall = page.script("return window.longest")
        print(
            f"{name:10} displayed after {time:6.0f} ms, longest time without a frame {stall:5.0f} ms",
            flush=True,
        )


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "orders.json"
        write_dump(dump)
        with served(ServeSettings(attachments={"orders": str(dump)})) as url:
            print_service(url)
            with browser() as page:
                print_browser(url, page)


if __name__ == "__main__":
    main()
