"""Fast checks for the usual formats of dates, times and decimals.

A text that matches none of these patterns may still be valid; the caller checks it with a regular
expression.
"""

from __future__ import annotations

_ZEROS = bytes.maketrans(b"123456789", b"000000000")


def _with_fractions(pattern: bytes) -> frozenset[bytes]:
    return frozenset({pattern, *(pattern + b"." + b"0" * digits for digits in range(1, 7))})


DATES = frozenset({b"0000-00-00"})
DATETIMES = _with_fractions(b"0000-00-00 00:00:00")
TIMES = _with_fractions(b"00:00:00") | _with_fractions(b"-00:00:00") | _with_fractions(b"000:00:00")


DECIMALS = frozenset(
    sign + b"0" * whole + (b"." + b"0" * fraction if fraction else b"")
    for sign in (b"", b"-")
    for whole in range(1, 21)
    for fraction in range(11)
)


def matches_pattern(content: bytes, patterns: frozenset[bytes]) -> bool:
    """Whether a text matches one of the patterns above, in which 0 means any digit."""
    return content.translate(_ZEROS) in patterns
