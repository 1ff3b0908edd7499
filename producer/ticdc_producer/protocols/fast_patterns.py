"""Dates, times and decimals recognized at a glance, as nearly all values of a column are written.

What is not found here is not wrong: it has to be read with care.
"""

from __future__ import annotations

_ZEROS = bytes.maketrans(b"123456789", b"000000000")


def _with_fractions(form: bytes) -> frozenset[bytes]:
    return frozenset({form, *(form + b"." + b"0" * digits for digits in range(1, 7))})


DATES = frozenset({b"0000-00-00"})
DATETIMES = _with_fractions(b"0000-00-00 00:00:00")
TIMES = _with_fractions(b"00:00:00") | _with_fractions(b"-00:00:00") | _with_fractions(b"000:00:00")


DECIMALS = frozenset(
    sign + b"0" * whole + (b"." + b"0" * fraction if fraction else b"")
    for sign in (b"", b"-")
    for whole in range(1, 21)
    for fraction in range(11)
)


def has_form(content: bytes, forms: frozenset[bytes]) -> bool:
    """Whether a text is of one of the forms above, in which 0 stands for any digit."""
    return content.translate(_ZEROS) in forms
