"""A client of the service ``ticdc-producer serve``. It needs the standard library alone."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from ticdc_producer import errors

if TYPE_CHECKING:
    from ticdc_producer.scenario.scenario import Scenario

    ScenarioOf: TypeAlias = str | Path | Scenario | None

JSONObject: TypeAlias = dict[str, object]
_URL = re.compile(r"https?://(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?(?:/[\w.~/-]*)?", re.ASCII)
_VARIABLE = "TICDC_PRODUCER_TOKEN"
_MOST_SENT = 4 << 20  # the limit of the service
_LONGEST_WAIT = 50.0  # seconds; proxies end connections on which nothing comes for a minute
_ENDINGS = {".sql": "sql", ".yaml": "yaml", ".yml": "yaml"}


class Client:
    """A running service. Its errors are raised as ``ProducerError`` with the words of the service.

    A scenario is the name of a shipped or an uploaded one, a ``.sql`` or ``.yaml`` file here, whose text is
    sent, or a ``Scenario`` without DataFrames. Other arguments are the fields of the request in
    ``GET /openapi.json``, such as ``sql``, ``protocol``, ``partitions`` and ``traps``.

    :param url: such as ``http://127.0.0.1:8642``.
    :param token: None: that of the environment variable ``TICDC_PRODUCER_TOKEN``, if it is set.
    :param timeout: most seconds for which nothing comes from the service, besides those of a wait.
    :ivar most_bytes: of an answer.
    :raises ArgumentError: for a URL or a token of another form, which is not part of the text.
    """

    most_bytes = 256 << 20

    def __init__(self, url: str, *, token: str | None = None, timeout: float = 60) -> None:
        if not (match := _URL.fullmatch(url)) or not 0 < int(match[1] or 80) < 1 << 16:
            raise errors.ArgumentError("this is not the URL of a service", argument="url")
        self.url, self.timeout = url.rstrip("/"), timeout
        self._token = os.environ.get(_VARIABLE, "") if token is None else token
        if not self._token.isascii() or not self._token.isprintable():
            raise errors.ArgumentError("the token has characters that HTTP does not send", argument="token")

    def run(self, scenario: ScenarioOf = None, *, wait: float | None = None, **fields: object) -> ServiceTask:
        """Run a scenario into a topic of the service's Kafka.

        :param wait: seconds to wait for the end; None: as long as it takes.
        :raises RefusedRequest: as the service refuses the request.
        :raises FailedTask: if the run has failed.
        """
        return self._ended("/v1/runs", {**_scenario_fields(scenario), **fields}, wait)

    def verify(
        self, sink_uri: str, scenario: ScenarioOf = None, *, wait: float | None = None, **fields: object
    ) -> ServiceTask:
        """Verify a topic, optionally against a scenario; other arguments and errors are those of ``run``."""
        content = {"sink_uri": sink_uri, **_scenario_fields(scenario), **fields}
        return self._ended("/v1/verifications", content, wait)

    def preview(self, scenario: ScenarioOf = None, **fields: object) -> JSONObject:
        """Return the messages of a small scenario in several protocols, which no Kafka gets."""
        return self.request("POST", "/v1/previews", {**_scenario_fields(scenario), **fields})

    def tasks(self) -> list[ServiceTask]:
        """Return all runs and verifications, the oldest first."""
        listed = self.request("GET", "/v1/runs").get("items")
        contents = listed if isinstance(listed, list) else []
        return [ServiceTask(self, content) for content in contents if isinstance(content, dict)]

    def _ended(self, path: str, content: JSONObject, wait: float | None) -> ServiceTask:
        remaining_seconds = float("inf") if wait is None else wait
        task = ServiceTask(
            self, self.request("POST", path, content, wait=min(remaining_seconds, _LONGEST_WAIT))
        )
        while (
            task.content.get("status") in ("queued", "running")
            and (remaining_seconds := remaining_seconds - _LONGEST_WAIT) > 0
        ):
            task = ServiceTask(
                self, self.request("GET", task.path, wait=min(remaining_seconds, _LONGEST_WAIT))
            )
        if task.content.get("error") is not None:
            raise _error(0, task.content)
        return task

    def request(
        self, method: str, path: str, content: Mapping[str, object] | None = None, *, wait: float = 0
    ) -> JSONObject:
        """Return the answer to a request; a list is the member ``items``.

        :param wait: seconds that the service may wait before it answers.
        :raises RefusedRequest: as the service refuses it.
        :raises EnvironmentFailure: if the service does not answer, or with more than ``most_bytes``.
        """
        body = None if content is None else _body(content)
        token = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        url = urlsplit(self.url)
        kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
        connection = kind(url.hostname or "", url.port, timeout=self.timeout + wait)
        try:
            target = f"{url.path}{path}{f'?wait={wait:g}' if wait else ''}"
            connection.request(method, target, body, {"Content-Type": "application/json", **token})
            response = connection.getresponse()
            answer = response.read(self.most_bytes + 1)
        except (OSError, HTTPException) as error:
            what = f"no service answers at {self.url}: {error or type(error).__name__}"
            raise errors.EnvironmentFailure(what, hint="`ticdc-producer serve` starts one") from None
        finally:
            connection.close()
        if len(answer) > self.most_bytes:
            raise errors.EnvironmentFailure(f"the answer has more than {self.most_bytes / (1 << 20):g} MiB")
        if response.status >= 300:  # redirects, too: another machine must not get the token
            raise _error(response.status, _parsed(answer))
        return _parsed(answer) if answer else {}


class ServiceTask:
    """A run or a verification, as it was when the service answered.

    :ivar content: the answer: ``id``, ``status``, ``ok``, ``bootstrap`` of Kafka, ``topics``, ….
    :ivar ok: whether it has ended, and the messages are verified.
    """

    def __init__(self, client: Client, content: JSONObject) -> None:
        self._client, self.content, self.path = client, content, f"/v1/runs/{content.get('id')}"
        self.ok, topics = content.get("ok") is True, content.get("topics")
        self.bootstrap = str(content.get("bootstrap"))
        self.topics = [*map(str, topics)] if isinstance(topics, list) else []

    def cancel(self) -> None:
        """End it if it runs, and remove it with its topics."""
        self._client.request("DELETE", self.path)

    def result(self, part: str = "report") -> JSONObject:
        """Return a part of the result: ``report``, ``verdict``, ``state`` or ``snapshot``."""
        return self._client.request("GET", f"{self.path}/{part}")

    def compared(self, tables: Mapping[str, Sequence[Mapping[str, object]]]) -> JSONObject:
        """Compare a consumer's rows, by ``SCHEMA.TABLE``, with the expected ones: ``ok``, ``differences``."""
        return self._client.request("POST", f"{self.path}/comparison", {"tables": tables})


