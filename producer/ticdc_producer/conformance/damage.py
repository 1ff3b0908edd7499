"""Damaged messages: a consumer must report an error for each, neither events nor a crash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

Part: TypeAlias = bytes | None
Damage: TypeAlias = Callable[[Part, Part], tuple[Part, Part]]

_OPEN_VERSION = 8
_OPEN_LENGTH = 8


def _last_byte_lost(key: Part, value: Part) -> tuple[Part, Part]:
    return key, (value or b"")[:-1]


def _half_lost(key: Part, value: Part) -> tuple[Part, Part]:
    return key, (value or b"")[: len(value or b"") // 2]


def _garbage(key: Part, value: Part) -> tuple[Part, Part]:
    return key, b"\xff" * len(value or b"")


def _of_another_program(_key: Part, _value: Part) -> tuple[Part, Part]:
    return None, b'{"program":"heartbeat","alive":true}'


def _value_lost(key: Part, _value: Part) -> tuple[Part, Part]:
    return key, b""


def _key_cut(key: Part, value: Part) -> tuple[Part, Part]:
    return (key or b"")[:-1], value


def _key_lost(_key: Part, value: Part) -> tuple[Part, Part]:
    return b"", value


def _unknown_version(key: Part, value: Part) -> tuple[Part, Part]:
    return (2).to_bytes(_OPEN_VERSION, "big") + (key or b"")[_OPEN_VERSION:], value


def _one_key_too_many(key: Part, value: Part) -> tuple[Part, Part]:
    return (key or b"") + (key or b"")[_OPEN_VERSION:], value


def _one_value_too_many(key: Part, value: Part) -> tuple[Part, Part]:
    return key, (value or b"") * 2


def _length_beyond_the_end(key: Part, value: Part) -> tuple[Part, Part]:
    return key, (1 << 32).to_bytes(_OPEN_LENGTH, "big") + (value or b"")[_OPEN_LENGTH:]


def _length_negative(key: Part, value: Part) -> tuple[Part, Part]:
    return key, b"\xff" * _OPEN_LENGTH + (value or b"")[_OPEN_LENGTH:]


def _replaced(old: bytes, new: bytes) -> Damage:
    """Replace bytes in key and value by as many others, so that lengths in the message stay valid."""

    def damaged(key: Part, value: Part) -> tuple[Part, Part]:
        parts = [part if part is None else part.replace(old, new) for part in (key, value)]
        if len(old) != len(new) or parts == [key, value]:
            raise ValueError(f"{old!r} cannot become {new!r}")
        return parts[0], parts[1]

    return damaged


DAMAGES: Mapping[str, Damage] = {
    "last-byte-lost": _last_byte_lost,
    "half-lost": _half_lost,
    "garbage": _garbage,
    "of-another-program": _of_another_program,
    "value-lost": _value_lost,
    "key-cut": _key_cut,
    "key-lost": _key_lost,
    "unknown-version": _unknown_version,
    "one-key-too-many": _one_key_too_many,
    "one-value-too-many": _one_value_too_many,
    "length-beyond-the-end": _length_beyond_the_end,
    "length-negative": _length_negative,
    "unknown-event-type": _replaced(b'"t":1}', b'"t":9}'),
    "unknown-operation": _replaced(b'"type":"INSERT"', b'"type":"INHALE"'),
    "base64-broken": _replaced(b'"AP8="', b'"AP*="'),
    "number-out-of-range": _replaced(b"127", b"300"),
    "number-is-text": _replaced(b"127", b"12x"),
    "columns-missing": _replaced(b'"u":', b'"x":'),
    "data-missing": _replaced(b'"data":', b'"atad":'),
    "payload-missing": _replaced(b'"payload":', b'"daolyap":'),
}
"""Name in the ids of cases → function that damages a message's key and value."""
