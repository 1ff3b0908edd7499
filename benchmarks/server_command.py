"""What a command with ``--server`` costs besides its request: from the shell, in starts of Python.

``python -c pass``, the request that the command sends, sent by this process, and the command take turns. The
result is the median of (command - request) / bare start, and of what that is more than the start itself.

    python -m benchmarks.server_command
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from time import perf_counter
from urllib.parse import urlsplit

from benchmarks.figures import Figure
from benchmarks.latency import timed
from ticdc_producer.cli.remote.frames import CONTENT_TYPE, PATH, frame, read_frames

_ROUNDS, _UNMEASURED = 25, 5
_MAIN = "import sys; from ticdc_producer.cli import main; sys.exit(main())"
_SQL = "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20);"


def _post(url: str, arguments: list[str], file: str) -> None:
    """The requests of a command: without the file, and with it."""
    files = frame("prepared") + frame("file", file, "", Path(file).read_bytes()) if file else b""
    for body in (b"", files) if file else (b"",):
        connection = HTTPConnection(urlsplit(url).netloc)
        content = b"".join(frame("argument", argument) for argument in arguments) + body
        connection.request("POST", PATH, content, {"Content-Type": CONTENT_TYPE})
        frames = [*read_frames([connection.getresponse().read()])]
        connection.close()
    assert frames[-1] == ("exit", b"0"), frames


def _commands(folder: Path) -> Iterator[tuple[str, list[str], str]]:
    """Name, command line and file of each measured command."""
    script = folder / "measured.sql"
    script.write_text(_SQL)
    yield "run", ["run", str(script), "--no-verify", "--quiet"], str(script)
    yield "run-shipped", ["run", "seed_t1", "--no-verify", "--quiet"], ""
    yield "decode", ["decode", "--sink-uri", "kafka:///measured?protocol=open-protocol"], ""


def _in_each_round(function: Callable[..., object], *arguments: object) -> Callable[[int], object]:
    """A call that does not depend on the number of the round."""
    return lambda _round: function(*arguments)


def figures(url: str) -> Iterator[Figure]:
    """The figures of a service that is ready."""
    environment = {**os.environ, "TICDC_PRODUCER_SERVER": url}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed command has its bytecode

    def call(*arguments: str) -> None:
        subprocess.run([sys.executable, "-c", *arguments], check=True, capture_output=True, env=environment)

    with tempfile.TemporaryDirectory() as folder:
        for name, arguments, file in _commands(Path(folder)):
            calls = {
                "bare": _in_each_round(call, "pass"),
                "request": _in_each_round(_post, url, arguments, file),
                "command": _in_each_round(call, _MAIN, *arguments),
            }
            times = timed(calls, _ROUNDS)
            rounds = [*zip(*(seconds[_UNMEASURED:] for seconds in times.values()), strict=True)]
            bare, request, command = (median(column) for column in zip(*rounds, strict=True))
            beyond = median(whole - sent for _, sent, whole in rounds) / bare
            detail = (
                f"command {command * 1e3:.0f}, request {request * 1e3:.0f}, bare start {bare * 1e3:.0f} ms"
            )
            yield Figure(f"server-command/{name}", beyond - 1, "starts of Python beyond its own", detail)


def main() -> None:
    """Start a service, and print the figures."""
    command = [sys.executable, "-m", "ticdc_producer", "serve", "--port", "0"]
    started = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            url = service.stdout.readline().removeprefix("listening on ").strip()
            script = Path(tempfile.gettempdir()) / "measured.sql"
            script.write_text(_SQL)
            _post(url, ["run", str(script), "--quiet"], str(script))  # waits until it is ready
            print(f"the first run has ended {perf_counter() - started:.1f} s after the start")
            for figure in figures(url):
                print(f"{figure.name:<28} {figure.value:6.2f} {figure.unit} ({figure.detail})")
        finally:
            service.terminate()


if __name__ == "__main__":
    main()
