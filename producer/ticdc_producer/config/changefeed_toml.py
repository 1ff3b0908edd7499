"""The changefeed file: read and checked, and written as TiCDC reads it.

``cdc cli changefeed create --config`` takes the written file, and a sink URI. The file has what TiCDC's file
can have, except credentials; the sink URI has the rest. Other consumers, such as TiCDC's
``kafka-consumer --config``, learn the dispatch rules from it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlencode

import tomli_w
from pydantic import ValidationError

from ticdc_producer.config.changefeed import Changefeed
from ticdc_producer.config.changefeed_file import ChangefeedFile
from ticdc_producer.config.config_section import ConfigSection, FilterSection, explain
from ticdc_producer.config.parameters import ACKNOWLEDGEMENTS, OF_MESSAGES, REJECTED_KEYS, has_parameter
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.local_path import local_path
from ticdc_producer.model.option_type import GoDuration, Plain
from ticdc_producer.model.parameter import KAFKA, PULSAR, STORAGE, Parameter, SinkKind


def check_changefeed_file(content: Mapping[str, object], where: str) -> ChangefeedFile:
    """Check the content of a changefeed file or of a scenario's ``changefeed:``, and return it.

    :param where: the location that errors name.
    :raises ChangefeedError: for the first key that is unknown, not supported or has a wrong value.
    """
    try:
        return ChangefeedFile.model_validate(dict(content))
    except ValidationError as error:
        # A misspelled key is often the reason why another key is missing, so it is reported first.
        first = min(
            explain(error, ChangefeedFile, REJECTED_KEYS),
            key=lambda explanation: "is missing" in explanation.what,
        )
        raise ChangefeedError(first.what, parameter=first.key, where=where, hint=first.hint) from None


ConfigSource: TypeAlias = str | Path | Mapping[str, object]
"""A changefeed file, or its content: the keys of the file in the same nesting."""


def changefeed_content(config: ConfigSource) -> dict[str, object]:
    """Return the checked content of a changefeed file, for ``resolve``.

    :raises ChangefeedError: as ``load_changefeed_toml``.
    """
    if isinstance(config, str | Path):
        if "\n" in str(config) or ("=" in str(config) and not Path(config).exists()):
            what = "this is the text of a changefeed file, not its path"
            raise ChangefeedError(what, where="`config`", hint="tomllib.loads(text) is its content")
        return load_changefeed_toml(config)
    if not isinstance(config, Mapping):
        what = f"a changefeed file or a mapping with its content, not a {type(config).__name__}"
        raise ChangefeedError(what, where="`config`")
    content = dict(config)
    _check_content(content, "`config`")
    return content


def load_changefeed_toml(path: str | Path) -> dict[str, object]:
    """Read and check a changefeed file of TiCDC.

    :returns: the parsed TOML, for ``resolve``.
    :raises ChangefeedError: if it cannot be read, is not TOML or holds a key or value that is not accepted.
    """
    try:
        text = local_path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ChangefeedError(f"cannot read the changefeed file: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ChangefeedError("the changefeed file is not UTF-8", where=f"{path}:{line}") from None
    return parse_changefeed_toml(text, str(path))


def parse_changefeed_toml(text: str, where: str) -> dict[str, object]:
    """Parse and check the text of a changefeed file of TiCDC.

    :param where: its name, for errors.
    :raises ChangefeedError: if it is not TOML or holds a key or value that is not accepted.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(str(error), where) from None
    except RecursionError:
        raise _not_toml("arrays or tables are nested too deeply", where) from None
    _check_content(content, where)
    return content


def _check_content(content: Mapping[str, object], where: str) -> None:
    if "sink-uri" in content:
        raise ChangefeedError(
            "a changefeed file has no key 'sink-uri'",
            parameter="sink-uri",
            where=where,
            hint="use `sink_uri`",
        ).about("sink_uri")
    check_changefeed_file(content, where)


def _not_toml(message: str, path: str) -> ChangefeedError:
    """Return the parser's message with its line after the file's name, as in other errors."""
    what, separator, location = message.rpartition(" (at line ")
    line, _, column = location.rstrip(")").partition(", column ")
    if not separator or not column:
        return ChangefeedError(f"not TOML: {message}", where=path)
    return ChangefeedError(f"not TOML: {what}, at column {column}", where=f"{path}:{line}")


_ALWAYS = ("protocol", "partition-num")
"""Written even if they have their defaults, because consumers have others."""
_OLD_VALUES = "sink.open.output-old-value"


def changefeed_toml(changefeed: Changefeed) -> str:
    """Return the changefeed file: options that are not defaults, dispatch rules, selectors and filter.

    ``resolve(sink_uri_with_options(changefeed), …)`` with the parsed file returns an equal changefeed, except
    that it sets ``partition-num``.
    """
    content: dict[str, Any] = {}
    for option in _applicable(changefeed):
        value, key = getattr(changefeed, option.field), _file_key(option, changefeed)
        default = changefeed.spec.defaults.get(option.name, option.default)
        if key and value is not None and (option.name in _ALWAYS or value != default):
            _put(content, key, _file_value(option, value))
    sink = content.setdefault("sink", {})
    for name, entries in (
        ("dispatchers", changefeed.dispatchers),
        ("column-selectors", changefeed.column_selectors),
    ):
        if entries:
            sink[name] = [_plain(entry) for entry in entries]
    if changefeed.filter != FilterSection():
        content["filter"] = _plain(changefeed.filter)
    return f"# sink URI: {sink_uri_with_options(changefeed)}\n\n{tomli_w.dumps(content)}"


def sink_uri_with_options(changefeed: Changefeed) -> str:
    """Return the sink URI with the protocol and the options of no changefeed file, without credentials."""
    parameters = {
        option.name: _text(getattr(changefeed, option.field))
        for option in _applicable(changefeed)
        if option.in_uri and (option.name == "protocol" or not _file_key(option, changefeed))
        if option.name == "protocol" or getattr(changefeed, option.field) != option.default
    }
    return f"{changefeed.sink_uri}?{urlencode(parameters)}"


def _applicable(changefeed: Changefeed) -> Iterator[Parameter]:
    """Yield the options of the changefeed's protocol and sink."""
    for option in OF_MESSAGES:
        if has_parameter(changefeed.spec, option) and (
            not option.sinks or changefeed.sink_uri.kind in option.sinks
        ):
            yield option


def _file_key(option: Parameter, changefeed: Changefeed) -> str:
    """Return the key of an applicable option in the file; empty if it has none.

    The tables ``sink.open``, ``sink.debezium`` and ``sink.csv`` share one key, and so do both kinds of sink.
    """
    if option.file_key == _OLD_VALUES:
        return _OLD_VALUES.replace("open", changefeed.spec.section, 1)
    section = {SinkKind.STORAGE: STORAGE, SinkKind.PULSAR: PULSAR}.get(changefeed.sink_uri.kind)
    if option.name == "output-raw-change-event" and section is not None:
        return option.file_key.replace(KAFKA, section)
    return option.file_key


def _file_value(option: Parameter, value: Plain) -> Plain:
    """Return a value in the type that TiCDC's file has."""
    if isinstance(option.value, GoDuration):
        return f"{value}ms"
    return int(value or 0) if option.value is ACKNOWLEDGEMENTS else value


def _put(content: dict[str, Any], key: str, value: Plain) -> None:
    *tables, name = key.split(".")
    for table in tables:
        content = content.setdefault(table, {})
    content[name] = value


def _plain(section: ConfigSection) -> Mapping[str, Any]:
    plain: Mapping[str, Any] = section.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return plain


def _text(value: Plain) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