def _scenario_fields(scenario: ScenarioOf) -> JSONObject:
    """Return the fields of a request that name a scenario, or have its text."""
    if scenario is None:
        return {}
    if not isinstance(scenario, str | Path):
        if not callable(getattr(scenario, "to_yaml", None)):
            raise errors.ScenarioError(f"{type(scenario).__name__} is not a scenario")
        if scenario.has_dataframes:
            what = f"scenario {scenario.name} has a DataFrame, which is not sent to a service"
            raise errors.ScenarioError(
                what, hint="run it with ticdc_producer.run, or write its changes as SQL"
            )
        return {"yaml": scenario.to_yaml(), "file": f"{scenario.name[:200]}.yaml"}
    path = Path(scenario)
    if isinstance(scenario, str) and (path.suffix not in _ENDINGS or not path.is_file()):
        return {"scenario": scenario}
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise errors.ScenarioError(f"cannot read the scenario: {reason}", file=str(path)) from None
    return {_ENDINGS.get(path.suffix, "yaml"): text, "file": path.name}


def _body(content: Mapping[str, object]) -> bytes:
    try:
        body = json.dumps(content).encode()
    except (TypeError, ValueError) as error:
        raise errors.ArgumentError(f"a field is not JSON: {error}", argument="fields") from None
    if len(body) > _MOST_SENT:
        what = f"the request has {len(body) / (1 << 20):.1f} MiB, a service takes {_MOST_SENT >> 20} MiB"
        raise errors.ArgumentError(what, argument="scenario", hint="run it with ticdc_producer.run")
    return body


def _parsed(answer: bytes) -> JSONObject:
    try:
        content = json.loads(answer)
    except (ValueError, RecursionError):
        raise errors.EnvironmentFailure("the answer is not one of ticdc-producer serve") from None
    return content if isinstance(content, dict) else {"items": content}


def _error(status: int, content: JSONObject) -> errors.ProducerError:
    """Return the error of an answer with a status; 0: the error of a run."""
    error = content.get("error")
    if not isinstance(error, dict):
        return errors.EnvironmentFailure(f"the service answers with status {status}")
    what, where, hint, kind = (str(error.get(name, "")) for name in ("what", "where", "hint", "type"))
    if not status:
        return errors.FailedTask(what, error=kind, where=where, hint=hint)
    if status >= 500:
        return errors.EnvironmentFailure(what, where=where, hint=hint)
    return errors.RefusedRequest(what, status=status, where=where, hint=hint)
