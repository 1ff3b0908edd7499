"""Replaces invalid UTF-8 as Go's encoders do."""

from __future__ import annotations


def replace_invalid(value: bytes) -> bytes:
    """Replace each byte that is not part of valid UTF-8 by U+FFFD.

    Every byte is replaced separately, not every invalid sequence. Source: Go ``unicode/utf8.DecodeRune``.
    """
    text = value.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in text).encode()
