"""The one function that makes a URI printable: without its password, keys and tokens."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

_MASK = "***"
_CREDENTIALS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^\s'\"/?#@:%]*)((?:(?!://)[^\s'\"])*)@")
"""What precedes the last ``@``: a password may contain any character that should be percent-encoded."""
_EXAMPLE = ":PASSWORD"
"""A placeholder of a hint."""
_PARAMETER = re.compile(r"([?&;][^\s'\"=&;]+=)([^\s'\"&;]*)")
_SECRET = re.compile(
    r"pass|pwd|secret|token|key(?!-encoding)|credential|signature|private|sas(?!l)|user[-.]?info",
    re.IGNORECASE,
)
"""Parts of names of parameters. Source: ticdc ``pkg/util/uri.go`` (``sensitiveQueryParameterNames``)."""


def masked(text: str) -> str:
    """Return a text in which the secrets of all URIs are ``***``.

    Parameters without secrets stay, and users, except lone ones of http and https, which may be tokens. A
    URI may be malformed, and may be the value of a parameter of another one.

    >>> masked("no answer of http://ann:pa/ss@h:1/db")
    'no answer of http://ann:***@h:1/db'
    >>> masked("kafka://h:1/t?sasl-password=p&schema-registry=http%3A%2F%2Fann%3Ap%40h")
    'kafka://h:1/t?sasl-password=***&schema-registry=http%3A%2F%2Fann%3A%2A%2A%2A%40h'
    """
    if "=" not in text and "@" not in text:
        return text
    return _PARAMETER.sub(_masked_parameter, _CREDENTIALS.sub(_masked_credentials, text))


def _masked_credentials(match: re.Match[str]) -> str:
    scheme, user, rest = match.groups()
    if rest == _EXAMPLE or not (rest or scheme.startswith("http")):
        return match[0]
    return f"{scheme}://{user}:{_MASK}@" if rest.startswith(":") else f"{scheme}://{_MASK}@"


def _masked_parameter(match: re.Match[str]) -> str:
    name, value = match.groups()
    if _SECRET.search(name):
        return f"{name}{_MASK if value else ''}"
    plain = unquote(value)
    hidden = masked(plain) if plain != value else value
    return name + (value if hidden == plain else quote(hidden, safe=""))
