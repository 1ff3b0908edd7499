"""``--server``: a command sends its work to a running service and prints what that answers.

This module uses the standard library alone, so that such a command starts as fast as Python does.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from ticdc_producer.errors import (
    USAGE,
    ArgumentError,
    EnvironmentFailure,
    FolderError,
    ProducerError,
    ScenarioError,
)

Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        envvar="TICDC_PRODUCER_SERVER",
        help="Let a running `ticdc-producer serve` do the work.",
    ),
]
TOKEN_VARIABLE = "TICDC_PRODUCER_TOKEN"  # noqa: S105  # it names the variable, and is no token
_TIMEOUT_SECONDS = 630
_WAIT = "wait=600"
_ENDINGS = (".sql", ".yaml", ".yml")


class Client:
    """Requests to a service.

    :param url: of the service; its token is in the environment variable TICDC_PRODUCER_TOKEN.
    :raises ArgumentError: for a URL of another form.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ArgumentError(
                f"{url!r} is not the URL of a service", argument="server", hint="http://127.0.0.1:8642"
            )
        self._url = url
        self._host, self._path = parts.netloc, parts.path.rstrip("/")
        self._connection = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        token = os.environ.get(TOKEN_VARIABLE)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def get(self, path: str) -> bytes:
        """The content at a path.

        :raises ProducerError: as the service reports it.
        :raises EnvironmentFailure: if it does not answer.
        """
        return self._answer("GET", path).read()

    def post(self, path: str, content: Mapping[str, Any]) -> tuple[Any, Mapping[str, str]]:
        """Send a request.

        :return: the content and the headers of the answer.
        :raises ProducerError: as ``get``.
        """
        answer = self._answer("POST", path, json.dumps(content).encode())
        return answer.read(), dict(answer.getheaders())

    def steps(self, number: str) -> Iterator[str]:
        """The status lines of a run, until it has ended."""
        kind = ""
        for raw in self._answer("GET", f"/v1/runs/{number}/progress"):
            name, _, value = raw.decode().rstrip("\n").partition(": ")
            if name == "event":
                kind = value
            elif name == "data" and kind == "step":
                yield str(json.loads(value)["line"])

    def _answer(self, method: str, path: str, body: bytes | None = None) -> HTTPResponse:
        headers = {**self._headers, **({"Content-Type": "application/json"} if body is not None else {})}
        connection = self._connection(self._host, timeout=_TIMEOUT_SECONDS)
        try:
            connection.request(method, self._path + path, body, headers)
            answer = connection.getresponse()
        except (OSError, HTTPException) as error:
            what = f"no service answers at {self._url}: {error}"
            raise EnvironmentFailure(what, hint="`ticdc-producer serve` starts one") from None
        if answer.status >= 300:
            raise _error(answer.read(), answer.status)
        return answer


def _error(body: bytes, status: int) -> ProducerError:
    try:
        return error_of(json.loads(body)["error"], USAGE if status < 500 else EnvironmentFailure.exit_code)
    except (ValueError, KeyError, TypeError):
        return EnvironmentFailure(f"the service answers with status {status}")


def error_of(content: Mapping[str, Any], exit_code: int) -> ProducerError:
    """An error of the service, with the exit code that the local command would have."""
    error = ProducerError(content["what"], where=content["where"], hint=content["hint"])
    error.about(*content.get("arguments", ()))
    error.exit_code = exit_code
    return error


def scenario_content(scenario: str | None) -> dict[str, Any]:
    """The keys of a request that send a scenario: the text of a file, or a name.

    :raises ScenarioError: for a file that cannot be read.
    """
    if scenario is None or not scenario.endswith(_ENDINGS):
        return {} if scenario is None else {"scenario": scenario}
    kind = "sql" if scenario.endswith(".sql") else "yaml"
    return {kind: _read(Path(scenario), scenario), "file": scenario}


def config_content(config: Path | None) -> dict[str, Any]:
    """The key of a request that sends a changefeed file."""
    return {} if config is None else {"config": _read(config, str(config))}


def _read(path: Path, name: str) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise ScenarioError(f"cannot read the file: {error.strerror}", file=name) from None
    except UnicodeDecodeError:
        raise ScenarioError("the file is not UTF-8", file=name) from None


def reject_local(options: Mapping[str, object]) -> None:
    """Reject options that only the local command has.

    :param options: by their names on the command line.
    :raises ArgumentError: for the first that is given.
    """
    for name, value in options.items():
        if value:
            raise ArgumentError(f"{name} cannot be combined with --server", argument=name)


def run_on_server(
    client: Client,
    path: str,
    content: Mapping[str, Any],
    *,
    as_json: bool,
    quiet: bool,
    out: Path | None = None,
    replace: bool = False,
) -> int:
    """Send a run or a verification, wait for it, and print its report.

    :param out: folder for the golden folder of a run; ``replace`` removes the one that it holds.
    :return: the exit code.
    :raises ProducerError: as the local command.
    """
    if out is not None:
        _check_folder(out, replace)
    answer, _ = client.post(f"{path}?{_WAIT}" if quiet else path, content)
    task = json.loads(answer)
    for line in () if quiet else client.steps(task["id"]):
        typer.echo(line, err=True)
    while task["exit_code"] is None:
        task = json.loads(client.get(f"/v1/runs/{task['id']}?{_WAIT}"))
    if task["error"] is not None:
        raise error_of(task["error"], task["exit_code"])
    if out is not None:
        _extract(client.get(f"/v1/runs/{task['id']}/archive"), out)
    if as_json:
        report = json.loads(client.get(f"/v1/runs/{task['id']}/report"))
        typer.echo(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        flags = f"quiet={str(quiet).lower()}&colours={str(sys.stdout.isatty()).lower()}"
        typer.echo(client.get(f"/v1/runs/{task['id']}/text?{flags}").decode(), nl=False)
    return int(task["exit_code"])


def decode_on_server(client: Client, content: Mapping[str, Any], *, text: bool) -> int:
    """Print the events of a topic; exit code 1 if a message does not decode."""
    lines, headers = client.post(f"/v1/decoded?text={str(text).lower()}", content)
    typer.echo(lines.decode(), nl=False)
    return int(headers.get("ticdc-damaged") == "true")


def _check_folder(path: Path, replace: bool) -> None:
    if not path.exists() or (path.is_dir() and next(path.iterdir(), None) is None):
        return
    if not replace or path.is_symlink() or not (path / "manifest.json").is_file():
        what = "this is not a golden folder" if replace else "the folder already exists"
        raise FolderError(what, path=str(path), hint="name a new one" if replace else "or use --replace")


def _extract(archive: bytes, path: Path) -> None:
    partial = path.with_name(path.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        files.extractall(partial)
    if path.exists():
        shutil.rmtree(path)
    partial.rename(path)
