"""A Chromium that tests control with chromedriver, by the protocol WebDriver (https://www.w3.org/TR/webdriver2/).

No driver library is needed: the tests use a few of the protocol's commands.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
MISSING = "" if CHROMIUM and DRIVER else "not run: no chromium or no chromedriver on the PATH"
KEYS = {
    "down": "\ue015", "right": "\ue014", "tab": "\ue004", "enter": "\ue007", "home": "\ue011",
    "shift": "\ue008", "control": "\ue009",
}  # fmt: skip
_HELD = ("shift", "control")
_SECONDS = 180


class NotYet(AssertionError):
    """What the page must show, it does not show yet."""


@dataclass(frozen=True)
class Browser:
    """A session of the driver."""

    session: str

    def command(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.session}/{path}", data, {"Content-Type": "application/json"})
        with urlopen(request, timeout=_SECONDS) as answer:
            return json.loads(answer.read())["value"]

    def open(self, url: str) -> None:
        self.command("url", {"url": "about:blank"})  # a change of the fragment alone loads nothing
        self.command("url", {"url": url})

    def script(self, text: str, *arguments: object) -> Any:
        """Return the value of a script's ``return``; may be called where the page forbids ``eval``."""
        return self.command("execute/sync", {"script": text, "args": list(arguments)})

    def devtools(self, name: str, **parameters: object) -> Any:
        return self.command("goog/cdp/execute", {"cmd": name, "params": parameters})

    def resize(self, width: int, height: int = 900) -> None:
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", features=features)

    def keys(self, *names: str) -> None:
        """Press keys, one after the other; shift and control are held while the others are pressed."""
        held = [KEYS[name] for name in names if name in _HELD]
        pressed = [KEYS.get(name, name) for name in names if name not in _HELD]
        both = [(kind, value) for value in pressed for kind in ("keyDown", "keyUp")]
        order = [*(("keyDown", value) for value in held), *both, *(("keyUp", value) for value in held)]
        actions = [{"type": kind, "value": value} for kind, value in order]
        self.command("actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def click(self, selector: str) -> None:
        self.until("return document.querySelector(arguments[0]) !== null", selector)
        self.script("document.querySelector(arguments[0]).click()", selector)

    def choose_file(self, selector: str, path: Path) -> None:
        """Choose a file in an input for files."""
        (number,) = self._element(selector).values()
        self.command(f"element/{number}/value", {"text": str(path)})

    def hover(self, selector: str) -> None:
        """Move the pointer to the middle of an element."""
        element = self._element(selector)
        self.script("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        move = {"type": "pointerMove", "origin": element, "x": 0, "y": 0}
        self.command("actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def _element(self, selector: str) -> dict[str, str]:
        self.until("return document.querySelector(arguments[0]) !== null", selector)
        element: dict[str, str] = self.command("element", {"using": "css selector", "value": selector})
        return element

    def text(self, selector: str) -> str:
        return str(self.script("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)"
        return [str(text) for text in self.script(script, selector)]

    def editor(self, script: str, *arguments: object) -> Any:
        """Return the value of a script about ``content``, the element of CodeMirror that has the text."""
        self.until("return document.querySelector('.highlighted') !== null")
        root = "document.querySelector('.highlighted').shadowRoot"
        return self.script(f"const content = {root}.querySelector('.cm-content'); {script}", *arguments)

    def editor_text(self) -> str:
        """Return the lines of the editor that are displayed."""
        lines = "return [...content.querySelectorAll('.cm-line')].map((line) => line.textContent)"
        return "\n".join(self.editor(lines))

    def type_text(self, text: str) -> None:
        """Replace the text of the editor, as pasting does."""
        self.editor("content.focus()")
        self.keys("control", "a")
        self.editor(
            "const clipboardData = new DataTransfer(); clipboardData.setData('text/plain', arguments[0]);"
            "const how = {clipboardData, bubbles: true, cancelable: true};"
            "content.dispatchEvent(new ClipboardEvent('paste', how))",
            text,
        )

    @retry(
        retry=retry_if_exception_type(NotYet),
        stop=stop_after_delay(_SECONDS),
        wait=wait_fixed(0.1),
        reraise=True,
    )
    def until(self, script: str, *arguments: object) -> Any:
        """Wait until a script returns something true, and return it."""
        value = self.script(script, *arguments)
        if not value:
            raise NotYet(f"{script} {arguments}")
        return value

    def until_text(self, selector: str, part: str) -> str:
        script = "return document.querySelector(arguments[0])?.innerText.includes(arguments[1])"
        self.until(script, selector, part)
        return self.text(selector)

    def errors(self) -> list[str]:
        """Return what the page has reported to its console, such as refused scripts."""
        entries = self.command("se/log", {"type": "browser"})
        return [str(entry["message"]) for entry in entries if entry["level"] in ("SEVERE", "WARNING")]


@retry(
    retry=retry_if_exception_type((URLError, ConnectionError)),
    stop=stop_after_delay(30),
    wait=wait_fixed(0.1),
)
def _session(driver: str, capabilities: dict[str, Any]) -> str:
    body = json.dumps({"capabilities": {"alwaysMatch": capabilities}}).encode()
    with urlopen(
        Request(f"{driver}/session", body, {"Content-Type": "application/json"}), timeout=120
    ) as answer:
        return f"{driver}/session/{json.loads(answer.read())['value']['sessionId']}"


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser; yields its session."""
    assert CHROMIUM is not None
    assert DRIVER is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    capabilities = {
        "browserName": "chrome",
        "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments},
        "goog:loggingPrefs": {"browser": "ALL"},
    }
    try:
        session = _session(f"http://127.0.0.1:{port}", capabilities)
        try:
            yield Browser(session)
        finally:
            with urlopen(Request(session, method="DELETE"), timeout=_SECONDS):
                pass
    finally:
        process.terminate()
        process.wait(_SECONDS)
