"""Text that is not UTF-8, as Go's encoders send it."""

from __future__ import annotations


def repaired(value: bytes) -> bytes:
    """Each byte that is not part of valid UTF-8 becomes U+FFFD.

    One for each byte, not for each broken sequence. Source: Go ``unicode/utf8.DecodeRune``.
    """
    text = value.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in text).encode()
