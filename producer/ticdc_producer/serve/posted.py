"""The posted changefeed and files of a request, and the rules for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.config.changefeed_toml import parse_changefeed_toml
from ticdc_producer.config.kafka_properties import parse_kafka_properties, without_environment
from ticdc_producer.errors import ChangefeedError, FolderError, ProducerError, RefusedRequest
from ticdc_producer.kafka.client import Cluster
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.scenario.scenario_file import ScenarioFile
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.submission import RunRequest, check_changefeed, check_sink_uri
from ticdc_producer.simulate.scenario_changefeed import with_traps
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.testing.runs import sink_uri


@contextmanager
def restricted(settings: ServeSettings) -> Iterator[None]:
    """Hide the environment from posted text, unless it may read it."""
    hidden = nullcontext() if "environment" in settings.permissions else without_environment()
    with hidden:
        yield


def changefeed_of_run(
    request: RunRequest, scenario: ScenarioFile, topic: str, settings: ServeSettings
) -> Changefeed:
    """Return the changefeed of a run into the service's Kafka.

    :param topic: the topic if the request names none.
    :raises RefusedRequest: for a changefeed that this service does not allow.
    :raises ProducerError: for one that is invalid.
    """
    traced, _ = with_traps(scenario, request.traps)
    return changefeed_of_traced_run(request, traced, topic, settings)


def changefeed_of_traced_run(
    request: RunRequest, scenario: ScenarioFile, topic: str, settings: ServeSettings
) -> Changefeed:
    """Return the changefeed of a run, as ``changefeed_of_run``.

    :param scenario: with the changefeed options that its traps require.
    """
    content = posted_config(request.config, settings)
    if request.dispatch is not None:
        rule = {"matcher": ["*.*"], "partition": request.dispatch}
        sink = content.get("sink")
        others = sink if isinstance(sink, Mapping) else {}
        content = {**content, "sink": {**others, "dispatchers": [rule]}}
    with restricted(settings):
        uri = _uri(request, scenario, topic)
        check_sink_uri(uri, settings, "sink URI")
        uri = on_kafka(uri, settings)
        return resolve(
            uri,
            content,
            scenario=scenario.changefeed,
            name=scenario.name,
            kafka_properties=properties_for(uri, settings),
        )


def posted_config(text: str | None, settings: ServeSettings) -> dict[str, object]:
    """Return the content of a posted changefeed file.

    :raises RefusedRequest: for a key that a request may not set.
    :raises ChangefeedError: if it is invalid.
    """
    if text is None:
        return {}
    with restricted(settings):
        content = parse_changefeed_toml(text, "changefeed file")
    check_changefeed(content, settings, "changefeed file")
    return content


def _uri(request: RunRequest, scenario: ScenarioFile, topic: str) -> str:
    if request.sink_uri is not None:
        return request.sink_uri
    protocol = request.protocol or ""
    if "&" in protocol:
        raise ChangefeedError(f"there is no protocol {protocol[:40]!r}", parameter="protocol")
    base = sink_uri(scenario, protocol)
    parameters = dict(parse_qsl(urlsplit(base).query, keep_blank_values=True)) | request.options
    if request.partitions is not None:
        parameters["partition-num"] = str(request.partitions)
    own = urlsplit(base).path.strip("/") if request.scenario_topic else topic
    return f"kafka:///{quote(request.topic or own, safe='')}?{urlencode(parameters)}"


def on_kafka(uri: str, settings: ServeSettings) -> str:
    """Complete a checked sink URI by the service's Kafka and schema registry if it names none."""
    parts = urlsplit(uri)
    if parts.scheme != "kafka":
        return uri
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    needs_registry = any(
        spec.schemas and query.get("protocol") in (spec.name, *spec.aliases) for spec in BUILT_IN.values()
    )
    if settings.schema_registry and needs_registry:
        query["schema-registry"] = settings.schema_registry
    netloc = settings.kafka if settings.names_own_kafka(parts.netloc) else parts.netloc
    return parts._replace(netloc=netloc, query=urlencode(query)).geturl()


def properties_for(uri: str, settings: ServeSettings) -> list[str]:
    """Return the client properties for a sink URI: none for a Kafka that is not the service's own.

    Their variables were substituted when the service started.
    """
    netloc = urlsplit(uri).netloc
    own = bool(netloc) and settings.names_own_kafka(netloc)
    return [value.replace("${", "$${") for value in settings.kafka_properties] if own else []


