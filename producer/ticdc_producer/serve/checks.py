"""The works of requests: they parse posted text, and read topics, in the process of a request.

What they return to the service is data for an answer. The process of a task parses the same text again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ticdc_producer.errors import RefusedRequest
from ticdc_producer.model.event_line import event_line, event_text, json_line
from ticdc_producer.runs.decode import decode
from ticdc_producer.serve.posted import (
    PostedFiles,
    changefeed_of_run,
    posted_config,
    restricted,
    source,
)
from ticdc_producer.serve.settings import Limits, ServeSettings
from ticdc_producer.serve.submission import DecodeRequest, RunRequest, VerifyRequest, check_sink_uri
from ticdc_producer.serve.tasks.child_messages import Result, Tell
from ticdc_producer.serve.tasks.work import config_file
from ticdc_producer.serve.uploads import PostedScenario

_NO_TEXTS = ("", "", "", "")


@dataclass(frozen=True, kw_only=True)
class CheckRun:
    """The check of a run's scenario and changefeed."""

    request: RunRequest
    scenario: PostedScenario
    settings: ServeSettings

    def __call__(self, _tell: Tell) -> Result:
        """Check them; the result has the name of the scenario."""
        scenario = self.scenario.parsed(self.settings)
        changefeed_of_run(self.request, scenario, "checked", self.settings)
        return Result(True, {"name": scenario.name}, _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class CheckVerification:
    """The check of a verification's scenario, changefeed and topic.

    :param of_topic: whether it reads a topic.
    """

    request: VerifyRequest
    scenario: PostedScenario | None
    of_topic: bool
    settings: ServeSettings

    def __call__(self, _tell: Tell) -> Result:
        """Check them."""
        if self.scenario is not None:
            self.scenario.parsed(self.settings)
        posted_config(self.request.config, self.settings)
        if self.of_topic:
            with restricted(self.settings):
                check_sink_uri(self.request.sink_uri, self.settings, "sink URI")
        return Result(True, {}, _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class CheckScenario:
    """The check of a scenario that a client uploads."""

    scenario: PostedScenario
    settings: ServeSettings

    def __call__(self, _tell: Tell) -> Result:
        """Check it."""
        self.scenario.parsed(self.settings)
        return Result(True, {}, _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class Decode:
    """The events of a topic, or of posted files, as lines.

    :param posted: a golden folder or a file of messages, instead of the topic of the request.
    :param folder: gets a temporary folder.
    """

    request: DecodeRequest
    posted: PostedFiles | None
    text: bool
    folder: Path
    settings: ServeSettings

    def __call__(self, _tell: Tell) -> Result:
        """Decode them; the result has the lines, and is ok unless a message does not decode."""
        posted_config(self.request.config, self.settings)
        with (
            restricted(self.settings),
            TemporaryDirectory(dir=self.folder) as folder,
            source(self.request.sink_uri, self.posted, Path(folder), self.settings) as arguments,
        ):
            config = config_file(self.request.config, Path(folder))
            rows = decode(**arguments, config=config, protocol=self.request.protocol)
            lines, damaged = decoded_lines(rows, self.settings.limits, text=self.text)
        return Result(not damaged, {"lines": lines}, _NO_TEXTS)


def decoded_lines(
    rows: Iterator[Mapping[str, object]], limits: Limits, *, text: bool
) -> tuple[list[str], bool]:
    """Return the lines of events, as ``decode`` prints them, and whether a message does not decode.

    :param rows: shape ``DECODED``.
    :raises RefusedRequest: for more events, or longer lines, than the limits allow.
    """
    lines, size, damaged = list[str](), 0, False
    for row in rows:
        content = dict(row)
        lines.append(event_text(content) if text else json_line(event_line(content)))
        size += len(lines[-1])
        damaged = damaged or row["kind"] == "error"
        for amount, most, unit in (
            (len(lines), limits.events, "events"),
            (size, limits.stream_bytes, "bytes of events"),
        ):
            if amount > most:
                what, hint = f"there are more than {most} {unit}", "use ticdc-producer decode"
                raise RefusedRequest(what, status=422, hint=hint)
    return lines, damaged
