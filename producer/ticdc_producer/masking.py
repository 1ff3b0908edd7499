"""The one function that makes a URI printable: without its password, keys and tokens."""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import quote, unquote

_MASK = "***"
_CREDENTIALS = re.compile(r"://([^\s'\"/?#@:%]*+)((?:(?!://)[^\s'\"])*)@")
"""What precedes the last ``@``: a password may contain any character that should be percent-encoded. The
scheme is not matched: a long word would be searched from each of its letters. The user is possessive, so that
no other division of a long word is tried."""
_COLLAPSED = re.compile(r":/(?!/)([^\s'\"/?#@:%]*+)((?:(?!:/)[^\s'\"])*)@")
"""The same in a URI that was made a path, which has one slash."""
_WORD = re.compile(r"[^\s'\"]+")
_USER = re.compile(r"(?:://[^\s'\"/?#@:%]*+:(?!//)|:/(?!/)[^\s'\"/?#@:%]*+:(?!/))")
"""The start of a URI up to a password, or up to a port."""
_PORT = re.compile(
    r"\d{1,5}(?:,[\w.\[\]-]+:\d{1,5})*+(?:/[\w./-]*+)?\?(?:[\w.-]++=[^&]*+&)*[\w.-]*(?:ur[il]|registry)="
)
"""A port, other addresses, a topic, and parameters up to one whose value is a URI. Other digits may begin a
password."""
_ENCODED = re.compile(r"(:/{1,2})[^\s'\"/?#@]*%40")
"""Credentials whose ``@`` is percent-encoded, so that the host begins with them."""
_WITHOUT_SCHEME = re.compile(r":([^\s'\"/@:]+)@(?=[\w\[])")
_HTTP = re.compile(r"https?$", re.IGNORECASE)
_NESTED = 4
"""Number of URIs in each other whose parameters are read."""
_EXAMPLE = ":PASSWORD"
"""A placeholder of a hint."""
_PARAMETER = re.compile(r"([?&;][^\s'\"=&;?]+=)([^\s'\"&;]*)")
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
    return _masked(text, _NESTED)


def _masked(text: str, nested: int) -> str:
    if "=" not in text and "@" not in text and "%40" not in text:
        return text
    text = _WORD.sub(_masked_word, text)
    for credentials in (_CREDENTIALS, _COLLAPSED):
        text = credentials.sub(_masked_credentials, text)
    text = _WITHOUT_SCHEME.sub(_masked_password, _ENCODED.sub(rf"\1{_MASK}%40", text))
    return _PARAMETER.sub(partial(_masked_parameter, nested), text)


def _masked_word(match: re.Match[str]) -> str:
    """Mask the passwords of a word that contain the beginning of another URI."""
    *heads, tail = match[0].split("@")
    return "@".join([*map(_masked_nested, heads), tail])


def _masked_nested(head: str) -> str:
    for number, user in enumerate(_USER.finditer(head)):
        if number == _NESTED or _PORT.match(head, user.end()) is None:
            return head[: user.end()] + _MASK if ":/" in head[user.end() :] else head
    return head


def _masked_credentials(match: re.Match[str]) -> str:
    user, rest = match.groups()
    is_http = _HTTP.search(match.string, max(0, match.start() - len("https")), match.start())
    if rest == _EXAMPLE or not (rest or is_http):
        return match[0]
    slashes = match[0][: match.start(1) - match.start()]
    return f"{slashes}{user}:{_MASK}@" if rest.startswith(":") else f"{slashes}{_MASK}@"


def _masked_password(match: re.Match[str]) -> str:
    return match[0] if match[1] == _EXAMPLE.removeprefix(":") else f":{_MASK}@"


def _masked_parameter(nested: int, match: re.Match[str]) -> str:
    name, value = match.groups()
    if _SECRET.search(name):
        return f"{name}{_MASK if value else ''}"
    plain = unquote(value)
    if plain == value:
        return match[0]
    hidden = _masked(plain, nested - 1) if nested else _MASK
    return name + (value if hidden == plain else quote(hidden, safe=""))