def allowed_cluster(bootstrap: str, settings: ServeSettings) -> Cluster | None:
    """Return the Kafka of a run, with the properties of its clients; None if it is not allowed."""
    if not bootstrap or not set(bootstrap.split(",")) <= settings.allowed_brokers:
        return None
    uri = f"kafka://{bootstrap}/topic"
    return resolve(uri, {}, scenario={}, kafka_properties=properties_for(uri, settings)).brokers


def with_variables(properties: Mapping[str, str] | tuple[str, ...]) -> tuple[str, ...]:
    """Return client properties as ``name=value``, with environment variables substituted."""
    return tuple(f"{name}={value}" for name, value in parse_kafka_properties(tuple(properties)).items())


_ENTRY = re.compile(r"(?:[^/\\\0]{1,250}/)?[^/\\\0]{1,250}")
MOST_FILES = 1000
"""Files of a golden folder that a client posts."""


@dataclass(frozen=True)
class PostedFiles:
    """Files of a client.

    :param name: how the client calls the file or folder; it is part of messages and never opened.
    :param files: their content by their paths in the folder; the path of a single file is empty.
    """

    name: str
    files: Mapping[str, bytes]

    @contextmanager
    def written(self, path: Path) -> Iterator[Path]:
        """Write the files to a path of the service that does not exist yet.

        :raises RefusedRequest: for files that this service does not read.
        :raises ProducerError: the error of the block, with the client's name instead of the path.
        """
        if not self.files:
            raise FolderError("there is no such folder or file, or it is empty", path=self.name)
        for entry in self.files:
            self._check(entry)
        try:
            self._write(path)
            if not path.is_file():
                check_manifest(path, self.name)
            yield path
        except ProducerError as error:
            error.where = error.where.replace(str(path), self.name)
            raise

    def _check(self, entry: str) -> None:
        if not entry and len(self.files) == 1:
            return
        inside = _ENTRY.fullmatch(entry) and not {".", ".."} & set(entry.split("/"))
        if not inside or len(self.files) > MOST_FILES:
            raise RefusedRequest("this is not a file of a golden folder", status=422, where=entry[:200])
        check_is_small(entry, self.name)

    def _write(self, path: Path) -> None:
        if set(self.files) == {""}:
            path.write_bytes(self.files[""])
            return
        path.mkdir()
        for entry, content in self.files.items():
            file = path / entry
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(content)


def check_is_small(entry: str, name: str) -> None:
    """Check that a file is one of a small golden folder.

    :param entry: its path in the folder.
    :param name: how the client calls the folder.
    :raises RefusedRequest: for a file of a large one.
    """
    if entry.endswith(".parquet"):
        what, hint = "the service reads small folders", "run the command without the service"
        raise RefusedRequest(what, status=422, where=f"{name}/{entry}", hint=hint)


def check_manifest(folder: Path, name: str) -> None:
    """Check that the changefeed of a posted folder does not let the service read from another machine.

    :param name: how the client calls the folder.
    :raises RefusedRequest: if it does.
    :raises FolderError: for a damaged folder.
    """
    if golden.changefeed(folder, golden.manifest(folder)).schema_registry:
        what = "schema-registry is set where the service is started, not by a request"
        raise RefusedRequest(what, status=403, where=f"{name}/manifest.json")


class SourceArguments(TypedDict, total=False):
    """The arguments of ``verify`` and ``decode`` that name the source."""

    sink_uri: str
    kafka_properties: Sequence[str]
    folder: Path
    file: Path


@contextmanager
def source(
    sink_uri: str, posted: PostedFiles | None, folder: Path, settings: ServeSettings
) -> Iterator[SourceArguments]:
    """Provide the arguments of ``verify`` and ``decode`` that name the source.

    :param posted: read instead of the topic.
    :param folder: gets the posted files.
    :raises RefusedRequest: for a topic or files that this service does not read.
    """
    if posted is None:
        check_sink_uri(sink_uri, settings, "sink URI")
        uri = on_kafka(sink_uri, settings)
        yield {"sink_uri": uri, "kafka_properties": properties_for(uri, settings)}
        return
    with posted.written(folder / "posted") as path:
        yield {"file": path} if path.is_file() else {"folder": path}
