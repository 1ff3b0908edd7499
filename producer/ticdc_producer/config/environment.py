"""``${NAME}`` in values of the command line, so that no password is visible in the process list."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from ticdc_producer.errors import ChangefeedError

_VARIABLE = re.compile(r"(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

_variables: ContextVar[Mapping[str, str] | None] = ContextVar("variables", default=None)


def variables() -> Mapping[str, str]:
    """The variables that may be substituted: those of the process, or none in ``without_environment``."""
    found = _variables.get()
    return os.environ if found is None else found


@contextmanager
def without_environment() -> Iterator[None]:
    """Hide the variables of the process: text of somebody else must not read them. All are unset then."""
    token = _variables.set({})
    try:
        yield
    finally:
        _variables.reset(token)


def with_environment(text: str, where: str, encode: Callable[[str], str] = str) -> str:
    """The text with environment variables substituted; ``$${NAME}`` becomes the literal text ``${NAME}``.

    :param where: the location that errors name.
    :param encode: applied to a variable's value before it is inserted.
    :raises ChangefeedError: for a variable that is not set.
    """

    def value(found: re.Match[str]) -> str:
        if found[1]:
            return f"${{{found[2]}}}"
        if found[2] not in variables():
            what = f"environment variable {found[2]!r} is not set"
            raise ChangefeedError(what, where=where, hint="write $${…} for the text itself")
        return encode(variables()[found[2]])

    return _VARIABLE.sub(value, text)
