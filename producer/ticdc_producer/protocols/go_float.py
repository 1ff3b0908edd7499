"""Floating point numbers as Go's ``encoding/json`` prints them, from their canonical plain digits.

Numbers below 1e-6 and from 1e21 on are printed in exponent form, others in plain form. A negative exponent
of one digit loses its leading zero: ``1e-7`` but ``1e-10``, ``1e+21``. The digits are those of the canonical
text, which is already the shortest one for the number's width. Source: ``encoding/json`` floatEncoder.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols.arrow_text import Fragments, map_values_where

_ALWAYS_PLAIN = 9  # a shorter text is always in the plain range
_MOST_DIGITS = 21  # before the decimal point of a number in plain form
_LEAST_PLAIN, _EXPONENT_FORM = -4, 6
_ONE_DIGIT = re.compile(rb"(e[-+])(\d)$")
_SMALL = (b"0.000000", b"-0.000000")


def numbers(values: pa.Array) -> Fragments:
    """JSON numbers of a column of canonical FLOAT or DOUBLE texts."""
    return (map_values_where(may_need_exponent(values), values, number),)


def may_need_exponent(values: pa.Array) -> pa.Array:
    """Where a number may be outside of the range of plain form."""
    long = pc.greater(pc.binary_length(values), _MOST_DIGITS)
    small, minus_small = (pc.starts_with(values, start) for start in _SMALL)
    return pc.or_(long, pc.or_(small, minus_small))


def number(text: bytes) -> bytes:
    """The JSON number of one canonical FLOAT or DOUBLE text."""
    if len(text) < _ALWAYS_PLAIN:
        return text
    digits = text.lstrip(b"-")
    whole, _, fraction = digits.partition(b".")
    if len(whole) > _MOST_DIGITS:
        return _sign(text) + _scientific(whole + fraction, len(whole) - 1)
    if whole == b"0" and fraction.startswith(b"000000"):
        significant = fraction.lstrip(b"0")
        return _sign(text) + _scientific(significant, len(significant) - len(fraction) - 1)
    return text


def _sign(text: bytes) -> bytes:
    return b"-" if text.startswith(b"-") else b""


def _scientific(digits: bytes, exponent: int) -> bytes:
    digits = digits.rstrip(b"0")
    mantissa = digits[:1] + (b"." + digits[1:] if len(digits) > 1 else b"")
    return mantissa + (b"e%d" % exponent if exponent < 0 else b"e+%d" % exponent)


def shortest(text: bytes) -> bytes:
    """A number as Go's ``%v`` prints it: unlike JSON, in exponent form below 1e-4 and from 1e6 on."""
    digits = text.lstrip(b"-")
    whole, _, fraction = digits.partition(b".")
    if whole != b"0":
        exponent, significant = len(whole) - 1, whole + fraction
    else:
        significant = fraction.lstrip(b"0")
        exponent = len(significant) - len(fraction) - 1
    if not significant or _LEAST_PLAIN <= exponent < _EXPONENT_FORM:
        return text
    return _sign(text) + _ONE_DIGIT.sub(rb"\g<1>0\2", _scientific(significant, exponent))
