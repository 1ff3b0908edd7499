"""Reading and checking a changefeed file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ticdc_producer.config.changefeed_file import ChangefeedFile
from ticdc_producer.config.config_section import explain
from ticdc_producer.config.parameters import REFUSED_KEYS
from ticdc_producer.errors import ChangefeedError


def check_changefeed_file(content: Mapping[str, Any], where: str) -> ChangefeedFile:
    """The content of a changefeed file or of a scenario's ``changefeed:``, checked.

    :param where: the location that errors name.
    :raises ChangefeedError: for the first key that is unknown, not supported or has a wrong value.
    """
    try:
        return ChangefeedFile.model_validate(dict(content))
    except ValidationError as error:
        # A misspelled key is often the reason why another key is missing, so it is reported first.
        first = min(explain(error, ChangefeedFile, REFUSED_KEYS), key=lambda one: "is missing" in one.what)
        raise ChangefeedError(first.what, parameter=first.key, where=where, hint=first.hint) from None


def load_changefeed_toml(path: str | Path) -> dict[str, Any]:
    """A changefeed file of TiCDC, read and checked.

    :returns: the parsed TOML, for ``resolve``.
    :raises ChangefeedError: if it cannot be read, is not TOML or holds a key or value that is not accepted.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ChangefeedError(f"cannot read the changefeed file: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ChangefeedError("the changefeed file is not UTF-8", where=f"{path}:{line}") from None
    return parse_changefeed_toml(text, str(path))


def parse_changefeed_toml(text: str, where: str) -> dict[str, Any]:
    """The content of a changefeed file of TiCDC, checked.

    :param where: its name, for errors.
    :raises ChangefeedError: if it is not TOML or holds a key or value that is not accepted.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(str(error), where) from None
    if "sink-uri" in content:
        raise ChangefeedError(
            "a changefeed file has no key 'sink-uri'",
            parameter="sink-uri",
            where=where,
            hint="use --sink-uri",
        )
    check_changefeed_file(content, where)
    return content


def _not_toml(message: str, path: str) -> ChangefeedError:
    """The parser's message, with its line moved behind the file's name, as in other errors."""
    what, found, location = message.rpartition(" (at line ")
    line, _, column = location.rstrip(")").partition(", column ")
    if not found or not column:
        return ChangefeedError(f"not TOML: {message}", where=path)
    return ChangefeedError(f"not TOML: {what}, at column {column}", where=f"{path}:{line}")
