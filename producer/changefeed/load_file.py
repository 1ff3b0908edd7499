"""Reading and checking a changefeed file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from producer.changefeed.changefeed_file import ChangefeedFile
from producer.changefeed.model_errors import explain
from producer.changefeed.parameters import REFUSED_KEYS
from producer.errors import ChangefeedError


def check_changefeed_file(content: Mapping[str, Any], where: str) -> ChangefeedFile:
    """The content of a changefeed file or of a scenario's ``changefeed:``, checked.

    :param where: what to name as its place in errors.
    :raises ChangefeedError: for the first key that is unknown, not supported or has a wrong value.
    """
    try:
        return ChangefeedFile.model_validate(dict(content))
    except ValidationError as error:
        first = explain(error, ChangefeedFile, REFUSED_KEYS)[0]
        raise ChangefeedError(first.what, parameter=first.key, where=where, hint=first.hint) from None


def load_changefeed_toml(path: str | Path) -> dict[str, Any]:
    """A changefeed file of TiCDC, read and checked.

    :returns: its content as TOML gives it, for ``resolve``.
    :raises ChangefeedError: if it cannot be read, is no TOML or holds anything that is not accepted.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ChangefeedError(f"cannot read the changefeed file: {error.strerror}", where=str(path)) from None
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError
        raise ChangefeedError(f"not a TOML file: {error}", where=str(path)) from None
    if "sink-uri" in content:
        raise ChangefeedError(
            "a changefeed file has no key 'sink-uri'",
            parameter="sink-uri",
            where=str(path),
            hint="give --sink-uri",
        )
    check_changefeed_file(content, str(path))
    return content
