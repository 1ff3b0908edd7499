"""The streams that the service may read, by the names that it was started with.

A request names one of them and has no URI or path of its own. Names alone are in answers and errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from ticdc_producer.errors import ArgumentError, ChangefeedError, ProducerError, RefusedRequest
from ticdc_producer.hints import nearest

if TYPE_CHECKING:
    from ticdc_producer.runs.copies.stream_location import StreamLocation
    from ticdc_producer.serve.settings import ServeSettings

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def attachments_of(values: Iterable[str]) -> dict[str, str]:
    """Return the sources of ``--attach`` by their names.

    :param values: ``NAME=SOURCE`` each: a sink URI, a folder, or a file of messages.
    :raises ArgumentError: for another text, a name that occurs twice, an invalid sink URI, and a path
        that does not exist.
    """
    sources: dict[str, str] = {}
    for name, source in _named(
        values, "attach", "orders='kafka://localhost:9092/orders?protocol=canal-json'"
    ):
        if is_uri(source):
            _check_uri(name, source)
        elif not _exists(source):
            raise _refused(f"the folder or file of `attach` {name!r} does not exist", "")
        sources[name] = source if is_uri(source) else str(Path(source).absolute())
    return sources


def attachment_configs_of(values: Iterable[str], sources: Mapping[str, str]) -> dict[str, str]:
    """Return the changefeed files of ``--attach-config`` by the names of their streams.

    :param values: ``NAME=FILE`` each.
    :param sources: those of ``--attach``, by name.
    :raises ArgumentError: for another text, a name without a source or that occurs twice, a golden folder,
        whose manifest has its changefeed, and a file that is invalid.
    """
    files: dict[str, str] = {}
    for name, file in _named(values, "attach_config", "orders=changefeed.toml"):
        source = sources.get(name)
        if source is None:
            what = f"`attach_config` names {name!r}, which is not the name of a source"
            raise _refused(what, f"`attach` names the sources, such as {name}=SOURCE", "attach_config")
        if not is_uri(source) and (Path(source) / "manifest.json").is_file():
            what = f"{name!r} of `attach_config` is a golden folder, which has a changefeed of its own"
            raise _refused(what, "leave it out", "attach_config")
        files[name] = str(Path(file).absolute())
        _check_config(name, files[name])
    return files


def _check_config(name: str, file: str) -> None:
    from ticdc_producer.config.changefeed_toml import load_changefeed_toml  # as ``_check_uri``

    try:
        load_changefeed_toml(file)
    except ChangefeedError as error:
        what = f"the changefeed of `attach_config` {name!r} is invalid: {error.what}"
        raise _refused(what, error.hint, "attach_config") from None


def _named(values: Iterable[str], argument: str, example: str) -> Iterator[tuple[str, str]]:
    """Yield the names and the texts of an option, NAME=TEXT.

    :raises ArgumentError: for another text, and a name that occurs twice.
    """
    names = set[str]()
    for number, value in enumerate(values, 1):
        name, _, text = value.partition("=")
        if not _NAME.fullmatch(name) or not text:
            form = "NAME=SOURCE" if argument == "attach" else "NAME=FILE"
            raise _refused(f"value {number} of `{argument}` is not {form}", f"such as {example}", argument)
        if name in names:
            raise _refused(f"`{argument}` names {name!r} twice", "give each a name of its own", argument)
        names.add(name)
        yield name, text


def is_uri(source: str) -> bool:
    """Return whether a source is a sink URI, and not a path."""
    return "://" in source


def _check_uri(name: str, uri: str) -> None:
    from ticdc_producer.config import parse_sink_uri  # the service begins to listen without it

    try:
        parse_sink_uri(uri)
    except ChangefeedError as error:
        raise _refused(f"the sink URI of `attach` {name!r} is invalid: {error.what}", error.hint) from None


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # of a name that is too long, or of a folder that may not be read
        return False


def _refused(what: str, hint: str, argument: str = "attach") -> ArgumentError:
    return ArgumentError(what, argument=argument, hint=hint).about(argument, "attach")


def source_of(name: str, protocol: str, settings: ServeSettings) -> StreamLocation:
    """Return the source of a name.

    :param protocol: of its messages; empty: that of the URI or folder, or it is detected.
    :raises RefusedRequest: for a name that the service was not started with.
    """
    from ticdc_producer.runs.copies.stream_location import StreamLocation
    from ticdc_producer.serve.posted import on_kafka, properties_for

    source = settings.attachments.get(name)
    if source is None:
        hint = nearest(name[:80], settings.attachments) or "start the service with --attach NAME=SOURCE"
        raise RefusedRequest("the service has no such stream", status=404, where=name[:80], hint=hint)
    config = settings.attachment_configs.get(name, "")
    if not is_uri(source):
        registry = settings.schema_registry
        return StreamLocation(
            path=source, config=config, protocol=protocol, name=name, schema_registry=registry
        )
    uri = on_kafka(source, settings)
    return StreamLocation(
        sink_uri=uri,
        config=config,
        protocol=protocol,
        name=name,
        kafka_properties=tuple(properties_for(uri, settings)),
    )


def listed_attachments(sources: Mapping[str, str]) -> list[dict[str, str]]:
    """List the names, and what each is: a topic or storage, or a folder or file."""
    return [
        {"name": name, "kind": urlsplit(source).scheme if is_uri(source) else "path"}
        for name, source in sources.items()
    ]


def without_source(error: ProducerError, source: StreamLocation) -> ProducerError:
    """Return an error with the name of the source instead of its URI or path, and of their parts."""
    path = source.path
    hidden = {path, quote(path), source.config, *_locations(source)}
    if source.sink_uri:
        parts = urlsplit(source.sink_uri)
        path = "" if parts.scheme.startswith("kafka") else parts.path  # a topic is not a secret
        without_query = parts._replace(query="", fragment="").geturl()
        hidden |= {
            source.sink_uri,
            without_query,
            parts.netloc,
            parts.query,
            path,
            path.strip("/"),
            unquote(path),
        }
    words = "|".join(re.escape(text) for text in sorted(hidden - {"", "/"}, key=len, reverse=True))
    if not words:  # a posted file, which is removed
        return error
    own = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])")
    error.where, error.what, error.hint = (
        own.sub(lambda _: source.name, text) for text in (error.where, error.what, error.hint)
    )
    return error


def _locations(source: StreamLocation) -> Iterator[str]:
    """Yield where the changefeed file of a source has its schema registry and its claim-check objects."""
    if source.config:
        with suppress(ProducerError):
            changefeed = source.changefeed
            for location in (changefeed.schema_registry, changefeed.claim_check_storage_uri):
                parts = urlsplit(location)
                yield from (location, parts.netloc, parts.netloc.rpartition("@")[2], parts.query)
                yield parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
