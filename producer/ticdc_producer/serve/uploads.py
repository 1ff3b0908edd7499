"""The scenarios of requests: their text, which the service never parses itself, and the uploaded ones."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field

from ticdc_producer.errors import RefusedRequest
from ticdc_producer.hints import nearest
from ticdc_producer.scenario.load import descriptions, load_scenario, shipped
from ticdc_producer.scenario.parse import parse_scenario
from ticdc_producer.scenario.recordings import with_recording
from ticdc_producer.scenario.scenario_file import ScenarioFile
from ticdc_producer.serve.posted import restricted
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.submission import ScenarioOf, check_changefeed, check_scenario

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.(?:sql|yaml)")
_ENDINGS = (".sql", ".yaml", ".yml")


@dataclass(frozen=True, kw_only=True)
class PostedScenario:
    """The scenario of a request, which is not parsed yet.

    :param file: name of the file for messages, or of the shipped scenario. Nothing is read from this path.
    :param text: its content; None: it is a shipped scenario.
    """

    file: str
    text: bytes | None
    overrides: tuple[str, ...] = ()

    def parsed(self, settings: ServeSettings) -> ScenarioFile:
        """Parse it. Only the process of a request or of a task does this.

        :raises RefusedRequest: for a scenario that may not run here.
        :raises ProducerError: for one that is invalid.
        """
        unchanged = None
        with restricted(settings):
            if self.text is not None:
                scenario = parse_scenario(self.text, self.file, self.overrides)
            else:
                scenario, unchanged = load_scenario(self.file, self.overrides), load_scenario(self.file)
        check_scenario(scenario, unchanged, settings)
        with restricted(settings):
            complete = with_recording(scenario)
        check_changefeed(complete.changefeed, settings, complete.file)
        return complete


@dataclass
class Uploads:
    """The uploaded scenarios, by name."""

    most: int
    _texts: dict[str, bytes] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def posted(self, name: str, text: bytes) -> PostedScenario:
        """Return a scenario that a client uploads.

        :param name: it ends with ``.sql`` or ``.yaml``.
        :raises RefusedRequest: for another name.
        """
        if not _NAME.fullmatch(name):
            hint = "such as orders.sql: letters, digits, '.', '_' and '-', then .sql or .yaml"
            raise RefusedRequest(
                "this is not the name of a scenario", status=422, where=name[:100], hint=hint
            )
        return PostedScenario(file=name, text=text)

    def put(self, name: str, text: bytes) -> None:
        """Store a scenario that was checked.

        :raises RefusedRequest: for too many scenarios.
        """
        with self._lock:
            if name not in self._texts and len(self._texts) >= self.most:
                hint = "DELETE /v1/scenarios/NAME removes one"
                what = f"{self.most} scenarios are uploaded already"
                raise RefusedRequest(what, status=409, hint=hint)
            self._texts[name] = text

    def delete(self, name: str) -> None:
        """Remove a scenario.

        :raises RefusedRequest: if there is none.
        """
        with self._lock:
            if self._texts.pop(name, None) is None:
                raise self._missing(name)

    def text(self, name: str) -> bytes:
        """Return the content of an uploaded or a shipped scenario.

        :raises RefusedRequest: if there is none.
        """
        with self._lock:
            text = self._texts.get(name)
        if text is not None:
            return text
        library = shipped()
        if name not in library:
            raise self._missing(name)
        return library[name].read_bytes()

    def listed(self) -> list[dict[str, str]]:
        """List names and descriptions of all scenarios."""
        own = [{"name": name, "source": "uploaded", "description": ""} for name in sorted(self._texts)]
        return own + [
            {"name": name, "source": "shipped", "description": text} for name, text in descriptions().items()
        ]

    def scenario_of(self, request: ScenarioOf) -> PostedScenario | None:
        """Return the scenario of a request; None if it has none.

        :raises RefusedRequest: for a name that no scenario has.
        """
        if request.sql is not None or request.yaml is not None:
            text, ending = (request.sql, ".sql") if request.sql is not None else (request.yaml or "", ".yaml")
            endings = (".sql",) if ending == ".sql" else (".yaml", ".yml")
            file = request.file if request.file.endswith(endings) else f"scenario{ending}"
            content = (text or "").encode(errors="surrogatepass")
            return PostedScenario(file=file, text=content, overrides=request.overrides)
        if request.scenario is None:
            return None
        if request.scenario in shipped():
            return PostedScenario(file=request.scenario, text=None, overrides=request.overrides)
        if not _NAME.fullmatch(request.scenario):
            raise self._missing(request.scenario)
        text_of_upload = self.text(request.scenario)
        return PostedScenario(file=request.scenario, text=text_of_upload, overrides=request.overrides)

    def _missing(self, name: str) -> RefusedRequest:
        """Build the error for a name that no scenario has; often it is a path on the client's machine."""
        hint = nearest(name, [*shipped(), *self._texts])
        if "/" in name or name.endswith(_ENDINGS):
            kind = "sql" if name.endswith(".sql") else "yaml"
            hint = f"`scenario` is a name, and no file is read: send the content of the file as `{kind}`"
        return RefusedRequest("there is no such scenario", status=404, where=name[:100], hint=hint)
